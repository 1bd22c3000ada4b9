"""Rounding, roots, logarithms and powers: where they are undefined or too large, NULL."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial

from discreet.core.numbers import exact
from discreet.tables.arithmetic import enclosures, function_values
from discreet.tables.arithmetic.between import (
    BetweenNumbers,
    each_to_real,
    of_round,
    to_real,
    to_whole,
)
from discreet.tables.arithmetic.function_values import kept_numbers
from discreet.tables.arithmetic.ratios import Ratios
from discreet.tables.column import ColumnType
from discreet.tables.expression import Call, Expression, Literal
from discreet.tables.functions.function import (
    BINARY,
    BY_FORM,
    NO_KEYS,
    NOT_A_DATE,
    NOT_A_TEXT,
    Arguments,
    Function,
    PlainNode,
    SpanRule,
    Without,
    Written,
)
from discreet.tables.functions.rules import (
    NUMBERS,
    constant,
    constant_integer,
    first_fit,
    fixed,
    of_each,
    of_spans,
)
from discreet.tables.functions.span import Span, rounded
from discreet.tables.functions.work import guarded, if_made, plain

_INTEGER, _REAL = ColumnType.INTEGER, ColumnType.REAL

MOST_DIGITS = 15
"""The most digits after (or before) the point that a number is rounded to."""

_LARGEST_POWER = 32


_real = partial(
    Function, dates=NOT_A_DATE, keys=NO_KEYS, on_keys=NO_KEYS, work=plain, length=NOT_A_TEXT
)


# ---- Rounding.


def _round(arguments: Arguments) -> Expression | None:
    number = first_fit(arguments[0], NUMBERS) if 1 <= len(arguments) <= 2 else None
    if number is None:
        return None
    digits = 0
    if len(arguments) == 2:
        digits = constant_integer(
            arguments[1], "number of digits of round", least=-MOST_DIGITS, most=MOST_DIGITS
        )
    if number.type is _INTEGER and digits >= 0:
        return number
    return Call(number.type, "round", (number, Literal(_INTEGER, digits)))


def _round_span(_: Call, spans: Sequence[Span]) -> Span:
    a, digits = spans
    step = Fraction(10) ** -int(digits.lower)
    return Span(_half_away(a.lower / step) * step, _half_away(a.upper / step) * step, step)


def _half_away(value: Fraction) -> int:
    size = math.floor(abs(value) + Fraction(1, 2))
    return size if value >= 0 else -size


def _to_whole(
    name: str,
    node: str,
    rounding: Callable[[Fraction], int],
    columns: Callable[[Ratios], Ratios],
) -> Function:
    """Return a function that does nothing to an integer."""

    def build(arguments: Arguments) -> Expression | None:
        number = first_fit(arguments[0], NUMBERS) if len(arguments) == 1 else None
        if number is None or number.type is _INTEGER:
            return number
        return Call(_REAL, name, (number,))

    return _real(
        name=name,
        usage=f"{name}(number)",
        written=(PlainNode(node),),
        build=build,
        span=of_spans(lambda _, spans: rounded(spans[0], rounding)),
        guards=guarded(0),
        between=to_whole(columns),
    )


# ---- Roots, logarithms and powers.


def _rising(function: Callable[[float], float], *, least: float) -> SpanRule:
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

    return of_spans(rule)


def _power_span(node: Call, spans: Sequence[Span]) -> Span | None:
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


def _above_zero(
    name: str, written: Written, function: Callable[[float], float], between: BetweenNumbers
) -> Function:
    """Return a function that is defined for numbers above zero, or from zero on."""
    return _real(
        name=name,
        usage=f"{name}(number)",
        written=written,
        build=fixed(name, [[_REAL]], _REAL),
        span=_rising(function, least=0.0),
        guards=guarded(2),
        between=between,
    )


def _logarithm_to(base: int) -> BetweenNumbers:
    return each_to_real(function_values.logarithm_to(base), enclosures.logarithm_to(base))


FUNCTIONS = (
    Function(
        name="round",
        usage="round(number) or round(number, digits)",
        written=(PlainNode("Round", ("this", "decimals")),),
        build=_round,
        span=of_spans(_round_span),
        dates=NOT_A_DATE,
        keys=of_each,
        on_keys=Without("it is not worked out for keys"),
        work=plain,
        guards=if_made,
        length=NOT_A_TEXT,
        between=BetweenNumbers(
            1, 2, of_round, kept_numbers(function_values.rounded), enclosures.round_to
        ),
    ),
    _to_whole("floor", "Floor", math.floor, function_values.floor),
    _to_whole("ceil", "Ceil", math.ceil, function_values.ceiling),
    _to_whole("trunc", "Trunc", math.trunc, Ratios.truncated),
    _above_zero(
        "sqrt", (PlainNode("Sqrt"),), math.sqrt, to_real(function_values.root, enclosures.root)
    ),
    _above_zero(
        "ln",
        (PlainNode("Ln"),),
        math.log,
        each_to_real(function_values.logarithm, enclosures.logarithm),
    ),
    _above_zero("log10", BY_FORM, math.log10, _logarithm_to(10)),
    _above_zero("log2", BY_FORM, math.log2, _logarithm_to(2)),
    _real(
        name="exp",
        usage="exp(number)",
        written=(PlainNode("Exp"),),
        build=fixed("exp", [[_REAL]], _REAL),
        span=_rising(math.exp, least=-math.inf),
        guards=guarded(1),
        between=each_to_real(function_values.exponential, enclosures.exponential),
    ),
    _real(
        name="power",
        usage="power(number, number)",
        written=(PlainNode("Pow", BINARY),),
        build=fixed("power", [[_REAL], [_REAL]], _REAL),
        span=of_spans(_power_span),
        guards=guarded(1),
        between=each_to_real(function_values.power, enclosures.power, count=2),
    ),
)
