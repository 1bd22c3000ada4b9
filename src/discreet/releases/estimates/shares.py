"""Shares: quotients of a part by the whole, which lie between 0 and 1 whatever the noise did."""

from collections.abc import Set
from fractions import Fraction

from discreet.releases.estimates.estimate import (
    Calculation,
    Constant,
    Estimate,
    SelectedOf,
    TotalOf,
    WindowOf,
)

Parts = Set[tuple[int, int]]
"""Pairs of counts (i, j), where what i counts is among what j counts."""


def largest_share(top: Estimate, bottom: Estimate, parts: Parts) -> Fraction | None:
    r"""Return the largest size of a quotient (with its sign), if it is a share times a constant.

    Guarantee:
        For the exact counts the quotient is between 0 and the result, if it is a number.

        Proof. It is :math:`c \cdot a/b` with a constant :math:`c`, and :math:`0 \le a \le b`:
        counts are not negative, the counts of a part are not above those of the whole, a sum over
        rows that hold a row is not below that row's count, and a sum over all rows of a partition
        is not below that over some of them. If :math:`b = 0` there is no quotient.

    Example:
        >>> from discreet.tables.column import ColumnType
        >>> urgent, visits = (TotalOf(ColumnType.INTEGER, index) for index in (0, 1))
        >>> hundred = Constant(ColumnType.INTEGER, Fraction(100))
        >>> per_cent = Calculation(ColumnType.INTEGER, "*", (hundred, urgent))
        >>> largest_share(per_cent, visits, {(0, 0), (0, 1), (1, 1)})
        Fraction(100, 1)
    """
    (factor, part), (divisor, whole) = _factored(top), _factored(bottom)
    return factor / divisor if divisor and _is_among(part, whole, parts) else None


def share_of(estimate: Calculation, parts: Parts) -> tuple[Fraction, int] | None:
    """Return the constant and the whole of a share of counts of one group, if it is such a one."""
    if estimate.function != "/":
        return None
    top, bottom = estimate.arguments
    (factor, part), (divisor, whole) = _factored(top), _factored(bottom)
    is_share = isinstance(part, TotalOf) and isinstance(whole, TotalOf) and factor and divisor
    if not is_share or not isinstance(whole, TotalOf) or not _is_among(part, whole, parts):
        return None
    return factor / divisor, whole.index


def _factored(estimate: Estimate) -> tuple[Fraction, Estimate]:
    """Return a constant and the rest, of which the estimate is the product."""
    if not isinstance(estimate, Calculation):
        return Fraction(1), estimate
    first, *others = estimate.arguments
    if estimate.function in ("real", "nullif"):  # NULLIF is its first argument, or no number
        return _factored(first)
    if estimate.function == "*":
        for one, other in ((first, others[0]), (others[0], first)):
            if isinstance(one, Constant) and isinstance(one.value, Fraction):
                factor, rest = _factored(other)
                return one.value * factor, rest
    return Fraction(1), estimate


def _is_among(part: Estimate, whole: Estimate, parts: Parts) -> bool:
    if isinstance(whole, WindowOf):
        inner = whole.argument
        if whole.function != "sum" or inner is None:
            return False
        if not isinstance(part, WindowOf):
            return _is_among(part, inner, parts)
        own = part.argument
        return own is not None and _is_within(part, whole) and _is_among(own, inner, parts)
    if not isinstance(part, TotalOf | SelectedOf) or not isinstance(whole, TotalOf | SelectedOf):
        return False
    return (part.index, whole.index) in parts


def _is_within(part: WindowOf, whole: WindowOf) -> bool:
    """Tell whether a sum over rows is about some of the rows of another, or about the same."""
    if part.function != "sum" or part.partition != whole.partition:
        return False
    return whole.is_of_all() or (part.order, part.rows) == (whole.order, whole.rows)
