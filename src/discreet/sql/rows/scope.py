"""What a SELECT can see: the tables and queries around it, and the names that FROM put in reach."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import cached_property
from typing import Protocol, Self

from attrs import define, evolve, field, frozen

from discreet.core.errors import RefusedQuery, UnknownColumn, UnknownTable
from discreet.sql.expressions.expression import resolve_expression
from discreet.sql.syntax.databases import require_schema
from discreet.sql.syntax.nodes import (
    Node,
    is_a,
    is_set,
    mark_of,
    part,
    require_plain,
    table_of,
)
from discreet.tables.catalog import Catalog
from discreet.tables.column import ColumnType, Key
from discreet.tables.expression import Expression, FieldValue
from discreet.tables.functions.conditions import as_condition
from discreet.tables.relations.relation import Field, Relation
from discreet.tables.relations.scan import PublicScan, Scan

Rows = tuple[tuple[Key | None, ...], ...]
PublicRows = Callable[[Relation], Rows]
"""The rows of a public relation. Private relations are never asked for theirs."""

DEEPEST_QUERY = 40
MOST_TABLES = 100
"""How many tables a query may read, each counted as often as it is read."""
MOST_WORK = 1_000
"""How many steps it may take to resolve a statement."""
STEPS_OF_A_TABLE = 10
"""What it counts to read a public table for a value: no more than MOST_TABLES are read so."""

STEPS_OF_A_ZONE = 25
"""What AT TIME ZONE counts: a few words stand for every change of clocks in two hundred years."""


@define(eq=False)
class ResolvingWork:
    """What resolving one statement has cost: shared by all of its contexts, so it only grows.

    Guarantee:
        Every nested query, every reading of a query that WITH names and every value that is read
        from public tables spends from one sum. So the work before the gate is bounded, whatever
        stands in whatever: a short text can say a query that takes 2^depth steps.
    """

    most: int = MOST_WORK
    spent: int = 0
    _read: dict[str, Rows] = field(factory=dict)

    def spend(self, steps: int = 1) -> None:
        """Count steps, or refuse the query if they are too many."""
        self.spent += steps
        if self.spent > self.most:
            raise RefusedQuery(
                "The query is too large",
                must=f"take at most {self.most:,} steps, counting a nested query each time that it"
                " is read",
                next="Write it with fewer nested queries",
            )

    def rows(self, relation: Relation, public_rows: PublicRows) -> Rows:
        """Return the rows of a public relation, which are read once in a statement."""
        # The text and not the relation: 0.0 equals -0.0, and may not mean the same.
        key = repr(relation)
        if key not in self._read:
            self.spend(STEPS_OF_A_TABLE * scans_of(relation))
            self._read[key] = public_rows(relation)
        return self._read[key]


@frozen(kw_only=True)
class Named:
    """A query that WITH gave a name, and the context that it stands in."""

    query: Node
    columns: tuple[str, ...]
    context: "Context"
    steps: int = 0
    """What it counts to read it, beyond the queries in it: more if its text is long."""


@frozen(kw_only=True)
class Context:
    """The declared tables, the queries that WITH named, and how to resolve a nested query."""

    catalog: Catalog
    query: Callable[[Node, "Context"], Relation]
    """Resolve a nested query. Handed down, so that the files need no circle of imports."""
    public_rows: PublicRows
    named: Mapping[str, Named] = field(factory=dict)
    depth: int = 0
    work: ResolvingWork = field(factory=ResolvingWork, eq=False, repr=False)

    def deeper(self) -> "Context":
        """Return the context of a query within this one, which counts as a step."""
        self.work.spend()
        if self.depth >= DEEPEST_QUERY:
            raise RefusedQuery(
                "The query is nested too deeply", must=f"be at most {DEEPEST_QUERY} deep"
            )
        return evolve(self, depth=self.depth + 1)

    def knowing(self, name: str, named: Named) -> "Context":
        """Return the context in which one more query has a name."""
        return evolve(self, named={**self.named, name.lower(): named})


def require_few_tables(relation: Relation) -> Relation:
    """Refuse a relation that reads very many tables: a short text can say one that is huge."""
    if scans_of(relation) > MOST_TABLES:
        raise RefusedQuery(
            "The query reads too many tables",
            must=f"read at most {MOST_TABLES}, counting a table each time",
        )
    return relation


def scans_of(relation: Relation) -> int:
    """Return how many tables a relation reads."""
    if isinstance(relation, Scan | PublicScan):
        return 1
    return sum(scans_of(source) for source in relation.inputs())


class Stage(Protocol):
    """What a SELECT has at hand: before its GROUP BY a scope, and after it the groups."""

    @property
    def relation(self) -> Relation:
        """The relation that expressions stand on."""
        ...

    def row(self, node: Node) -> Expression:
        """Return the row-wise expression of a node."""
        ...

    def over(self, relation: Relation) -> Self:
        """Return the stage over a relation with the same fields, and perhaps more."""
        ...


@frozen(kw_only=True)
class Name:
    """One column in reach: its table's name here, its own name, and its field."""

    table: str
    """Nothing for a column of USING that has the value of the right side."""
    column: str
    index: int
    is_merged: bool = False
    """Whether USING merged it into another column: then it is found behind its table only."""


