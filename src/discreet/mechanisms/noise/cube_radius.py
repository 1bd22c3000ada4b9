r"""The radius of the cube in :math:`L_\infty`-exponential noise, and the tail of a Gamma law."""

import math
from fractions import Fraction
from functools import lru_cache

from attrs import frozen

from discreet.core.numbers import exp_bounds, log_bounds
from discreet.core.protocols import Rng
from discreet.core.rounding import exp_up
from discreet.randomness.samplers import discrete_laplace
from discreet.randomness.tables.boundary import is_below

MOST_EXACT_SHAPE = 1000
"""Up to this shape the tail is the exact finite sum; beyond it there is a bound."""

_BITS = 128


def gamma_tail(shape: int, x: Fraction) -> Fraction:
    r"""Return :math:`P[G > x]` for a Gamma variable of scale 1, rounded up, for ``x > 0``.

    Guarantee:
        For a shape ``d`` of up to 1000 it is :math:`e^{-x} \sum_{j<d} x^j / j!`, rounded up. For
        a larger one it is Markov's bound :math:`(x/d)^d e^{d - x}` for ``x > d``: the base is
        *not* :math:`d/x`, which [Ste16, Theorem 4.4.1] prints and which the exact tail exceeds
        for almost every ``d`` (``d = 5, x = 10``: 0.0293 against 0.00021).

    Example:
        >>> round(float(gamma_tail(5, Fraction(10))), 6)
        0.029253
    """
    if shape > MOST_EXACT_SHAPE:
        if x <= shape:
            return Fraction(1)
        log_high = log_bounds(x / shape, _BITS)[1]
        return exp_up(min(Fraction(0), shape * log_high + shape - x))
    last = exp_up(min(Fraction(0), _log_last(shape, x)))
    return min(Fraction(1), last * _descending(shape, x))


def _log_last(shape: int, x: Fraction) -> Fraction:
    r"""Return the logarithm of :math:`e^{-x} x^{d-1} / (d-1)!`, rounded up."""
    log_x, log_factorial = log_bounds(x, _BITS)[1], _log_factorial(shape - 1)
    return (shape - 1) * log_x - x - log_factorial


@lru_cache(maxsize=256)
def _log_factorial(n: int) -> Fraction:
    return log_bounds(Fraction(math.factorial(n)), _BITS)[0]


def _descending(shape: int, x: Fraction) -> Fraction:
    """Return the sum of all terms in units of the last one, rounded up."""
    term = total = 1 << _BITS
    for j in range(shape - 1, 0, -1):
        term = -(-term * j * x.denominator // x.numerator)
        total += term
    return Fraction(total, 1 << _BITS)


def cube_radius(scale: Fraction, dimension: int, rng: Rng) -> int:
    r"""Return an integer :math:`m \ge 0` with :math:`P(m) \propto (2m + 1)^d e^{-m/scale}`.

    Guarantee:
        Given ideal words the law is exactly this one, by rejection from discrete Laplace noise
        around the mode (:class:`Envelope`). The work does not depend on data.

    Example:
        >>> from discreet import SystemRng
        >>> cube_radius(Fraction(3), 4, SystemRng()) >= 0
        True
    """
    envelope = Envelope.of(scale, dimension)
    while True:
        offset = int(discrete_laplace(envelope.width, 1, rng)[0])
        if envelope.mode + offset < 0:
            continue
        word = int(rng.words(1)[0])
        if is_below(word, lambda bits: envelope.acceptance(offset, bits), rng):  # noqa: B023
            return envelope.mode + offset


@frozen
class Envelope:
    r"""A two-sided geometric law around an integer near the mode, and how much of it to keep.

    With :math:`h(m) = d \ln(2m + 1) - m/s` an offset ``x`` is kept with probability
    :math:`e^{h(m_0 + x) - h(m_0) + |x|/w - C}`. It is at most 1 if ``C`` is at least the largest
    exponent over the reals; ``h`` is concave, so on each side that is where its slope is
    :math:`\mp 1/w`: at :math:`2m + 1 = 2d / (1/s \mp 1/w)`, or at :math:`m_0` itself.
    """

    scale: Fraction
    dimension: int
    mode: int
    width: Fraction
    excess: Fraction

    @classmethod
    def of(cls, scale: Fraction, dimension: int) -> "Envelope":
        """Return an envelope about as wide as the law: its deviation is near ``s sqrt(d)``."""
        mode = max(0, math.floor(dimension * scale))
        width = scale * (math.isqrt(dimension) + 1)
        excess = Fraction(0)
        for side in (1, -1):
            middle = (2 * dimension / (1 / scale - side / width) - 1) / 2
            if side * (middle - mode) > 0:
                ratio = (2 * middle + 1) / (2 * mode + 1)
                rise = dimension * log_bounds(ratio, 96)[1]
                away = abs(middle - mode)
                excess = max(excess, rise - (middle - mode) / scale + away / width)
        return cls(scale, dimension, mode, width, excess)

    def acceptance(self, offset: int, bits: int) -> tuple[Fraction, Fraction]:
        """Enclose the probability with which ``offset`` is kept."""
        ratio = Fraction(2 * (self.mode + offset) + 1, 2 * self.mode + 1)
        low, high = log_bounds(ratio, bits + self.dimension.bit_length() + 2)
        rest = abs(offset) / self.width - offset / self.scale - self.excess
        lower = exp_bounds(self.dimension * low + rest, bits + 2)[0]
        upper = exp_bounds(self.dimension * high + rest, bits + 2)[1]
        return lower, min(Fraction(1), upper)
