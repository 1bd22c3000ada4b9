"""An opened source: what to write in SQL for it, and the batches behind it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from attrs import field, frozen

from discreet.core import optional
from discreet.engines.duckdb.render.values import SQL_TYPES
from discreet.engines.duckdb.sources.batches import Batches
from discreet.engines.duckdb.sources.whole_texts import digests, whole_texts
from discreet.tables.catalog import PublicTable, Table
from discreet.tables.column import ColumnType
from discreet.tables.functions.text import LONGEST_TEXT


@frozen(kw_only=True)
class Opened:
    """A source that a plan can read. ``cells`` maps declared columns to SQL; no row is read yet."""

    relation: str
    """What to write after FROM."""
    cells: Mapping[str, str]
    digest: str | None = None
    """The SQL of the digest of a long text that says whose row it is, if the batches have it."""
    batches: Mapping[str, Batches] = field(factory=dict, repr=False)
    """What to register, and under which names."""


@frozen(kw_only=True)
class Part:
    """Rows of a source that are handed over in the same types, one for each wanted column."""

    types: tuple[Any, ...]
    """Arrow types; texts come as bytes."""
    begin: Callable[[], Iterator[Sequence[Any]]] = field(repr=False)
    """Begin to yield the arrays of the wanted columns, batch by batch."""


def opened(
    table: Table | PublicTable, wanted: Sequence[str], name: str, parts: Sequence[Part]
) -> Opened:
    """Return a source of some parts, under names that begin with ``name``; there may be none.

    Each part is cast to the declared types by itself: how one file stores a column does not matter
    for the others.
    """
    kinds = [table.column(column).type for column in wanted]
    owner = _owner(table, wanted)
    batches = {f"{name}_{number}": _batches(part, owner) for number, part in enumerate(parts)}
    selects = [
        _select(_cells(part, kinds), relation, "digest" if _has_digests(part, owner) else "NULL")
        for part, relation in zip(parts, batches, strict=True)
    ] or [_select([_cast("NULL", kind) for kind in kinds], "(SELECT 1) WHERE FALSE", "NULL")]
    return Opened(
        relation=f"({' UNION ALL '.join(selects)})",
        cells={column: f"d{i}" for i, column in enumerate(wanted)},
        digest=None if owner is None else "digest",
        batches=batches,
    )


def _owner(table: Table | PublicTable, wanted: Sequence[str]) -> int | None:
    """Return the place of the column that says whose row it is, if that is a text."""
    if not isinstance(table, Table) or table.unit.column is None:
        return None
    column = table.column(table.unit.column)
    return wanted.index(column.name) if column.type is ColumnType.TEXT else None


def _has_digests(part: Part, owner: int | None) -> bool:
    """Tell whether the owner is stored as text: whatever else is stored is never long."""
    return owner is not None and _is_bytes(part.types[owner])


def _select(cells: Sequence[str], relation: str, digest: str) -> str:
    named = [f"{cell} AS d{i}" for i, cell in enumerate(cells)]
    return f"SELECT {', '.join([*named, f'{digest}::VARCHAR AS digest'])} FROM {relation}"


def _cells(part: Part, kinds: Sequence[ColumnType]) -> list[str]:
    """Return each column as its declared type; what is longer than texts is no number or date."""
    cells = []
    for i, (handed, kind) in enumerate(zip(part.types, kinds, strict=True)):
        is_read = _is_bytes(handed) and kind is not ColumnType.TEXT
        short = f"CASE WHEN strlen(c{i}) <= {LONGEST_TEXT} THEN c{i} END"
        cells.append(_cast(short if is_read else f"c{i}", kind))
    return cells


def _cast(cell: str, kind: ColumnType) -> str:
    return f"TRY_CAST({cell} AS {SQL_TYPES[kind]})"


def _is_bytes(handed: Any) -> bool:
    return bool(optional.load("pyarrow").types.is_large_binary(handed))


def _batches(part: Part, owner: int | None) -> Batches:
    """Return the batches of a part: bytes as texts, and the digests of long owners last."""
    arrow = optional.load("pyarrow")
    text = arrow.large_string()
    kinds = [text if _is_bytes(kind) else kind for kind in part.types]
    named = [(f"c{i}", kind) for i, kind in enumerate(kinds)]
    last = [owner] if owner is not None and _has_digests(part, owner) else []
    schema = arrow.schema([*named, *(("digest", text) for _ in last)])

    def begin() -> Iterator[Any]:
        for arrays in part.begin():
            pairs = zip(arrays, part.types, strict=True)
            given = [whole_texts(a) if _is_bytes(kind) else a for a, kind in pairs]
            made = [digests(given[place]) for place in last]
            yield arrow.RecordBatch.from_arrays([*given, *made], schema=schema)

    return Batches(schema=schema, begin=begin)
