"""Arrow files: the file form and the stream form, mapped into memory, each batch looked over."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from attrs import frozen

from discreet.core import optional
from discreet.core.arrow_arrays import rebuilt
from discreet.engines.duckdb.sources.nested_fields import field_paths, inner_array, inner_fields
from discreet.engines.duckdb.sources.opened import (
    Opened,
    Part,
    find_columns,
    opened,
    wanted_columns,
)
from discreet.engines.duckdb.sources.stored_times import clock_type, times_in_a_day
from discreet.engines.duckdb.sources.stored_values import (
    decimal_type,
    decimals_in_range,
    is_valid,
    stored,
    time_type,
    times_in_range,
    whole_decimals,
    whole_floats,
    whole_type,
)
from discreet.tables.catalog import PublicTable, Table
from discreet.tables.column import ColumnType, path_name
from discreet.tables.source_files import fitting_files, folder_values

# ---- Stored Arrow types: which can be handed over whatever the values are, and in what form.
#
# Every way to here is by type alone, and every function of arrays is total and works row by row.
# So what is handed over for a row depends on that row's bits, and no row can make the others fail.


def handed_type(kind: Any) -> Any:
    """Return the type in which a stored type is handed over, or ``None`` if it cannot be.

    Text comes as bytes, a dictionary as its values, integers in 64 bits. A column of the type
    ``null`` comes as booleans, of which there are none.
    """
    arrow = optional.load("pyarrow")
    types, value = arrow.types, value_type(kind)
    if types.is_null(value):
        return arrow.bool_()
    if types.is_integer(value):
        return value if types.is_uint64(value) else arrow.int64()
    if types.is_floating(value):  # half floats are not handed over; single ones hold them all
        return arrow.float32() if types.is_float16(value) else value
    if types.is_date(value) or types.is_timestamp(value):
        return time_type(value)
    if types.is_time(value):
        return clock_type(ColumnType.TIME)
    if types.is_decimal(value):
        return decimal_type(value)
    if is_textual(value):
        return arrow.large_binary()
    return value if types.is_boolean(value) else None


def handed_id_type(kind: Any) -> Any:
    """Return the same for the column that says whose row it is: numbers come as whole ones."""
    handed = handed_type(kind)
    return None if handed is None else whole_type(handed)


def handed_array(array: Any, handed: Any) -> Any:
    """Return a stored array in the type that was chosen for its type; no value makes this fail."""
    types = optional.load("pyarrow").types
    kind = array.type
    if types.is_dictionary(kind):
        return _written_out(array, handed_array(array.dictionary, handed))
    if types.is_null(kind):
        return optional.load("pyarrow").nulls(len(array), handed)
    if types.is_date(kind) or types.is_timestamp(kind):
        return times_in_range(array)
    if types.is_time(kind):
        return times_in_a_day(array)
    if types.is_decimal(kind):
        found = decimals_in_range(array)
        return found if found.type == handed else whole_decimals(found)
    if types.is_floating(kind) and types.is_integer(handed):
        return whole_floats(array)
    return array if kind == handed else array.cast(handed)


def _written_out(array: Any, entries: Any) -> Any:
    """Return the entries of a dictionary, one for each row; a place beyond it is NULL."""
    arrow = optional.load("pyarrow")
    places = array.indices
    unsigned = places.cast(arrow.uint64(), safe=False)  # negative ones become very large
    number = stored(unsigned.fill_null(0), np.uint64)[:, 0]
    valid = is_valid(places) & (number < np.uint64(len(entries)))
    return entries.take(rebuilt(arrow.uint64(), number, valid))


def value_type(kind: Any) -> Any:
    """Return the type of the values: of a dictionary, that of its entries."""
    return kind.value_type if optional.load("pyarrow").types.is_dictionary(kind) else kind


def is_textual(kind: Any) -> bool:
    """Tell whether a type is of text or of bytes, with the usual layout."""
    types = optional.load("pyarrow").types
    textual = (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary)
    return any(is_kind(kind) for is_kind in textual)


# ---- Files of Arrow batches, whatever kind of file: matched by name, each read by itself.

BATCH_ROWS = 1 << 17


@frozen(kw_only=True)
class ArrowColumn:
    """A column of a file: its name, its type, and whether every value of it can be read."""

    name: str
    type: Any
    is_readable: bool = True
    stored: str | None = None
    """What the source calls its type, if not as Arrow does."""


@frozen(kw_only=True)
class ArrowKind:
    """A kind of file that holds Arrow batches: how to read its columns' types, and some columns."""

    columns: Callable[[Path], tuple[ArrowColumn, ...]]
    read: Callable[[Path, Sequence[int]], Iterator[tuple[int, Sequence[Any]]]]
    """Yield the number of rows and the arrays at the given places, batch by batch."""


