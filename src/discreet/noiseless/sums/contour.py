r"""Laws of long sums of uniform numbers, by integrals along a line in the complex plane.

Let :math:`M(s) = E[e^{s S}] = E(s)^m` and :math:`\theta < 0`. The function :math:`g(y) = e^{\theta
y} F(y)` of the cumulative probability has the transform :math:`M(s) / (-s)` at :math:`s = \theta +
it`. By Poisson's formula

.. math:: \frac1L \sum_k \frac{M(s_k)}{-s_k} e^{-2 \pi i k y / L} = \sum_j g(y + jL), \qquad
    s_k = \theta + 2 \pi i k / L,

so that the sum of equally spaced terms is never too small, and too large by shifted copies alone.
For a density take :math:`M(s_k)` without the divisor; on a grid, L is whole, k runs over one
period, and the divisor is :math:`1 - e^{s}`.

*Copies.* To the right :math:`g(y + jL) \le e^{\theta (y + jL)}`. To the left, by Chernoff's bound
at another tilt :math:`\tau < \theta`, :math:`F(x) \le M(\tau) e^{-\tau x}`, and a density of the
sum of m is at most the cumulative probability of the sum of m - 1.

*Terms that are left out.* On an interval :math:`|E(s) / E(\theta)| \le C / |t|` with :math:`C =
|\theta| \coth(|\theta| / 2)`, because :math:`|\sinh(s/2)|^2 = \sinh^2(\theta/2) + \sin^2(t/2)`.
It falls for :math:`0 < t < 2\pi`: the claim is :math:`\sin t\,(\theta^2 + t^2) \le 2t(\cosh\theta -
\cos t)`, which follows from :math:`\cosh\theta - 1 \ge \theta^2/2`, :math:`\sin t \le t` and
:math:`t \sin t \le 4 \sin^2(t/2)`. On a grid of b points the squared ratio is at most
:math:`\coth^2(b\theta/2) \sinh^2(\theta/2) / (\sinh^2(\theta/2) + \sin^2(t/2))`, which falls up to
:math:`t = \pi`. The squared ratio itself falls up to :math:`t = \pi / (b - 1)`: it is
:math:`E[\cos(t (X - X'))]` for two independent terms, tilted, and :math:`x \sin(tx) \ge 0` for all
their differences x. So if it is negligible at one t, and the bound is at :math:`\pi / (b - 1)`, all
later terms are.
"""

from fractions import Fraction
from functools import lru_cache

from attrs import frozen

from discreet.core.errors import Unsupported
from discreet.core.numbers import exp_bounds
from discreet.core.rounding import dyadic_down, dyadic_up, exp_up
from discreet.noiseless.sums.ball import (
    ONE,
    PRECISION,
    Ball,
    inverse,
    next_turn,
    pi,
    power,
    real,
    times,
    turn,
)

_BITS = 200
_NEGLIGIBLE = ONE >> 150
_MOST_TERMS = 400_000


@frozen
class Within:
    """A number between two others."""

    low: Fraction
    high: Fraction

    @property
    def width(self) -> Fraction:
        """How far apart the ends are, as a share of the upper one."""
        return (self.high - self.low) / self.high if self.high else Fraction(0)

    def times(self, other: "Within") -> "Within":
        """Return the product of two numbers that are not negative, in few digits."""
        return Within(
            dyadic_down(self.low * other.low, _BITS), dyadic_up(self.high * other.high, _BITS)
        )


@frozen
class Enclosure:
    """What lies at or below a point, and the density there (on a grid: the mass)."""

    below: Within
    density: Within


def _exp(x: Fraction) -> Within:
    low, high = exp_bounds(x, PRECISION + 64)
    return Within(low, high)


def _power(base: Within, exponent: int) -> Within:
    return Within(_power_down(base.low, exponent), -_power_down(-base.high, exponent))


