"""Comparisons: of two values of one type, with a list, with a pattern, with NULL.

And what joins them: AND, OR and NOT, three-valued, as in SQL.
"""

import datetime
import operator
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

from discreet.core.errors import RefusedQuery
from discreet.core.numbers import exact
from discreet.tables.arithmetic import function_values
from discreet.tables.arithmetic.between import BetweenNumbers, of_comparison, of_truths, relation_of
from discreet.tables.arithmetic.function_values import ColumnFunction, strict
from discreet.tables.column import LONGEST_TEXT, ColumnType
from discreet.tables.expression import Call, Expression, Literal
from discreet.tables.functions.function import (
    BINARY,
    BY_FORM,
    NOT_A_DATE,
    NOT_A_TEXT,
    OF_ROWS_ONLY,
    TRUE_OR_FALSE,
    UNKNOWN,
    Arguments,
    Function,
    PlainNode,
    Result,
    Without,
)
from discreet.tables.functions.rules import (
    call_of,
    constant_text,
    convert,
    fixed,
    is_null_literal,
    unify,
)
from discreet.tables.functions.work import (
    NOTHING,
    PLAIN,
    Lengths,
    Steps,
    guarded,
    plain,
    written_text,
)

_BOOLEAN = ColumnType.BOOLEAN

MOST_VALUES = 1_000
"""The longest list that IN takes."""

LONGEST_PATTERN = 1_000
"""The longest pattern that LIKE takes."""

test_of = partial(
    Function,
    span=TRUE_OR_FALSE,
    dates=NOT_A_DATE,
    keys=TRUE_OR_FALSE,
    guards=guarded(0),
    length=NOT_A_TEXT,
)
"""Makes a function that is true, false or NULL, of the parts that are its own."""


_OF_NULL = Without("NULL is a value of its own for it")


def _compare(
    name: str, node: str, of: Callable[[Any, Any], bool] | None = None, *, usage: str = ""
) -> Function:
    def build(arguments: Arguments) -> Expression | None:
        both = unify(arguments) if len(arguments) == 2 else None
        return None if both is None else Call(_BOOLEAN, name, both)

    return test_of(
        name=name,
        usage=usage or f"x {name} y, both of one type",
        written=(PlainNode(node, BINARY, compares=True),),
        build=build,
        on_keys=_OF_NULL if of is None else lambda _, first, second: of(first, second),
        between=OF_ROWS_ONLY if of is None else relation_of(of),
        work=plain,
    )


def _is_null(arguments: Arguments) -> Expression | None:
    return Call(_BOOLEAN, "is_null", arguments) if len(arguments) == 1 else None


# ---- Lists.


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


def _order(value: Expression) -> tuple[bool, Fraction | datetime.date | datetime.time | str]:
    """Sort the list, so that its order does not make another question of it."""
    assert isinstance(value, Literal)
    if is_null_literal(value):
        return (True, "")
    if isinstance(value.value, datetime.date | datetime.time):
        return (False, value.value)
    if value.type is ColumnType.TEXT:
        return (False, str(value.value))
    is_boolean = isinstance(value.value, bool)
    return (False, Fraction(value.value is True) if is_boolean else exact(str(value.value)))


