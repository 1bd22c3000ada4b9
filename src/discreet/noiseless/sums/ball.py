"""Complex numbers in integers: a centre, and how far the true number can be from it."""

from fractions import Fraction
from functools import cache
from math import isqrt
from typing import NamedTuple

from discreet.accounting.tails.normal_tail import pi_bounds

PRECISION = 256
"""Binary digits after the point."""

ONE = 1 << PRECISION


class Ball(NamedTuple):
    r"""All complex numbers within ``radius`` of ``re + i im``, each in units of :math:`2^{-256}`.

    Guarantee:
        What the functions of this file return holds the true result for every number of the balls
        that they were given. Each floor moves a coordinate by less than one unit, so the centre by
        less than two, and the radius itself is rounded up.
    """

    re: int
    im: int
    radius: int

    @property
    def size(self) -> int:
        """No number of the ball is larger than this."""
        return isqrt(self.re * self.re + self.im * self.im) + 1 + self.radius


def times(a: Ball, b: Ball) -> Ball:
    """Return the product.

    Example:
        >>> i = Ball(0, ONE, 0)
        >>> times(i, i).re == -ONE
        True
    """
    first, second = abs(a.re) + abs(a.im), abs(b.re) + abs(b.im)
    spread = first * b.radius + second * a.radius + a.radius * b.radius
    return Ball(
        (a.re * b.re - a.im * b.im) >> PRECISION,
        (a.re * b.im + a.im * b.re) >> PRECISION,
        (spread >> PRECISION) + 3,
    )


def next_turn(a: Ball, step: Ball) -> Ball:
    """Return the product of two numbers of size 1, for long chains of such products.

    The true numbers lie on the circle, so that radii add up, and do not multiply.
    """
    return Ball(
        (a.re * step.re - a.im * step.im) >> PRECISION,
        (a.re * step.im + a.im * step.re) >> PRECISION,
        a.radius + step.radius + (a.radius * step.radius >> PRECISION) + 3,
    )


def inverse(a: Ball) -> Ball:
    r"""Return 1 over the ball; it must not hold 0.

    Proof. :math:`|1/z - 1/c| \le r / (|c| (|c| - r))` for every z within r of c.
    """
    square = a.re * a.re + a.im * a.im
    least = isqrt(square) - a.radius - 1
    if least <= 0:
        raise ZeroDivisionError
    spread = (a.radius << (2 * PRECISION)) // (least * least)
    return Ball(
        (a.re << (2 * PRECISION)) // square, -(a.im << (2 * PRECISION)) // square, spread + 3
    )


def power(a: Ball, exponent: int) -> Ball:
    """Return the power, by repeated squaring."""
    result, base = Ball(ONE, 0, 0), a
    while exponent:
        if exponent & 1:
            result = times(result, base)
        exponent >>= 1
        if exponent:
            base = times(base, base)
    return result


def real(low: Fraction, high: Fraction | None = None) -> Ball:
    """Return a ball around the real numbers from ``low`` to ``high``."""
    high = low if high is None else high
    first = (low.numerator << PRECISION) // low.denominator
    last = -((-high.numerator << PRECISION) // high.denominator)
    return Ball((first + last) // 2, 0, (last - first) // 2 + 1)


@cache
def pi() -> Ball:
    r"""Return :math:`\pi`."""
    return real(*pi_bounds(PRECISION + 8))


def turn(share: Fraction) -> Ball:
    r"""Return :math:`e^{2 \pi i x}` for a share x of a whole turn.

    Proof. With x in [-1/2, 1/2] the angle is halved nine times to below :math:`2^{-7}`; there 28
    terms of the exponential series leave less than one unit, and nine squarings follow.

    Example:
        >>> quarter = turn(Fraction(1, 4))
        >>> abs(quarter.re) < 2**40 and abs(quarter.im - ONE) < 2**40
        True
    """
    share -= round(share)
    angle = times(times(real(share), pi()), Ball(2 * ONE, 0, 0))
    small = Ball(0, angle.re >> 9, angle.radius + 2)
    total, term = Ball(ONE, 0, 0), Ball(ONE, 0, 0)
    for index in range(1, 29):
        term = times(term, small)
        term = Ball(term.re // index, term.im // index, term.radius // index + 3)
        total = Ball(total.re + term.re, total.im + term.im, total.radius + term.radius)
    total = Ball(total.re, total.im, total.radius + 1)
    for _ in range(9):
        total = next_turn(total, total)
    return total
