"""Numbers in a public range: clamped to it, or put into one of its buckets."""

from fractions import Fraction

from discreet.core.errors import InvalidArgument, RefusedQuery
from discreet.tables.column import Bounds, ColumnType
from discreet.tables.expression import Call, Expression, Literal
from discreet.tables.functions.arithmetic import NUMBERS
from discreet.tables.functions.constants import constant_integer, constant_number
from discreet.tables.functions.convert import convert, first_fit
from discreet.tables.functions.function import Arguments, Function, table

_INTEGER, _REAL = ColumnType.INTEGER, ColumnType.REAL

MOST_BUCKETS = 1_000


def _width_bucket(arguments: Arguments) -> Expression | None:
    number = first_fit(arguments[0], NUMBERS) if len(arguments) == 4 else None
    if number is None:
        return None
    ends = [_end(argument, "width_bucket") for argument in arguments[1:3]]
    _refuse_empty(*ends, what="width_bucket")
    constant_integer(arguments[3], "number of buckets", least=1, most=MOST_BUCKETS)
    shown = tuple(Literal(_REAL, str(end)) for end in ends)
    return Call(_INTEGER, "width_bucket", (number, *shown, arguments[3]))


def _clamp(arguments: Arguments) -> Expression | None:
    number = first_fit(arguments[0], NUMBERS) if 3 <= len(arguments) <= 4 else None
    if number is None:
        return None
    ends = [_end(argument, "clamp") for argument in arguments[1:]]
    _refuse_empty(*ends[:2], what="clamp")
    if len(ends) == 3:
        try:
            Bounds(lower=ends[0], upper=ends[1], step=ends[2])
        except InvalidArgument as wrong:
            raise RefusedQuery(
                wrong.what, must=wrong.must, got=wrong.got, next=wrong.next
            ) from None
    is_whole = number.type is _INTEGER and all(end.denominator == 1 for end in ends)
    if is_whole:
        return Call(
            _INTEGER, "clamp", (number, *(Literal(_INTEGER, end.numerator) for end in ends))
        )
    shown = (Literal(_REAL, str(end)) for end in ends)
    real = convert(number, _REAL)
    return None if real is None else Call(_REAL, "clamp", (real, *shown))


def _end(argument: Expression, what: str) -> Fraction:
    end = constant_number(argument, f"range of {what}")
    if abs(end) > 2**62:
        raise RefusedQuery(f"The range of {what} is too large", must="stay within 2**62 of zero")
    return end


def _refuse_empty(lower: Fraction, upper: Fraction, *, what: str) -> None:
    if lower >= upper:
        raise RefusedQuery(
            f"The range of {what} is empty",
            must="have its lower end below its upper end",
            got=f"{lower} to {upper}",
        )


FUNCTIONS = table(
    Function(
        name="width_bucket", usage="width_bucket(number, low, high, buckets)", build=_width_bucket
    ),
    Function(name="clamp", usage="clamp(number, lower, upper[, step])", build=_clamp),
)
