"""Row-wise expressions: from sqlglot's node to a typed expression of total functions."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from attrs import frozen

from discreet.core.errors import InvalidArgument, RefusedQuery
from discreet.core.numbers import exact
from discreet.sql.expressions.forms import FORMS
from discreet.sql.expressions.refusals import refused_node
from discreet.sql.expressions.rule import PLAIN, FieldOf, Rule, Visit
from discreet.tables.column import LONGEST_TEXT, ColumnType
from discreet.tables.expression import Expression, Literal, measure

DEEPEST_NODE = 200
MOST_NODES = 10_000
DEEPEST = 100
"""The engine's own limit is 1000, and a function of ours takes up to six levels of its SQL."""

ColumnOf = Callable[[Any], Expression]
"""Finds the field that a sqlglot ``Column`` means."""


def _unknown(_: Expression) -> None:
    return None


def resolve_expression(node: Any, column: ColumnOf, field: FieldOf = _unknown) -> Expression:
    """Return the expression in terms of fields, or refuse the first part that is not on the list.

    Guarantee:
        The result is made by ``call`` and ``cast`` alone, so it is total and about one row. A node
        without a rule is refused, and so is a part of a node that its rule does not read. Its size
        with all repeated parts written out is limited, so no query makes the engine's text explode.

    Example:
        >>> from discreet.core import optional
        >>> from discreet.tables.expression import FieldValue
        >>> node = optional.load("sqlglot").parse_one("age + 1 > 18", dialect="duckdb")
        >>> resolve_expression(node, lambda _: FieldValue(ColumnType.INTEGER, 0)).function
        '>'
    """
    if sum(1 for _ in node.walk()) > MOST_NODES:
        raise _too_large()
    result = _Visit(column, field)(node)
    depth, size = measure(result)
    if depth > DEEPEST or size > MOST_NODES:
        raise _too_large()
    return result


@frozen
class _Visit:
    """Resolves a node; its parts are one level deeper."""

    column: ColumnOf
    field: FieldOf
    depth: int = 0

    def __call__(self, node: Any) -> Expression:
        if self.depth > DEEPEST_NODE:
            raise _too_large()
        if node is None:  # the parser lets DATE() pass
            raise RefusedQuery("A function has no value", must="have one between its brackets")
        name = type(node).__name__
        if name == "Column":
            return self.column(node)
        rule = _RULES.get(name)
        if rule is None:
            raise refused_node(node)
        rule.refuse_unknown_parts(node)
        return rule.read(node, _Visit(self.column, self.field, self.depth + 1))


def _too_large() -> RefusedQuery:
    return RefusedQuery(
        "An expression is too large",
        must=f"have at most {MOST_NODES:,} parts and be at most {DEEPEST} deep",
        next="Compute parts of it in a sub-query",
    )


# ---- Constants of a query: numbers, texts, TRUE, FALSE and NULL.

_DIGITS = re.compile(r"[0-9]+")


def _literal(node: Any, _: Visit) -> Literal:
    return _text(str(node.this)) if node.is_string else number(str(node.this))


def number(written: str) -> Literal:
    """Return a number as it is written: an integer if it has only digits, else real.

    Example:
        >>> number("12").value, number("1.50").value
        (12, '3/2')
    """
    try:
        value = exact(written)
        float(value)
    except (InvalidArgument, OverflowError):
        raise _cannot_be_held() from None
    if not _DIGITS.fullmatch(written):
        return Literal(ColumnType.REAL, str(value))
    if value >= 2**63:
        raise _cannot_be_held()
    return Literal(ColumnType.INTEGER, value.numerator)


def _cannot_be_held() -> RefusedQuery:
    return RefusedQuery(
        "A number in the query cannot be held",
        must="be below 2**63 if it is whole, else below 1e308",
    )


def _text(value: str) -> Literal:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise RefusedQuery("A text in the query is not Unicode") from None
    if len(value) > LONGEST_TEXT:
        raise RefusedQuery(
            "A text in the query is too long", must=f"have at most {LONGEST_TEXT:,} characters"
        )
    return Literal(ColumnType.TEXT, value)


def _boolean(node: Any, _: Visit) -> Literal:
    return Literal(ColumnType.BOOLEAN, bool(node.this))


def _null(_: Any, __: Visit) -> Literal:
    return Literal(ColumnType.TEXT, None)


_RULES: Mapping[str, Rule] = {
    "Literal": Rule(("this", "is_string"), _literal),
    "Boolean": Rule(("this",), _boolean),
    "Null": Rule((), _null),
    **PLAIN,
    **FORMS,
}
