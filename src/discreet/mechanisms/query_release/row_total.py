"""How many rows there are: a public number that the owner declared, or one measured with noise."""

from fractions import Fraction
from typing import Any

import numpy as np
from attrs import frozen

from discreet.core import check
from discreet.core.contribution import Contribution
from discreet.core.errors import InvalidArgument
from discreet.core.event import Event
from discreet.core.numbers import Number
from discreet.core.protocols import IntArray, Rng
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.query_release.linear_queries import LARGEST_ANSWER, rows_of

CountNoise = DiscreteLaplace | DiscreteGaussian
RowTotal = int | DiscreteLaplace | DiscreteGaussian
"""A declared number of rows, or the noise with which the number is measured."""

LARGEST_GUESS = 1 << 50
"""The most that rows, cells and the largest coefficient may be together, for a bound.

A guessed answer is a sum of ``cells`` floats, so it is off by about ``cells * 2**-53`` of its size
at most: less than half a row.
"""


def row_total_of(value: Any) -> RowTotal:
    """Return a declared total or a noise as it is; refuse anything else.

    Example:
        >>> row_total_of(1000)
        1000
    """
    if isinstance(value, DiscreteLaplace | DiscreteGaussian):
        return value
    is_whole = isinstance(value, int | np.integer) and not isinstance(value, bool | np.bool_)
    if not is_whole or not 1 <= value <= LARGEST_ANSWER:
        raise InvalidArgument(
            "The total is neither a number of rows nor a noise",
            must="be a declared whole number of at least 1, or noise that measures it",
            got=type(value).__name__ if not is_whole else str(value),
        )
    return int(value)


def total_events(total: RowTotal, d_in: Contribution) -> list[Event]:
    r"""Return what the total costs: nothing if it was declared, or one noisy count.

    The number of rows moves by at most ``d_in.l1``. A declared total is public whether or not it is
    right: it is never compared with the data.
    """
    if isinstance(total, int):
        return []
    rows = Contribution(l0=1, linf=d_in.bound("l1"), metric=d_in.metric)
    return [total.event(rows)]


def public_total(total: RowTotal, histogram: IntArray, rng: Rng) -> int:
    """Return the declared total, or a noisy one; at least 1, so that weights can add up to it."""
    if isinstance(total, int):
        return total
    noisy = total.release(np.array([rows_of(histogram)], dtype=np.int64), rng)
    return min(max(1, int(noisy[0])), LARGEST_ANSWER)


@frozen(kw_only=True)
class TotalBound:
    """How large a public total may be, and how far from the truth."""

    most: Fraction
    error: Fraction


def total_bound(total: RowTotal, beta: Number, *, rows: int, size: int) -> TotalBound:
    """Return what holds of the public total if there are ``rows`` rows, but for ``beta``.

    If the total is measured, it holds for fewer rows too. ``size`` is the number of cells times the
    largest coefficient.

    Example:
        >>> total_bound(1200, "0.05", rows=1000, size=8)
        TotalBound(most=Fraction(1200, 1), error=Fraction(200, 1))
    """
    number = check.whole(rows)
    most = max(number, total) if isinstance(total, int) else number
    if number < 1 or most * size > LARGEST_GUESS:
        raise InvalidArgument(
            "The number of rows is out of range",
            must=f"be between 1 and {LARGEST_GUESS // max(1, size)} for a bound",
            got=str(most),
        )
    if isinstance(total, int):
        return TotalBound(most=Fraction(total), error=Fraction(abs(total - number)))
    error = max(Fraction(1), total.error_quantile(beta))
    return TotalBound(most=number + error, error=error)
