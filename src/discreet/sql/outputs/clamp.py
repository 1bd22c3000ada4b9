"""The clamp directly below an aggregate: written in the query, declared, or proposed."""

from collections.abc import Sequence
from fractions import Fraction

from attrs import frozen

from discreet.core.errors import InvalidArgument, RefusedQuery, UndeclaredBound
from discreet.releases.view import ClampSource
from discreet.tables.column import Bounds, ColumnType
from discreet.tables.expression import Call, Expression, FieldValue
from discreet.tables.expression_text import expression_text
from discreet.tables.functions.constants import constant_number
from discreet.tables.functions.proposal import propose_bounds
from discreet.tables.relations.relation import Field
from discreet.tables.sums import LARGEST_ROOT

_FINE = 10**6
"""How many steps a range that the query writes has at least, if it gives no step."""


@frozen
class Clamped:
    """A value, and the public range and grid that it is moved into."""

    value: Expression
    bounds: Bounds
    source: ClampSource


def clamped(value: Expression, fields: Sequence[Field]) -> Clamped:
    """Return a number with the clamp that the query writes, or else the declared or proposed one.

    Guarantee:
        Sensitivity rests on these bounds alone, and the engine moves every value into them. So it
        does not matter for privacy whether a declared or proposed range is true.
    """
    if isinstance(value, Call) and value.function == "clamp":
        inner = value.arguments[0]
        return Clamped(inner, _written(value, fields), ClampSource.WRITTEN)
    declared = _declared(value, fields)
    if declared is not None:
        return Clamped(value, declared, ClampSource.DECLARED)
    proposed = propose_bounds(value, fields)
    if proposed is not None:
        return Clamped(value, proposed, ClampSource.PROPOSED)
    text = expression_text(value, fields)
    raise UndeclaredBound(
        f"The range of {text} is not known",
        must="have a lowest and a highest value, because one row could move the answer without"
        " limit",
        next=f"Write CLAMP({text}, 0, 100) with the range that you expect, or have min and max of"
        " the column declared",
    )


def _declared(value: Expression, fields: Sequence[Field]) -> Bounds | None:
    return fields[value.index].bounds if isinstance(value, FieldValue) else None


def _written(call: Call, fields: Sequence[Field]) -> Bounds:
    value, *limits = call.arguments
    lower, upper, *step = (constant_number(limit, "range of CLAMP") for limit in limits)
    try:
        if step:
            return Bounds(lower=lower, upper=upper, step=step[0])
        return Bounds(lower=lower, upper=upper, step=_step(value, lower, upper, fields))
    except InvalidArgument as error:
        raise RefusedQuery(
            f"The range of CLAMP cannot be used: {error.what}",
            must=error.must,
            got=error.got,
            next=error.next or "Write CLAMP(value, lowest, highest, step)",
        ) from None


def _step(value: Expression, lower: Fraction, upper: Fraction, fields: Sequence[Field]) -> Fraction:
    """Return the declared step, 1 for whole numbers, or a power of ten that is fine enough."""
    declared = _declared(value, fields)
    candidates = [declared.step] if declared else []
    if value.type is ColumnType.INTEGER:
        candidates.append(Fraction(1))
    for step in candidates:
        if all((end / step).denominator == 1 for end in (lower, upper)):
            return step
    step = Fraction(1)
    while upper - lower >= step * _FINE * 10:
        step *= 10
    while upper - lower < step * _FINE and upper > lower:
        step /= 10
    while any((end / step).denominator != 1 for end in (lower, upper)) and step > _FINEST:
        step /= 10
    return step


_FINEST = Fraction(10) ** -300


def coarse(bounds: Bounds) -> Bounds:
    """Return bounds with a step so long that squares of distances from the middle stay small.

    Both ends go outwards to the longer step; bounds that are short enough stay as they are.

    Example:
        >>> coarse(Bounds(lower=0, upper=2**19)).step, coarse(Bounds(lower=0, upper=100)).step
        (Fraction(5, 1), Fraction(1, 1))
    """
    steps = bounds.upper_steps - bounds.lower_steps
    if steps <= 2 * (LARGEST_ROOT - 2):
        return bounds
    longer = -(-steps // (2 * (LARGEST_ROOT - 2)))
    return Bounds(
        lower=bounds.lower_steps // longer * longer * bounds.step,
        upper=-(-bounds.upper_steps // longer) * longer * bounds.step,
        step=bounds.step * longer,
    )
