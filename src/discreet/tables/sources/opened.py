"""An opened source: what to write in SQL for it, and the batches behind it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from attrs import field, frozen

from discreet.core import optional
from discreet.tables.catalog import PublicTable, Table
from discreet.tables.engines.duckdb_sql.values import SQL_TYPES
from discreet.tables.sources.arrow_types import handed_cell
from discreet.tables.sources.batches import Batches


@frozen(kw_only=True)
class Opened:
    """A source that a plan can read. ``cells`` maps declared columns to SQL; no row is read yet."""

    relation: str
    """What to write after FROM."""
    cells: Mapping[str, str]
    batches: Mapping[str, Batches] = field(factory=dict, repr=False)
    """What to register, and under which names."""


@frozen(kw_only=True)
class Part:
    """Rows of a source that are handed over in the same types, one for each wanted column."""

    types: tuple[Any, ...]
    begin: Callable[[], Iterator[Sequence[Any]]] = field(repr=False)
    """Begin to yield the arrays of the wanted columns, batch by batch."""


def opened(
    table: Table | PublicTable, wanted: Sequence[str], name: str, parts: Sequence[Part]
) -> Opened:
    """Return a source of some parts, under names that begin with ``name``; there may be none.

    Each part is cast to the declared types by itself: how one file stores a column does not matter
    for the others.
    """
    kinds = [SQL_TYPES[table.column(column).type] for column in wanted]
    batches = {f"{name}_{number}": _batches(part) for number, part in enumerate(parts)}
    selects = [
        _select([handed_cell(f"c{i}", kind) for i, kind in enumerate(part.types)], kinds, relation)
        for part, relation in zip(parts, batches, strict=True)
    ] or [_select(["NULL"] * len(kinds), kinds, "(SELECT 1) WHERE FALSE")]
    return Opened(
        relation=f"({' UNION ALL '.join(selects)})",
        cells={column: f"d{i}" for i, column in enumerate(wanted)},
        batches=batches,
    )


def _select(cells: Sequence[str], kinds: Sequence[str], relation: str) -> str:
    pairs = enumerate(zip(cells, kinds, strict=True))
    casts = ", ".join(f"TRY_CAST({cell} AS {kind}) AS d{i}" for i, (cell, kind) in pairs)
    return f"SELECT {casts} FROM {relation}"


def _batches(part: Part) -> Batches:
    arrow = optional.load("pyarrow")
    schema = arrow.schema([(f"c{i}", kind) for i, kind in enumerate(part.types)])

    def begin() -> Iterator[Any]:
        for arrays in part.begin():
            yield arrow.RecordBatch.from_arrays(list(arrays), schema=schema)

    return Batches(schema=schema, begin=begin)