def _power_down(base: Fraction, exponent: int) -> Fraction:
    """Return a number not above the power of a base, or not above minus that of a negative's size.

    A number is a mantissa of some 200 bits and a power of two; each product is floored.
    """
    sign = -1 if base < 0 else 1
    number, two = _split(base)
    result, twos = sign, 0
    while exponent:
        if exponent & 1:
            result, twos = _floored(sign * result * number, twos + two)
        exponent >>= 1
        if exponent:
            number, two = _floored(sign * number * number, 2 * two)
    return Fraction(result << twos) if twos >= 0 else Fraction(result, 1 << -twos)


def _split(value: Fraction) -> tuple[int, int]:
    shift = _BITS - (value.numerator.bit_length() - value.denominator.bit_length())
    if shift >= 0:
        return (value.numerator << shift) // value.denominator, -shift
    return value.numerator // (value.denominator << -shift), -shift


def _floored(mantissa: int, two: int) -> tuple[int, int]:
    extra = max(0, mantissa.bit_length() - _BITS)
    return mantissa >> extra, two + extra


def _moment(points: int | None, tilt: Fraction) -> Within:
    """Enclose the moment function of one term at a real tilt below 0."""
    if points is None:
        grown = _exp(tilt)
        return Within((1 - grown.high) / -tilt, (1 - grown.low) / -tilt)
    all_, one = _exp(points * tilt), _exp(tilt)
    return Within(
        (1 - all_.high) / (points * (1 - one.low)), (1 - all_.low) / (points * (1 - one.high))
    )


@frozen
class Chernoff:
    r"""The bound :math:`M(\tau) e^{-\tau y}` on what lies at or below y."""

    count: int
    points: int | None
    tilt: Fraction
    moment: Within

    @staticmethod
    def at_tilt(count: int, points: int | None, tilt: Fraction) -> "Chernoff":
        """Work out the moment function once."""
        return Chernoff(count, points, tilt, _moment(points, tilt))

    def at(self, y: Fraction) -> Within:
        """Enclose the bound at a point."""
        share = _exp(-self.tilt * y / self.count)
        return _power(self.moment.times(share), self.count)


@frozen(eq=False)
class Contour:
    """The terms of the sum over one line, and bounds on all that is left out.

    Attributes:
        period: L, the distance of the copies.
        terms: The powers of the ratios of moment functions, from k = 0 on.
        divided: The same, over the divisor of the cumulative probability.
        missing: A bound on the sum of the sizes of all later terms, in units of a ball.
    """

    near: Chernoff
    far: Chernoff
    period: int
    terms: tuple[Ball, ...]
    divided: tuple[Ball, ...]
    missing: int

    def at(self, y: Fraction) -> Enclosure:
        """Enclose the cumulative probability and the density at a point."""
        scale, copies, fewer = self._copies(y)
        rotation, turned = turn(-y / self.period), Ball(ONE, 0, 0)
        below, density = self.divided[0].re, self.terms[0].re
        spread = self.divided[0].radius + self.terms[0].radius
        # No later term is larger than the first one: a ratio of moment functions is at most 1.
        largest = self.divided[0].size + self.terms[0].size
        for term, divided in zip(self.terms[1:], self.divided[1:], strict=True):
            turned = next_turn(turned, rotation)
            density += (term.re * turned.re - term.im * turned.im) >> (PRECISION - 1)
            below += (divided.re * turned.re - divided.im * turned.im) >> (PRECISION - 1)
            spread += 2 * (term.radius + divided.radius) + 4
            spread += (2 * (largest + term.radius + divided.radius) * turned.radius) >> PRECISION
        spread += 2 * self.missing
        return Enclosure(
            self._scaled(below, spread, copies, scale), self._scaled(density, spread, fewer, scale)
        )

    def _scaled(self, centre: int, radius: int, copies: Fraction, scale: Within) -> Within:
        unit = ONE * self.period
        low = max(Fraction(0), Fraction(centre - radius, unit) - copies)
        high = max(Fraction(0), Fraction(centre + radius, unit))
        return Within(low, high).times(scale)

    def _copies(self, y: Fraction) -> tuple[Within, Fraction, Fraction]:
        """Return the scale at a point, and the copies of the probability and of the density."""
        scale, left = self.near.at(y), Fraction(0)
        right = _geometric(self.near.tilt * self.period)
        if y >= self.period:  # or else nothing lies as far to the left
            ratio = _geometric((self.far.tilt - self.near.tilt) * self.period)
            left = self.far.at(y).high * ratio
        less = self.far.moment.low if self.near.points is None else Fraction(1)
        return (
            scale,
            dyadic_up((right + left) / scale.low, _BITS),
            dyadic_up((right + left / less) / scale.low, _BITS),
        )


