"""A connection: what an analyst holds. It has no way to the rows but :meth:`Connection.sql`."""

from pathlib import Path
from types import TracebackType
from typing import Any, Self

from attrs import frozen

from discreet.core.errors import MissingLoss
from discreet.core.loss import PrivacyLoss, Pure
from discreet.core.numbers import Number
from discreet.curator.answer import Curator, answer, explain
from discreet.curator.explanation import Explanation
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

    def __init__(self, curator: Curator, *, default: Pure | None, analyst: str) -> None:
        self._curator = curator
        self._default = default
        self._analyst = analyst

    def sql(self, query: str, *, epsilon: Number | None = None) -> Release:
        """Return a private answer. ``epsilon`` is what it may cost, unless the connection says."""
        return answer(self._curator, query, loss=self._loss(epsilon), analyst=self._analyst)

    def explain(self, query: str, *, epsilon: Number | None = None) -> Explanation:
        """Return what :meth:`sql` would do and cost, without reading or spending anything."""
        return explain(self._curator, query, loss=self._loss(epsilon), analyst=self._analyst)

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

    def _loss(self, epsilon: Number | None) -> Pure:
        if epsilon is not None:
            return Pure(epsilon)
        if self._default is None:
            raise MissingLoss(
                "Nobody said how much privacy this answer may cost",
                next="Give epsilon= with the query, or connect with a default (--epsilon)",
            )
        return self._default


def connect(
    project: str | Path = ".", *, epsilon: Number | None = None, analyst: str = LOCAL_ANALYST
) -> Connection:
    """Open the project whose ``discreet.toml`` is at ``project`` (the file, or its folder).

    ``epsilon`` is the default cost of each answer; without one, each query must give its own.
    """
    catalog = read_catalog(Path(project))
    default = None if epsilon is None else Pure(epsilon)
    ledger = open_ledger(catalog)
    curator = Curator(catalog=catalog, engine=DuckDbEngine(), ledger=ledger, rng=SystemRng())
    return Connection(curator, default=default, analyst=analyst)


def open_ledger(catalog: Catalog) -> Ledger:
    """Open the project's ledger, and note the declared budgets in it."""
    catalog.ledger.parent.mkdir(parents=True, exist_ok=True)
    ledger = Ledger(create_sqlite(catalog.ledger))
    for space in catalog.id_spaces:
        ledger.declare(Budget(space.name, space.cap))
    return ledger
