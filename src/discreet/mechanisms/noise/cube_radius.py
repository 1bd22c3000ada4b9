r"""The radius of the cube in :math:`L_\infty`-exponential noise."""

import math
from fractions import Fraction

from attrs import frozen

from discreet.core.numbers import exp_bounds, log_bounds
from discreet.core.protocols import Rng
from discreet.randomness.samplers import discrete_laplace
from discreet.randomness.tables.boundary import is_below


def cube_radius(scale: Fraction, dimension: int, rng: Rng) -> int:
    r"""Return an integer :math:`m \ge 0` with :math:`P(m) \propto (2m + 1)^d e^{-m/scale}`.

    Guarantee:
        Given ideal words the law is exactly this one, by rejection from discrete Laplace noise
        around the mode (:class:`Envelope`). The work does not depend on data.

    Example:
        >>> from discreet.randomness.rng import SystemRng
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
