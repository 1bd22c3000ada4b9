"""Sums of independent uniform numbers, on an interval or a grid: certified densities and masses."""

import math
from fractions import Fraction
from functools import lru_cache

from attrs import field, frozen

from discreet.core import check
from discreet.core.rounding import short_down, short_up
from discreet.noiseless.sums.contour import Contour, Enclosure, Within, contour_at

LEAST_BY_CONTOUR = 64
"""Shorter sums are worked out exactly."""

_SHORT = 2_500
"""So are longer ones that far to the left, where the sum of fractions has few terms."""

_BITS = 160


@frozen
class UniformSum:
    r"""The law of a sum of ``count`` independent uniform numbers.

    They lie on :math:`[0, 1]`, which makes Irwin and Hall's law [Gro14, definition 6.2], or on
    :math:`\{0, \ldots, b - 1\}` if ``points`` is b.

    Guarantee:
        :meth:`at` encloses the cumulative probability and the density (on a grid: the mass). Few
        terms are summed exactly, with fractions. The alternating sum of many would need about
        :math:`1.2 n` digits; they are integrated along a vertical line in the complex plane, where
        everything that is left out has an explicit bound (see :class:`~.contour.Contour`).

    Example:
        >>> two = UniformSum(2).at(Fraction(1, 2))
        >>> two.below.high, two.density.high
        (Fraction(1, 8), Fraction(1, 2))
        >>> thousand = UniformSum(1000).at(Fraction(450))
        >>> round(float(thousand.below.high) * 1e8, 4), thousand.below.width < 1e-30
        (2.0713, True)
    """

    count: int = field(converter=check.whole, validator=check.non_negative)
    points: int | None = None

    @property
    def largest(self) -> int:
        """The largest value of the sum."""
        return self.count * (1 if self.points is None else self.points - 1)

    @property
    def deviation(self) -> float:
        """About the standard deviation."""
        of_one = 1.0 if self.points is None else float(self.points) ** 2 - 1
        return math.sqrt(self.count * of_one / 12)

    def at(self, y: Fraction) -> Enclosure:
        """Return what lies at or below ``y``, and the density there.

        The law is symmetric, so the upper half is the lower one turned round.
        """
        if y < 0:
            return Enclosure(_NONE, _NONE)
        if y >= self.largest and self.points is None:
            return Enclosure(_ALL, Within(Fraction(0), Fraction(int(self.count == 1))))
        if y >= self.largest:
            rest = self.at(Fraction(0)) if y == self.largest else Enclosure(_NONE, _NONE)
            return Enclosure(_ALL, rest.density)
        if 2 * y > self.largest:
            return self._reflected(y)
        return self._left(y)

    def _reflected(self, y: Fraction) -> Enclosure:
        other = self.at(self.largest - y)
        below = other.below
        if self.points is not None:
            before = other.density
            below = Within(
                max(Fraction(0), below.low - before.high), max(Fraction(0), below.high - before.low)
            )
        return Enclosure(Within(1 - below.high, 1 - below.low), other.density)

    def _left(self, y: Fraction) -> Enclosure:
        terms = y if self.points is None else y / self.points
        if self.count >= LEAST_BY_CONTOUR and self.count * (terms + 1) > _SHORT:
            return contour_for(self, y).at(y)
        if self.points is None:
            return _irwin_hall(self.count, y)
        return _lattice(self.count, self.points, int(y))


_NONE = Within(Fraction(0), Fraction(0))
_ALL = Within(Fraction(1), Fraction(1))


def contour_for(law: UniformSum, y: Fraction) -> Contour:
    """Return a line of integration that suits a point of the lower half."""
    return contour_at(law.count, law.points, *_chosen(law, float(y)))


