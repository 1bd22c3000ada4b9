"""An owner: who declared the project, and looks after its data and its ledger."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number
from discreet.curator.budget.budget_report import budget_reports
from discreet.curator.budget.budget_status import Budgets
from discreet.curator.budget.project_page import project_html, project_line
from discreet.curator.profile.profile import profile
from discreet.engines.duckdb.sources.examine import require_same_people
from discreet.ledger.ledger import Ledger
from discreet.ledger.under_way import telling
from discreet.project.open_frames import FrameDeclaration, open_frames, reopened
from discreet.project.project import Project, open_project
from discreet.project.terms import Terms
from discreet.releases.accuracy import Accuracy
from discreet.releases.profile import Profile
from discreet.roles.closing import ClosedAtEnd
from discreet.roles.connection import LOCAL_ANALYST, Connection, connect_to
from discreet.roles.exact_publishing import OWNER, ExactPublishing
from discreet.tables.catalog import Catalog, PublicTable, Table
from discreet.tables.relations.read_keys import with_read_keys


class Owner(ClosedAtEnd, ExactPublishing):
    """An open project in the hands of its owner.

    Budgets, shares and the rules of the gate are declared in ``discreet.toml``, and are entries of
    the ledger as soon as the project is opened. So is everything that is done here.

    In local use an analyst could read the files as well. Where somebody else lets analysts in, they
    get what :meth:`connect` returns, which has none of this.
    """

    def __init__(self, project: Project, open_again: Callable[[], Project]) -> None:
        self._project = project
        self._open_again = open_again

    def connect(
        self,
        *,
        analyst: str = LOCAL_ANALYST,
        epsilon: Number | None = None,
        rho: Number | None = None,
        accuracy: Accuracy | Number | None = None,
        delta: Number | None = None,
    ) -> Connection:
        """Open the project for an analyst; the rest is as for :func:`connect`."""
        default = Terms(epsilon=epsilon, rho=rho, accuracy=accuracy, delta=delta)
        return connect_to(self._open_again, default=default, analyst=analyst)

    def catalog(self) -> Catalog:
        """Return everything that is declared."""
        return self._project.catalog

    def ledger(self) -> Ledger:
        """Return the ledger, to read it, to verify it, and to write in it."""
        return self._project.ledger

    def check(self) -> None:
        """Check all sources: that they are there, and by names and types.

        This looks into private files, which no question does before it is charged. No row of them
        is read; the values of public tables that are keys are.
        """
        catalog = self._project.catalog
        tables: tuple[Table | PublicTable, ...] = (*catalog.tables, *catalog.public_tables)
        for table in tables:
            self._project.engine.require_source(table)
        for table in catalog.tables:
            with_read_keys(table, catalog, self._project.engine.public_rows)
        require_same_people(catalog)

    def data_changed(self, id_space: str) -> int:
        """Note that the data were replaced; earlier releases are no longer given again."""
        self._require_id_space(id_space)
        if self._project.copied:
            raise InvalidArgument(
                "Rows in memory were copied when they were opened, and do not change",
                next="Open the new ones with discreet.own(..., data_changed=True)",
            )
        version = self._project.ledger.advance_version(id_space, self._project.rng)
        return version.number

    def resume(self, id_space: str, analyst: str | None = None) -> int:
        """Let questions be asked again where too many failed; return how many did.

        With an ``analyst``, only the failures that are counted together with theirs are forgiven:
        their own, or if they have no share, those of everybody without one. What was spent stays
        spent.
        """
        self._require_id_space(id_space)
        return self._project.ledger.resume(id_space, analyst)

    @telling
    def profile(
        self,
        table: str,
        *,
        epsilon: Number | None = None,
        rho: Number | None = None,
        keys: Sequence[str] | None = None,
        values: Sequence[str] = (),
        unreadable: Sequence[str] = (),
        fresh: bool = False,
    ) -> Profile:
        """Return how much the units of a table contribute, as private histograms of units.

        It is charged once for a version of the data, and given again for nothing. ``keys`` are the
        columns whose groups are counted, all with declared keys if nothing is said; ``values`` are
        columns of numbers or dates of which units are counted by their largest and their smallest
        value; ``unreadable`` are columns of which the units are counted that have text in it which
        could not be read. The price pays for all histograms together, so fewer of them are more
        exact. What follows from a profile is free: what any limits and clamps cut, and which err
        least.
        """
        return profile(
            self._project,
            table,
            terms=Terms(epsilon=epsilon, rho=rho),
            keys=keys,
            values=values,
            unreadable=unreadable,
            analyst=OWNER,
            fresh=fresh,
        )

    def _repr_html_(self) -> str:
        catalog = self._project.catalog
        reports = budget_reports(self._project.ledger, catalog, OWNER)
        budgets = Budgets(report.status for report in reports)
        notes = [text for report in reports for text in report.sentences()]
        return project_html("What you own", catalog, budgets, notes)

    def __repr__(self) -> str:
        """Name the tables; what is said about a ledger in memory is said here too."""
        return project_line("Owner of", self._project.catalog)

    def close(self) -> None:
        """Close the engine, and let go of the ledger, every step of which is durable already."""
        self._project.close()

    def _require_id_space(self, id_space: str) -> None:
        known = [space.name for space in self._project.catalog.id_spaces]
        if id_space not in known:
            raise InvalidArgument(
                "There is no such id space", must=f"be one of {', '.join(known)}", got=str(id_space)
            )


def own(
    project: str | Path | Mapping[str, object] = ".",
    *,
    unit: str | Sequence[str] | Mapping[str, Any] | None = None,
    budget: Mapping[str, Any] | None = None,
    columns: Mapping[str, Mapping[str, Any]] | None = None,
    id_space: str | None = None,
    unit_name: str | None = None,
    rows_per_group: int | None = None,
    groups_per_unit: int | None = None,
    rows_per_unit: int | None = None,
    public: Mapping[str, object] | None = None,
    types_from_frame: bool = False,
    declaration: Mapping[str, Any] | None = None,
    ledger: str | Path | None = None,
    data_changed: bool | None = None,
) -> Owner:
    """Open a project as its owner: the one whose ``discreet.toml`` is at a path, or data frames.

    Frames of pandas, Polars, Arrow or anything with ``__arrow_c_stream__`` are given by the names
    of their tables, and what the file would say about them by the other arguments, in the same
    words: ``unit`` is the column that says whose row it is, ``columns`` has a type or a dictionary
    for each column, ``declaration`` whatever else (``gate``, ``analysts``, ``default``,
    ``least_price``, and under ``tables`` what holds for one table). Everybody may know what is in
    ``public`` frames.
    ``ledger`` is a file or a folder; without one the ledger is in memory, and says so.

    Guarantee:
        Frames are behind the same gate as files. Each is copied, so what the caller does with it
        later changes nothing; each cell is read by itself as its declared type, and one that cannot
        be is NULL; no cell makes this, or an answer, fail.

        An id space (``id_space``, or else the name of the unit's column) has one ledger in a
        process, however often it is opened; another budget for it is refused, and so is a process
        that was forked from the one that has it in memory. Rows that changed are refused until
        ``data_changed=True`` begins a new version of the data, which is always the owner's word:
        the versions are public, and that rows changed can be one person's doing.

        Nothing that is declared is taken from cells. With ``types_from_frame`` the types of columns
        are: that is the owner's consent, for types can depend on people (one missing number makes
        whole numbers real in pandas), and declared types are public. Ranges, keys and whether
        values are missing are never taken.

    Assumes:
        One person more or less does not change the *types* of a frame's columns. Where a program
        chose them by looking at the rows, give them when the data are read, such as
        ``dtype={"patient": "Int64"}``.

    Example:
        >>> import discreet
        >>> discreet.own is own
        True
    """
    said = {
        "unit": unit,
        "budget": budget,
        "columns": columns,
        "id_space": id_space,
        "unit_name": unit_name,
        "public": public,
        "declaration": declaration,
        "ledger": ledger,
        "data_changed": data_changed,
    }
    limits = {
        "rows_per_group": rows_per_group,
        "groups_per_unit": groups_per_unit,
        "rows_per_unit": rows_per_unit,
    }
    given = {name: value for name, value in (said | limits).items() if value is not None}
    if not isinstance(project, Mapping):
        _require_place(project)
        _require_nothing(given | ({"types_from_frame": True} if types_from_frame else {}))
        return Owner(open_project(project), partial(open_project, project))
    _require_said(given)
    opened = open_frames(
        project,
        public or {},
        FrameDeclaration(
            unit=unit,
            budget=budget,
            columns=columns or {},
            id_space=id_space,
            unit_name=unit_name,
            limits={name: value for name, value in limits.items() if value is not None},
            types_from_frame=types_from_frame,
            more=declaration or {},
        ),
        ledger=ledger,
        data_changed=data_changed,
    )
    return Owner(opened, partial(reopened, opened))


def _require_place(project: object) -> None:
    if not isinstance(project, str | PathLike):
        raise InvalidArgument(
            "What is given is neither the place of a project nor frames by the names of tables",
            must="be a path, or a dictionary of frames",
            got=type(project).__name__,
            next='Give a frame the name of its table: discreet.own({"visits": frame}, ...)',
        )


def _require_nothing(given: Mapping[str, object]) -> None:
    if given:
        raise InvalidArgument(
            f"{', '.join(given)} is about data frames, and a project declares its own",
            must="be given with frames, such as {'visits': frame}",
            next="Write it in discreet.toml",
        )


def _require_said(given: Mapping[str, object]) -> None:
    for name, example in (("unit", '"patient"'), ("budget", '{"epsilon": 2}')):
        if name not in given:
            raise InvalidArgument(
                f"{name} is missing",
                must="be said about data frames",
                next=f"Give {name}={example}",
            )
