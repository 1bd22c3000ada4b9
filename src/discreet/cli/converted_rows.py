"""Rows of a source for its owner, as batches to be written: what is in doubt is refused by line."""

import csv
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attrs import evolve, frozen

from discreet.core import optional
from discreet.core.errors import InvalidArgument
from discreet.engines.duckdb.sources.csv_source import csv_header, require_separators
from discreet.engines.duckdb.sources.json_source import object_of, require_json_lines
from discreet.engines.duckdb.sources.open_source import open_source
from discreet.engines.duckdb.sources.stored_columns import stored_columns
from discreet.engines.duckdb.sources.text_files import Readable, opened_text
from discreet.tables.catalog import PublicTable
from discreet.tables.column import Column, ColumnType
from discreet.tables.source import Source, SourceFormat
from discreet.tables.text_form import UTF_8, UTF_16

ROWS_AT_ONCE = 100_000


@frozen(kw_only=True)
class Converted:
    """A schema and the tables of rows to write, in turn."""

    schema: Any
    tables: Iterator[Any]


@contextmanager
def converted(source: Source) -> Iterator[Converted]:
    """Yield the rows of one file. Reading goes on while the block runs."""
    if source.format is SourceFormat.CSV:
        with _text_lines(source) as lines:
            yield _text_tables(_of_csv(source, lines))
        return
    if source.format is SourceFormat.JSON_LINES:
        _require_objects(source)
    yield _of_source(source)


def require_well_formed(source: Source) -> None:
    """Refuse a file of text by the first line that is no row; what is in its cells is not read."""
    if source.format is SourceFormat.JSON_LINES:
        _require_objects(source)
    if source.format is not SourceFormat.CSV:
        return
    with _text_lines(source, errors="surrogateescape") as lines:
        for _ in _of_csv(source, lines).rows:
            pass


# ---- CSV, by the strict rules of Python's reader: it names the line that breaks them.


class _RawText(io.RawIOBase):
    """What hands out bytes, as Python's readers of text want it."""

    def __init__(self, stream: Readable) -> None:
        super().__init__()
        self._stream = stream

    def readable(self) -> bool:
        """Tell that it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer as far as there are bytes."""
        found = self._stream.read(len(buffer))
        buffer[: len(found)] = found
        return len(found)


@contextmanager
def _text_lines(source: Source, *, errors: str = "strict") -> Iterator[Any]:
    """Open a file of text. Lines end as the header's does, and only so."""
    form, end = source.text, "\n"
    if form.has_header:
        header = csv_header(source.path, form)
        if header.is_spoiled:
            raise _not_usable()
        end = header.line_end.value.decode()
    is_unicode = form.encoding == UTF_8 or form.encoding in UTF_16
    encoding = "utf-8-sig" if is_unicode else form.encoding
    with opened_text(source.path, form) as stream:
        buffered = io.BufferedReader(_RawText(stream))
        yield io.TextIOWrapper(buffered, encoding=encoding, errors=errors, newline=end)


@frozen(kw_only=True)
class _TextRows:
    """The names of columns, and rows of texts, of which an empty one is none."""

    names: list[str]
    rows: Iterator[list[str | None]]


def _of_csv(source: Source, lines: Any) -> _TextRows:
    form = source.text
    reader = csv.reader(
        lines,
        delimiter=form.delimiter,
        quotechar=form.quote or None,
        quoting=csv.QUOTE_MINIMAL if form.quote else csv.QUOTE_NONE,
        strict=True,
    )
    first = next(reader, [])
    names, rows = first, _rows(reader, len(first))
    if form.has_header:
        require_separators(names, form)
    else:
        names = [f"column{number}" for number in range(1, len(first) + 1)]
        rows = _with(first, rows)
    if not names or len(set(names)) < len(names):
        raise _not_usable()
    return _TextRows(names=names, rows=rows)


def _text_tables(found: _TextRows) -> Converted:
    arrow = optional.load("pyarrow")
    schema = arrow.schema([(name, arrow.string()) for name in found.names])
    return Converted(schema=schema, tables=_tables(found.rows, schema))


