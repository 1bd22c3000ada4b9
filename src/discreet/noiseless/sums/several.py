"""Sums of rows with several numbers: the losses of the dimensions add up."""

import math
from bisect import bisect_left
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

from attrs import frozen

from discreet.core.numbers import exp_bounds
from discreet.core.rounding import dyadic_down, dyadic_up, short_up
from discreet.noiseless.laws.hidden import Hidden
from discreet.noiseless.sums.shift_divergence import shift_delta
from discreet.noiseless.sums.uniform_sums import UniformSum, uniform_at

POINTS = 32
"""How many ε a curve is made of, on each side of 0."""
_BITS = 96
_SHORT = 24
_DEEP = 18.0
_REACHES = (5, 7, 10, 14, 20, 28, 40)
"""How many deviations of a sum a curve covers."""


@frozen(eq=False)
class CurveHull:
    r"""A convex curve that is nowhere below :math:`\delta(\ln x)`, linear between some points.

    Guarantee:
        The true curve is convex in :math:`x = e^\varepsilon`, is 1 at 0 and falls. So it is below
        the largest convex curve through no more than its own upper bounds; that one is the curve of
        a pair of laws, whose loss is :math:`\ln x_i` with probability :math:`x_i` times the change
        of slope at :math:`x_i`. A pair whose curve is nowhere below dominates, whatever it is
        composed with [ZDW22].
    """

    xs: tuple[Fraction, ...]
    values: tuple[Fraction, ...]

    @staticmethod
    def through(points: Sequence[tuple[Fraction, Fraction]]) -> "CurveHull":
        """Return the lower convex hull of points (x, upper bound), from (0, 1) on."""
        hull: list[tuple[Fraction, Fraction]] = [(Fraction(0), Fraction(1))]
        for point in sorted(points):
            x, value = point[0], min(point[1], hull[-1][1])
            if x == hull[-1][0]:
                continue
            while len(hull) > 1 and _slope(hull[-2], hull[-1]) >= _slope(hull[-2], (x, value)):
                hull.pop()
            hull.append((x, value))
        return CurveHull(tuple(x for x, _ in hull), tuple(value for _, value in hull))

    def at(self, x: Fraction) -> Fraction:
        """Return the curve at a point; beyond the last one it stays."""
        place = bisect_left(self.xs, x)
        if place >= len(self.xs):
            return self.values[-1]
        if place == 0:
            return self.values[0]
        start, end = self.xs[place - 1], self.xs[place]
        before, after = self.values[place - 1], self.values[place]
        return dyadic_up(before + (after - before) * (x - start) / (end - start), _BITS)

    def atoms(self) -> tuple[tuple[Fraction, Fraction], ...]:
        """Return the finite losses, as :math:`x_i`, and their probabilities."""
        slopes = [_slope(a, b) for a, b in pairwise(zip(self.xs, self.values, strict=True))]
        changes = [after - before for before, after in pairwise([*slopes, Fraction(0)])]
        return tuple(
            (x, dyadic_up(x * change, _BITS))
            for x, change in zip(self.xs[1:], changes, strict=True)
            if change > 0
        )

    def joined(self, other: "CurveHull", x: Fraction) -> Fraction:
        r"""Return the curve of both together: :math:`E[\delta_1(\varepsilon - Z_2)]`."""
        total = other.values[-1]  # an infinite loss
        for place, chance in other.atoms():
            total += chance * self.at(dyadic_down(x / place, _BITS))
        return min(Fraction(1), dyadic_up(total, _BITS))


def _slope(first: tuple[Fraction, Fraction], second: tuple[Fraction, Fraction]) -> Fraction:
    return (second[1] - first[1]) / (second[0] - first[0])


