"""Write a first discreet.toml for some files, from names and types only."""

import argparse
import os
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from attrs import evolve

from discreet.cli.command import CommandResult, add_project
from discreet.cli.first_declaration import FirstTable, first_declaration
from discreet.cli.init_replies import (
    EACH_ROW,
    Ask,
    InitReplies,
    add_replies,
    ask_the_rest,
    given_replies,
)
from discreet.core.errors import InvalidArgument
from discreet.engines.duckdb.sources.stored_columns import StoredColumn, stored_columns
from discreet.tables.column import ColumnType
from discreet.tables.declarations.declaration import FILE_NAME
from discreet.tables.declarations.sources import PACKED, SUFFIXES, usual_source, way_out
from discreet.tables.source_files import source_files


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("files", nargs="+", metavar="FILE", help="where the rows are")
    parser.add_argument(
        "--public",
        action="append",
        default=[],
        metavar="FILE",
        help="a table of which everybody may know every row (can be given several times)",
    )
    add_replies(parser)
    add_project(parser)


def run(options: argparse.Namespace) -> CommandResult:
    """Write the file; on a terminal, ask for what the options do not say."""
    ask = _terminal if sys.stdin.isatty() else None
    answers = given_replies(options)
    return begin(options.files, Path(options.project), answers, ask, public=options.public)


def begin(
    files: Sequence[str],
    project: Path,
    answers: InitReplies,
    ask: Ask | None,
    *,
    public: Sequence[str] = (),
) -> CommandResult:
    """Write the declaration of ``files`` into ``project``, a folder or the file itself.

    ``public`` are files of which everybody may know every row.

    Guarantee:
        Of the data only names and types are looked at: the header of a CSV file, the schema of
        another. No row and no statistic is read.
    """
    target = (project if project.suffix == ".toml" else project / FILE_NAME).resolve()
    if target.exists():
        raise InvalidArgument(
            f"{target} exists already", next="Edit it, or name another folder with --project"
        )
    tables: list[FirstTable] = []
    for table in _tables(files, target.parent, answers, ()):
        known = _fitting(answers, table)
        if ask is not None:
            known = ask_the_rest(known, table.name, _owners(table), ask)
            answers = evolve(answers, id_space=known.id_space, budget=known.budget)
        tables.append(evolve(table, answers=known))
    if answers.unit is not None and all(table.answers.unit is None for table in tables):
        owners = {owner: None for table in tables for owner in _owners(table)}
        raise InvalidArgument(
            "No file has a column of that name that could say whose row it is",
            must=f"be one of {', '.join(owners)}",
            got=answers.unit,
        )
    return _write(target, tables, _tables(public, target.parent, InitReplies(), tables))


def _tables(
    files: Sequence[str], root: Path, answers: InitReplies, others: Sequence[FirstTable]
) -> list[FirstTable]:
    """Return the tables in the files, named apart from each other and from the others."""
    found: list[FirstTable] = []
    for name, source, stored, columns in _found(files, root):
        fresh = _fresh(name, [*others, *found])
        found.append(
            FirstTable(
                name=fresh, source=source, stored_table=stored, columns=columns, answers=answers
            )
        )
    return found


def _write(
    target: Path, tables: Sequence[FirstTable], public: Sequence[FirstTable]
) -> CommandResult:
    text = first_declaration(tables, public)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as cause:
        raise InvalidArgument(f"{target} cannot be written", got=cause.strerror or "") from None
    names = [table.name for table in (*tables, *public)]
    left = sorted({missing for table in tables for missing in table.answers.missing()})
    rest = f'Still open: {", ".join(left)}. Answer where "?" stands' if left else "Read it over"
    shown = f"Wrote {target} for {', '.join(names)}. {rest}, then run 'discreet check'."
    return CommandResult(shown, {"target": str(target), "tables": names, "open": left})


def _found(
    files: Sequence[str], root: Path
) -> Iterator[tuple[str, str, str | None, tuple[StoredColumn, ...]]]:
    """Yield name, source as written, stored table and columns of each table in the files."""
    for given in files:
        path = Path(os.path.abspath(given))
        source = usual_source(path)
        if source is None:
            raise InvalidArgument(
                f"{path.name} is not a kind of file that we read",
                must=f"end in {', '.join(SUFFIXES)}",
                next=way_out(path),
            )
        file = source_files(source, "the declaration")[0]
        written = str(path.relative_to(root) if path.is_relative_to(root) else path)
        found = stored_columns(file, source, "the declaration")
        if not any(found.values()):
            raise InvalidArgument(f"{path.name} has no columns", must="have a table with columns")
        for place, columns in found.items():
            if place is None:
                plain = path.with_suffix("") if path.suffix.lower() in PACKED else path
                yield plain.stem, written, None, columns
                continue
            schema, table = place
            stored = table if schema == "main" else f"{schema}.{table}"
            yield stored, written, stored, columns


def _fresh(name: str, tables: Sequence[FirstTable]) -> str:
    """Return a name that SQL can use as it stands, and that no other table has."""
    plain = re.sub(r"\W+", "_", name).strip("_") or "table"
    plain = f"t_{plain}" if plain[0].isdigit() else plain
    taken = {table.name.lower() for table in tables}
    names = [plain, *(f"{plain}_{number}" for number in range(2, len(tables) + 3))]
    return next(name for name in names if name.lower() not in taken)


def _fitting(answers: InitReplies, table: FirstTable) -> InitReplies:
    """Return the answers for one table: a column that it lacks does not name its unit."""
    if answers.unit in (None, EACH_ROW):
        return answers
    found = [column for column in _owners(table) if column.lower() == answers.unit.lower()]
    return evolve(answers, unit=found[0] if len(found) == 1 else None)


def _owners(table: FirstTable) -> list[str]:
    """Return the columns that could say whose row it is."""
    kinds = (ColumnType.INTEGER, ColumnType.TEXT)
    return [column.name for column in table.declared() if column.declared_type in kinds]


def _terminal(question: str) -> str:
    """Ask on the terminal; what is shown in the end stays alone on the standard output."""
    sys.stderr.write(question)
    sys.stderr.flush()
    try:
        return sys.stdin.readline()
    except KeyboardInterrupt:
        raise InvalidArgument("Nothing was written", next="Run the command again") from None
