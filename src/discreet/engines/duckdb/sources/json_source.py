"""JSON lines: each line is an object by itself, and only its own bytes can make it unreadable.

A line ends at a line feed, which no JSON text has inside of a string. So a line that cannot be read
is one row that is nobody's, and the lines after it are the same ones.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from attrs import define, field

from discreet.core import optional
from discreet.core.errors import DeclarationError
from discreet.engines.duckdb.sources.arrow_source import is_id
from discreet.engines.duckdb.sources.csv_records import LONGEST_RECORD
from discreet.engines.duckdb.sources.nested_fields import DEEPEST, MOST_FIELDS
from discreet.engines.duckdb.sources.opened import Opened
from discreet.engines.duckdb.sources.text_cells import cell, id_cell
from discreet.engines.duckdb.sources.text_files import Readable, opened_text
from discreet.engines.duckdb.sources.text_source import open_texts
from discreet.tables.catalog import PublicTable, Table
from discreet.tables.column import Column, path_name
from discreet.tables.declarations.sources import TO_JSON_LINES
from discreet.tables.text_form import TextForm

BLOCK = 1 << 20
"""How many bytes are read at once. Where a block ends does not show in what is read."""

LOOKED_AT = 1 << 24
"""How many bytes of a file are looked at for the names in it."""

_MARK = b"\xef\xbb\xbf"


class Object(list[tuple[str, Any]]):
    """The pairs of a JSON object, as they are written; a name can stand there twice."""


class Written(str):
    """A number as it is written: it is read as the declared type, and not before."""

    __slots__ = ()


def _id_cell(value: Any) -> bytes | None:
    """Return who owns a row: 5, 5.0 and 5e0 are the same unit, and -0 is 0."""
    if not isinstance(value, Written):
        return id_cell(value)
    is_integer = value.lstrip("-").isdigit()
    return (b"0" if value == "-0" else cell(value)) if is_integer else id_cell(float(value))


_DECODER = json.JSONDecoder(
    object_pairs_hook=Object,
    parse_int=Written,
    parse_float=Written,
    parse_constant=lambda _: None,
)


def object_of(line: bytes) -> Object | None:
    r"""Return the object that a line is, or ``None`` if it is spoiled; no line makes this fail.

    Bytes that are no UTF-8 spoil their own string alone.

    Example:
        >>> object_of(b'{"age": 1e400, "name": "\xff"}') is None, object_of(b'{"age": 3')
        (False, None)
    """
    try:
        found = _DECODER.decode(line.decode("utf-8", "surrogateescape"))
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, Object) else None


def open_json_lines(table: Table | PublicTable, used: frozenset[str], name: str) -> Opened:
    """Return the source as bytes of the used columns, one file after another.

    A column is looked up in each line by its name or its path, in any case. Where a line lacks it,
    or has it twice, or has a list or an object there, it is NULL.
    """
    return open_texts(json_arrays, table, used, name)


def json_arrays(
    table: Table | PublicTable, file: Path, wanted: Sequence[str]
) -> Iterator[tuple[int, Sequence[Any]]]:
    """Yield the number of rows and the bytes of the wanted columns of a file, batch by batch."""
    arrow = optional.load("pyarrow")
    meant = _meant([table.column(column) for column in wanted])
    makers = [_id_cell if is_id(table, column) else cell for column in wanted]
    for objects in _objects(file, table.source.text):
        rows = [_fields(one, meant, len(wanted)) for one in objects]
        columns = [[make(row[place]) for row in rows] for place, make in enumerate(makers)]
        yield len(rows), [arrow.array(values, arrow.large_binary()) for values in columns]


@define
class _Meant:
    """What a name means: the columns that are stored there, and names inside of it."""

    places: list[int] = field(factory=list)
    inside: "dict[str, _Meant]" = field(factory=dict)


def _meant(columns: Sequence[Column]) -> dict[str, _Meant]:
    """Return what each name of a line means, in small letters."""
    first: dict[str, _Meant] = {}
    for place, column in enumerate(columns):
        *outer, last = (name.casefold() for name in column.stored_at or (column.name,))
        here = first
        for name in outer:
            here = here.setdefault(name, _Meant()).inside
        here.setdefault(last, _Meant()).places.append(place)
    return first


def _fields(found: Object, meant: dict[str, _Meant], count: int) -> list[Any]:
    """Return the value of each column; of a name that stands there twice, none."""
    values: list[Any] = [None] * count
    _fill(values, found, meant)
    return values


def _fill(values: list[Any], found: Object, meant: dict[str, _Meant]) -> None:
    """Put the values of an object where they belong; each pair of it is looked at once."""
    seen: dict[str, bool] = {}
    for name, value in found:
        key = name.casefold()
        here = meant.get(key)
        if here is None or seen.get(key) is False:
            continue
        is_first = key not in seen
        seen[key] = is_first
        for place in here.places:
            values[place] = value if is_first else None
        if here.inside:
            _clear(values, here.inside)
            if is_first and isinstance(value, Object):
                _fill(values, value, here.inside)


def _clear(values: list[Any], meant: dict[str, _Meant]) -> None:
    for here in meant.values():
        for place in here.places:
            values[place] = None
        _clear(values, here.inside)


def _objects(file: Path, form: TextForm) -> Iterator[list[Object]]:
    with opened_text(file, form) as stream:
        for lines in _lines(stream):
            yield [one for one in map(object_of, lines) if one is not None]


def _lines(stream: Readable) -> Iterator[list[bytes]]:
    """Yield the lines block by block; one that is too long is left out, and never kept."""
    rest, is_first, is_too_long = b"", True, False
    while True:
        block = stream.read(BLOCK)
        *lines, rest = (rest + block).split(b"\n")
        if not block:
            lines, rest = [*lines, rest], b""
        if is_too_long and lines:
            lines, is_too_long = lines[1:], False
        if len(rest) > LONGEST_RECORD:
            rest, is_too_long = b"", True
        if is_first and lines:
            lines[0], is_first = lines[0].removeprefix(_MARK), False
        yield [line for line in lines if len(line) <= LONGEST_RECORD and line.strip()]
        if not block:
            return


def _levels(found: Object) -> Iterator[tuple[tuple[str, ...], Object]]:
    """Yield an object and those inside of it, each with its path; nothing inside of a list."""
    waiting: list[tuple[tuple[str, ...], Object]] = [((), found)]
    for path, one in waiting:
        yield path, one
        if len(path) + 1 < DEEPEST:
            waiting += [((*path, name), value) for name, value in one if isinstance(value, Object)]


# ---- For the owner: whether a file is JSON lines at all, and which names are in it.


def require_json_lines(file: Path, form: TextForm) -> None:
    """Refuse one JSON text over many lines, or an array: of it a few rows would be read, or none.

    Only how the file begins is looked at. No question does that: it may be one person's row. The
    name of the file is not told, for there might be one for each person.
    """
    with opened_text(file, form) as stream:
        start = _beginning(stream)
    if start.startswith(b"["):
        raise DeclarationError(
            "A file is a JSON array, and not JSON lines",
            must="have one object in each line, without brackets around them and commas between",
            next=TO_JSON_LINES,
        )
    line = start.partition(b"\n")[0]
    if line.startswith(b"{") and (len(line) > LONGEST_RECORD or object_of(line) is None):
        raise DeclarationError(
            "The first line of a file of JSON lines is no object by itself",
            must="have one object of at most 2 MiB in each line, from its first brace to its last",
            next="Write each row into a line of its own, without line ends within it",
        )


def _beginning(stream: Readable) -> bytes:
    """Return a first part of a file, from the first sign that is no space."""
    start = stream.read(BLOCK).removeprefix(_MARK).lstrip()
    while b"\n" not in start and len(start) <= LONGEST_RECORD and (more := stream.read(BLOCK)):
        start = (start + more).lstrip()
    return start


def has_other_lines(file: Path, form: TextForm) -> bool:
    """Tell whether any line near the beginning is no object, so that no question reads it."""
    with opened_text(file, form) as stream:
        for number, lines in enumerate(_lines(stream)):
            if any(object_of(line) is None for line in lines):
                return True
            if number * BLOCK > LOOKED_AT:
                break
    return False


def json_names(file: Path, form: TextForm) -> tuple[str, ...]:
    """Return the names in the first lines of a file, for the owner: there is no header.

    Lines may write a name in different cases. One that a line has twice is there twice. Names
    inside of objects come with their paths.
    """
    require_json_lines(file, form)
    names: dict[str, str] = {}
    doubled: dict[str, str] = {}
    for number, objects in enumerate(_objects(file, form)):
        for path, one in (level for found in objects for level in _levels(found)):
            written = [path_name((*path, name)) for name, _ in one]
            here = {name.casefold(): name for name in written}
            names |= {key: name for key, name in here.items() if key not in names}
            if len(here) < len(one):
                counts = Counter(name.casefold() for name in written)
                doubled |= {name: here[name] for name in counts if counts[name] > 1}
            if len(names) > MOST_FIELDS:
                break
        if number * BLOCK > LOOKED_AT:
            break
    if not names:
        raise ValueError("There is no object in it")
    return (*names.values(), *doubled.values())
