"""An owner: who declared the project, and looks after its data and its ledger."""

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number
from discreet.curator.budget_report import budget_reports
from discreet.curator.budget_status import Budgets
from discreet.curator.connection import LOCAL_ANALYST, Connection, connect
from discreet.curator.profile import profile
from discreet.curator.project_page import project_html
from discreet.engines.duckdb.sources.examine import require_same_people
from discreet.ledger.ledger import Ledger
from discreet.project.project import Project, open_project
from discreet.project.terms import Terms
from discreet.releases.accuracy import Accuracy
from discreet.releases.profile import Profile
from discreet.tables.catalog import Catalog, PublicTable, Table
from discreet.tables.relations.read_keys import with_read_keys

OWNER = "owner"
"""As whom the owner asks."""


class Owner:
    """An open project in the hands of its owner.

    Budgets, shares and the rules of the gate are declared in ``discreet.toml``, and are entries of
    the ledger as soon as the project is opened. So is everything that is done here.

    In local use an analyst could read the files as well. Where somebody else lets analysts in, they
    get what :meth:`connect` returns, which has none of this.
    """

    def __init__(self, path: str | Path, project: Project) -> None:
        self._path = path
        self._project = project

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
        return connect(
            self._path, analyst=analyst, epsilon=epsilon, rho=rho, accuracy=accuracy, delta=delta
        )

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

    def close(self) -> None:
        """Close the engine, and let go of the ledger, every step of which is durable already."""
        self._project.close()

    def __enter__(self) -> Self:
        """Use the owner's view in a ``with`` block."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close at the end of the block."""
        self.close()

    def _require_id_space(self, id_space: str) -> None:
        known = [space.name for space in self._project.catalog.id_spaces]
        if id_space not in known:
            raise InvalidArgument(
                "There is no such id space", must=f"be one of {', '.join(known)}", got=str(id_space)
            )


def own(project: str | Path = ".") -> Owner:
    """Open the project whose ``discreet.toml`` is at ``project``, as its owner.

    Example:
        >>> import discreet
        >>> discreet.own is own
        True
    """
    return Owner(project, open_project(project))