@frozen(kw_only=True)
class Scope:
    """A relation, and the names by which its fields are known in one SELECT. Case is ignored."""

    relation: Relation
    names: tuple[Name, ...]

    @staticmethod
    def of(relation: Relation, table: str) -> "Scope":
        """Return the scope in which every field is known by its own name."""
        fields = enumerate(relation.fields())
        names = tuple(Name(table=table, column=field.name, index=i) for i, field in fields)
        return Scope(relation=relation, names=names)

    def over(self, relation: Relation) -> "Scope":
        """Return the same names over a relation with the same fields (and perhaps more)."""
        return evolve(self, relation=relation)

    @cached_property
    def tables(self) -> tuple[str, ...]:
        """The tables in reach, each once."""
        return tuple(dict.fromkeys(name.table for name in self.names if name.table))

    @cached_property
    def columns(self) -> Mapping[str, Sequence[Name]]:
        """The columns in reach, by their names in small letters."""
        found: dict[str, list[Name]] = {}
        for name in self.names:
            found.setdefault(name.column.lower(), []).append(name)
        return found

    @cached_property
    def _fields(self) -> tuple[Field, ...]:
        return self.relation.fields()

    def field(self, index: int) -> Field:
        """Return the field at ``index`` of the relation."""
        return self._fields[index]

    def field_of(self, value: Expression) -> Field | None:
        """Return the field that a value is, if it is one unchanged."""
        return self.field(value.index) if isinstance(value, FieldValue) else None

    def index(self, node: Node) -> int:
        """Return the field that a column of the query means."""
        marked = mark_of(node)
        if marked is not None:
            return marked
        require_plain(node, "this", "table", "db", next="Write table.column")
        require_schema(part(node, "db"))
        if is_a(node.this, "Star"):
            raise RefusedQuery("* is not supported here", next="Name the column")
        table = table_of(node)
        try:
            return self.name(table, node.name).index
        except UnknownColumn as error:
            is_compared = is_a(node.parent, *_COMPARISONS) and node.arg_key != "this"
            if table or not (is_compared or is_set(node.this, "quoted")):
                raise
            quotes = f"Texts stand in single quotes: '{node.name}'"
            raise UnknownColumn(error.what, next=f"{quotes}. {error.next}") from None

    def name(self, table: str, column: str) -> Name:
        """Return the column in reach that a name means, perhaps with its table's."""
        if table and table.lower() not in [name.lower() for name in self.tables]:
            near = did_you_mean(table, self.tables)
            raise UnknownTable(
                f"No table '{table}' in FROM", next=f"{near}In reach: {', '.join(self.tables)}"
            )
        alike = self.columns.get(column.lower(), ())
        found = [name for name in alike if _is_meant(name, table)]
        if not found:
            raise self._unknown(table, column)
        if len({name.index for name in found}) > 1:
            tables = [f"{name.table}.{name.column}" for name in found if name.table]
            raise RefusedQuery(
                f"Column '{column}' is in several tables", next=f"Write {' or '.join(tables)}"
            )
        return found[0]

    def _unknown(self, table: str, column: str) -> UnknownColumn:
        wanted = [name for name in self.names if not table or name.table.lower() == table.lower()]
        columns = list(dict.fromkeys(name.column for name in wanted))
        return UnknownColumn(
            f"No column '{column}' in {table or ', '.join(self.tables)}",
            next=f"{did_you_mean(column, columns)}Columns: {', '.join(columns)}",
        )

    def column(self, node: Node) -> Expression:
        """Return the value of a column of the query."""
        index = self.index(node)
        return FieldValue(self.field(index).type, index)

    def row(self, node: Node) -> Expression:
        """Return a row-wise expression over the fields of the relation."""
        return resolve_expression(node, self.column, self.field_of)

    def condition(self, node: Node) -> Expression:
        """Return a row-wise condition over the fields of the relation."""
        return as_condition(self.row(node))


_COMPARISONS = ("Predicate", "In")
"""What a name without quotes, that stands behind, is likely to be a text of."""


def _is_meant(name: Name, table: str) -> bool:
    return name.table.lower() == table.lower() if table else not name.is_merged


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a question with the nearest of the known names, and a space; nothing if none is near.

    Example:
        >>> did_you_mean("Visit", ["patients", "visits"]), did_you_mean("x", ["visits"])
        ('Did you mean visits? ', '')
    """
    by_case = {one.lower(): one for one in known}
    near = get_close_matches(name.lower(), by_case, n=1)
    return f"Did you mean {by_case[near[0]]}? " if near else ""


_GROUPED = (ColumnType.TEXT, ColumnType.BOOLEAN)


def example(scope: Scope, catalog: Catalog) -> str:
    """Return a SELECT that may be asked of the tables in reach, by their declarations."""
    tables, declared = scope.tables, [table.name.lower() for table in catalog.tables]
    if len(tables) != 1 or tables[0].lower() not in declared:
        return "SELECT key, COUNT(*) FROM ... GROUP BY key"
    fields = scope.relation.fields()
    others = [field for field in fields if field.unit_part is None]
    keys = [one.name for one in others if one.type in _GROUPED and one.keys is not None]
    averages = [f"AVG({one.name})" for one in others if one.bounds is not None]
    items = ", ".join([*keys[:1], "COUNT(*)", *averages[:1]])
    grouped = f" GROUP BY {keys[0]}" if keys else ""
    return f"SELECT {items} FROM {tables[0]}{grouped}"
