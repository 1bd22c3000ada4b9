"""Comparisons: of two values of one type, with a list, with a pattern, with NULL."""

import datetime
from fractions import Fraction

from discreet.core.errors import RefusedQuery
from discreet.core.numbers import exact
from discreet.tables.column import ColumnType
from discreet.tables.expression import Call, Expression, Literal
from discreet.tables.functions.constants import constant_text
from discreet.tables.functions.convert import convert, is_null_literal, unify
from discreet.tables.functions.function import Arguments, Function, call_of, table

_BOOLEAN = ColumnType.BOOLEAN

MOST_VALUES = 1_000
"""The longest list that IN takes."""

LONGEST_PATTERN = 1_000
"""The longest pattern that LIKE takes."""


def _compare(name: str) -> Function:
    def build(arguments: Arguments) -> Expression | None:
        both = unify(arguments) if len(arguments) == 2 else None
        return None if both is None else Call(_BOOLEAN, name, both)

    return Function(name=name, usage=f"x {name} y, both of one type", build=build)


def _is_null(arguments: Arguments) -> Expression | None:
    return Call(_BOOLEAN, "is_null", arguments) if len(arguments) == 1 else None


def _is_distinct(arguments: Arguments) -> Expression | None:
    both = unify(arguments) if len(arguments) == 2 else None
    return None if both is None else Call(_BOOLEAN, "is_distinct", both)


def _in(arguments: Arguments) -> Expression | None:
    if len(arguments) < 2:
        return None
    if len(arguments) - 1 > MOST_VALUES:
        raise RefusedQuery(
            "The list of IN is too long",
            must=f"have at most {MOST_VALUES:,} values",
            next="Join with a public table that has the values",
        )
    if not all(isinstance(value, Literal) for value in arguments[1:]):
        raise RefusedQuery(
            "The list of IN has more than constants",
            must="hold values that are written in the query",
            next="Write x = a OR x = b",
        )
    alike = unify(arguments)
    if alike is None:
        return None
    return Call(_BOOLEAN, "in", (alike[0], *sorted(set(alike[1:]), key=_order)))


def _order(value: Expression) -> tuple[bool, Fraction | datetime.date | str]:
    """Sort the list, so that its order does not make another question of it."""
    assert isinstance(value, Literal)
    if is_null_literal(value):
        return (True, "")
    if isinstance(value.value, datetime.date):
        return (False, value.value)
    is_text = value.type is ColumnType.TEXT
    return (False, str(value.value) if is_text else exact(str(int_of(value))))


def int_of(value: Literal) -> object:
    """Return a boolean as 0 or 1, any other value as it is."""
    return int(value.value) if isinstance(value.value, bool) else value.value


def _like(name: str) -> Function:
    def build(arguments: Arguments) -> Expression | None:
        if len(arguments) != 2:
            return None
        pattern = constant_text(arguments[1], f"pattern of {name.upper()}")
        if len(pattern) > LONGEST_PATTERN:
            raise RefusedQuery(
                f"The pattern of {name.upper()} is too long",
                must=f"have at most {LONGEST_PATTERN:,} characters",
            )
        return call_of(name, _BOOLEAN, [convert(a, ColumnType.TEXT) for a in arguments])

    return Function(name=name, usage=f"text {name.upper()} 'pattern'", build=build)


FUNCTIONS = table(
    *(_compare(name) for name in ("=", "<>", "<", "<=", ">", ">=")),
    Function(name="is_null", usage="x IS NULL", build=_is_null),
    Function(name="is_distinct", usage="x IS DISTINCT FROM y", build=_is_distinct),
    Function(name="in", usage="x IN (value, ...)", build=_in),
    _like("like"),
    _like("ilike"),
)
