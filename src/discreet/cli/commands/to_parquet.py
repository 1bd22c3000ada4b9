"""Turn a CSV file into Parquet, refusing lines that cannot be read without doubt."""

import argparse
import csv
import os
import stat
from pathlib import Path
from typing import Any, BinaryIO

from discreet.cli.command import CommandResult
from discreet.core import optional
from discreet.core.errors import InvalidArgument
from discreet.engines.duckdb.sources.csv_source import csv_header, require_separators

ROWS_AT_ONCE = 100_000


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("source", help="a CSV file with a header")
    parser.add_argument("target", nargs="?", help="the Parquet file to write (default: beside it)")


def run(options: argparse.Namespace) -> CommandResult:
    """Convert for the owner: this command reads every row, and names a line that is malformed.

    All columns become text, which the declaration casts as for CSV; an empty field is NULL.
    """
    source = Path(options.source)
    target = Path(options.target) if options.target else source.with_suffix(".parquet")
    try:
        # Lines end as the header's does, and only so: another kind of end within one is refused.
        header = csv_header(source)
        if header.is_spoiled:
            raise _not_usable()
        newline = header.line_end.value.decode()
        with source.open(encoding="utf-8-sig", newline=newline) as lines:
            rows = _written(lines, target)
    except FileExistsError:
        raise InvalidArgument(f"{target} exists already", next="Name another target") from None
    except (OSError, UnicodeDecodeError) as cause:
        raise InvalidArgument(f"{source} cannot be read", got=type(cause).__name__) from None
    return CommandResult(f"Wrote {rows:,} rows to {target}", {"target": str(target), "rows": rows})


def _written(lines: Any, target: Path) -> int:
    """Write the rows to a new file, which is there only if all of them are in it."""
    with _created(target) as file:
        try:
            rows = _convert(lines, file)
            # Whoever could not read the rows before cannot read them now.
            os.fchmod(file.fileno(), stat.S_IMODE(os.fstat(lines.fileno()).st_mode) & 0o666)
        except BaseException:
            target.unlink(missing_ok=True)
            raise
    return rows


def _created(target: Path) -> BinaryIO:
    """Make a new file that nobody else can read, under any umask."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    return os.fdopen(os.open(target, flags, 0o600), "wb")


def _convert(lines: Any, target: BinaryIO) -> int:
    arrow, parquet = optional.load("pyarrow"), optional.load("pyarrow.parquet")
    reader = csv.reader(lines, strict=True)
    names = next(reader, [])
    require_separators(names)
    if not names or len(set(names)) < len(names):
        raise _not_usable()
    schema = arrow.schema([(name, arrow.string()) for name in names])
    total = 0
    with parquet.ParquetWriter(target, schema) as writer:
        batch: list[list[str | None]] = []
        for row in _rows(reader, len(names)):
            batch.append(row)
            total += 1
            if len(batch) == ROWS_AT_ONCE:
                writer.write_table(_table(batch, schema))
                batch = []
        writer.write_table(_table(batch, schema))
    return total


def _rows(reader: Any, width: int) -> Any:
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


def _table(batch: list[list[str | None]], schema: Any) -> Any:
    arrow = optional.load("pyarrow")
    columns = zip(*batch, strict=True) if batch else ((),) * len(schema)
    return arrow.table([arrow.array(column, arrow.string()) for column in columns], schema)


def _not_usable() -> InvalidArgument:
    return InvalidArgument("The header is not usable", must="name each column once, in one line")


def _malformed(line: int) -> InvalidArgument:
    return InvalidArgument(
        f"Line {line} is malformed",
        must="have a field for each column, with quotes that close",
        next="Mend the file, or have a program write it",
    )
