"""Arithmetic on numbers, and of days: what overflows or divides by zero is NULL."""

import datetime
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from itertools import product

from discreet.core.errors import RefusedQuery
from discreet.core.numbers import exact
from discreet.tables.arithmetic import enclosures, function_values
from discreet.tables.arithmetic.between import (
    BetweenNumbers,
    numeric,
    of_difference,
    of_sum,
    to_real,
    to_whole,
)
from discreet.tables.arithmetic.enclosures import Intervals
from discreet.tables.arithmetic.function_values import kept_numbers, of_numbers, strict
from discreet.tables.arithmetic.ratios import Ratios
from discreet.tables.column import ColumnType, DateRange, Key
from discreet.tables.expression import Call, Expression, Literal
from discreet.tables.functions.function import (
    BINARY,
    BY_FORM,
    NO_KEYS,
    NOT_A_DATE,
    NOT_A_TEXT,
    UNKNOWN,
    Arguments,
    Build,
    DatesRule,
    Function,
    KeyFunction,
    PlainNode,
    Reach,
    Result,
    Without,
)
from discreet.tables.functions.rules import (
    NUMBERS,
    convert,
    fixed,
    keys_from,
    numbers,
    of_each,
    of_spans,
    span_from,
)
from discreet.tables.functions.span import ONE, Span, common_step, days_between
from discreet.tables.functions.work import guarded, if_made, plain

_INTEGER, _REAL, _DATE = ColumnType.INTEGER, ColumnType.REAL, ColumnType.DATE

# ---- What it makes of arguments.


def _binary(name: str) -> Build:
    def build(arguments: Arguments) -> Expression | None:
        both = numbers(arguments) if len(arguments) == 2 else None
        return None if both is None else Call(both[0].type, name, both)

    return build


def _add(arguments: Arguments) -> Expression | None:
    kinds = [argument.type for argument in arguments]
    _refuse_times(kinds)
    if kinds == [_DATE, _INTEGER]:
        return Call(_DATE, "+", arguments)
    if kinds == [_INTEGER, _DATE]:
        return Call(_DATE, "+", arguments[::-1])
    return _binary("+")(arguments)


def _subtract(arguments: Arguments) -> Expression | None:
    _refuse_times([argument.type for argument in arguments])
    if len(arguments) == 2 and arguments[0].type is _DATE:
        days = convert(arguments[1], _DATE)
        if arguments[1].type is _INTEGER:
            return Call(_DATE, "-", arguments)
        return None if days is None else Call(_INTEGER, "-", (arguments[0], days))
    return _binary("-")(arguments)


def _refuse_times(kinds: Sequence[ColumnType]) -> None:
    """Refuse to add to a timestamp or a time, or to subtract two of them, without a unit."""
    if ColumnType.TIMESTAMP in kinds or ColumnType.TIME in kinds:
        raise RefusedQuery(
            "A sum or difference of timestamps or times of day has no unit",
            must="be a number of hours, minutes or the like",
            got=", ".join(kind.value for kind in kinds),
            next="Write date_diff('minute', start, stop) for stop - start, or"
            " t + INTERVAL 90 MINUTE",
        )


def _negate(arguments: Arguments) -> Expression | None:
    one = numbers(arguments) if len(arguments) == 1 else None
    if one is None:
        return None
    argument = one[0]
    if isinstance(argument, Literal) and argument.value is not None:
        value = -exact(str(argument.value))
        if argument.type is _REAL:
            return Literal(_REAL, str(value))
        if value.numerator < 2**63:
            return Literal(_INTEGER, value.numerator)
    return Call(argument.type, "neg", one)


def _absolute(arguments: Arguments) -> Expression | None:
    one = numbers(arguments) if len(arguments) == 1 else None
    return None if one is None else Call(one[0].type, "abs", one)


# ---- How far it reaches.


def _sum_span(_: Call, spans: Sequence[Span]) -> Span:
    a, b = spans
    return Span(a.lower + b.lower, a.upper + b.upper, common_step([a.step, b.step]))


def _difference_of_numbers(_: Call, spans: Sequence[Span]) -> Span:
    a, b = spans
    return Span(a.lower - b.upper, a.upper - b.lower, common_step([a.step, b.step]))


