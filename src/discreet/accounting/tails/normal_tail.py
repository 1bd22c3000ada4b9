"""The tail of the normal law, enclosed by integer arithmetic."""

from fractions import Fraction
from functools import lru_cache

from discreet.core.errors import InvalidArgument
from discreet.core.numbers import exp_bounds, sqrt_bounds


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
