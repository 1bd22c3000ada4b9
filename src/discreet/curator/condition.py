"""Conditions: a WHERE clause as a typed expression of total functions of one row."""

import datetime
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from discreet.core import optional
from discreet.core.errors import InvalidArgument, RefusedQuery
from discreet.core.numbers import exact
from discreet.curator.parse import column_name
from discreet.tables.catalog import Table
from discreet.tables.column import ColumnType
from discreet.tables.expression import (
    And,
    ColumnValue,
    Compare,
    Comparison,
    Expression,
    IsNull,
    Literal,
    Not,
    Or,
)

DEEPEST = 200
MOST_VALUES = 1_000


def resolve_condition(node: Any, table: Table) -> Expression:
    """Return the condition in declared terms, or refuse the first part that is not on the list."""
    return _condition(node, table, 0)


def _condition(node: Any, table: Table, depth: int) -> Expression:
    if depth > DEEPEST:
        raise RefusedQuery("The condition is nested too deeply", must=f"be at most {DEEPEST} deep")
    rule = _CONDITIONS.get(type(node).__name__)
    if rule is None:
        raise RefusedQuery(
            "This condition is not supported",
            got=type(node).__name__,
            next="Supported: = <> < <= > >= BETWEEN IN IS NULL AND OR NOT on declared columns",
        )
    _refuse_unknown_parts(node)
    return rule(node, table, depth + 1)


_PARTS = {"this", "expression", "expressions", "low", "high"}


def _refuse_unknown_parts(node: Any) -> None:
    for name, value in node.args.items():
        if value and name not in _PARTS:
            raise RefusedQuery(
                "This condition is not supported", got=f"{type(node).__name__} {name}"
            )


def _both(node: Any, table: Table, depth: int) -> tuple[Expression, Expression]:
    return _condition(node.this, table, depth), _condition(node.expression, table, depth)


def _and(node: Any, table: Table, depth: int) -> Expression:
    return And(*_both(node, table, depth))


def _or(node: Any, table: Table, depth: int) -> Expression:
    return Or(*_both(node, table, depth))


def _not(node: Any, table: Table, depth: int) -> Expression:
    return Not(_condition(node.this, table, depth))


def _paren(node: Any, table: Table, depth: int) -> Expression:
    return _condition(node.this, table, depth)


def _is(node: Any, table: Table, _: int) -> Expression:
    if not isinstance(node.expression, optional.load("sqlglot.expressions").Null):
        raise RefusedQuery("IS takes NULL", next="Write column IS NULL, or column = TRUE")
    return IsNull(_column(node.this, table))


def _between(node: Any, table: Table, _: int) -> Expression:
    lower = _compare(Comparison.GREATER_OR_EQUAL, node.this, node.args["low"], table)
    upper = _compare(Comparison.LESS_OR_EQUAL, node.this, node.args["high"], table)
    return And(lower, upper)


def _in(node: Any, table: Table, _: int) -> Expression:
    values = node.expressions
    if not values or len(values) > MOST_VALUES:
        raise RefusedQuery("IN takes a list of values", must=f"have 1 to {MOST_VALUES:,} of them")
    tests = [_compare(Comparison.EQUAL, node.this, value, table) for value in values]
    while len(tests) > 1:  # a balanced tree, so that a long list is not a deep one
        pairs = [tests[i : i + 2] for i in range(0, len(tests), 2)]
        tests = [Or(*pair) if len(pair) == 2 else pair[0] for pair in pairs]
    return tests[0]


def _boolean_column(node: Any, table: Table, _: int) -> Expression:
    column = _column(node, table)
    if column.column.type is not ColumnType.BOOLEAN:
        raise RefusedQuery(f"Column '{column.column.name}' is not a condition", must="be boolean")
    return column


def _comparison(comparison: Comparison) -> Callable[[Any, Table, int], Expression]:
    return lambda node, table, _: _compare(comparison, node.this, node.expression, table)


