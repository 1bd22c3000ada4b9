"""Fields inside other fields: which a schema has, and the values of one, whole rows at a time.

A structure is a column whose values have named parts. A part is read as if it were a column: where
the whole is NULL, so is the part. Lists and maps have any number of parts in a row; they stay as
they are, and are not read.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from discreet.core import optional

DEEPEST = 8
MOST_FIELDS = 10_000
"""How many fields inside others are looked at; those beyond are not found."""

Path = tuple[str, ...]


def inner_fields(schema: Any) -> list[tuple[Path, Any]]:
    """Return the path and the type of the fields inside the columns of a schema, outer ones first.

    A name that two of one structure have, in whatever case, leads nowhere: which is meant would be
    a guess.

    Example:
        >>> import pyarrow as pa
        >>> inner_fields(pa.schema([("a", pa.struct([("b", pa.struct([("c", pa.int8())]))]))]))[-1]
        (('a', 'b', 'c'), DataType(int8))
    """
    found: list[tuple[Path, Any]] = []
    waiting: list[tuple[Path, list[Any]]] = [((), list(schema))]
    for path, fields in waiting:
        for field in _single(fields):
            inside = (*path, field.name)
            if path:
                found.append((inside, field.type))
            if _is_structure(field.type) and len(inside) < DEEPEST:
                parts = [field.type.field(i) for i in range(field.type.num_fields)]
                waiting.append((inside, parts))
        if len(found) > MOST_FIELDS:
            break
    return found[:MOST_FIELDS]


def _single(fields: Sequence[Any]) -> Iterator[Any]:
    times = Counter(field.name.casefold() for field in fields)
    yield from (field for field in fields if times[field.name.casefold()] == 1)


def _is_structure(kind: Any) -> bool:
    return bool(optional.load("pyarrow").types.is_struct(kind))


def field_paths(schema: Any, places: Sequence[int]) -> list[tuple[int, Path]]:
    """Return the column of each place, and the names from there on to a field inside of it.

    Places beyond the columns are those of the fields inside them, in their order.
    """
    width = len(schema)
    inner = [path for path, _ in inner_fields(schema)] if max(places, default=0) >= width else []
    found = []
    for place in places:
        path = inner[place - width] if place >= width else ()
        found.append((schema.names.index(path[0]) if path else place, path[1:]))
    return found


def inner_array(array: Any, names: Sequence[str]) -> Any:
    """Return the values of a field inside a column; where a whole is NULL, they are NULL.

    The layout is looked at before: that the parts of a structure are as long as it says.
    """
    for name in names:
        array.validate()
        array = array.flatten()[array.type.get_field_index(name)]
    return array
