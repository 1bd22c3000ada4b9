"""Arrow files: the file form and the stream form, mapped into memory, each batch looked over."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from discreet.core import optional
from discreet.engines.duckdb.sources.arrow_files import ArrowColumn, ArrowKind
from discreet.engines.duckdb.sources.arrow_types import is_textual

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
        return tuple(ArrowColumn(name=field.name, type=field.type) for field in schema)


def _read(file: Path, places: Sequence[int]) -> Iterator[tuple[int, Sequence[Any]]]:
    chosen = sorted(set(places))
    order = {place: i for i, place in enumerate(chosen)}
    with _opened(file, chosen or None) as (_, batches):
        for batch in batches:
            yield batch.num_rows, [checked(batch.column(order[place])) for place in places]


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
