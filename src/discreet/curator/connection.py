"""A connection: what an analyst holds. It has no way to the rows but :meth:`Connection.sql`."""

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from attrs import frozen

from discreet.core.errors import InvalidArgument, LedgerError
from discreet.core.loss import Approximate, PrivacyLoss
from discreet.core.numbers import Number
from discreet.curator.answer import Curator, answer, explain
from discreet.curator.batch import answer_batch
from discreet.curator.explanation import Explanation
from discreet.curator.offer import Offer, read_offer
from discreet.curator.release import Release
from discreet.ledger.budget import Budget
from discreet.ledger.ledger import Ledger
from discreet.ledger.sqlite_store import create_sqlite
from discreet.randomness.rng import SystemRng
from discreet.tables.catalog import Catalog, Table
from discreet.tables.declaration import read_catalog
from discreet.tables.engines.duckdb import DuckDbEngine

LOCAL_ANALYST = "local"


@frozen(kw_only=True)
class BudgetStatus:
    """How much of an id space's budget is spent and left."""

    id_space: str
    unit: str
    cap: PrivacyLoss
    spent: PrivacyLoss
    remaining: PrivacyLoss

    def to_json(self) -> dict[str, Any]:
        """Return the status as plain values."""
        losses = {name: getattr(self, name).to_json() for name in ("cap", "spent", "remaining")}
        return {"id_space": self.id_space, "unit": self.unit} | losses


class Connection:
    """An open project: ask, explain, and see what is left.

    In local use the caller can read the files anyway; the connection then protects what is
    *published* from it, not the files from the caller.
    """

    def __init__(self, curator: Curator, *, default: Offer | None, analyst: str) -> None:
        self._curator = curator
        self._default = default
        self._analyst = analyst

    def sql(
        self, query: str, *, epsilon: Number | None = None, rho: Number | None = None
    ) -> Release:
        """Return a private answer for ``epsilon`` or ``rho``, or for the connection's default."""
        offer = read_offer(epsilon, rho, self._default)
        return answer(self._curator, query, offer=offer, analyst=self._analyst)

    def explain(
        self, query: str, *, epsilon: Number | None = None, rho: Number | None = None
    ) -> Explanation:
        """Return what :meth:`sql` would do and cost, without reading or spending anything."""
        offer = read_offer(epsilon, rho, self._default)
        return explain(self._curator, query, offer=offer, analyst=self._analyst)

    def batch(
        self, queries: Sequence[str], *, epsilon: Number, delta: Number
    ) -> tuple[Release, ...]:
        """Return private answers to several questions at once, for (ε, δ) together.

        They are fixed before the first answer, so they are accounted for as one: with less noise
        than one by one. The cost of each release is that of the whole batch.
        """
        target = Approximate(epsilon, delta)
        return answer_batch(self._curator, queries, target=target, analyst=self._analyst)

    def budget(self) -> tuple[BudgetStatus, ...]:
        """Return what is spent and left in every id space."""
        ledger = self._curator.ledger
        return tuple(
            BudgetStatus(
                id_space=space.name,
                unit=space.unit,
                cap=space.cap,
                spent=ledger.spent(space.name),
                remaining=ledger.remaining(space.name),
            )
            for space in self._curator.catalog.id_spaces
        )

    def tables(self) -> tuple[Table, ...]:
        """Return the declared tables: what may be asked about."""
        return self._curator.catalog.tables

    def ledger(self) -> Ledger:
        """Return the ledger, to read its history or verify it."""
        return self._curator.ledger

    def check(self) -> None:
        """Check that every source is there and has its declared columns (names only)."""
        for table in self._curator.catalog.tables:
            self._curator.engine.require_source(table)

    def data_changed(self, id_space: str) -> int:
        """Note that the owner replaced the data; earlier releases are no longer given again."""
        version = self._curator.ledger.advance_version(id_space, self._curator.rng)
        return version.number

    def close(self) -> None:
        """Close the engine; the ledger needs no closing, because every step of it is durable."""
        self._curator.engine.close()

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


def connect(
    project: str | Path = ".",
    *,
    epsilon: Number | None = None,
    rho: Number | None = None,
    analyst: str = LOCAL_ANALYST,
) -> Connection:
    """Open the project whose ``discreet.toml`` is at ``project`` (the file, or its folder).

    ``epsilon`` or ``rho`` is the default price of each answer; without one, each query must give
    its own.
    """
    if not isinstance(analyst, str) or not analyst:
        raise InvalidArgument("analyst is not a name", must="be text", got=type(analyst).__name__)
    catalog = read_catalog(Path(project))
    is_priced = epsilon is not None or rho is not None
    default = read_offer(epsilon, rho, None) if is_priced else None
    ledger = open_ledger(catalog)
    curator = Curator(catalog=catalog, engine=DuckDbEngine(), ledger=ledger, rng=SystemRng())
    return Connection(curator, default=default, analyst=analyst)


def open_ledger(catalog: Catalog) -> Ledger:
    """Open the project's ledger, and note the declared budgets in it."""
    try:
        catalog.ledger.parent.mkdir(parents=True, exist_ok=True)
    except OSError as cause:
        raise LedgerError(
            "The folder of the ledger cannot be made",
            got=cause.strerror or "",
            next="Declare another ledger.path",
        ) from None
    ledger = Ledger(create_sqlite(catalog.ledger))
    for space in catalog.id_spaces:
        ledger.declare(Budget(space.name, space.cap))
    return ledger
