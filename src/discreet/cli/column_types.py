"""Types for the columns of a first declaration: proposed, shown, and confirmed by the owner."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from attrs import evolve

from discreet.cli.first_declaration import FirstTable
from discreet.cli.init_replies import Ask
from discreet.core.errors import DiscreetError, InvalidArgument
from discreet.core.terminal_text import lines
from discreet.engines.duckdb.sources.doubtful_text import doubtful_texts
from discreet.engines.duckdb.sources.stored_columns import StoredColumn, StoredKind
from discreet.engines.duckdb.sources.value_kinds import with_value_kinds
from discreet.tables.catalog import PublicTable
from discreet.tables.column import Column, ColumnType

LEFT_OUT = "none"
"""What stands for a type where a column is not to be declared."""

_KINDS = {
    ColumnType.TEXT: StoredKind.TEXT,
    ColumnType.INTEGER: StoredKind.INTEGER,
    ColumnType.REAL: StoredKind.FLOAT,
    ColumnType.BOOLEAN: StoredKind.BOOLEAN,
    ColumnType.DATE: StoredKind.DATE,
    ColumnType.TIMESTAMP: StoredKind.TIMESTAMP,
    ColumnType.TIME: StoredKind.TIME,
}

TYPES = (*(kind.value for kind in _KINDS), LEFT_OUT)

_CHANGE = re.compile(r"(?P<which>.*\S)\s+(?P<type>\S+)")
_NUMBERS = re.compile(r"(\d+)(?:\s*-\s*(\d+))?")


def says_no_types(table: FirstTable) -> bool:
    """Tell whether the file of a table leaves open what type its columns have."""
    return all(column.kind is StoredKind.TEXT for column in table.columns)


def looked_at(table: FirstTable) -> FirstTable:
    """Return the table with the type that all values of each column have; every row is read.

    Columns with cells that are no text in the encoding are told to the owner, and not written.
    """
    named = (Column(name=one.name, type=ColumnType.TEXT) for one in table.declared())
    read = PublicTable(name=table.name, source=table.read_from, columns=tuple(named))
    return evolve(
        table,
        columns=with_value_kinds(table.read_from, table.columns),
        is_typed=True,
        doubts=doubtful_texts(read),
    )


def with_types(table: FirstTable, types: Mapping[str, str]) -> FirstTable:
    """Return the table with the types that are given for its columns, by their names."""
    for name, kind in types.items():
        found = [column for column in table.columns if column.name.casefold() == name.casefold()]
        table = changed(table, found, kind)
    return table


def changed(table: FirstTable, columns: Sequence[StoredColumn], kind: str) -> FirstTable:
    """Return the table with another type for some of its columns, or without them.

    Names that differ only in case are one name. Nothing is declared of such columns, so none of
    them gets a type, and they are left out together.
    """
    if kind not in TYPES:
        raise InvalidArgument("There is no such type", must=f"be {', '.join(TYPES)}", got=kind)
    names = {column.name.casefold() for column in columns}
    meant = [one.name.casefold() in names for one in table.columns]
    pairs = list(zip(table.columns, meant, strict=True))
    if kind == LEFT_OUT:
        return evolve(table, columns=tuple(one for one, is_meant in pairs if not is_meant))
    for column in columns:
        _require_name(table, column)
    stored = _KINDS[ColumnType(kind)]
    typed = (evolve(one, kind=stored) if is_meant else one for one, is_meant in pairs)
    return evolve(table, columns=tuple(typed), is_typed=True)


def _require_name(table: FirstTable, column: StoredColumn) -> None:
    obstacle = table.name_obstacle(column)
    if obstacle:
        raise InvalidArgument(
            f"Column '{column.name}' of {table.name} cannot be declared, so it has no type:"
            f" {obstacle}",
            must="have a name of its own, in any case of letters",
            next=f"Rename it in the file, or leave out all that are called so: {LEFT_OUT}",
        )


def confirmed_types(table: FirstTable, *, is_looked_at: bool, ask: Ask) -> FirstTable:
    """Return the table with the types that its owner confirmed, all at once or one by one.

    Guarantee:
        Rows are read only after the owner has said yes. What is kept of them is one type for each
        column, and that is shown before it is written.
    """
    file = Path(table.source).name
    if not is_looked_at and _yes(ask(f"{lines(_CONSENT.format(file=file))} [y/N] ")):
        table = looked_at(table)
    hint = ""
    while True:
        reply = ask(f"{hint}{shown_types(table)}\n{lines(_CONFIRM)} ").strip()
        if not reply or _yes(reply):
            return evolve(table, is_typed=True)
        try:
            table, hint = _edited(table, reply), ""
        except DiscreetError as error:
            hint = f"{error}\n"


_CONSENT = (
    "{file} does not say of which types its columns are. Shall all of its rows be read, to propose"
    " them? Types depend on every value, so on people: somebody's odd value can make text of a"
    " column of numbers, and whoever sees the declaration would see that. Nothing but one type for"
    " each column is kept, no value and no range, and you see them before they are written."
)

_CONFIRM = (
    "Enter: all are right. Otherwise say what is not, such as: 3 text, 4-7 real, cost integer, 9"
    f" {LEFT_OUT} (types: {', '.join(TYPES[:-1])}; {LEFT_OUT} leaves it out)"
)


def shown_types(table: FirstTable) -> str:
    """Return the columns with their numbers and types, one in a line."""
    wide = max((len(column.name) for column in table.columns), default=0)
    shown = [f"{table.name}: these are its columns"]
    for number, column in enumerate(table.columns, start=1):
        kind = column.declared_type
        said = table.obstacle(column) or (kind.value if kind is not None else "")
        shown.append(f"{number:>4}  {column.name.ljust(wide)}  {said}")
    return "\n".join(shown)


def _edited(table: FirstTable, reply: str) -> FirstTable:
    """Return the table after some changes, which stand beside each other with commas between."""
    changes = []
    for part in reply.split(","):
        found = _CHANGE.fullmatch(part.strip())
        if found is None:
            raise InvalidArgument(
                "That is no change", must="be a column and a type, such as 3 text", got=part.strip()
            )
        columns = list(_meant(table, found["which"]))
        changes.append((columns, found["type"].lower()))
    for columns, kind in changes:
        table = changed(table, columns, kind)
    return table


def _meant(table: FirstTable, which: str) -> Iterator[StoredColumn]:
    """Yield the columns that a name, a number or two numbers mean; a name comes first."""
    named = [column for column in table.columns if column.name.casefold() == which.casefold()]
    numbers = _NUMBERS.fullmatch(which)
    if named or numbers is None:
        if not named:
            raise InvalidArgument("There is no such column", got=which)
        yield from named
        return
    first, last = int(numbers[1][:9]), int((numbers[2] or numbers[1])[:9])
    if not 1 <= first <= last <= len(table.columns):
        raise InvalidArgument(
            "There is no such column", must=f"be from 1 to {len(table.columns)}", got=which
        )
    yield from table.columns[first - 1 : last]


def _yes(reply: str) -> bool:
    return reply.strip().lower() in ("y", "yes")
