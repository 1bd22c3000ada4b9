"""Write a first discreet.toml for some files, from names and types only."""

import argparse
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from attrs import evolve, field, frozen

from discreet.cli.column_types import (
    LEFT_OUT,
    TYPES,
    confirmed_types,
    looked_at,
    says_no_types,
    with_types,
)
from discreet.cli.command import CommandResult, add_project
from discreet.cli.first_declaration import FirstTable, inner_fields
from discreet.cli.first_form import with_folders, with_form
from discreet.cli.first_profile import add_profile
from discreet.cli.first_project import FirstProject, ProfileWishes, finish
from discreet.cli.init_replies import (
    EACH_ROW,
    Ask,
    InitReplies,
    add_replies,
    ask_the_rest,
    confirm_public,
    given_replies,
    number,
)
from discreet.core.errors import InvalidArgument
from discreet.engines.duckdb.public_ranges import public_ranges
from discreet.engines.duckdb.sources.examine import share_files
from discreet.engines.duckdb.sources.stored_columns import StoredColumn, stored_columns, written
from discreet.tables.column import INSIDE, ColumnType
from discreet.tables.declarations.declaration import FILE_NAME
from discreet.tables.declarations.sources import PACKED, SUFFIXES, usual_source, way_out
from discreet.tables.source import Source
from discreet.tables.source_files import fitting_files, is_pattern, source_files


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("files", nargs="*", metavar="FILE", help="where the rows are")
    parser.add_argument(
        "--public",
        action="extend",
        nargs="+",
        default=[],
        metavar="FILE",
        help="tables of which everybody may know every row; they are read, for types and ranges",
    )
    parser.add_argument(
        "--look-at-types",
        action="store_true",
        help="read the rows of private CSV files to propose types; nothing else is kept of them",
    )
    parser.add_argument(
        "--type",
        action="append",
        default=[],
        dest="types",
        metavar="COLUMN=TYPE",
        help=f"the type of a column of a CSV file: {', '.join(TYPES)} (to leave it out)",
    )
    add_replies(parser)
    add_profile(parser)
    add_project(parser)


def run(options: argparse.Namespace) -> CommandResult:
    """Write the file; on a terminal, ask for what the options do not say."""
    ask = _terminal if sys.stdin.isatty() else None
    wishes = InitWishes(
        public=tuple(options.public),
        look_at_types=options.look_at_types,
        types=_given_types(options.types),
        profile=ProfileWishes(
            price=None if options.profile_epsilon is None else number(options.profile_epsilon),
            write_limits=options.write_limits,
        ),
    )
    return begin(options.files, Path(options.project), given_replies(options), ask, wishes)


def _given_types(texts: Sequence[str]) -> dict[str, str]:
    """Return the types that options give for columns, each of which is named once."""
    found: dict[str, str] = {}
    for name, kind in map(_given_type, texts):
        alike = [other for other in found if other.casefold() == name.casefold()]
        if alike:
            raise InvalidArgument(
                "--type names a column twice, in whatever case",
                must="say one type for each column",
                got=f"{alike[0]}={found[alike[0]]} and {name}={kind}",
            )
        found[name] = kind
    return found


def _given_type(text: str) -> tuple[str, str]:
    name, equals, kind = text.rpartition("=")
    if not equals:
        raise InvalidArgument("--type says no type", must="be COLUMN=TYPE", got=text)
    return name, kind


@frozen(kw_only=True)
class InitWishes:
    """What is to be done besides: public files, types from values, and a profile."""

    public: tuple[str, ...] = ()
    """Files of which everybody may know every row."""
    look_at_types: bool = False
    """The owner's consent that private rows are read to propose types."""
    types: Mapping[str, str] = field(factory=dict)
    """The types of columns, by their names."""
    profile: ProfileWishes = field(factory=ProfileWishes)


NO_WISHES = InitWishes()


