"""A connection: what an analyst holds. It has no way to the rows but :meth:`Connection.sql`."""

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self, TypedDict, Unpack

from discreet.core.errors import InvalidArgument
from discreet.core.loss import Approximate
from discreet.core.numbers import Number
from discreet.curator.answer import answer, explain
from discreet.curator.batch import answer_batch
from discreet.curator.budget_status import BudgetStatus
from discreet.curator.explaining.explanation import Explanation
from discreet.curator.rehearse import DEFAULT_ROWS, Rehearsal, rehearse
from discreet.engines.duckdb.sources.same_people import require_same_people
from discreet.ledger.ledger import Ledger
from discreet.project.offer import Terms
from discreet.project.project import Project, open_project
from discreet.project.wish import Wish
from discreet.releases.accuracy import Accuracy
from discreet.releases.plain_view import read_releases
from discreet.releases.release import Release
from discreet.tables.catalog import Catalog, PublicTable, Table

LOCAL_ANALYST = "local"


class Asked(TypedDict, total=False):
    """What may be said beside a question. One of the first three is its price."""

    epsilon: Number | None
    """A pure ε: it buys discrete Laplace noise."""
    rho: Number | None
    """A ρ of zCDP, for a budget in ρ: it buys whichever noise errs less."""
    accuracy: Accuracy | Number | None
    """How close the answer must be, such as ``"±50 at 95 %"``; the price follows."""
    delta: Number | None
    """The δ for groups that are not public."""
    rows_per_group: int | None
    """How many rows of one unit count in a group, instead of the declared number."""
    groups_per_unit: int | None
    """How many groups of one unit count, instead of the declared number."""


class Connection:
    """An open project: ask, explain, rehearse, and see what is left.

    In local use the caller can read the files anyway; the connection then protects what is
    *published* from it, not the files from the caller.
    """

    def __init__(self, project: Project, *, default: Terms | None, analyst: str) -> None:
        self._project = project
        self._default = Terms() if default is None else default
        self._analyst = analyst

    def sql(self, query: str, *, fresh: bool = False, **asked: Unpack[Asked]) -> Release:
        """Return a private answer, for the price that is ``asked`` or else the default one.

        The same question at the same price is answered from the stored release, for nothing; a
        ``fresh`` answer has new noise and is paid for again. :class:`Asked` says what else can be
        given: ``epsilon``, ``rho`` or ``accuracy``, ``delta``, ``rows_per_group``,
        ``groups_per_unit``.
        """
        wish = self._wish(**asked)
        return answer(self._project, query, offer=wish, analyst=self._analyst, fresh=fresh)

    def explain(self, query: str, **asked: Unpack[Asked]) -> Explanation:
        """Return what :meth:`sql` would do and cost, without reading or spending anything."""
        wish = self._wish(**asked)
        return explain(self._project, query, offer=wish, analyst=self._analyst)

    def rehearse(
        self, query: str, *, rows: int = DEFAULT_ROWS, **asked: Unpack[Asked]
    ) -> Rehearsal:
        """Return what :meth:`sql` would look like, on made-up rows; nothing is read or spent."""
        return rehearse(self._project, query, offer=self._wish(**asked), rows=rows)

    def batch(
        self, queries: Sequence[str], *, epsilon: Number, delta: Number
    ) -> tuple[Release, ...]:
        """Return private answers to several questions at once, for (ε, δ) together.

        They are fixed before the first answer, so they are accounted for as one: with less noise
        than one by one. The cost of each release is that of the whole batch.
        """
        target = Approximate(epsilon, delta)
        return answer_batch(self._project, queries, target=target, analyst=self._analyst)

    def budget(self) -> tuple[BudgetStatus, ...]:
        """Return what is spent and left in every id space, by everybody and by this analyst."""
        ledger = self._project.ledger
        return tuple(
            BudgetStatus(
                id_space=space.name,
                unit=space.unit,
                cap=space.cap,
                spent=ledger.spent(space.name),
                remaining=ledger.remaining(space.name),
                analyst=self._analyst,
                own_spent=ledger.spent(space.name, self._analyst),
                own_remaining=ledger.remaining(space.name, self._analyst),
            )
            for space in self._project.catalog.id_spaces
        )

    def catalog(self) -> Catalog:
        """Return everything that is declared."""
        return self._project.catalog

    def tables(self) -> tuple[Table, ...]:
        """Return the declared private tables: what may be asked about."""
        return self._project.catalog.tables

    def public_tables(self) -> tuple[PublicTable, ...]:
        """Return the declared public tables: what may be joined with, and looked at, for free."""
        return self._project.catalog.public_tables

    def ledger(self) -> Ledger:
        """Return the ledger, to read its history or verify it."""
        return self._project.ledger

    def releases(self, ticket: int) -> tuple[Release, ...]:
        """Return what a ticket paid for, as it is stored: one release, or those of a batch.

        It costs nothing. What was made by a version with a fault says so in its notes.
        """
        return read_releases(self._project.ledger, ticket)

    def check(self) -> None:
        """Check all sources as their owner: that they are there, and by names and types.

        This looks into private files, which no question does before it is charged. No row is read.
        """
        catalog = self._project.catalog
        tables: tuple[Table | PublicTable, ...] = (*catalog.tables, *catalog.public_tables)
        for table in tables:
            self._project.engine.require_source(table)
        require_same_people(catalog)

    def data_changed(self, id_space: str) -> int:
        """Note that the owner replaced the data; earlier releases are no longer given again."""
        self._require_id_space(id_space)
        version = self._project.ledger.advance_version(id_space, self._project.rng)
        return version.number

    def resume(self, id_space: str, analyst: str | None = None) -> int:
        """Let questions be asked again where too many failed, as the owner; return how many did.

        With an ``analyst``, only the failures that are counted together with theirs are forgiven:
        their own, or if they have no share, those of everybody without one. What was spent stays
        spent.
        """
        self._require_id_space(id_space)
        return self._project.ledger.resume(id_space, analyst)

    def close(self) -> None:
        """Close the engine, and let go of the ledger, every step of which is durable already."""
        self._project.close()

    def __enter__(self) -> Self:
        """Use the connection in a ``with`` block."""
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
                "There is no such id space", must=f"be one of {', '.join(known)}", got=id_space
            )

    def _wish(
        self,
        *,
        epsilon: Number | None = None,
        rho: Number | None = None,
        accuracy: Accuracy | Number | None = None,
        delta: Number | None = None,
        rows_per_group: int | None = None,
        groups_per_unit: int | None = None,
    ) -> Wish:
        return Wish(
            offer=Terms(epsilon=epsilon, rho=rho, accuracy=accuracy, delta=delta),
            default=self._default,
            rows_per_group=rows_per_group,
            groups_per_unit=groups_per_unit,
        )


def connect(
    project: str | Path = ".",
    *,
    epsilon: Number | None = None,
    rho: Number | None = None,
    accuracy: Accuracy | Number | None = None,
    delta: Number | None = None,
    analyst: str = LOCAL_ANALYST,
) -> Connection:
    """Open the project whose ``discreet.toml`` is at ``project`` (the file, or its folder).

    ``epsilon``, ``rho`` or ``accuracy`` is the default price of each answer, and ``delta`` the
    default δ for groups that are not public. Without them, each query must give its own, unless
    the owner declared a default.
    """
    if not isinstance(analyst, str) or not analyst:
        raise InvalidArgument("analyst is not a name", must="be text", got=type(analyst).__name__)
    default = Terms(epsilon=epsilon, rho=rho, accuracy=accuracy, delta=delta)
    return Connection(open_project(project), default=default, analyst=analyst)
