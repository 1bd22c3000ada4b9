"""An opened source: what to write in SQL for it, and the batches behind it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from attrs import field, frozen

from discreet.core import optional
from discreet.core.errors import DeclarationError
from discreet.engines.duckdb.sources.declared_values import SQL_TYPES, read_value, text
from discreet.engines.duckdb.sources.stored_times import clock_array, clock_type
from discreet.engines.duckdb.sources.stored_values import digests, marked_texts, whole_texts
from discreet.tables.catalog import PublicTable, Table
from discreet.tables.column import LONGEST_TEXT, Column, ColumnType

# ---- Arrow batches that can be read more than once: every scan begins anew.


@frozen(kw_only=True)
class Batches:
    """A schema, and a way to begin reading its batches.

    An engine asks for the stream of the Arrow protocol each time that it scans, so that a plan may
    read a source twice. It hands no condition down: nothing is compared before it is cast.
    """

    schema: Any
    begin: Callable[[], Iterator[Any]] = field(repr=False)

    def reader(self) -> Any:
        """Return a reader that stands before the first batch."""
        return optional.load("pyarrow").RecordBatchReader.from_batches(self.schema, self.begin())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Begin a stream of the Arrow C interface."""
        return self.reader().__arrow_c_stream__(requested_schema)


@frozen(kw_only=True)
class Part:
    """Rows of a source that are handed over in the same types, one for each wanted column."""

    types: tuple[Any, ...]
    """Arrow types; texts come as bytes."""
    begin: Callable[[], Iterator[Sequence[Any]]] = field(repr=False)
    """Begin to yield the arrays of the wanted columns, batch by batch."""


@frozen(kw_only=True)
class Opened:
    """A source that a plan can read. ``cells`` maps declared columns to SQL; no row is read yet."""

    relation: str
    """What to write after FROM."""
    cells: Mapping[str, str]
    digests: Mapping[str, str] = field(factory=dict)
    """The SQL of the digest of each long text that says whose row it is, if the batches have it."""
    batches: Mapping[str, Batches] = field(factory=dict, repr=False)
    """What to register, and under which names."""
    parts: tuple[Part, ...] = field(default=(), repr=False)
    """What the batches are made of, as it is stored."""


def opened(
    table: Table | PublicTable, wanted: Sequence[str], name: str, parts: Sequence[Part]
) -> Opened:
    """Return a source of some parts, under names that begin with ``name``; there may be none.

    Each part is cast to the declared types by itself: how one file stores a column does not matter
    for the others.
    """
    columns = [table.column(column) for column in wanted]
    kinds = [column.read_as for column in columns]
    owners = _owners(table, wanted, ColumnType.TEXT)
    numbered = _owners(table, wanted, ColumnType.INTEGER)
    batches = {
        f"{name}_{number}": _batches(part, columns, owners) for number, part in enumerate(parts)
    }
    selects = [
        _select(
            _cells(part, columns, numbered), relation, [_digest(part, owner) for owner in owners]
        )
        for part, relation in zip(parts, batches, strict=True)
    ] or [
        _select(
            [_cast("NULL", kind) for kind in kinds],
            "(SELECT 1) WHERE FALSE",
            [f"NULL::VARCHAR AS digest{owner}" for owner in owners],
        )
    ]
    return Opened(
        relation=f"({' UNION ALL '.join(selects)})",
        cells={column: f"d{i}" for i, column in enumerate(wanted)},
        digests={wanted[owner]: f"digest{owner}" for owner in owners},
        batches=batches,
        parts=tuple(parts),
    )


def _owners(table: Table | PublicTable, wanted: Sequence[str], kind: ColumnType) -> list[int]:
    """Return the places of the columns that say whose row it is, and are of a type."""
    if not isinstance(table, Table):
        return []
    columns = [table.column(name) for name in table.unit.owner_columns()]
    names = [column.name for column in columns if column.type is kind and column.name in wanted]
    return [wanted.index(name) for name in names]


def _digest(part: Part, owner: int) -> str:
    found = f"digest{owner}" if _is_bytes(part.types[owner]) else "NULL"
    return f"{found}::VARCHAR AS digest{owner}"


def _select(cells: Sequence[str], relation: str, digests: Sequence[str]) -> str:
    named = [f"{cell} AS d{i}" for i, cell in enumerate(cells)]
    return f"SELECT {', '.join([*named, *digests])} FROM {relation}"