def begin(
    files: Sequence[str],
    project: Path,
    answers: InitReplies,
    ask: Ask | None,
    wishes: InitWishes = NO_WISHES,
) -> CommandResult:
    """Write the declaration of ``files`` into ``project``, a folder or the file itself.

    Guarantee:
        Of private data only names and types are looked at: the header of a CSV file and the mark
        before it, the schema of another, and what folders such as year=2024 are called. If the
        owner consents, the rows of CSV files are read to propose a type for each column, and a
        profile is charged; nothing else of them is kept. Public files are read, after none of them
        was found to be a private one.
    """
    target = (project if project.suffix == ".toml" else project / FILE_NAME).resolve()
    if target.exists():
        raise InvalidArgument(
            f"{target} exists already", next="Edit it, or name another folder with --project"
        )
    if not files and not wishes.public:
        raise InvalidArgument("There is nothing to declare", must="name at least one file")
    _require_apart(files, wishes.public)
    if not files and ask is not None:
        confirm_public(wishes.public, ask)
    tables: list[FirstTable] = []
    for table in _tables(files, target.parent, answers, ()):
        table = _typed(table, wishes, ask)
        known = _fitting(answers, table)
        if ask is not None:
            known = ask_the_rest(known, table.name, _owners(table), ask)
            answers = evolve(
                answers, id_space=known.id_space, budget=known.budget, unit_words=known.unit_words
            )
        tables.append(evolve(table, answers=known))
    _require_known(answers, wishes, tables)
    public = [_public(table) for table in _tables(wishes.public, target.parent, answers, tables)]
    declared = FirstProject(target=target, tables=tuple(tables), public=tuple(public))
    declared.create()
    return finish(declared, wishes.profile, ask)


def _require_apart(private: Sequence[str], public: Sequence[str]) -> None:
    """Refuse a public file that is a private one too, by any name, before a row of it is read."""
    for one in public:
        for other in private:
            first, second = (_source(Path(os.path.abspath(given))) for given in (one, other))
            if first is not None and second is not None and share_files(first, second):
                raise InvalidArgument(
                    f"{Path(one).name} is named as private and as public",
                    must="be one of the two: everybody may know every row of a public file",
                    got=f"--public {one}, and {other}, which is the same file",
                    next="Name it once; what follows --public is public, what stands before is not",
                )


def _typed(table: FirstTable, wishes: InitWishes, ask: Ask | None) -> FirstTable:
    """Return a table with types: proposed if the owner consents, and as they are given."""
    if not says_no_types(table):
        return with_types(table, wishes.types)
    if wishes.look_at_types:
        table = looked_at(table)
    table = with_types(table, wishes.types)
    if ask is None:
        return table
    return confirmed_types(table, is_looked_at=wishes.look_at_types, ask=ask)


def _public(table: FirstTable) -> FirstTable:
    """Return a public table with the types and ranges of its values, which everybody may know."""
    typed = looked_at(table)
    ranges = public_ranges(table.read_from, typed.declared())
    return evolve(typed, answers=InitReplies(), ranges=ranges)


def _require_known(answers: InitReplies, wishes: InitWishes, tables: Sequence[FirstTable]) -> None:
    """Refuse columns that are named in an option and that no file has."""
    names = {column.name.casefold() for table in tables for column in table.columns}
    for name, kind in wishes.types.items():
        if name.casefold() not in names and kind != LEFT_OUT:
            raise InvalidArgument("No file has a column of that name", got=f"--type {name}={kind}")
    if answers.unit is not None and not tables:
        raise InvalidArgument(
            "It is said whose row it is, and no private file is named",
            next="Name the private files before --public: all that follows it is public",
        )
    if answers.unit is not None and all(table.answers.unit is None for table in tables):
        _require_once(answers.unit, tables)
        owners = {owner: None for table in tables for owner in _owners(table)}
        raise InvalidArgument(
            "No file has a column of that name that could say whose row it is",
            must=f"be one of {', '.join(owners)}",
            got=answers.unit,
        )