def several_delta(
    count: int, hidden: Hidden, epsilon: Fraction, *, points: int = POINTS
) -> Fraction:
    r"""Return an upper bound of δ for a sum of ``count`` hidden uniform numbers a dimension.

    Guarantee:
        Given that rows are hidden, their coordinates are independent, so that the loss is the sum
        of the losses of the dimensions; [Gro14, theorem 6.7] adds their largest values and their
        tails instead. A corner of the clamps is the worst row: the trade-off of each dimension is
        worse for a larger shift, and products keep that order.

    Utility:
        Tight up to the interpolation of each curve, some per cent of δ; one dimension is not
        interpolated at all.

    Example:
        >>> both = Hidden(1, (None, None), (Fraction(1, 2), Fraction(1, 2)))
        >>> float(several_delta(999, both, Fraction("0.3"))) < 1.3e-6
        True
    """
    laws = [UniformSum(count, b) for b in hidden.points]
    moved = [(law, shift) for law, shift in zip(laws, hidden.shifts, strict=True) if shift]
    if len(moved) <= 1:
        return max((shift_delta(law, shift, epsilon) for law, shift in moved), default=Fraction(0))
    if any(shift >= law.largest for law, shift in moved):
        return Fraction(1)
    spread = math.sqrt(sum((float(shift) / law.deviation) ** 2 for law, shift in moved))
    reach = math.sqrt((float(epsilon) / spread + spread / 2) ** 2 + _DEEP)
    # One of a few, so that curves are used again.
    reach = next(one for one in _REACHES if one >= reach or one == _REACHES[-1])
    curves = [shift_curve(law, shift, reach, points) for law, shift in moved]
    total = curves[0]
    for place, curve in enumerate(curves[1:], start=2):
        if place == len(curves):
            low = dyadic_down(exp_bounds(epsilon, _BITS)[0], _BITS)
            return short_up(total.joined(curve, low))
        xs = _grid(sum(law_reach(law, shift, reach) for law, shift in moved[:place]), points)
        total = CurveHull.through([(x, total.joined(curve, x)) for x in xs])
    raise AssertionError


def law_reach(law: UniformSum, shift: Fraction, reach: int) -> float:
    """Return about the loss that so many deviations of the sum make."""
    scale = float(shift) / law.deviation
    return scale * reach + scale * scale / 2


def _grid(farthest: float, points: int) -> list[Fraction]:
    r"""Return places :math:`e^\varepsilon` for equally spaced ε on both sides of 0."""
    farthest = min(farthest, 60.0)
    ups = [Fraction(math.exp(farthest * k / points)) for k in range(1, points + 1)]
    ups = [dyadic_down(one, _SHORT) for one in ups]
    return [*(1 / one for one in reversed(ups) if one > 1), Fraction(1), *ups]


@lru_cache(maxsize=256)
def shift_curve(law: UniformSum, shift: Fraction, reach: int, points: int) -> CurveHull:
    r"""Return the curve of a sum and its shifted copy, up to so many deviations.

    Guarantee:
        At a point y with ratio r of the densities, :math:`F(y) - r F(y - D)` is the curve at x = r
        (see :func:`~.shift_divergence.shift_delta`); r is enclosed, x is its upper end. Below 0,
        :math:`\delta(-\varepsilon) = 1 - e^{-\varepsilon} (1 - \delta(\varepsilon))`, because
        both directions have the same curve.
    """
    found = []
    for y in _places(law, shift, reach, points):
        bound = _at_place(law, shift, y)
        if bound is not None:
            x, value = bound
            found.append(bound)
            if x > 1:
                found.append((1 / x, dyadic_up(1 - (1 - value) / x, _BITS)))
    return CurveHull.through(found)


def _places(law: UniformSum, shift: Fraction, reach: int, points: int) -> list[Fraction]:
    """Return places from where the ratio is 1 leftwards."""
    step = reach * law.deviation / points
    start = float(law.largest + shift) / 2
    unit = 1 if law.points is not None else 1 << 24
    found = [Fraction(math.floor((start - step * k) * unit), unit) for k in range(points + 1)]
    return sorted({y for y in found if y > shift})


def _at_place(law: UniformSum, shift: Fraction, y: Fraction) -> tuple[Fraction, Fraction] | None:
    here, there = uniform_at(law, y), uniform_at(law, y - shift)
    if not there.density.low:
        return None
    most = dyadic_up(here.density.high / there.density.low, _SHORT)
    least = here.density.low / there.density.high
    x = max(most, Fraction(1))
    value = here.below.high - min(x, least) * there.below.low
    return x, min(Fraction(1), dyadic_up(value, _BITS))
