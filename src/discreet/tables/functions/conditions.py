"""Typed conditions: made sure of, put together with AND, taken apart again."""

from collections.abc import Sequence

from discreet.core.errors import RefusedQuery
from discreet.tables.column import ColumnType
from discreet.tables.expression import Call, Expression, Literal, fields_in, moved
from discreet.tables.functions.call import call


def as_condition(expression: Expression) -> Expression:
    """Return the expression if it is true or false, and refuse it otherwise."""
    if expression.type is not ColumnType.BOOLEAN:
        is_null = isinstance(expression, Literal) and expression.value is None
        got = "NULL" if is_null else expression.type.value
        raise RefusedQuery("This is not a condition", must="be true or false", got=got)
    return expression


def both(conditions: Sequence[Expression]) -> Expression | None:
    """Return the conjunction of conditions as a balanced tree, so that a long one is not deep."""
    level = list(conditions)
    while len(level) > 1:
        pairs = [level[i : i + 2] for i in range(0, len(level), 2)]
        level = [call("and", tuple(pair)) if len(pair) > 1 else pair[0] for pair in pairs]
    return level[0] if level else None


def typed_conjuncts(condition: Expression | None) -> list[Expression]:
    """Return the parts of a typed condition that are joined by AND."""
    found: list[Expression] = []
    waiting = [] if condition is None else [condition]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Call) and part.function == "and":
            waiting += reversed(part.arguments)
        else:
            found.append(part)
    return found


def shifted(expression: Expression, distance: int) -> Expression:
    """Return the expression over fields that stand ``distance`` places further right."""
    return moved(expression, {index: index + distance for index in fields_in(expression)})
