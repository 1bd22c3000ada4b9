"""Free statements: what can be answered from declarations and public tables alone.

A statement is free if no private row is needed for its answer: it names no private table, it asks
which keys are declared, it wants columns and no rows, or it wants to look at rows where the owner
lets made-up ones be shown. Which of these it is follows from its text and the declarations.
"""

from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from itertools import count

from attrs import frozen

from discreet.core import optional
from discreet.core.errors import RefusedQuery, UnknownTable
from discreet.core.recursion import refusing_depth
from discreet.sql.blocks.trees import changed, clause, name_of, named_queries
from discreet.sql.free.allowed import has_aggregates, is_of_rows, require_allowed
from discreet.sql.free.moments import moments_of
from discreet.sql.free.no_rows import has_no_rows
from discreet.sql.parse import Statement
from discreet.sql.rows.items import is_star, item_name, item_value, output_names
from discreet.sql.rows.scope import PublicRows
from discreet.sql.syntax.databases import without_database
from discreet.sql.syntax.nodes import (
    Node,
    condition_of,
    is_a,
    is_set,
    listed,
    part,
    unbracketed,
)
from discreet.tables.catalog import Catalog, PublicTable, Table
from discreet.tables.column import Column, Key
from discreet.tables.expression import FieldValue
from discreet.tables.functions.public_values import public_keys
from discreet.tables.previews import Previews
from discreet.tables.relations.read_keys import with_read_keys
from discreet.tables.relations.scan import Scan


class FreeKind(Enum):
    """Why a statement is free."""

    CONSTANTS = "constants"
    PUBLIC_TABLES = "public tables"
    DECLARED_KEYS = "declared keys"
    COLUMNS = "columns"
    NO_ROWS = "no rows"
    """A look at rows, of which the owner lets none be shown."""
    MADE_UP_ROWS = "made-up rows"
    """A look at rows, for which the owner lets others be made up."""


@frozen(kw_only=True)
class FreeTable:
    """A table that a free statement reads, and the name that it has in the room."""

    name: str
    table: Table | PublicTable
    columns: tuple[Column, ...]
    """Those that are needed, of the declared ones."""
    keys: tuple[tuple[Key | None, ...], ...] = ()
    """For declared keys, those of each column; NULL with them where a value may be made of it."""


@frozen(kw_only=True)
class FreeStatement:
    """A statement that needs no private row: what is worked out, and over which tables."""

    kind: FreeKind
    select: Node
    """The statement, over the names that the tables have in the room."""
    tables: tuple[FreeTable, ...]

    def private(self) -> tuple[Table, ...]:
        """Return the private tables that it names. No row of theirs is read."""
        found = (one.table for one in self.tables)
        return tuple(table for table in found if isinstance(table, Table))


@refusing_depth
def read_free(
    statement: Statement, catalog: Catalog, public_rows: PublicRows
) -> FreeStatement | None:
    """Return a statement as a free one, or None if it takes a private answer.

    Guarantee:
        The text and the declarations decide, and public rows where keys are declared to be those
        of a public table. No private row is read.
    """
    select = without_database(statement.select, catalog.name)
    try:
        named = [(node, catalog.table(node.this.name)) for node in _tables(select)]
    except UnknownTable:
        return None  # refused with all names that there are, as in every other question
    private = [table for _, table in named if isinstance(table, Table)]
    if not private:
        require_allowed(select)
        return _over(FreeKind.PUBLIC_TABLES if named else FreeKind.CONSTANTS, select, named)
    if has_no_rows(select):
        return _over(FreeKind.COLUMNS, select, named)
    if _asks_for_keys(select) and len(private) == 1:
        read = [
            (node, with_read_keys(table, catalog, public_rows) if table in private else table)
            for node, table in named
        ]
        return _keys(select, read)
    if is_of_rows(select) and any(is_a(node, "Limit") for node in select.walk()):
        return _preview(select, named)
    return None


# ---- The tables of a statement.

Named = Sequence[tuple[Node, Table | PublicTable]]
"""Where a statement reads a declared table, and which."""


