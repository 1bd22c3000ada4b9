"""The scope: which names are in reach, and which field of a relation each of them is."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from attrs import evolve, frozen

from discreet.core.errors import RefusedQuery, UnknownColumn, UnknownTable
from discreet.sql.expressions.expression import resolve_expression
from discreet.sql.rows.nearest import did_you_mean
from discreet.sql.rows.nodes import is_a, require_plain
from discreet.tables.column import ColumnType
from discreet.tables.expression import Expression, FieldValue, Literal
from discreet.tables.relations.relation import Field, Relation


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

    def tables(self) -> tuple[str, ...]:
        """Return the tables in reach, each once."""
        return self._tables

    @cached_property
    def _tables(self) -> tuple[str, ...]:
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

    def index(self, node: Any) -> int:
        """Return the field that a column of the query means."""
        if (marked := node.meta.get(MARK)) is not None:
            return int(marked)
        require_plain(node, "this", "table", next="Write table.column")
        if is_a(node.this, "Star"):
            raise RefusedQuery("* is not supported here", next="Name the column")
        table = str(node.args["table"].name) if node.args.get("table") else ""
        try:
            return self.find(table, node.name)
        except UnknownColumn as error:
            is_compared = is_a(node.parent, *_COMPARISONS) and node.arg_key != "this"
            if table or not (is_compared or node.this.args.get("quoted")):
                raise
            quotes = f"Texts stand in single quotes: '{node.name}'"
            raise UnknownColumn(error.what, next=f"{quotes}. {error.next}") from None

    def find(self, table: str, column: str) -> int:
        """Return the field of a column by its name, and perhaps by its table's."""
        return self.name(table, column).index

    def name(self, table: str, column: str) -> Name:
        """Return the column in reach that a name means, perhaps with its table's."""
        if table and table.lower() not in [name.lower() for name in self.tables()]:
            near = did_you_mean(table, self.tables())
            raise UnknownTable(
                f"No table '{table}' in FROM", next=f"{near}In reach: {', '.join(self.tables())}"
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
            f"No column '{column}' in {table or ', '.join(self.tables())}",
            next=f"{did_you_mean(column, columns)}Columns: {', '.join(columns)}",
        )

    def column(self, node: Any) -> Expression:
        """Return the value of a column of the query."""
        index = self.index(node)
        return FieldValue(self.field(index).type, index)

    def row(self, node: Any) -> Expression:
        """Return a row-wise expression over the fields of the relation."""
        return resolve_expression(node, self.column)

    def condition(self, node: Any) -> Expression:
        """Return a row-wise condition over the fields of the relation."""
        return as_condition(self.row(node))


_COMPARISONS = ("Predicate", "In")
"""What a name without quotes, that stands behind, is likely to be a text of."""

MARK = "discreet_field"
"""In the notes of a column node that stands for something computed: the index of its field."""


def _is_meant(name: Name, table: str) -> bool:
    return name.table.lower() == table.lower() if table else not name.is_merged


def as_condition(expression: Expression) -> Expression:
    """Return the expression if it is true or false, and refuse it otherwise."""
    if expression.type is not ColumnType.BOOLEAN:
        is_null = isinstance(expression, Literal) and expression.value is None
        got = "NULL" if is_null else expression.type.value
        raise RefusedQuery("This is not a condition", must="be true or false", got=got)
    return expression
