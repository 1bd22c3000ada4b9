"""Numbers in a public range: clamped to it, or put into one of its buckets."""

from fractions import Fraction
from functools import partial

from discreet.core.errors import InvalidArgument, RefusedQuery
from discreet.tables.column import Bounds, ColumnType
from discreet.tables.expression import Call, Expression, Literal
from discreet.tables.functions.function import (
    BY_NAME,
    NOT_A_DATE,
    NOT_A_TEXT,
    OF_ROWS_ONLY,
    Arguments,
    Function,
    Keys,
    Listing,
    PlainNode,
    Reach,
    Without,
)
from discreet.tables.functions.rules import (
    MOST_LISTED,
    NUMBERS,
    constant,
    constant_integer,
    constant_number,
    convert,
    first_fit,
    listed,
)
from discreet.tables.functions.span import ONE, Span
from discreet.tables.functions.work import Lengths, Steps, guarded, plain, written_number

_INTEGER, _REAL = ColumnType.INTEGER, ColumnType.REAL

MOST_BUCKETS = 1_000

# ---- What it makes of arguments.


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


# ---- How far it reaches, and which keys it has.


def _bucket_span(node: Call, _: Reach) -> Span | None:
    buckets = constant(node.arguments[3])
    return None if buckets is None else Span(Fraction(0), buckets + 1, ONE)


def _bucket_keys(node: Call, known: Listing) -> Keys | None:
    buckets = constant(node.arguments[3])
    return None if buckets is None else listed(range(int(buckets) + 2), known)


def _clamp_span(node: Call, reach: Reach) -> Span | None:
    lower, upper, *steps = (constant(argument) for argument in node.arguments[1:])
    if lower is None or upper is None:
        return None
    if steps or node.type is _INTEGER:
        return Span(lower, upper, steps[0] if steps else ONE)
    inner = reach.span(node.arguments[0])
    step = None if inner is None else inner.step
    is_on_grid = step is not None and all((end / step).denominator == 1 for end in (lower, upper))
    return Span(lower, upper, step if is_on_grid else None)


def _clamp_keys(node: Call, known: Listing) -> Keys | None:
    """Return all whole numbers of the range: the clamp is in the query, so no value is outside."""
    ends = [value for a in node.arguments[1:] if (value := constant(a)) is not None]
    step = int(ends[2]) if len(ends) == 3 else 1
    values = range(int(ends[0]), int(ends[1]) + 1, step)
    return listed(values, known) if len(values) <= MOST_LISTED else None


# ---- Work.


def _bucket_work(node: Call, _: Lengths) -> Steps:
    return Steps(15, 15_000) * (written_number(node.arguments[3]) + 1)


def _clamp_guards(node: Call) -> int:
    return 1 if len(node.arguments) == 3 else 2


_ranged = partial(
    Function,
    dates=NOT_A_DATE,
    on_keys=Without("its keys follow from the range that is written in the query"),
    length=NOT_A_TEXT,
    between=OF_ROWS_ONLY,
)

FUNCTIONS = (
    _ranged(
        name="width_bucket",
        usage="width_bucket(number, low, high, buckets)",
        written=(PlainNode("WidthBucket", ("this", "min_value", "max_value", "num_buckets")),),
        build=_width_bucket,
        span=_bucket_span,
        keys=_bucket_keys,
        work=_bucket_work,
        guards=guarded(1),
    ),
    _ranged(
        name="clamp",
        usage="clamp(number, lower, upper[, step])",
        written=BY_NAME,
        build=_clamp,
        span=_clamp_span,
        keys=_clamp_keys,
        work=plain,
        guards=_clamp_guards,
    ),
)
