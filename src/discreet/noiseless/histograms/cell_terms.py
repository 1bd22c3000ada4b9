"""Single terms of Poisson and binomial laws, rounded up, and the sums that follow from them."""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

from discreet.accounting.tails.normal_tail import pi_bounds
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import log_bounds
from discreet.core.rounding import (
    BITS,
    Ends,
    exp_down,
    exp_up,
    log_down,
    log_up,
    short_down,
    short_up,
)

MOST_TRUNCATION = 20_000
"""No larger k is looked at; cells as large as that are hardly a matter of hiding."""

LARGEST_EPSILON = Fraction(100)
"""Beyond it nothing is computed: a δ at this ε is one at every larger one."""


def capped(epsilon: Fraction) -> Fraction:
    """Return ε, or the largest that is computed with; refuse a negative one."""
    if epsilon < 0:
        raise InvalidArgument("epsilon is out of range", must="be at least 0", got=str(epsilon))
    return min(epsilon, LARGEST_EPSILON)


@lru_cache(maxsize=1024)
def log_factorial(count: int) -> Ends:
    r"""Enclose the logarithm of a factorial.

    Large ones by :math:`n! = \sqrt{2\pi n}\,(n/e)^n e^{r}` with
    :math:`1/(12n+1) < r < 1/(12n)` [Rob55].

    Example:
        >>> low, high = log_factorial(5000)
        >>> low < Fraction("37591.1435088767") < high
        True
    """
    if count <= _MULTIPLIED_UP_TO:
        return log_bounds(Fraction(math.factorial(count)), BITS)
    pi_low, pi_high = pi_bounds(BITS)
    low, high = log_bounds(Fraction(count), 2 * BITS)
    root_low = log_down(short_down(2 * pi_low * count, 160)) / 2
    root_high = log_up(short_up(2 * pi_high * count, 160)) / 2
    return (
        short_down(count * low - count + root_low + Fraction(1, 12 * count + 1), 2 * BITS),
        short_up(count * high - count + root_high + Fraction(1, 12 * count), 2 * BITS),
    )


_MULTIPLIED_UP_TO = 2_000


def poisson_term_up(mean: Fraction, count: int) -> Fraction:
    """Return a number not below the probability that a Poisson count is ``count``.

    Example:
        >>> float(poisson_term_up(Fraction(2), 0))
        0.1353352832366127
    """
    if count == 0:
        return exp_up(-mean)
    if mean == 0:
        return Fraction(0)
    return exp_up(short_up(count * log_up(mean), 160) - mean - log_factorial(count)[0])


@lru_cache(maxsize=1024)
def binomial_term_up(trials: int, count: int, share: Fraction) -> Fraction:
    """Return a number not below the probability that a binomial count is ``count``.

    Example:
        >>> float(binomial_term_up(2, 1, Fraction(1, 2)))
        0.5
    """
    if not 0 <= count <= trials or (share == 0 and count) or (share == 1 and count < trials):
        return Fraction(0)
    exponent = log_factorial(trials)[1] - log_factorial(count)[0] - log_factorial(trials - count)[0]
    if count:
        exponent += count * log_up(share)
    if trials > count:
        exponent += (trials - count) * log_up(1 - share)
    return min(Fraction(1), exp_up(short_up(exponent, 160)))


@lru_cache(maxsize=1024)
def binomial_term_down(trials: int, count: int, share: Fraction) -> Fraction:
    """Return a number not above the probability that a binomial count is ``count``.

    The share is above 0 and below 1.

    Example:
        >>> float(binomial_term_down(2, 1, Fraction(1, 2)))
        0.5
    """
    exponent = log_factorial(trials)[0] - log_factorial(count)[1] - log_factorial(trials - count)[1]
    exponent += count * log_down(share) + (trials - count) * log_down(1 - share)
    return exp_down(short_down(exponent, 160))


def sum_of_products_down(
    factor: Callable[[int], tuple[int, int]], most: int | None = None
) -> Fraction:
    r"""Return a number not above :math:`\sum_{i \ge 1} \prod_{1 \le t \le i} f(t)`.

    Factors are given as what is above the line and what is below it.
    Every term is rounded down, and terms may be left out: what is left is below the sum. So it
    stops where a term no longer matters, or after ``most`` terms.

    Example:
        >>> float(sum_of_products_down(lambda _: (1, 2)))
        1.0
    """
    term, total, index = 1 << _BITS, 0, 0
    while term and (most is None or index < most) and index < _MOST_TERMS:
        index += 1
        above, below = factor(index)
        if above <= 0:
            break
        term = term * above // below
        total += term
        if term << 80 < total:
            break
    return Fraction(total, 1 << _BITS)


_BITS = 192
_MOST_TERMS = 20_000