def _cells(part: Part, columns: Sequence[Column], numbered: Sequence[int]) -> list[str]:
    """Return each column as its declared type; what is longer than texts is no number or date.

    A text that is no whole number names nobody: rounded, it would name somebody else. Numbers are
    handed over as whole ones where they say whose row it is; elsewhere a half is rounded away from
    0, as it is in texts.

    One that tells what could not be read is true where something is stored, and read it is NULL.
    """
    cells = []
    for i, (handed, column) in enumerate(zip(part.types, columns, strict=True)):
        kind = column.unreadable_as or column.read_as
        is_read = _is_bytes(handed) and kind not in (ColumnType.TEXT, *_OF_A_CLOCK)
        short = f"CASE WHEN strlen(c{i}) <= {LONGEST_TEXT} THEN c{i} END"
        cell = short if is_read else f"c{i}"
        if _is_bytes(handed) and i in numbered:
            cell = _whole(cell)
        elif kind is ColumnType.INTEGER and optional.load("pyarrow").types.is_floating(handed):
            cell = f"round({cell})"
        if column.unreadable_as is None:
            cells.append(_cast(cell, kind))
        else:
            known = [f"CAST(c{i} AS VARCHAR) <> {text(one)}" for one in column.missing_texts]
            tests = [f"c{i} IS NOT NULL", *known, f"{read_value(kind, cell)} IS NULL"]
            cells.append(f"({' AND '.join(tests)})")
    return cells


def _whole(cell: str) -> str:
    """Return a text if it is written as a whole number, and NULL if it is not."""
    exact = f"TRY_CAST({cell} AS DECIMAL(38, 18))"
    return f"CASE WHEN {exact} = TRY_CAST({cell} AS BIGINT) THEN {cell} END"


def _cast(cell: str, kind: ColumnType) -> str:
    return f"TRY_CAST({cell} AS {SQL_TYPES[kind]})"


def _is_bytes(handed: Any) -> bool:
    return bool(optional.load("pyarrow").types.is_large_binary(handed))


_OF_A_CLOCK = (ColumnType.TIMESTAMP, ColumnType.TIME)
"""Types that no engine casts to, because each would read texts and time zones in its own way."""


def _given_type(column: Column, handed: Any) -> Any:
    """Return the type in which a column is given to the engine."""
    if column.type in _OF_A_CLOCK:
        return clock_type(column.type)
    return optional.load("pyarrow").large_string() if _is_bytes(handed) else handed


def _given(column: Column, array: Any, handed: Any) -> Any:
    """Return an array of a column as it is given to the engine."""
    if _is_bytes(handed):
        array = whole_texts(array) if column.unreadable_as is None else marked_texts(array)
    return clock_array(column, array) if column.type in _OF_A_CLOCK else array


def _batches(part: Part, columns: Sequence[Column], owners: Sequence[int]) -> Batches:
    """Return the batches of a part: bytes as texts, and the digests of long owners last."""
    arrow = optional.load("pyarrow")
    text = arrow.large_string()
    kinds = [_given_type(*pair) for pair in zip(columns, part.types, strict=True)]
    named = [(f"c{i}", kind) for i, kind in enumerate(kinds)]
    # Whatever is not stored as text is never long.
    last = [owner for owner in owners if _is_bytes(part.types[owner])]
    schema = arrow.schema([*named, *((f"digest{owner}", text) for owner in last)])

    def begin() -> Iterator[Any]:
        for arrays in part.begin():
            given = [_given(*one) for one in zip(columns, arrays, part.types, strict=True)]
            made = [digests(given[place]) for place in last]
            yield arrow.RecordBatch.from_arrays([*given, *made], schema=schema)

    return Batches(schema=schema, begin=begin)


# ---- Match declared columns with the columns that a source has, by name alone.


def match_columns(table: Table | PublicTable, names: Sequence[str]) -> dict[str, int]:
    """Return the position of each declared column in a source whose columns are ``names``.

    This is the owner's check: a column that is not found, or that could be two, is refused.
    """
    places = {}
    for name, found in find_columns(table, names).items():
        if found is None:
            meant = table.column(name).stored_name.casefold()
            is_there = any(other.casefold() == meant for other in names)
            raise _twice(table, name) if is_there else _lacking(table, name)
        places[name] = found
    return places


def find_columns(table: Table | PublicTable, names: Sequence[str]) -> dict[str, int | None]:
    """Return the position of each declared column, or ``None`` where it is not to be found.

    A name matches in any case, if just one column does. One that could mean two columns means none
    of them: which of them is the unit must never be a guess.
    """
    places: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        places.setdefault(name.casefold(), []).append(place)
    found = {column.name: places.get(column.stored_name.casefold(), []) for column in table.columns}
    return {name: alike[0] if len(alike) == 1 else None for name, alike in found.items()}


def wanted_columns(table: Table | PublicTable, used: frozenset[str]) -> list[str]:
    """Return the declared columns that are used; one at least, because rows are counted by it."""
    names = [column.name for column in table.columns]
    return [name for name in names if name in used] or names[:1]


def _shown(column: Column) -> str:
    path = column.stored_at
    return column.name if path is None else f"{column.name}, from {' > '.join(path)}"


def _lacking(table: Table | PublicTable, name: str) -> DeclarationError:
    return DeclarationError(
        f"The source of {table.name} lacks a declared column",
        got=_shown(table.column(name)),
        next="Do not declare it; or if it is the index of the frame, give frame.reset_index()"
        if table.source.frame is not None
        else "Where a file lacks it, it would read as NULL",
    )


def _twice(table: Table | PublicTable, name: str) -> DeclarationError:
    return DeclarationError(
        f"The source of {table.name} has a column twice",
        must="have each declared name once, in whatever case",
        got=name,
    )
