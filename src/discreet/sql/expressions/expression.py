"""Row-wise expressions: from sqlglot's node to a typed expression of total functions."""

from collections.abc import Callable, Mapping
from typing import Any

from discreet.core.errors import RefusedQuery
from discreet.sql.expressions.calls import CALLS
from discreet.sql.expressions.forms import FORMS
from discreet.sql.expressions.literal import LITERALS
from discreet.sql.expressions.plain import PLAIN
from discreet.sql.expressions.rule import Rule
from discreet.sql.refusals import refused_node
from discreet.tables.expression import Expression
from discreet.tables.functions.measure import measure

DEEPEST_NODE = 200
MOST_NODES = 10_000
DEEPEST = 100
"""The engine's own limit is 1000, and a function of ours takes up to six levels of its SQL."""

_RULES: Mapping[str, Rule] = {**LITERALS, **PLAIN, **FORMS, **CALLS}

ColumnOf = Callable[[Any], Expression]
"""Finds the field that a sqlglot ``Column`` means."""


def resolve_expression(node: Any, column: ColumnOf) -> Expression:
    """Return the expression in terms of fields, or refuse the first part that is not on the list.

    Guarantee:
        The result is made by ``call`` and ``cast`` alone, so it is total and about one row. A node
        without a rule is refused, and so is a part of a node that its rule does not read. Its size
        with all repeated parts written out is limited, so no query makes the engine's text explode.

    Example:
        >>> from discreet.core import optional
        >>> from discreet.tables.column import ColumnType
        >>> from discreet.tables.expression import FieldValue
        >>> node = optional.load("sqlglot").parse_one("age + 1 > 18", dialect="duckdb")
        >>> resolve_expression(node, lambda _: FieldValue(ColumnType.INTEGER, 0)).function
        '>'
    """
    if sum(1 for _ in node.walk()) > MOST_NODES:
        raise _too_large()
    result = _resolve(node, column, 0)
    depth, size = measure(result)
    if depth > DEEPEST or size > MOST_NODES:
        raise _too_large()
    return result


def _resolve(node: Any, column: ColumnOf, depth: int) -> Expression:
    if depth > DEEPEST_NODE:
        raise _too_large()
    name = type(node).__name__
    if name == "Column":
        return column(node)
    rule = _RULES.get(name)
    if rule is None:
        raise refused_node(node)
    rule.refuse_unknown_parts(node)
    return rule.read(node, lambda part: _resolve(part, column, depth + 1))


def _too_large() -> RefusedQuery:
    return RefusedQuery(
        "An expression is too large",
        must=f"have at most {MOST_NODES:,} parts and be at most {DEEPEST} deep",
        next="Compute parts of it in a sub-query",
    )