def _difference_span(node: Call, reach: Reach) -> Span | None:
    """Return the span of date - date; of numbers the rule is another."""
    if node.arguments[0].type is not _DATE:
        return of_spans(_difference_of_numbers)(node, reach)
    later, earlier = (reach.dates(argument) for argument in node.arguments)
    return None if later is None or earlier is None else days_between(later, earlier)


def _product_span(_: Call, spans: Sequence[Span]) -> Span:
    a, b = spans
    step = a.step * b.step if a.step is not None and b.step is not None else None
    return _corners(a, b, lambda x, y: x * y, step)


def _corners(
    a: Span, b: Span, of: Callable[[Fraction, Fraction], Fraction], step: Fraction | None
) -> Span:
    """Return the span of a function that is monotone in each argument: its extremes are there."""
    values = [of(x, y) for x, y in product((a.lower, a.upper), (b.lower, b.upper))]
    return Span(min(values), max(values), step)


def _quotient_span(_: Call, spans: Sequence[Span]) -> Span | None:
    a, b = spans
    return None if b.lower <= 0 <= b.upper else _corners(a, b, lambda x, y: x / y, None)


def _whole_quotient_span(_: Call, spans: Sequence[Span]) -> Span:
    """Divide by 1 or -1 at the least: a divisor of zero gives NULL."""
    a, b = spans
    ends = [end for end in (b.lower, b.upper, ONE, -ONE) if b.lower <= end <= b.upper and end]
    values = [Fraction(math.trunc(x / y)) for x, y in product((a.lower, a.upper), ends or [ONE])]
    return Span(min(*values, Fraction(0)), max(*values, Fraction(0)), ONE)


def _modulo_span(node: Call, spans: Sequence[Span]) -> Span:
    a, b = spans
    is_whole = node.type is _INTEGER
    most = max(abs(b.lower), abs(b.upper)) - (1 if is_whole else 0)
    lower = Fraction(0) if a.lower >= 0 else -most
    upper = Fraction(0) if a.upper <= 0 else most
    return Span(min(lower, upper), max(lower, upper), ONE if is_whole else None)


def _negative_span(_: Call, spans: Sequence[Span]) -> Span:
    (a,) = spans
    return Span(-a.upper, -a.lower, a.step)


def _absolute_span(_: Call, spans: Sequence[Span]) -> Span:
    (a,) = spans
    ends = (abs(a.lower), abs(a.upper))
    return Span(Fraction(0) if a.lower <= 0 <= a.upper else min(ends), max(ends), a.step)


def _shifted_dates(sign: int) -> DatesRule:
    def rule(node: Call, reach: Reach) -> DateRange | None:
        days, count = reach.dates(node.arguments[0]), node.arguments[1]
        if days is None or not isinstance(count, Literal) or not isinstance(count.value, int):
            return None
        try:
            moved = datetime.timedelta(days=sign * count.value)
            return DateRange(first=days.first + moved, last=days.last + moved)
        except OverflowError:
            return None

    return rule


# ---- What it is of keys.


def _whole(of: Callable[..., int | None]) -> KeyFunction:
    def function(node: Call, *keys: int) -> Result:
        if node.type is not _INTEGER or any(isinstance(k, datetime.date) for k in keys):
            return UNKNOWN
        value = of(*keys)
        return value if value is not None and -(2**63) <= value < 2**63 else None

    return function


def _whole_quotient(a: int, b: int) -> int | None:
    """Divide with truncation towards zero, of sizes and then with a sign."""
    if b == 0:
        return None
    size = abs(a) // abs(b)
    return size if (a < 0) == (b < 0) else -size


def _modulo(a: int, b: int) -> int | None:
    quotient = _whole_quotient(a, b)
    return None if quotient is None else a - b * quotient


def _shift(sign: int) -> KeyFunction:
    of_numbers = _whole(lambda a, b: a + sign * b)

    def function(node: Call, first: Key, second: Key) -> Result:
        if not isinstance(first, datetime.date):
            return of_numbers(node, first, second)
        if not isinstance(second, int):
            return UNKNOWN
        try:
            return first + datetime.timedelta(days=sign * second)
        except OverflowError:
            return None

    return function