def _geometric(exponent: Fraction) -> Fraction:
    """Return a bound on q + q² + ... for q = e^exponent, the exponent being below 0."""
    ratio = exp_up(exponent)
    return ratio / (1 - ratio)


@lru_cache(maxsize=256)
def contour_at(count: int, points: int | None, tilt: Fraction, period: int) -> Contour:
    """Work out the terms of a line; any tilt below 0 and any odd period is valid."""
    near = Chernoff.at_tilt(count, points, tilt)
    variance = Fraction(count if points is None else count * (points * points - 1), 12)
    steep = -(-(1 << 40) * period // variance)  # about L / σ², in few digits
    far = Chernoff.at_tilt(count, points, tilt - Fraction(int(steep), 1 << 40))
    line = _interval_line if points is None else _grid_line
    terms, divided, missing = line(near, period)
    return Contour(near, far, period, tuple(terms), tuple(divided), missing)


@frozen
class TermDecay:
    """When the terms of a line are so small that they are bounded rather than computed.

    Attributes:
        bound: C of an interval, or the like constant of a grid, in units of a ball.
        least: A ratio whose power is negligible.
        period: L.
        divisor: No divisor of the cumulative probability makes a term larger than by this.
    """

    bound: int
    least: int
    period: int
    divisor: int

    @staticmethod
    def of(near: Chernoff, period: int) -> "TermDecay":
        """Work out the constants of a line."""
        points = near.points or 1
        bound = (1 + _exp(points * near.tilt).high) / (points * near.moment.low)
        # A frequency is at least 2π/L, and on a grid no divisor is below 1 - e^θ.
        divisor = Fraction(period) if near.points is None else 1 / (1 - _exp(near.tilt).high)
        return TermDecay(
            real(bound).size, _least_ratio(near.count), period, int(max(divisor, Fraction(1))) + 1
        )

    def is_negligible(self, ratio: int) -> bool:
        """Tell whether the power of a ratio of this size is below what is left out."""
        return ratio <= self.least

    def rest(self, index: int, frequency: int, ratio: int) -> int | None:
        r"""Bound the terms from ``index`` on, on an interval, or return None.

        From t on they are at most :math:`(C/t)^m (1 + k / (m - 1))` together; below
        :math:`\pi`, of which there are L / 2, each is at most the one at hand.
        """
        whole = 2 * _NEGLIGIBLE * (index + self.period + 1) * self.divisor
        if self.bound << PRECISION <= self.least * frequency:
            return whole
        at_pi = pi().re - pi().radius
        is_low = frequency <= at_pi and self.bound << PRECISION <= self.least * at_pi
        return whole if is_low and self.is_negligible(ratio) else None

    def rest_on_grid(self, over: Ball) -> int | None:
        """Bound all later terms on a grid, given 1 over the divisor, or return None."""
        if self.bound * over.size <= self.least << PRECISION:
            return _NEGLIGIBLE * self.period * self.divisor
        return None

    def is_low_from_edge(self, one: Ball, points: int) -> bool:
        r"""Tell whether all terms of a grid from :math:`t = \pi / (b - 1)` on are negligible."""
        edge = times(one, turn(Fraction(1, 2 * (points - 1))))
        return self.rest_on_grid(inverse(Ball(ONE - edge.re, -edge.im, edge.radius))) is not None


def _least_ratio(count: int) -> int:
    """Return a number whose power, rounded up, is negligible; about the largest one."""
    low, high = 0, ONE
    for _ in range(64):
        middle = (low + high) // 2
        if _power_up(middle, count) <= _NEGLIGIBLE:
            low = middle
        else:
            high = middle
    return low


def _power_up(base: int, exponent: int) -> int:
    result = ONE
    while exponent:
        if exponent & 1:
            result = (result * base >> PRECISION) + 1
        exponent >>= 1
        base = (base * base >> PRECISION) + 1
    return result


def _interval_line(near: Chernoff, period: int) -> tuple[list[Ball], list[Ball], int]:
    tilt, count = near.tilt, near.count
    grown, step, scale = (
        _as_ball(_exp(tilt)),
        turn(Fraction(1, period)),
        inverse(_as_ball(near.moment)),
    )
    decay = TermDecay.of(near, period)
    spacing = times(pi(), real(Fraction(2, period)))
    terms, divided = [Ball(ONE, 0, 0)], [inverse(real(-tilt))]
    turned, missing = Ball(ONE, 0, 0), 0
    for k in range(1, _MOST_TERMS):
        turned = next_turn(turned, step)
        moved = times(grown, turned)
        frequency = Ball(real(tilt).re, k * spacing.re, k * spacing.radius + 2)
        over = inverse(frequency)
        ratio = times(times(Ball(moved.re - ONE, moved.im, moved.radius), over), scale)
        rest = decay.rest(k, k * spacing.re - k * spacing.radius, ratio.size)
        if rest is not None:
            return terms, divided, missing + rest
        if decay.is_negligible(ratio.size):
            missing += _NEGLIGIBLE * decay.divisor
            term = Ball(0, 0, 0)
        else:
            term = power(ratio, count)
        terms.append(term)
        divided.append(times(term, Ball(-over.re, -over.im, over.radius)))
    raise Unsupported(
        "This line has too many terms", must=f"be bounded after {_MOST_TERMS}", got=f"{count} rows"
    )


def _grid_line(near: Chernoff, period: int) -> tuple[list[Ball], list[Ball], int]:
    tilt, count, points = near.tilt, near.count, near.points or 1
    one, all_ = _as_ball(_exp(tilt)), _as_ball(_exp(points * tilt))
    step, steps = turn(Fraction(1, period)), turn(Fraction(points, period))
    scale = inverse(times(_as_ball(near.moment), Ball(points * ONE, 0, 0)))
    divisor = inverse(Ball(ONE - one.re, -one.im, one.radius))
    terms, divided, missing = [Ball(ONE, 0, 0)], [divisor], 0
    decay = TermDecay.of(near, period)
    has_low_end = points > 1 and decay.is_low_from_edge(one, points)
    turned = longer = Ball(ONE, 0, 0)
    for _ in range(1, (period + 1) // 2):
        turned, longer = next_turn(turned, step), next_turn(longer, steps)
        near_one, near_all = times(one, turned), times(all_, longer)
        over = inverse(Ball(ONE - near_one.re, -near_one.im, near_one.radius))
        ratio = times(times(Ball(ONE - near_all.re, -near_all.im, near_all.radius), over), scale)
        rest = decay.rest_on_grid(over)
        is_negligible = decay.is_negligible(ratio.size)
        if is_negligible and has_low_end:
            rest = _NEGLIGIBLE * period * decay.divisor
        if rest is not None:
            return terms, divided, missing + rest
        if is_negligible:
            missing += _NEGLIGIBLE * decay.divisor
            term = Ball(0, 0, 0)
        else:
            term = power(ratio, count)
        terms.append(term)
        divided.append(times(term, over))
    return terms, divided, missing


def _as_ball(value: Within) -> Ball:
    return real(value.low, value.high)
