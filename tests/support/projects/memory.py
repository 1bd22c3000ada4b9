"""A project in memory: an engine that reads Arrow tables instead of files, and shows all it finds.

What real readers do with real files is tested elsewhere; everything behind them is the same.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from attrs import field, frozen

from discreet.core.protocols import IntArray
from discreet.engines.duckdb.engine import DuckDbEngine
from discreet.engines.duckdb.sources.opened import Batches, Opened
from discreet.tables.catalog import PublicTable, Table
from discreet.tables.keyset import PrivateKeys
from discreet.tables.plans.aggregate import QuantileValues
from discreet.tables.plans.engine import Engine
from discreet.tables.plans.plan import BoundedPlan
from tests.support.projects.gate import open_permit

SALT = bytes(range(32))


class MemoryEngine(DuckDbEngine):
    """The embedded engine over Arrow tables in memory, with one thread unless told otherwise."""

    def __init__(self, tables: Mapping[str, pa.Table] | None = None, *, threads: int = 1) -> None:
        super().__init__(reader=self._open_in_memory, threads=threads)
        self.tables = dict(tables or {})

    def _open_in_memory(
        self, table: Table | PublicTable, used: frozenset[str], name: str
    ) -> Opened:
        columns = [column.name for column in table.columns if column.name in used]
        columns = columns or [table.columns[0].name]  # without any, rows would have no number
        data = self.tables[table.name].select(columns)
        renamed = data.rename_columns([f"c{i}" for i in range(len(columns))])
        return Opened(
            relation=name,
            cells={column: f"c{i}" for i, column in enumerate(columns)},
            batches={
                name: Batches(schema=renamed.schema, begin=lambda: iter(renamed.to_batches()))
            },
        )

    def require_source(self, table: Table | PublicTable) -> None:
        """Find every declared table."""
        assert table.name in self.tables

    def require_present(self, table: Table | PublicTable) -> None:
        """Find every declared table."""
        assert table.name in self.tables


# ---- Seeing exact aggregates, which only a test may do.


class Reveal:
    """A mechanism that adds nothing; of a list of values it remembers all."""

    def __init__(self) -> None:
        self.lists: list[IntArray] = []

    def release(self, exact_values: Any, rng: object) -> Any:
        """Return a copy."""
        if isinstance(exact_values, dict):
            return dict(exact_values)
        return np.asarray(exact_values).copy()


class RevealLists(Reveal):
    """A chooser that remembers the values of each group and chooses none."""

    def release(self, exact_values: Any, rng: object) -> Any:
        """Remember the values."""
        self.lists.append(np.asarray(exact_values).copy())
        return 0


Column = IntArray | list[Counter[int]]
"""One integer for each group, or the values of each group and how often they occur."""


@frozen(kw_only=True)
class Exact:
    """All that an engine found, without noise."""

    keys: tuple[Any, ...] | None
    """The groups, if they are private."""
    units: IntArray | None
    columns: tuple[Column, ...] = field(repr=False)


def reveal(engine: Engine, plan: BoundedPlan, salt: bytes = SALT) -> Exact:
    """Return the exact aggregates of a plan."""
    found = engine.execute(plan, salt, open_permit())
    see: Any = Reveal()
    keys = units = None
    if isinstance(plan.keys, PrivateKeys):
        keys, units, found = found.select(see, see)
    columns: list[Column] = []
    for i, aggregate in enumerate(plan.aggregates):
        if isinstance(aggregate, QuantileValues):
            lists: Any = RevealLists()
            found.randomise(i, lists, lists)
            columns.append([Counter(values.tolist()) for values in lists.lists])
        else:
            columns.append(found.randomise(i, see, see))
    return Exact(keys=keys, units=units, columns=tuple(columns))