# ---- Work.


def _sum_guards(node: Call) -> int:
    return if_made(node) + 2 * (node.arguments[0].type is _DATE)


def _quotient_guards(node: Call) -> int:
    return 1 + if_made(node)


_dated = partial(Function, work=plain, length=NOT_A_TEXT)
_number = partial(Function, dates=NOT_A_DATE, work=plain, length=NOT_A_TEXT)

FUNCTIONS = (
    _dated(
        name="+",
        usage="number + number, or date + days",
        written=BY_FORM,
        build=_add,
        span=of_spans(_sum_span),
        dates=_shifted_dates(1),
        keys=of_each,
        on_keys=_shift(1),
        guards=_sum_guards,
        between=BetweenNumbers(
            2,
            2,
            of_sum,
            of_numbers(kept_numbers(Ratios.plus), strict(function_values.add_days)),
            enclosures.plus,
        ),
    ),
    _dated(
        name="-",
        usage="number - number, date - days or date - date",
        written=BY_FORM,
        build=_subtract,
        span=_difference_span,
        dates=_shifted_dates(-1),
        keys=of_each,
        on_keys=_shift(-1),
        guards=_sum_guards,
        between=BetweenNumbers(
            2,
            2,
            of_difference,
            of_numbers(kept_numbers(Ratios.minus), strict(function_values.subtract_days)),
            enclosures.minus,
        ),
    ),
    _number(
        name="*",
        usage="number * number",
        written=(PlainNode("Mul", BINARY),),
        build=_binary("*"),
        span=of_spans(_product_span),
        keys=of_each,
        on_keys=_whole(lambda a, b: a * b),
        guards=if_made,
        between=numeric(Ratios.times, enclosures.product_of),
    ),
    _number(
        name="/",
        usage="number / number",
        written=(PlainNode("Div", BINARY), PlainNode("SafeDivide", BINARY)),
        build=fixed("/", [[_REAL], [_REAL]], _REAL),
        span=of_spans(_quotient_span),
        keys=NO_KEYS,
        on_keys=NO_KEYS,
        guards=_quotient_guards,
        between=to_real(Ratios.over, enclosures.ratio, count=2),
    ),
    _number(
        name="//",
        usage="integer // integer",
        written=(PlainNode("IntDiv", BINARY),),
        build=fixed("//", [[_INTEGER], [_INTEGER]], _INTEGER),
        span=of_spans(_whole_quotient_span),
        keys=of_each,
        on_keys=_whole(_whole_quotient),
        guards=_quotient_guards,
        between=numeric(function_values.whole_ratio, enclosures.whole_ratio),
    ),
    _number(
        name="%",
        usage="number % number",
        written=(PlainNode("Mod", BINARY),),
        build=_binary("%"),
        span=of_spans(_modulo_span),
        keys=of_each,
        on_keys=_whole(_modulo),
        guards=_quotient_guards,
        between=numeric(function_values.remainder),
    ),
    _number(
        name="neg",
        usage="-number",
        written=(PlainNode("Neg"),),
        build=_negate,
        span=of_spans(_negative_span),
        keys=of_each,
        on_keys=_whole(lambda a: -a),
        guards=guarded(0),
        between=numeric(Ratios.negative, Intervals.negative, count=1),
    ),
    _number(
        name="abs",
        usage="abs(number)",
        written=(PlainNode("Abs"),),
        build=_absolute,
        span=of_spans(_absolute_span),
        keys=of_each,
        on_keys=_whole(abs),
        guards=guarded(0),
        between=numeric(Ratios.absolute, enclosures.absolute, count=1),
    ),
    _number(
        name="sign",
        usage="sign(number)",
        written=(PlainNode("Sign"),),
        build=fixed("sign", [NUMBERS], _INTEGER),
        span=span_from(-1, 1),
        keys=keys_from(-1, 1),
        on_keys=Without("it has the same three keys whatever it is of"),
        guards=guarded(0),
        between=to_whole(function_values.sign),
    ),
)