_CONDITIONS: dict[str, Callable[[Any, Table, int], Expression]] = {
    "And": _and,
    "Or": _or,
    "Not": _not,
    "Paren": _paren,
    "Is": _is,
    "Between": _between,
    "In": _in,
    "Column": _boolean_column,
    "EQ": _comparison(Comparison.EQUAL),
    "NEQ": _comparison(Comparison.NOT_EQUAL),
    "LT": _comparison(Comparison.LESS),
    "LTE": _comparison(Comparison.LESS_OR_EQUAL),
    "GT": _comparison(Comparison.GREATER),
    "GTE": _comparison(Comparison.GREATER_OR_EQUAL),
}


def _compare(comparison: Comparison, left: Any, right: Any, table: Table) -> Expression:
    column_class = optional.load("sqlglot.expressions").Column
    column = next((_column(n, table) for n in (left, right) if isinstance(n, column_class)), None)
    if column is None:
        raise RefusedQuery("A comparison needs a column on one side", next="Write column > 10")
    sides = [_value(node, table, column.column.type) for node in (left, right)]
    return Compare(comparison, *sides)


def _column(node: Any, table: Table) -> ColumnValue:
    if not isinstance(node, optional.load("sqlglot.expressions").Column):
        raise RefusedQuery("This takes a plain column", got=type(node).__name__)
    return ColumnValue(table.column(column_name(node)))


def _value(node: Any, table: Table, wanted: ColumnType) -> Expression:
    """Return a column or a literal that can be compared with a column of type ``wanted``."""
    if isinstance(node, optional.load("sqlglot.expressions").Column):
        value = _column(node, table)
        if value.column.type is not wanted and {value.column.type, wanted} != set(_NUMERIC):
            raise RefusedQuery(
                f"Column '{value.column.name}' is {value.column.type.value}",
                must=f"be {wanted.value} to be compared here",
            )
        return value
    return _literal(node, wanted)


def _literal(node: Any, wanted: ColumnType) -> Literal:
    expressions = optional.load("sqlglot.expressions")
    if wanted is ColumnType.BOOLEAN and isinstance(node, expressions.Boolean):
        return Literal(wanted, bool(node.this))
    if wanted is ColumnType.DATE and isinstance(node, expressions.Cast):
        node = node.this if node.to.this.value == "DATE" else node
    sign = 1
    while wanted in _NUMERIC and isinstance(node, expressions.Neg):
        node, sign = node.this, -sign
    if isinstance(node, expressions.Literal):
        literal = _typed(str(node.this), bool(node.is_string), sign, wanted)
        if literal is not None:
            return literal
    raise RefusedQuery(
        f"A column of type {wanted.value} is compared with something else", next=_LITERALS
    )


_NUMERIC = (ColumnType.INTEGER, ColumnType.REAL)
_LITERALS = "Write 3, 2.5, 'text', TRUE or DATE '2024-01-31', as the column's type asks"


def _typed(text: str, is_string: bool, sign: int, wanted: ColumnType) -> Literal | None:
    if wanted is ColumnType.TEXT and is_string:
        return Literal(wanted, text)
    if wanted is ColumnType.DATE and is_string:
        try:
            return Literal(wanted, datetime.date.fromisoformat(text))
        except ValueError:
            return None
    if wanted in _NUMERIC and not is_string:
        return _number(text, sign, wanted)
    return None


def _number(text: str, sign: int, wanted: ColumnType) -> Literal | None:
    try:
        number: Fraction = sign * exact(text)
    except InvalidArgument:
        return None
    if abs(number) >= 2**63:
        raise RefusedQuery("A number in the condition is too large", must="be below 2**63 in size")
    if wanted is ColumnType.INTEGER and number.denominator == 1:
        return Literal(ColumnType.INTEGER, number.numerator)
    return Literal(ColumnType.REAL, str(number))
