"""Row-wise expressions: typed, total, and about one row only, so they are owner-local."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from attrs import evolve, frozen

from discreet.tables.column import ColumnType, Key


@frozen
class Expression:
    """A value computed from one row. It never raises, whatever the row holds.

    Conditions are expressions of type boolean. Every expression knows its type.
    """

    type: ColumnType


@frozen
class FieldValue(Expression):
    """The value of the field at ``index`` of the relation that the expression stands on."""

    stored_as: ClassVar[str] = "FieldValue"
    index: int


@frozen
class Literal(Expression):
    """A constant of the query; a real one is written as its exact text, NULL as None."""

    stored_as: ClassVar[str] = "Literal"
    value: Key | None


@frozen
class Call(Expression):
    """A total function of other expressions.

    Made by :func:`discreet.tables.functions.call` alone, which checks the types: a name that is
    not in its table has no meaning.
    """

    stored_as: ClassVar[str] = "Call"
    function: str
    arguments: tuple[Expression, ...]


def fields_in(expression: Expression) -> frozenset[int]:
    """Return the indices of the fields that an expression looks at.

    Example:
        >>> fields_in(FieldValue(ColumnType.INTEGER, 3))
        frozenset({3})
    """
    if isinstance(expression, FieldValue):
        return frozenset({expression.index})
    if isinstance(expression, Call):
        return frozenset().union(*(fields_in(part) for part in expression.arguments))
    return frozenset()


def moved(expression: Expression, places: Mapping[int, int]) -> Expression:
    """Return the expression with the field at ``i`` taken from ``places[i]`` instead.

    Example:
        >>> moved(FieldValue(ColumnType.INTEGER, 3), {3: 0})
        FieldValue(type=<ColumnType.INTEGER: 'integer'>, index=0)
    """
    if isinstance(expression, FieldValue):
        return evolve(expression, index=places[expression.index])
    if isinstance(expression, Call):
        arguments = tuple(moved(part, places) for part in expression.arguments)
        return evolve(expression, arguments=arguments)
    return expression


def written_out(expression: Expression, values: Sequence[Expression]) -> Expression:
    """Return the expression with ``values[i]`` in the place of the field at ``i``.

    Example:
        >>> nothing = Literal(ColumnType.INTEGER, None)
        >>> written_out(FieldValue(ColumnType.INTEGER, 0), [nothing]) == nothing
        True
    """
    if isinstance(expression, FieldValue):
        return values[expression.index]
    if not isinstance(expression, Call):
        return expression
    parts = tuple(written_out(part, values) for part in expression.arguments)
    return evolve(expression, arguments=parts)


def measure(expression: Expression) -> tuple[int, int]:
    """Return the depth and the number of nodes, with everything that it repeats written out.

    Shared parts are measured once, so this takes time in proportion to the distinct ones even if
    the whole is exponentially large. The walk is a loop: deep expressions do not exhaust the stack.

    Example:
        >>> one = Literal(ColumnType.INTEGER, 1)
        >>> two = Call(ColumnType.INTEGER, "+", (one, one))
        >>> measure(Call(ColumnType.INTEGER, "*", (two, two)))
        (3, 7)
    """
    known: dict[int, tuple[int, int]] = {}
    waiting = [expression]
    while waiting:
        node = waiting[-1]
        parts = node.arguments if isinstance(node, Call) else ()
        missing = [part for part in parts if id(part) not in known]
        if missing:
            waiting += missing
            continue
        measures = [known[id(part)] for part in parts]
        depth = 1 + max((d for d, _ in measures), default=0)
        known[id(node)] = (depth, 1 + sum(size for _, size in measures))
        waiting.pop()
    return known[id(expression)]