def _tables(select: Node) -> Iterator[Node]:
    """Return where a statement reads tables; queries that WITH names are none."""
    for node in select.walk():
        if is_a(node, "Table") and (is_set(node, "db") or not _is_named_query(node)):
            yield node


def _is_named_query(table: Node) -> bool:
    """Tell whether a name is that of a query of WITH, which can see those before it."""
    name, own = table.this.name.lower(), None
    inner: Node | None = table
    while inner is not None:
        own = inner if is_a(inner, "CTE") else own
        for item in named_queries(inner):
            if item is own:
                break
            if name_of(item) == name:
                return True
        inner = inner.parent
    return False


def _over(kind: FreeKind, select: Node, named: Named) -> FreeStatement:
    """Return the statement over tables in the room, with schemas left out.

    No name in the room is one that stands in the statement: a query of WITH would be read instead.
    """
    taken = {node.name.lower() for node in select.walk() if is_a(node, "Identifier")}
    free = (name for name in map("table_{}".format, count()) if name not in taken)
    rooms = {id(node): next(free) for node, _ in named}
    mentioned = _mentioned(select)
    tables = tuple(
        FreeTable(name=rooms[id(node)], table=table, columns=_wanted(table, mentioned))
        for node, table in named
    )
    renamed = [(node, rooms[id(node)]) for node, _ in named]
    return FreeStatement(kind=kind, select=_in_room(select, renamed), tables=tables)


def _mentioned(select: Node) -> set[str] | None:
    """Return the names of all columns in small letters; None if a star means every one."""
    found = set()
    for node in select.walk():
        if is_star(node) and not is_a(node.parent, "Count", "Column"):
            return None
        if is_a(node, "Column"):
            found.add(node.name.lower())
        if is_a(node, "Join"):
            found |= {name.name.lower() for name in listed(node, "using")}
            if is_set(node, "method"):
                return None  # NATURAL is about every column
    return found


def _wanted(table: Table | PublicTable, names: set[str] | None) -> tuple[Column, ...]:
    wanted = tuple(one for one in table.columns if names is None or one.name.lower() in names)
    return wanted or table.columns[:1]


_ROOM = "discreet_room"
"""In the notes of a table node: what the table is called in the room."""


def _in_room(select: Node, renamed: Iterable[tuple[Node, str]]) -> Node:
    """Return the statement with other names of tables, and with none of a schema."""
    exp = optional.load("sqlglot.expressions")
    for node, room in renamed:
        node.meta[_ROOM] = room
    found = select.copy()
    for node in list(found.walk()):
        if is_a(node, "Column") and is_set(node, "db"):
            node.set("db", None)
        if _ROOM in node.meta:
            if not is_set(node, "alias"):
                node.set("alias", exp.TableAlias(this=node.this.copy()))
            node.set("db", None)
            node.set("this", exp.to_identifier(node.meta[_ROOM], quoted=True))
    return changed(found, expressions=_named_items(select, found))


def _named_items(select: Node, found: Node) -> list[Node]:
    """Return the items of a statement, each with the name that an answer would give it."""
    exp = optional.load("sqlglot.expressions")
    names = iter(output_names([item for item in select.expressions if not is_star(item)]))
    return [
        item
        if is_star(item)
        else exp.Alias(
            this=item_value(item).copy(), alias=exp.to_identifier(next(names), quoted=True)
        )
        for item in found.expressions
    ]


# ---- Which of the kinds a statement is.


def _asks_for_keys(select: Node) -> bool:
    """Tell whether a statement asks which values there are, and nothing about them."""
    is_distinct = is_set(select, "distinct") and not is_set(part_of(select, "distinct"), "on")
    is_asked = is_distinct or is_set(select, "group")
    limits = [node for node in select.walk() if is_a(node, "Limit", "Offset")]
    is_inner = any(node.parent is not select for node in limits)
    return is_asked and not is_inner and not has_aggregates(select)


def part_of(node: Node, name: str) -> Node:
    """Return a part of a node that is there."""
    found = part(node, name)
    assert found is not None
    return found


