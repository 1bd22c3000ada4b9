"""Turn a file into Parquet, refusing lines that cannot be read without doubt."""

import argparse
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from attrs import evolve

from discreet.cli.command import CommandResult, add_project
from discreet.cli.converted_rows import converted, default_target, require_well_formed
from discreet.cli.declared_source import AS_TEXT, DeclaredSource, declaration_of, declared_source
from discreet.core import optional
from discreet.core.errors import DiscreetError, InvalidArgument
from discreet.core.terminal_text import lines
from discreet.engines.duckdb.declared_rows import DeclaredRows, declared_rows
from discreet.tables.catalog import Table
from discreet.tables.column import ColumnType
from discreet.tables.declarations.sources import SUFFIXES, usual_source, way_out
from discreet.tables.source import Source, SourceFormat
from discreet.tables.text_form import Compression, TextForm


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("source", help="a file of text, JSON lines, Excel, SQLite, DuckDB or Arrow")
    parser.add_argument("target", nargs="?", help="the Parquet file to write (default: beside it)")
    others = [kind for kind in SourceFormat if kind.is_file and kind is not SourceFormat.PARQUET]
    kinds = [kind.value for kind in others]
    parser.add_argument("--format", choices=kinds, help="what it is, if its name does not say so")
    parser.add_argument("--table", help="the table of a database file, or the sheet of a workbook")
    parser.add_argument(
        "--declared", metavar="NAME", help="the declared table, if several are read from the file"
    )
    parser.add_argument(
        AS_TEXT, action="store_true", help="write what is there, whatever is declared of it"
    )
    add_project(parser)
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

    If the file is the source of a declared table, values are written in the declared types, and
    those that do not read as theirs are NULL and counted. Otherwise columns of text, JSON lines,
    Excel and SQLite become text, which a declaration casts as it does for CSV; an empty field of a
    file of text is NULL.
    """
    path = Path(options.source)
    declared = None if options.as_text else _declared(options, path)
    source = _source(options) if declared is None else declared.table.source
    target = Path(options.target) if options.target else default_target(path)
    if not target.parent.is_dir():
        raise InvalidArgument(f"{target.parent} is no folder", next="Name another target")
    try:
        if declared is not None:
            return _with_types(declared, path, target)
        with converted(source) as rows:
            number = _written(path, target, rows.schema, rows.tables)
    except FileExistsError:
        raise InvalidArgument(f"{target} exists already", next="Name another target") from None
    except DiscreetError:
        raise
    except Exception as cause:  # each library has errors of its own for a file that it cannot read
        raise InvalidArgument(
            f"{path} cannot be read",
            must="be there, and be a whole file of the kind that its name says",
            got=getattr(cause, "strerror", None) or "another one",
            next="Of a file with another name its kind is said with format, in the declaration",
        ) from None
    told = f"Wrote {number:,} rows to {target}"
    if not options.as_text and declaration_of(Path(options.project)).exists():
        told += ", as they are: no declared table is read from this file"
    return CommandResult(lines(told), {"target": str(target), "rows": number})


# ---- With a declaration.

_HOW_WRITTEN = ("format", "delimiter", "quote", "encoding", "compression", "no_header")


def _declared(options: argparse.Namespace, path: Path) -> DeclaredSource | None:
    found = declared_source(
        path, project=Path(options.project), inside=options.table, name=options.declared
    )
    said = [name for name in _HOW_WRITTEN if getattr(options, name) not in (None, False)]
    if found is not None and said:
        raise InvalidArgument(
            f"{found.table.name} is declared, and how {path.name} is written with it",
            must=f"be said in the declaration, or be converted with {AS_TEXT}",
            got=", ".join(f"--{name.replace('_', '-')}" for name in said),
        )
    return found


def _with_types(declared: DeclaredSource, path: Path, target: Path) -> CommandResult:
    require_well_formed(declared.table.source)
    with declared_rows(declared.table) as rows:
        number = _written(path, target, rows.schema, rows.take())
    name, unread = declared.table.name, rows.unread()
    toml = declared.shown(target, path)
    told = [lines(f"Wrote {number:,} rows to {target}, in the types that {name} is declared with.")]
    told += [lines(f"- {line}") for line in _remarks(declared, rows)]
    if isinstance(declared.table, Table) and (unread or rows.without_unit):
        told.append(lines(_FOR_THE_OWNER))
    told += ["", lines(_DECLARE.format(file=declared.declaration.name)), "", toml]
    data: dict[str, Any] = {
        "target": str(target),
        "rows": number,
        "table": name,
        "unread": unread,
        "without_unit": rows.without_unit,
        "as_text": list(declared.undeclared),
        "declaration": toml,
    }
    return CommandResult("\n".join(told), data)


_FOR_THE_OWNER = (
    "These numbers are exact, and so they tell about single units: they are for you alone, and no"
    " question ever sees them."
)

_DECLARE = (
    "Questions get the same answers from the new file if {file} has these lines for the table"
    " (comments are not carried over):"
)


def _remarks(declared: DeclaredSource, rows: DeclaredRows) -> Iterator[str]:
    """Say what is not as it was in the file."""
    for column, number in rows.unread().items():
        found = declared.table.column(column)
        kind = found.type if found.type is ColumnType.BOOLEAN else found.read_as
        yield f"{column}: {_counted(number, 'cell')} without {_KINDS[kind]} in it, NULL now"
    if rows.without_unit:
        yield f"{_counted(rows.without_unit, 'row')} of nobody, which no question counts"
    if declared.undeclared:
        yield f"Not declared, so written as text: {', '.join(declared.undeclared)}"


_KINDS = {
    ColumnType.INTEGER: "a whole number",
    ColumnType.REAL: "a number",
    ColumnType.TEXT: "text of the declared encoding",
    ColumnType.BOOLEAN: "a word for true or false",
    ColumnType.DATE: "a date",
    ColumnType.TIMESTAMP: "a timestamp",
    ColumnType.TIME: "a time",
}


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what if number == 1 else what + 's'}"


# ---- Without one.


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


def _written(path: Path, target: Path, schema: Any, tables: Iterator[Any]) -> int:
    """Write the rows to a new file, which is there only if all of them are in it."""
    with _created(target) as file:
        try:
            total = 0
            with optional.load("pyarrow.parquet").ParquetWriter(file, schema) as writer:
                for table in tables:
                    writer.write_table(table)
                    total += len(table)
            # Whoever could not read the rows before cannot read them now.
            os.fchmod(file.fileno(), stat.S_IMODE(os.stat(path).st_mode) & 0o666)
        except BaseException:
            target.unlink(missing_ok=True)
            raise
    return total


def _created(target: Path) -> BinaryIO:
    """Make a new file that nobody else can read, under any umask."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    return os.fdopen(os.open(target, flags, 0o600), "wb")
