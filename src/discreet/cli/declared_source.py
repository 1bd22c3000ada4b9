"""The declared table of a file that is converted, and how to declare what comes out of it."""

import os
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import Any

from attrs import evolve, frozen

from discreet.cli.converted_rows import default_target
from discreet.cli.toml_text import toml_table
from discreet.core.errors import DeclarationError, InvalidArgument
from discreet.engines.duckdb.sources.opened import match_columns
from discreet.engines.duckdb.sources.stored_columns import StoredKind, stored_columns
from discreet.tables.catalog import PublicTable, Table
from discreet.tables.column import Column, ColumnType
from discreet.tables.declarations.declaration import FILE_NAME, read_catalog
from discreet.tables.source import SourceFormat
from discreet.tables.source_files import fitting_files, stored_table

AS_TEXT = "--as-text"
"""The option with which a declaration is not looked at."""


@frozen(kw_only=True)
class DeclaredSource:
    """A file of a declared table: the table with this one file, and what the declaration says."""

    table: Table | PublicTable
    """With the columns of the file that are not declared, as text."""
    undeclared: tuple[str, ...]
    declaration: Path
    pattern: Path
    """The source as it is declared, of which the file may be one of many."""

    def shown(self, target: Path, file: Path) -> str:
        """Return the declaration of the table for the Parquet file, in the words of the file."""
        section = "public_tables" if isinstance(self.table, PublicTable) else "tables"
        whole = tomllib.loads(self.declaration.read_text("utf-8-sig"), parse_float=Decimal)
        said = whole[section][self.table.name]
        is_one = self.pattern == file or target != default_target(file)
        meant = target if is_one else default_target(self.pattern)
        adapted = _adapted(said, _place(meant, self.declaration.parent))
        return toml_table((section, self.table.name), adapted, apart="columns")


_OF_OTHER_FILES = (
    "source_table", "format", "delimiter", "quote", "header", "encoding", "compression",
)  # fmt: skip
"""What is said of files that are not Parquet."""

_OF_CELLS = ("true", "false", "from")
"""What is said of cells as they were stored: they are true and false now, under their own name."""


def _adapted(said: Mapping[str, Any], source: str) -> dict[str, Any]:
    """Return what is said of a table, for a Parquet file in which declared types are stored."""
    columns = {
        name: {key: value for key, value in about.items() if key not in _OF_CELLS}
        for name, about in said["columns"].items()
    }
    kept = {key: value for key, value in said.items() if key not in _OF_OTHER_FILES}
    return {**kept, "source": source, "columns": columns}


def _place(target: Path, root: Path) -> str:
    whole = Path(os.path.abspath(target))
    return str(whole.relative_to(root) if whole.is_relative_to(root) else whole)


def declaration_of(project: Path) -> Path:
    """Return where the declaration of a project is: a file, or the folder that it is in."""
    return (project / FILE_NAME if project.is_dir() else project).resolve()


def declared_source(
    file: Path, *, project: Path, inside: str | None = None, name: str | None = None
) -> DeclaredSource | None:
    """Return the declared table that a file is of, if there is a declaration that has one.

    ``inside`` is the table in the file, ``name`` that of the declaration, if they are said.
    """
    declaration = declaration_of(project)
    if not declaration.exists() and name is None and project == Path():
        return None
    try:
        catalog = read_catalog(declaration)
    except DeclarationError as cause:
        way = f"Mend it, or convert the file without a declaration: {AS_TEXT}"
        said = f"{cause.next}. {way}" if cause.next else way
        raise DeclarationError(cause.what, must=cause.must, got=cause.got, next=said) from None
    tables: tuple[Table | PublicTable, ...] = (*catalog.tables, *catalog.public_tables)
    found = [
        table
        for table in tables
        if (name is None or table.name.lower() == name.lower())
        and _reads(table, file)
        and (inside is None or stored_table(evolve(table.source, table=inside)) == _inside(table))
    ]
    if not found and name is None:
        return None
    if len(found) != 1:
        raise InvalidArgument(
            f"{file.name} is the source of {len(found)} declared tables",
            must=f"be that of one, which --declared names, or be converted with {AS_TEXT}",
            got=", ".join(table.name for table in found) or f"--declared {name}",
        )
    return _of_one_file(found[0], file, declaration)


def _inside(table: Table | PublicTable) -> tuple[str, str] | None:
    return stored_table(table.source)


def _reads(table: Table | PublicTable, file: Path) -> bool:
    """Tell whether a file is one of those that a table is read from, under whatever name."""
    for one in fitting_files(table.source):
        with suppress(OSError):
            if os.path.samefile(one, file):
                return True
    return False


def _of_one_file(table: Table | PublicTable, file: Path, declaration: Path) -> DeclaredSource:
    if table.source.partitions:
        raise InvalidArgument(
            f"{table.name} has columns in the names of folders, which one file does not have",
            must=f"be converted with {AS_TEXT}, into the same folders",
            next="The declared types are then read from text, as before",
        )
    if table.source.format is SourceFormat.PARQUET:
        raise InvalidArgument(f"{file.name} is not converted", next="It is Parquet already")
    one = evolve(table, source=evolve(table.source, path=file))
    others = () if not one.source.text.has_header else tuple(_undeclared(one, file))
    texts = (Column(name=name, type=ColumnType.TEXT) for name in others)
    return DeclaredSource(
        table=evolve(one, columns=(*one.columns, *texts)),
        undeclared=others,
        declaration=declaration,
        pattern=table.source.path,
    )


def _undeclared(table: Table | PublicTable, file: Path) -> list[str]:
    """Return the columns of a file that are not declared, and have names of their own."""
    found = stored_columns(file, table.source, table.name, with_inner=True)
    meant = stored_table(table.source)
    (columns,) = [
        columns
        for place, columns in found.items()
        if place is None or (place[0].casefold(), place[1].casefold()) == meant
    ] or [()]
    match_columns(table, [column.name for column in columns])  # refused if one is not there
    known = {column.name.casefold() for column in table.columns}
    known |= {column.stored_name.casefold() for column in table.columns}
    names = [column.name.casefold() for column in columns]
    return [
        column.name
        for column in columns
        if column.name and "\0" not in column.name and column.kind is not StoredKind.OTHER
        if column.name.casefold() not in known and names.count(column.name.casefold()) == 1
    ]
