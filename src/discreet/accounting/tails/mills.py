r"""The Mills ratio of the normal law: its tail over its density, enclosed, however far out."""

import math
from fractions import Fraction
from functools import lru_cache

from discreet.accounting.tails.normal_tail import normal_tail_bounds, pi_bounds
from discreet.core.numbers import exp_bounds, log_bounds, sqrt_bounds
from discreet.core.rounding import BITS, short_down, short_up

Bounds = tuple[Fraction, Fraction]

_NEAR = 25.0


@lru_cache(maxsize=1 << 10)
def mills_bounds(square: Fraction, bits: int = BITS) -> Bounds:
    r"""Enclose :math:`P[N > x] / \varphi(x)`, :math:`x = \sqrt{square}`, to about ``bits`` bits.

    Guarantee:
        Near the centre it is the quotient of two enclosures. Far out it is
        :math:`\frac1x \sum_k (-1)^k (2k-1)!!\, x^{-2k}`, whose partial sums lie in turn above and
        below it [AS64, 7.1.23]; the terms shrink until :math:`k \approx x^2/2`, so that more than
        :math:`0.7 x^2` bits are available there.

    Example:
        >>> low, high = mills_bounds(Fraction(4), 60)
        >>> low < Fraction("0.4213692292880544732249") < high
        True
    """
    if 7 * square > 10 * (bits + 16):
        low, high = _series(square, bits)
        root_low, root_high = sqrt_bounds(square, bits + 8)
        return short_down(low / root_high, bits + 8), short_up(high / root_low, bits + 8)
    working = bits + 16 + int(square)
    tail_low, tail_high = normal_tail_bounds(square, working)
    exp_low, exp_high = exp_bounds(square / 2, working)
    pi_low, pi_high = pi_bounds(working)
    low = tail_low * exp_low * sqrt_bounds(2 * pi_low, working)[0]
    high = tail_high * exp_high * sqrt_bounds(2 * pi_high, working)[1]
    return short_down(low, bits + 8), short_up(high, bits + 8)


def _series(square: Fraction, bits: int) -> Bounds:
    """Enclose the alternating sum, in units of ``2**-working``."""
    working = bits + 24
    low = high = total_low = total_high = 1 << working
    k = 0
    while high >> 16:
        k += 1
        low = low * (2 * k - 1) * square.denominator // square.numerator
        high = -(-high * (2 * k - 1) * square.denominator // square.numerator)
        if k % 2:
            total_low, total_high = total_low - high, total_high - low
        else:
            total_low, total_high = total_low + low, total_high + high
    # What is left has the sign of the next term and is smaller than the last one.
    return Fraction(total_low - high, 1 << working), Fraction(total_high + high, 1 << working)


def log_tail_bounds(square: Fraction) -> Bounds:
    r"""Enclose :math:`\ln P[N > \sqrt{square}]`, also where the tail is far too small for a float.

    Example:
        >>> low, high = log_tail_bounds(Fraction(10_000))
        >>> round(float(low), 9), high - low < Fraction(1, 2**80)
        (-5005.524208694, True)
    """
    ratio_low, ratio_high = mills_bounds(square)
    pi_low, pi_high = pi_bounds(BITS)
    low = log_bounds(ratio_low, BITS)[0] - log_bounds(2 * pi_high, BITS)[1] / 2
    high = log_bounds(ratio_high, BITS)[1] - log_bounds(2 * pi_low, BITS)[0] / 2
    return low - square / 2, high - square / 2


def mills_estimate(x: float) -> float:
    """Return about the Mills ratio at ``x``, which is not far below 0; for searches only."""
    if x < _NEAR:
        return math.sqrt(math.pi / 2) * math.exp(x * x / 2) * math.erfc(x / math.sqrt(2))
    y = x * x
    return (1 - (1 - (3 - 15 / y) / y) / y) / x


def log_tail_estimate(x: float) -> float:
    """Return about the logarithm of the tail at ``x``, at least 0; for searches only."""
    return math.log(mills_estimate(x)) - x * x / 2 - math.log(2 * math.pi) / 2