def _keys(select: Node, named: Named) -> FreeStatement | None:
    """Return the statement over the declared keys of the columns that it names, if all have some.

    The rows in the room are all combinations of these keys, so conditions on keys hold for them.
    """
    mentioned = {node.name.lower() for node in select.walk() if is_a(node, "Column")}
    if any(map(is_star, select.expressions)):
        return None
    found = _over(FreeKind.DECLARED_KEYS, select, named)
    is_computed = not all(is_a(item_value(item), "Column") for item in select.expressions)
    has_nulls = is_computed and _groups_by_items(select, named)
    tables = []
    for one in found.tables:
        if isinstance(one.table, PublicTable):
            tables.append(one)
            continue
        known = {column.name.lower(): keys for column, keys in _known(one.table, select)}
        columns = [column for column in one.table.columns if column.name.lower() in mentioned]
        keys = [known.get(column.name.lower()) for column in columns]
        if not columns or None in keys:
            return None
        nulls = _nulls(one.table) if has_nulls else {}
        whole = tuple(
            (*some, *nulls.get(column.name, ()))
            for column, some in zip(columns, keys, strict=True)
            if some is not None
        )
        tables.append(FreeTable(name=one.name, table=one.table, columns=tuple(columns), keys=whole))
    require_allowed(select)
    known_items = _without_nulls(found.select) if has_nulls else found.select
    return FreeStatement(kind=found.kind, select=known_items, tables=tuple(tables))


def _groups_by_items(select: Node, named: Named) -> bool:
    """Tell whether the groups are those of all items, as those of a SELECT DISTINCT are.

    Where a statement groups by a column, and shows what is made of it, NULL is no key.
    """
    group = part(select, "group")
    if group is None or is_set(group, "all"):
        return True
    columns = {column.name.lower() for _, table in named for column in table.columns}
    places: dict[str | Node, int] = {}
    for place, item in enumerate(select.expressions, 1):
        name = item_name(item).lower()
        places |= {str(place): place, _written(item_value(item)): place}
        places |= {} if name in columns else {name: place}
    found = {places.get(_written(unbracketed(node)), 0) for node in group.expressions}
    return found == set(range(1, len(select.expressions) + 1))


def _written(node: Node) -> str | Node:
    """Return a place or a name as text, and all else as it is."""
    is_place = is_a(node, "Literal") and not node.is_string
    return node.name.lower() if is_place or is_a(node, "Column") else node


def _nulls(table: Table) -> dict[str, tuple[None]]:
    """Return NULL for each column that may be NULL: functions such as COALESCE make keys of it."""
    return {known.name: (None,) for known in Scan.of(table).fields() if known.nullable}


def _without_nulls(select: Node) -> Node:
    """Return such a SELECT without rows in which a value is NULL: that is no key."""
    exp = optional.load("sqlglot.expressions")
    said = condition_of(select, "where")
    values = [item_value(item) for item in select.expressions]
    tests = [exp.Not(this=exp.Is(this=value.copy(), expression=exp.Null())) for value in values]
    where = clause("Where", [*([] if said is None else [said]), *tests])
    return changed(select, where=where)


def _known(table: Table, select: Node) -> Iterator[tuple[Column, tuple[Key, ...] | None]]:
    """Return the public keys of each column of a table that a statement reads, if it has any."""
    fields = Scan.of(table).fields()
    for index, column in enumerate(table.columns):
        keys = public_keys(FieldValue(column.type, index), fields)
        yield column, moments_of(select, column) if keys is None else keys


def _preview(select: Node, named: Named) -> FreeStatement:
    """Return a look at rows as the owner lets it be answered, or refuse it."""
    private = [table for _, table in named if isinstance(table, Table)]
    choices = {table.previews for table in private}
    refused = next((one.name for one in private if one.previews is Previews.REFUSED), None)
    if refused is not None:
        raise RefusedQuery(
            f"A look at rows of {refused} would show single rows",
            must="ask for COUNT, SUM, AVG or another aggregate",
            next="LIMIT 0 shows the columns, for nothing. For tools that look at rows first, the"
            ' owner may declare previews = "nothing" or previews = "rehearsed", which are made up',
        )
    require_allowed(select)
    kind = FreeKind.NO_ROWS if Previews.NOTHING in choices else FreeKind.MADE_UP_ROWS
    return _over(kind, select, named)
