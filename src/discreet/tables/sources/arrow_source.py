"""Arrow files: the file form and the stream form, mapped into memory, each batch looked over."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from discreet.core import optional
from discreet.tables.sources.arrow_files import ArrowKind

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


def _schema(file: Path) -> Any:
    """Return names and types, and look at no batch."""
    with _opened(file) as (schema, _):
        return schema


def _read(file: Path, places: Sequence[int]) -> Iterator[Sequence[Any]]:
    order = {place: i for i, place in enumerate(sorted(set(places)))}
    with _opened(file, places) as (_, batches):
        for batch in batches:
            yield [checked(batch.column(order[place])) for place in places]


def checked(array: Any) -> Any:
    """Return the array with text as bytes, after a look at every offset and index in it.

    Nothing else looks at them, and a damaged file must not make us read beyond its buffers. Only
    the layout is looked at, never a value: text that is not UTF-8, or a decimal of too many digits,
    is no damage but something that a person can have.
    """
    arrow = optional.load("pyarrow")
    types = arrow.types
    if types.is_dictionary(array.type):
        return arrow.DictionaryArray.from_arrays(checked(array.indices), checked(array.dictionary))
    plain = {arrow.string(): arrow.binary(), arrow.large_string(): arrow.large_binary()}
    array = array.view(plain.get(array.type, array.type))
    array.validate(full=types.is_binary(array.type) or types.is_large_binary(array.type))
    return array


ARROW = ArrowKind(schema=_schema, read=_read)