def _require_once(name: str, tables: Sequence[FirstTable]) -> None:
    """Refuse a name that several columns of a table have: which of them is meant is not known."""
    for table in tables:
        if sum(column.name.casefold() == name.casefold() for column in table.columns) > 1:
            raise InvalidArgument(
                f"Two columns of {table.name} are called {name}",
                must="have names of their own, in any case of letters",
                next="Rename one of them in the file",
            )


def _tables(
    files: Sequence[str], root: Path, answers: InitReplies, others: Sequence[FirstTable]
) -> list[FirstTable]:
    """Return the tables in the files, named apart from each other and from the others."""
    found: list[FirstTable] = []
    for table in _found(files, root):
        fresh = _fresh(table.name, [*others, *found])
        found.append(evolve(table, name=fresh, answers=answers))
    return found


def _found(files: Sequence[str], root: Path) -> Iterator[FirstTable]:
    """Yield each table in the files, by the name that it has there."""
    for given in files:
        path = Path(os.path.abspath(given))
        source = _source(path)
        if source is None:
            raise InvalidArgument(
                f"{path.name} is not a kind of file that we read",
                must=f"end in {', '.join(SUFFIXES)}",
                got=given,
                next=way_out(path)
                if not path.is_dir()
                else f"Name the files in it by a pattern, such as '{Path(given) / '*.parquet'}'",
            )
        _require_some(source, given)
        file = source_files(source, "the declaration")[0]
        source = with_form(source, file)
        shown = str(path.relative_to(root) if path.is_relative_to(root) else path)
        found = stored_columns(file, source, "the declaration", with_inner=True)
        found = {place: _with_partitions(columns, source) for place, columns in found.items()}
        if not any(found.values()):
            raise InvalidArgument(f"{path.name} has no columns", must="have a table with columns")
        for place, columns in found.items():
            stored = None if place is None else _stored_name(*place)
            yield FirstTable(
                name=_own_name(path) if stored is None else stored,
                source=shown,
                stored_table=stored,
                read_from=evolve(source, table=stored),
                columns=tuple(one for one in columns if INSIDE not in one.name),
                inner=inner_fields(columns),
                answers=InitReplies(),
            )


def _source(path: Path) -> Source | None:
    """Return what a file or a pattern is by its name, and by those of folders below it."""
    usual = usual_source(path)
    return None if usual is None else with_folders(usual)


def _require_some(source: Source, given: str) -> None:
    if is_pattern(source.path) and not fitting_files(source):
        raise InvalidArgument(
            "No file fits the pattern",
            must="fit at least one, in its folder, or in folders below it such as year=2024",
            got=given,
        )


def _with_partitions(columns: Sequence[StoredColumn], source: Source) -> tuple[StoredColumn, ...]:
    """Return the columns of a file, and those that its folders have."""
    names = {name.casefold() for name in source.partitions}
    kept = (column for column in columns if column.name.casefold() not in names)
    return (*kept, *map(written, source.partitions))


def _own_name(path: Path) -> str:
    """Return what a table is called by its file; by its folder, if a pattern has no word."""
    name = _plain(path).stem
    return name if re.search(r"\w", name) else path.parent.name


def _plain(path: Path) -> Path:
    """Return a path without the ending that says how a file is packed."""
    return path.with_suffix("") if path.suffix.lower() in PACKED else path


def _stored_name(schema: str, table: str) -> str:
    return table if schema == "main" else f"{schema}.{table}"


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
    inside = [one.name for one in table.inner if one.stored.declared_type in kinds]
    named = [column.name for column in table.declared() if column.declared_type in kinds]
    return [*named, *inside]


def _terminal(question: str) -> str:
    """Ask on the terminal; what is shown in the end stays alone on the standard output."""
    sys.stderr.write(question)
    sys.stderr.flush()
    try:
        return sys.stdin.readline()
    except KeyboardInterrupt:
        raise InvalidArgument("Nothing was written", next="Run the command again") from None