def _in_work(_: Call, lengths: Lengths) -> Steps:
    compared = sum(min(lengths[0], length) // 8 for length in lengths[1:])
    return PLAIN + Steps(2, 20) * len(lengths) + Steps(compared)


# ---- Patterns.


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

    usage = f"text {name.upper()} 'pattern'"
    return test_of(
        name=name,
        usage=usage,
        written=BY_FORM,
        build=build,
        on_keys=_matches,
        work=_like_work,
        between=OF_ROWS_ONLY,
    )


def _like_work(node: Call, lengths: Lengths) -> Steps:
    pattern = written_text(node.arguments[1])
    rate = 20 if "_" in pattern else 10
    found = Steps(rate * (lengths[0] * looks(pattern) + len(pattern)))
    return PLAIN + found + (Steps(20 * lengths[0]) if node.function == "ilike" else NOTHING)


def _matches(node: Call, text: str, pattern: str) -> Result:
    """Tell whether a text has the parts between the % in order, the first and last at its ends."""
    is_plain = text.isascii() and pattern.isascii() and len(text) <= LONGEST_TEXT
    if "_" in pattern or not is_plain:
        return UNKNOWN
    if node.function == "ilike":
        text, pattern = text.lower(), pattern.lower()
    first, *rest = pattern.split("%")
    if not rest or not text.startswith(first):
        return text == pattern
    *middle, last = rest
    place = len(first)
    for part in middle:
        place = text.find(part, place)
        if place < 0:
            return False
        place += len(part)
    return text.endswith(last) and len(text) - len(last) >= place


def looks(pattern: str) -> int:
    """Return how often each character of a text is looked at, at most, if a pattern is sought.

    Without ``_`` the parts between the ``%`` are found by a search that never goes back. With
    ``_``, each part after the first ``%`` is tried at one place after the other, up to the
    character that does not fit: at most so often as the part has characters. Where a part ends in
    ``_`` those always fit, unless it is the last one: it must also reach the end of the text.

    Example:
        >>> looks("%flu%"), looks("A___"), looks("%_@__%.__%"), looks("%_____b")
        (1, 1, 3, 7)
    """
    if "_" not in pattern:
        return 1
    *middle, last = ["", *pattern.split("%")[1:]]
    return 1 + max(len(last), *(len(part.rstrip("_")) for part in middle), 0)


# ---- Logic.


def _chain(name: str, usage: str, value: ColumnFunction) -> Function:
    def build(arguments: Arguments) -> Expression | None:
        if len(arguments) < 2:
            return None
        flat = [part for argument in arguments for part in _parts(name, argument)]
        return call_of(name, _BOOLEAN, [convert(part, _BOOLEAN) for part in flat])

    return test_of(
        name=name,
        usage=usage,
        written=BY_FORM,
        build=build,
        on_keys=_OF_NULL,
        work=plain,
        between=BetweenNumbers(1, None, of_truths, value),
    )


def _parts(name: str, argument: Expression) -> Arguments:
    """Return the parts of an AND in an AND: the order of evaluation has no meaning here."""
    if isinstance(argument, Call) and argument.function == name:
        return argument.arguments
    return (argument,)


FUNCTIONS = (
    _chain("and", "boolean AND boolean", function_values.every),
    _chain("or", "boolean OR boolean", function_values.some),
    test_of(
        name="not",
        usage="NOT boolean",
        written=(PlainNode("Not"),),
        build=fixed("not", [[_BOOLEAN]], _BOOLEAN),
        on_keys=lambda _, value: not value,
        work=plain,
        between=BetweenNumbers(1, 1, of_truths, strict(operator.not_)),
    ),
    _compare("=", "EQ", operator.eq),
    _compare("<>", "NEQ", operator.ne),
    _compare("<", "LT", operator.lt),
    _compare("<=", "LTE", operator.le),
    _compare(">", "GT", operator.gt),
    _compare(">=", "GTE", operator.ge),
    _compare("is_distinct", "NullSafeNEQ", usage="x IS DISTINCT FROM y"),
    test_of(
        name="is_null",
        usage="x IS NULL",
        written=BY_FORM,
        build=_is_null,
        on_keys=_OF_NULL,
        work=plain,
        between=BetweenNumbers(1, 1, lambda _: _BOOLEAN, function_values.is_null),
    ),
    test_of(
        name="in",
        usage="x IN (value, ...)",
        written=BY_FORM,
        build=_in,
        on_keys=_OF_NULL,
        work=_in_work,
        between=BetweenNumbers(2, None, of_comparison, function_values.among),
    ),
    _like("like"),
    _like("ilike"),
)
