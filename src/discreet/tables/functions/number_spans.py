"""How far each function of numbers reaches, from how far its arguments reach."""

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import product

from discreet.core.numbers import exact
from discreet.tables.column import ColumnType
from discreet.tables.expression import Call, Expression, Literal
from discreet.tables.functions.span import Span, common_step

NumberRule = Callable[[Call, Sequence[Span]], Span | None]
"""From a call, and the spans of its arguments, all known, to its own span."""

_ONE = Fraction(1)
_LARGEST_POWER = 32


def constant(argument: Expression) -> Fraction | None:
    """Return the value of a number that is written in the query, or None."""
    if not isinstance(argument, Literal) or argument.value is None:
        return None
    is_number = argument.type in (ColumnType.INTEGER, ColumnType.REAL)
    return exact(str(argument.value)) if is_number else None


def _add(_: Call, spans: Sequence[Span]) -> Span:
    a, b = spans
    return Span(a.lower + b.lower, a.upper + b.upper, common_step([a.step, b.step]))


def _subtract(_: Call, spans: Sequence[Span]) -> Span:
    a, b = spans
    return Span(a.lower - b.upper, a.upper - b.lower, common_step([a.step, b.step]))


def _multiply(_: Call, spans: Sequence[Span]) -> Span:
    a, b = spans
    step = a.step * b.step if a.step is not None and b.step is not None else None
    return _corners(a, b, lambda x, y: x * y, step)


def _corners(
    a: Span, b: Span, of: Callable[[Fraction, Fraction], Fraction], step: Fraction | None
) -> Span:
    """Return the span of a function that is monotone in each argument: its extremes are there."""
    values = [of(x, y) for x, y in product((a.lower, a.upper), (b.lower, b.upper))]
    return Span(min(values), max(values), step)


def _divide(_: Call, spans: Sequence[Span]) -> Span | None:
    a, b = spans
    return None if b.lower <= 0 <= b.upper else _corners(a, b, lambda x, y: x / y, None)


def _whole_divide(_: Call, spans: Sequence[Span]) -> Span:
    """Divide by 1 or -1 at the least: a divisor of zero gives NULL."""
    a, b = spans
    ends = [end for end in (b.lower, b.upper, _ONE, -_ONE) if b.lower <= end <= b.upper and end]
    values = [Fraction(math.trunc(x / y)) for x, y in product((a.lower, a.upper), ends or [_ONE])]
    return Span(min(*values, Fraction(0)), max(*values, Fraction(0)), _ONE)


def _modulo(node: Call, spans: Sequence[Span]) -> Span:
    a, b = spans
    is_whole = node.type is ColumnType.INTEGER
    most = max(abs(b.lower), abs(b.upper)) - (1 if is_whole else 0)
    lower = Fraction(0) if a.lower >= 0 else -most
    upper = Fraction(0) if a.upper <= 0 else most
    return Span(min(lower, upper), max(lower, upper), _ONE if is_whole else None)


def _negate(_: Call, spans: Sequence[Span]) -> Span:
    (a,) = spans
    return Span(-a.upper, -a.lower, a.step)


def _absolute(_: Call, spans: Sequence[Span]) -> Span:
    (a,) = spans
    ends = (abs(a.lower), abs(a.upper))
    return Span(Fraction(0) if a.lower <= 0 <= a.upper else min(ends), max(ends), a.step)


def _round(_: Call, spans: Sequence[Span]) -> Span:
    a, digits = spans
    step = Fraction(10) ** -int(digits.lower)
    return Span(_half_away(a.lower / step) * step, _half_away(a.upper / step) * step, step)


def _half_away(value: Fraction) -> int:
    size = math.floor(abs(value) + Fraction(1, 2))
    return size if value >= 0 else -size


def _whole(rounding: Callable[[Fraction], int]) -> NumberRule:
    def rule(_: Call, spans: Sequence[Span]) -> Span:
        (a,) = spans
        return Span(Fraction(rounding(a.lower)), Fraction(rounding(a.upper)), _ONE)

    return rule


def _rising(function: Callable[[float], float], *, least: float) -> NumberRule:
    """Return the span of a rising function, undefined below ``least``; floats are near enough."""

    def rule(_: Call, spans: Sequence[Span]) -> Span | None:
        (a,) = spans
        if a.upper < least:
            return None
        try:
            lower, upper = (function(max(float(end), least)) for end in (a.lower, a.upper))
        except (OverflowError, ValueError):
            return None
        return Span(exact(lower), exact(upper), None)

    return rule


def _power(node: Call, spans: Sequence[Span]) -> Span | None:
    a, exponent = spans[0], constant(node.arguments[1])
    if exponent is None or not 0 <= exponent <= _LARGEST_POWER:
        return None
    if exponent.denominator == 1:
        values = [end**exponent.numerator for end in (a.lower, a.upper)]
        values += [Fraction(0)] if a.lower <= 0 <= a.upper and exponent else []
        step = None if a.step is None else a.step**exponent.numerator
        return Span(min(values), max(values), step)
    if a.upper < 0:
        return None
    lower, upper = (float(max(end, Fraction(0))) for end in (a.lower, a.upper))
    try:
        return Span(exact(lower ** float(exponent)), exact(upper ** float(exponent)), None)
    except OverflowError:
        return None


def _cast(node: Call, spans: Sequence[Span]) -> Span | None:
    """Keep an integer; round a real number half to even, as the engine does."""
    if node.type is ColumnType.REAL:
        return spans[0]
    return _whole(round)(node, spans)


NUMBER_SPANS: Mapping[str, NumberRule] = {
    "+": _add,
    "-": _subtract,
    "*": _multiply,
    "/": _divide,
    "//": _whole_divide,
    "%": _modulo,
    "neg": _negate,
    "abs": _absolute,
    "round": _round,
    "floor": _whole(math.floor),
    "ceil": _whole(math.ceil),
    "trunc": _whole(math.trunc),
    "sqrt": _rising(math.sqrt, least=0.0),
    "ln": _rising(math.log, least=0.0),
    "log10": _rising(math.log10, least=0.0),
    "log2": _rising(math.log2, least=0.0),
    "exp": _rising(math.exp, least=-math.inf),
    "power": _power,
    "cast": _cast,
}
