"""The tail of the normal law, enclosed by integer arithmetic, and Mills' ratio."""

import math
from fractions import Fraction
from functools import lru_cache

from discreet.core.errors import InvalidArgument
from discreet.core.numbers import exp_bounds, log_bounds, sqrt_bounds
from discreet.core.rounding import BITS, Ends, short_down, short_up


@lru_cache(maxsize=64)
def pi_bounds(bits: int) -> tuple[Fraction, Fraction]:
    """Return ``lower < pi < upper``, at most ``2**-bits`` apart.

    Machin's formula, pi/4 = 4 arctan(1/5) - arctan(1/239); each arctangent is an alternating
    series of floored terms, and one unit a term bounds what the floors lose.

    Example:
        >>> low, high = pi_bounds(40)
        >>> low < Fraction("3.14159265358979323846") < high
        True
    """
    working = bits + 16
    low_5, high_5 = _arctan_inverse(5, working)
    low_239, high_239 = _arctan_inverse(239, working)
    one = 1 << working
    return Fraction(16 * low_5 - 4 * high_239, one), Fraction(16 * high_5 - 4 * low_239, one)


def _arctan_inverse(n: int, working: int) -> tuple[int, int]:
    power = (1 << working) // n
    total, odd, sign = 0, 1, 1
    while power:
        total += sign * (power // odd)
        power //= n * n
        odd, sign = odd + 2, -sign
    return total - odd, total + odd


@lru_cache(maxsize=1 << 12)
def normal_tail_bounds(square: Fraction, bits: int = 96) -> tuple[Fraction, Fraction]:
    r"""Enclose :math:`P[N(0, 1) > \sqrt{square}]` within ``2**-bits``.

    Guarantee:
        With :math:`y = square`, the tail is :math:`1/2 - \sqrt{y / 2\pi}\, e^{-y/2}
        \sum_k y^k / (2k + 1)!!`. All terms are positive, each is floored or rounded up, and once
        the ratio of two terms is at most 1/2 the rest is at most the last term. Far out the tail
        is at most :math:`e^{-y/2} / 2`.

    Example:
        >>> low, high = normal_tail_bounds(Fraction(1), bits=40)
        >>> low < Fraction("0.15865525393145705142") < high
        True
    """
    if square < 0:
        raise InvalidArgument("square is out of range", must="be at least 0", got=str(square))
    if square > 2 * bits:
        return Fraction(0), exp_bounds(-square / 2, bits)[1] / 2
    working = bits + 24 + int(square)
    while True:
        series_low, series_high = _series(square, working)
        exp_low, exp_high = exp_bounds(-square / 2, working)
        pi_low, pi_high = pi_bounds(working)
        root_low = sqrt_bounds(square / (2 * pi_high), working)[0]
        root_high = sqrt_bounds(square / (2 * pi_low), working)[1]
        half = Fraction(1, 2)
        low = max(Fraction(0), half - root_high * exp_high * series_high)
        high = half - root_low * exp_low * series_low
        if high - low <= Fraction(1, 1 << (bits + 1)):
            return _rounded(low, high, bits + 8)
        working *= 2


def _series(y: Fraction, working: int) -> tuple[Fraction, Fraction]:
    low = high = total_low = total_high = 1 << working
    k = 0
    while high > 1 or 2 * y > 2 * k + 3:
        low = low * y.numerator // (y.denominator * (2 * k + 3))
        high = -(-high * y.numerator // (y.denominator * (2 * k + 3)))
        total_low, total_high, k = total_low + low, total_high + high, k + 1
    return Fraction(total_low, 1 << working), Fraction(total_high + high, 1 << working)


def _rounded(low: Fraction, high: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    """Round outwards to ``bits`` bits, so that the fractions stay short."""
    return (
        Fraction((low.numerator << bits) // low.denominator, 1 << bits),
        Fraction(-((-high.numerator << bits) // high.denominator), 1 << bits),
    )


_NEAR = 25.0


@lru_cache(maxsize=1 << 10)
def mills_bounds(square: Fraction, bits: int = BITS) -> Ends:
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
        low, high = _mills_series(square, bits)
        root_low, root_high = sqrt_bounds(square, bits + 8)
        return short_down(low / root_high, bits + 8), short_up(high / root_low, bits + 8)
    working = bits + 16 + int(square)
    tail_low, tail_high = normal_tail_bounds(square, working)
    exp_low, exp_high = exp_bounds(square / 2, working)
    pi_low, pi_high = pi_bounds(working)
    low = tail_low * exp_low * sqrt_bounds(2 * pi_low, working)[0]
    high = tail_high * exp_high * sqrt_bounds(2 * pi_high, working)[1]
    return short_down(low, bits + 8), short_up(high, bits + 8)


def _mills_series(square: Fraction, bits: int) -> Ends:
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


def log_tail_bounds(square: Fraction) -> Ends:
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