def _chosen(law: UniformSum, y: float) -> tuple[Fraction, int]:
    """Return a tilt and a period; floats that decide how narrow an enclosure is, and no more."""
    deviation = law.deviation
    scale = 1.0 if law.points is None else float(law.points)
    tilt = min(saddle(law, y), -1 / deviation)
    # Few digits, so that close points share their line: about one a deviation.
    digits = min(5 - math.frexp(tilt)[1], math.frexp(deviation)[1])
    tilt = -math.ldexp(math.ceil(math.ldexp(-tilt, digits)), -digits)
    rarity = max(0.0, tilt * y - law.count * cumulant(law, tilt)[0])
    period = max(16 * deviation, (rarity + 60) / -tilt, 4 * scale)
    digits = math.frexp(period)[1] - 3
    return Fraction(tilt), (math.ceil(math.ldexp(period, -digits)) << max(0, digits)) + 1


def cumulant(law: UniformSum, tilt: float) -> tuple[float, float, float]:
    """Return about the logarithm of the moment function of one term, and two derivatives."""
    b = 1.0 if law.points is None else float(law.points)
    half = b * tilt / 2
    if abs(half) < 1e-4 and law.points is None:
        return tilt / 2 + tilt**2 / 24, 0.5 + tilt / 12, 1 / 12
    if law.points is not None and abs(half) < 1e-4:
        variance = (b * b - 1) / 12
        mean = (b - 1) / 2
        return tilt * mean + variance * tilt**2 / 2, mean + variance * tilt, variance
    value = abs(half) + math.log(-math.expm1(-2 * abs(half)))
    coth = 1 / math.tanh(half)
    bend = _inverse_square_of_sinh(half)
    if law.points is None:
        value += tilt / 2 - math.log(abs(tilt))
        return value, 0.5 + coth / 2 - 1 / tilt, 1 / tilt**2 - bend / 4
    small = tilt / 2
    value -= abs(small) + math.log(-math.expm1(-2 * abs(small))) + math.log(b)
    value += (b - 1) * tilt / 2
    mean = (b - 1) / 2 + b * coth / 2 - 1 / math.tanh(small) / 2
    return value, mean, (_inverse_square_of_sinh(small) - b * b * bend) / 4


def _inverse_square_of_sinh(x: float) -> float:
    return 0.0 if abs(x) > 300 else 1 / math.sinh(x) ** 2


def saddle(law: UniformSum, y: float) -> float:
    """Return about the tilt under which the mean of the sum is ``y``; at most 0."""
    wanted = y / law.count
    tilt = 0.0
    # The mean is a convex function of a tilt below 0, so Newton's steps from 0 never overshoot.
    for _ in range(80):
        _, mean, bend = cumulant(law, tilt)
        step = (mean - wanted) / bend
        tilt -= step
        if step <= 1e-13 * -tilt:
            break
    return min(tilt, 0.0)


def _irwin_hall(count: int, y: Fraction) -> Enclosure:
    if count == 0:
        return Enclosure(_ALL, _NONE)
    below = density = 0
    for k in range(int(y) + 1):
        left = y.numerator - k * y.denominator
        rest = (-1) ** k * math.comb(count, k) * left ** (count - 1)
        density += rest
        below += rest * left
    unit = math.factorial(count - 1) * y.denominator ** (count - 1)
    whole = unit * count * y.denominator
    return Enclosure(_exactly(Fraction(below, whole)), _exactly(Fraction(density, unit)))


def _lattice(count: int, points: int, y: int) -> Enclosure:
    if count == 0:
        return Enclosure(_ALL, _ALL if y == 0 else _NONE)
    below = mass = 0
    for k in range(min(count, y // points) + 1):
        sign = (-1) ** k * math.comb(count, k)
        rest = y - points * k
        below += sign * math.comb(rest + count, count)
        mass += sign * math.comb(rest + count - 1, count - 1)
    whole = points**count
    return Enclosure(_exactly(Fraction(below, whole)), _exactly(Fraction(mass, whole)))


def _exactly(value: Fraction) -> Within:
    return Within(short_down(value, _BITS), short_up(value, _BITS))


@lru_cache(maxsize=4096)
def uniform_at(law: UniformSum, y: Fraction) -> Enclosure:
    """Return :meth:`UniformSum.at`, remembered."""
    return law.at(y)
