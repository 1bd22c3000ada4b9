"""Totals within one owner: COUNT, SUM, AVG, MIN and MAX in a sub-query or a window."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from attrs import evolve

from discreet.core.errors import RefusedQuery, UndeclaredBound
from discreet.sql.rows.nodes import is_a, require_plain
from discreet.sql.rows.projecting import field_of
from discreet.sql.rows.scope import as_condition
from discreet.tables.column import Bounds, ColumnType
from discreet.tables.expression import Expression, Literal
from discreet.tables.functions.call import call
from discreet.tables.functions.proposal import propose_bounds
from discreet.tables.relations.inner_aggregate import InnerTotal, Total
from discreet.tables.relations.relation import Field, Relation

_TOTALS = {
    "Sum": Total.SUM,
    "Avg": Total.AVERAGE,
    "Min": Total.MINIMUM,
    "Max": Total.MAXIMUM,
}
_ADDED = (Total.SUM, Total.AVERAGE)
_NUMBERS = (ColumnType.INTEGER, ColumnType.REAL)
_BOOLEANS = {
    "LogicalOr": ("BOOL_OR", "Write MAX(x), which is true if x is true for any row"),
    "LogicalAnd": ("BOOL_AND", "Write MIN(x), which is true if x is true for all rows"),
}
_SUPPORTED = "In a sub-query: COUNT, SUM, AVG, MIN, MAX, for each person"


def inner_total(node: Any, row: Callable[[Any], Expression], relation: Relation) -> InnerTotal:
    """Return the total that a node says, over the fields of the relation."""
    condition = None
    if is_a(node, "Filter"):
        require_plain(node, "this", "expression")
        condition = as_condition(row(node.expression.this))
        node = node.this
    if is_a(node, "AggFunc") and node.this is None:
        raise RefusedQuery(
            f"{node.key.upper()}() is about nothing", next="Name a column, or COUNT(*)"
        )
    if is_a(node, "Count"):
        return _count(node, row, condition)
    total = _TOTALS.get(type(node).__name__)
    if total is None:
        shown, instead = _BOOLEANS.get(type(node).__name__, (node.key.upper(), _SUPPORTED))
        raise RefusedQuery(f"{shown} is not supported here", next=instead)
    require_plain(node, "this")
    if is_a(node.this, "Distinct"):
        raise RefusedQuery(
            f"{total.name}(DISTINCT ...) is not supported here", next="Take the DISTINCT rows first"
        )
    value = _where(condition, row(node.this))
    return InnerTotal(total=total, value=value, bounds=_grid(total, value, relation))


def _count(node: Any, row: Callable[[Any], Expression], condition: Expression | None) -> InnerTotal:
    require_plain(node, "this", "big_int")
    if is_a(node.this, "Star"):
        require_plain(node.this)
        if condition is None:
            return InnerTotal(total=Total.COUNT_ROWS, value=None)
        return InnerTotal(
            total=Total.COUNT, value=_where(condition, Literal(ColumnType.INTEGER, 1))
        )
    if is_a(node.this, "Distinct"):
        require_plain(node.this, "expressions")
        if len(node.this.expressions) != 1:
            raise RefusedQuery("COUNT(DISTINCT ...) takes one column")
        value = _where(condition, row(node.this.expressions[0]))
        return InnerTotal(total=Total.COUNT_DISTINCT, value=value)
    return InnerTotal(total=Total.COUNT, value=_where(condition, row(node.this)))


def _where(condition: Expression | None, value: Expression) -> Expression:
    if condition is None:
        return value
    return call("case", (condition, value, Literal(value.type, None)))


def _grid(total: Total, value: Expression, relation: Relation) -> Bounds | None:
    if total not in _ADDED:
        return None
    if value.type not in _NUMBERS:
        raise RefusedQuery(
            f"A value of type {value.type.value} has no {total.value}", must="be a number"
        )
    if value.type is ColumnType.INTEGER:
        return None
    bounds = propose_bounds(value, relation.fields())
    if bounds is None:
        raise UndeclaredBound(
            f"A real value under {total.value.upper()} has no range",
            must="have min, max and step: reals are added on a grid, whatever their order",
            next=f"Declare them, or write {total.value.upper()}(CLAMP(value, 0, 100, 0.01))",
        )
    return bounds


_FINER = 100


def total_field(total: InnerTotal, relation: Relation, *, name: str) -> Field:
    """Return the field of a total. Nobody declared a range for a count or a sum."""
    plain = Field(name=name, type=total.type(), nullable=total.total not in _COUNTS)
    if total.value is None or total.total in _COUNTS:
        return plain
    known = field_of(total.value, relation, name=name)
    if total.total is Total.AVERAGE and known.bounds is not None:
        return evolve(plain, bounds=_finer(known.bounds))
    if total.total in (Total.MINIMUM, Total.MAXIMUM):
        return evolve(
            plain, bounds=known.bounds, dates=known.dates, keys=known.keys, made=known.made
        )
    return plain


_COUNTS = (Total.COUNT_ROWS, Total.COUNT, Total.COUNT_DISTINCT)


def _finer(bounds: Bounds) -> Bounds:
    """Return the range with a smaller step: an average of whole numbers is not a whole number."""
    step = bounds.step / _FINER
    largest = max(abs(bounds.lower), abs(bounds.upper)) / step
    return bounds if largest > _MOST_STEPS else evolve(bounds, step=Fraction(step))


_MOST_STEPS = 2**40
