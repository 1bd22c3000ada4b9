"""One aggregate function of a query, and what it needs to become aggregates."""

from fractions import Fraction
from typing import Any

from attrs import frozen

from discreet.core.errors import RefusedQuery
from discreet.releases.estimates.estimate import Estimate, TotalOf
from discreet.releases.view import ClampSource
from discreet.sql.outputs.book import Book
from discreet.sql.outputs.clamp import Clamped, clamped
from discreet.sql.outputs.days import not_a_sum
from discreet.sql.outputs.nodes import shown
from discreet.sql.outputs.output_scope import OutputScope
from discreet.tables.aggregate import Aggregate
from discreet.tables.column import ColumnType
from discreet.tables.expression import Expression, FieldValue, Literal
from discreet.tables.expression_text import expression_text
from discreet.tables.functions.call import call


@frozen
class Asked:
    """One aggregate function of the query, without what stands around it."""

    node: Any
    where: Expression | None
    scope: OutputScope
    book: Book

    def kept(self, value: Expression | None) -> Expression | None:
        """Return which rows count: those of FILTER that have a value."""
        present = None if value is None else self._presence(value)
        conditions = [part for part in (present, self.where) if part is not None]
        return call("and", conditions) if len(conditions) > 1 else next(iter(conditions), None)

    def _presence(self, value: Expression) -> Expression | None:
        if isinstance(value, Literal) and value.value is not None:
            return None
        return None if self._is_always_there(value) else call("not", [call("is_null", [value])])

    def _is_always_there(self, value: Expression) -> bool:
        if not isinstance(value, FieldValue) or value.type is ColumnType.REAL:
            return False  # NaN counts as NULL, whatever is declared
        return not self.scope.relation.fields()[value.index].nullable

    def number(self, node: Any) -> Clamped:
        """Return the value of a node, which must be a number, with its clamp."""
        value, fields = self.plain_row(node), self.scope.relation.fields()
        if value.type is ColumnType.BOOLEAN:
            text = expression_text(value, fields)
            raise RefusedQuery(
                f"{text} is true or false, not a number",
                next=f"Write COUNT(*) FILTER (WHERE {text}), or AVG(CAST({text} AS INTEGER)) for"
                " a share",
            )
        if value.type is ColumnType.DATE:
            raise not_a_sum(value, fields, shown(self.node))
        if value.type not in (ColumnType.INTEGER, ColumnType.REAL):
            raise RefusedQuery(
                f"{expression_text(value, fields)} is {value.type.value}, not a number",
                must="be a number inside SUM, AVG and the like",
                next="COUNT works for every type",
            )
        return clamped(value, fields)

    def plain_row(self, node: Any) -> Expression:
        """Return the value of a node, which must be without DISTINCT."""
        if node.key == "distinct":
            raise RefusedQuery(
                f"DISTINCT inside {shown(self.node)} is not supported",
                must="be without DISTINCT, because which rows count would depend on other people",
                next="Write SELECT DISTINCT with the unit's column in a sub-query, or use"
                " COUNT(DISTINCT x)",
            )
        return self.scope.row(node)

    def total(self, aggregate: Aggregate, clamp: ClampSource | None = None) -> Estimate:
        """Return the estimate that shows one count or sum as it is."""
        index = self.book.index(aggregate, clamp)
        is_whole = aggregate.step.denominator == 1
        estimate = TotalOf(ColumnType.INTEGER if is_whole else ColumnType.REAL, index)
        return self.book.ask(estimate, {index: Fraction(1)})


def require_condition(expression: Expression) -> None:
    """Refuse what is not true or false."""
    if expression.type is not ColumnType.BOOLEAN:
        is_null = isinstance(expression, Literal) and expression.value is None
        got = "NULL" if is_null else expression.type.value
        raise RefusedQuery("This is not a condition", must="be true or false", got=got)