def open_arrow_files(
    kind: ArrowKind, table: Table | PublicTable, used: frozenset[str], name: str
) -> Opened:
    """Return the source as batches of the used columns, one file after another.

    Files are named literally and a folder is a column only where that is declared. Files that are
    handed over in the same types are one part. A column that a file lacks, or of which some value
    could not be read, is NULL in all of the file's rows.
    """
    wanted = wanted_columns(table, used)
    parts: dict[tuple[Any, ...], list[tuple[Path, tuple[_Cells, ...]]]] = {}
    for file in fitting_files(table.source):
        columns = kind.columns(file)
        found = find_columns(table, [column.name for column in columns])
        folders = folder_values(table.source, file)
        chosen = [
            (optional.load("pyarrow").large_binary(), _Same(folders[column]))
            if column in folders
            else _chosen(columns, found[column], is_id=is_id(table, column))
            for column in wanted
        ]
        types = tuple(handed for handed, _ in chosen)
        parts.setdefault(types, []).append((file, tuple(cells for _, cells in chosen)))
    return opened(
        table,
        wanted,
        name,
        [Part(types=t, begin=partial(_arrays, kind, files, t)) for t, files in parts.items()],
    )


def is_id(table: Table | PublicTable, column: str) -> bool:
    """Tell whether a column says whose row it is."""
    return isinstance(table, Table) and column in table.unit.owner_columns()


def nothing() -> Any:
    """Return the type in which a column without any value is handed over."""
    return handed_type(optional.load("pyarrow").null())


@frozen
class _Same:
    """What the name of a folder says of all rows of a file."""

    value: bytes | None


_Cells = int | _Same | None
"""Where the cells of a column are: at a place of the file, in its folder's name, or nowhere."""


def _chosen(
    columns: Sequence[ArrowColumn], place: int | None, *, is_id: bool
) -> tuple[Any, _Cells]:
    """Return the type in which a stored column is handed over, and where its cells are."""
    if place is None or not columns[place].is_readable:
        return nothing(), None
    kind = columns[place].type
    handed = handed_id_type(kind) if is_id else handed_type(kind)
    return (nothing(), None) if handed is None else (handed, place)


def _arrays(
    kind: ArrowKind,
    files: Sequence[tuple[Path, tuple[_Cells, ...]]],
    types: tuple[Any, ...],
) -> Iterator[Sequence[Any]]:
    arrow = optional.load("pyarrow")
    for file, cells in files:
        present = [place for place in cells if isinstance(place, int)]
        for rows, arrays in kind.read(file, present):
            of_place = dict(zip(present, arrays, strict=True))
            yield [
                handed_array(of_place[place], handed)
                if isinstance(place, int)
                else arrow.repeat(arrow.scalar(place and place.value, handed), rows)
                for place, handed in zip(cells, types, strict=True)
            ]


_FILE_MAGIC = b"ARROW1"


@contextmanager
def _opened(file: Path, places: Sequence[int] | None = None) -> Iterator[tuple[Any, Iterator[Any]]]:
    """Yield the schema of the chosen columns and the batches, for either form of file."""
    arrow, ipc = optional.load("pyarrow"), optional.load("pyarrow.ipc")
    options = ipc.IpcReadOptions(included_fields=None if places is None else sorted(set(places)))
    with arrow.memory_map(str(file)) as source:
        is_file = source.read_at(len(_FILE_MAGIC), 0) == _FILE_MAGIC
        if is_file:
            reader = ipc.open_file(source, options=options)
            batches = (reader.get_batch(i) for i in range(reader.num_record_batches))
        else:
            reader = ipc.open_stream(source, options=options)
            batches = iter(reader)
        yield reader.schema, batches


def _columns(file: Path) -> tuple[ArrowColumn, ...]:
    """Return names and types, and look at no batch."""
    with _opened(file) as (schema, _):
        columns = [ArrowColumn(name=field.name, type=field.type) for field in schema]
        inner = [ArrowColumn(name=path_name(p), type=kind) for p, kind in inner_fields(schema)]
        return (*columns, *inner)


def _read(file: Path, places: Sequence[int]) -> Iterator[tuple[int, Sequence[Any]]]:
    with _opened(file) as (schema, _):
        paths = field_paths(schema, places)
    chosen = sorted({place for place, _ in paths})
    order = {place: i for i, place in enumerate(chosen)}
    with _opened(file, chosen or None) as (_, batches):
        for batch in batches:
            arrays = [inner_array(batch.column(order[place]), names) for place, names in paths]
            yield batch.num_rows, [checked(array) for array in arrays]


def checked(array: Any) -> Any:
    """Return the array with text as bytes, after a look at every offset in it.

    Nothing else looks at them, and a damaged file must not make us read beyond its buffers. Only
    the layout is looked at, never a value: text that is not UTF-8, a decimal of too many digits or
    a place beyond a dictionary is no damage but something that a person can have.
    """
    arrow = optional.load("pyarrow")
    if arrow.types.is_dictionary(array.type):
        indices, entries = checked(array.indices), checked(array.dictionary)
        return arrow.DictionaryArray.from_arrays(indices, entries, safe=False)
    plain = {arrow.string(): arrow.binary(), arrow.large_string(): arrow.large_binary()}
    array = array.view(plain.get(array.type, array.type))
    array.validate(full=is_textual(array.type))
    return array


ARROW = ArrowKind(columns=_columns, read=_read)
