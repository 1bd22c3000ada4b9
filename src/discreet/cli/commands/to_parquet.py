"""Turn a file into Parquet, refusing lines that cannot be read without doubt."""

import argparse
import os
import stat
from pathlib import Path
from typing import BinaryIO

from attrs import evolve

from discreet.cli.command import CommandResult
from discreet.cli.converted_rows import converted, default_target
from discreet.core import optional
from discreet.core.errors import DiscreetError, InvalidArgument
from discreet.tables.catalog import Source, SourceFormat
from discreet.tables.declarations.sources import SUFFIXES, usual_source, way_out
from discreet.tables.text_form import Compression, TextForm


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("source", help="a file of text, JSON lines, Excel, SQLite, DuckDB or Arrow")
    parser.add_argument("target", nargs="?", help="the Parquet file to write (default: beside it)")
    others = [kind for kind in SourceFormat if kind.is_file and kind is not SourceFormat.PARQUET]
    kinds = [kind.value for kind in others]
    parser.add_argument("--format", choices=kinds, help="what it is, if its name does not say so")
    parser.add_argument("--table", help="the table of a database file, or the sheet of a workbook")
    parser.add_argument("--delimiter", help=r"what separates fields: ';', '|' or '\t'")
    parser.add_argument("--quote", help="what stands around fields; '' if nothing does")
    parser.add_argument("--encoding", help="what the text is written in: latin-1, cp1252, utf-16")
    parser.add_argument(
        "--compression", choices=[one.value for one in Compression], help="how it is packed"
    )
    parser.add_argument(
        "--no-header",
        action="store_true",
        help="the first line is a row; columns are column1, column2 and so on",
    )


def run(options: argparse.Namespace) -> CommandResult:
    """Convert for the owner: this command reads every row, and names a line that is malformed.

    Columns of text, JSON lines, Excel and SQLite become text, which the declaration casts as it
    does for CSV; an empty field of a file of text is NULL.
    """
    source = _source(options)
    path = source.path
    target = Path(options.target) if options.target else default_target(path)
    try:
        rows = _written(source, target)
    except FileExistsError:
        raise InvalidArgument(f"{target} exists already", next="Name another target") from None
    except DiscreetError:
        raise
    except Exception as cause:  # each library has errors of its own for a file that it cannot read
        raise InvalidArgument(f"{path} cannot be read", got=type(cause).__name__) from None
    return CommandResult(f"Wrote {rows:,} rows to {target}", {"target": str(target), "rows": rows})


def _source(options: argparse.Namespace) -> Source:
    path = Path(options.source)
    usual = usual_source(path)
    kind = None if usual is None else usual.format
    kind = SourceFormat(options.format) if options.format else kind
    if kind is None or kind is SourceFormat.PARQUET:
        raise InvalidArgument(
            f"{path.name} is not a kind of file that we convert",
            must=f"end in {', '.join(ending for ending in SUFFIXES if ending != '.parquet')}",
            next=way_out(path) if kind is None else "It is Parquet already",
        )
    form = TextForm() if usual is None else usual.text
    given = {
        "delimiter": options.delimiter and options.delimiter.replace("\\t", "\t"),
        "quote": options.quote,
        "encoding": options.encoding,
        "compression": options.compression and Compression(options.compression),
    }
    form = evolve(form, **{key: value for key, value in given.items() if value is not None})
    text = evolve(form, has_header=not options.no_header)
    return Source(path=path, format=kind, table=options.table, text=text)


def _written(source: Source, target: Path) -> int:
    """Write the rows to a new file, which is there only if all of them are in it."""
    with converted(source) as rows, _created(target) as file:
        try:
            total = 0
            with optional.load("pyarrow.parquet").ParquetWriter(file, rows.schema) as writer:
                for table in rows.tables:
                    writer.write_table(table)
                    total += len(table)
            # Whoever could not read the rows before cannot read them now.
            os.fchmod(file.fileno(), stat.S_IMODE(os.stat(source.path).st_mode) & 0o666)
        except BaseException:
            target.unlink(missing_ok=True)
            raise
    return total


def _created(target: Path) -> BinaryIO:
    """Make a new file that nobody else can read, under any umask."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    return os.fdopen(os.open(target, flags, 0o600), "wb")