def _with(first: list[str], rows: Iterator[list[str | None]]) -> Iterator[list[str | None]]:
    yield [field or None for field in first]
    yield from rows


def _rows(reader: Any, width: int) -> Iterator[list[str | None]]:
    while True:
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error:
            raise _malformed(reader.line_num) from None
        if len(row) != width:
            raise _malformed(reader.line_num)
        yield [field or None for field in row]


def _tables(rows: Iterator[list[str | None]], schema: Any) -> Iterator[Any]:
    batch: list[list[str | None]] = []
    for row in rows:
        batch.append(row)
        if len(batch) == ROWS_AT_ONCE:
            yield _table(batch, schema)
            batch = []
    yield _table(batch, schema)


def _table(batch: list[list[str | None]], schema: Any) -> Any:
    arrow = optional.load("pyarrow")
    columns = zip(*batch, strict=True) if batch else ((),) * len(schema)
    return arrow.table([arrow.array(column, arrow.string()) for column in columns], schema)


# ---- Other kinds, as an engine would get them.


def _require_objects(source: Source) -> None:
    require_json_lines(source.path, source.text)
    with opened_text(source.path, source.text) as stream:
        lines = io.BufferedReader(_RawText(stream))
        for number, line in enumerate(lines, start=1):
            if line.strip() and object_of(line.removeprefix(b"\xef\xbb\xbf")) is None:
                raise _malformed(number, must="be one object in JSON")


def _of_source(source: Source) -> Converted:
    arrow = optional.load("pyarrow")
    columns, source = _columns(source)
    table = PublicTable(
        name=source.path.name,
        source=source,
        columns=tuple(Column(name=name, type=ColumnType.TEXT) for name in columns),
    )
    (batches,) = open_source(table, frozenset(columns), "rows").batches.values()
    handed = batches.schema.types
    schema = arrow.schema(list(zip(columns, handed, strict=True)))
    tables = (
        arrow.Table.from_batches([arrow.RecordBatch.from_arrays(batch.columns, schema=schema)])
        for batch in batches.reader()
    )
    return Converted(schema=schema, tables=tables)


def _columns(source: Source) -> tuple[list[str], Source]:
    """Return the names of all columns, and the source with the table that is meant."""
    found = stored_columns(source.path, source, source.path.name)
    if not source.format.has_tables:
        return _usable([column.name for column in found[None]]), source
    named = {
        (table if schema == "main" else f"{schema}.{table}"): columns
        for (schema, table), columns in ((place, some) for place, some in found.items() if place)
    }
    meant = [name for name in named if source.table is None or _alike(name, source.table)]
    if len(meant) != 1:
        raise InvalidArgument(
            "The table in the file is not certain",
            must="be named with --table",
            got=source.table or f"{len(named)} tables",
            next=f"Tables: {', '.join(named)}",
        )
    names = [column.name for column in named[meant[0]]]
    return _usable(names), evolve(source, table=meant[0])


def _alike(name: str, other: str) -> bool:
    return name.casefold() == other.casefold()


def _usable(names: list[str]) -> list[str]:
    if not names or "" in names or len({name.casefold() for name in names}) < len(names):
        raise _not_usable()
    return names


def _not_usable() -> InvalidArgument:
    return InvalidArgument("The header is not usable", must="name each column once, in one line")


def _malformed(
    line: int, *, must: str = "have a field for each column, with quotes that close"
) -> InvalidArgument:
    return InvalidArgument(
        f"Line {line} is malformed", must=must, next="Mend the file, or have a program write it"
    )


def default_target(path: Path) -> Path:
    """Return where a file is written to unless another place is named: beside it.

    Example:
        >>> default_target(Path("visits.csv.gz")).name
        'visits.parquet'
    """
    packed = path.suffix.lower() in (".gz", ".zst")
    return (path.with_suffix("") if packed else path).with_suffix(".parquet")
