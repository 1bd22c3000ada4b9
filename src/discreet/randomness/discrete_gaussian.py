"""Discrete Gaussian variables."""

from fractions import Fraction

from discreet.core.numbers import Number
from discreet.core.protocols import IntArray, Rng
from discreet.randomness.draw import draw
from discreet.randomness.law import Law
from discreet.randomness.scale import exact_variance
from discreet.randomness.size import Size


def discrete_gaussian(sigma_squared: Number, size: Size, rng: Rng) -> IntArray:
    r"""Return independent integers with :math:`P(z) \propto e^{-z^2 / (2\sigma^2)}`.

    The parameter is :math:`\sigma^2`, because a calibrated :math:`\sigma` is often irrational; it
    is not quite the variance, which is smaller ([CKS20]_, Corollary 9).

    Guarantee:
        Given ideal words the law is exactly this one, for every :math:`\sigma` from 1/1000 to
        2**50 (proof: :mod:`discreet.randomness.block_table`), except that a value beyond
        :math:`\pm 2^{62}` is moved there, which has a probability of at most
        :math:`2 e^{-2^{124}/(2\sigma^2)} \le 2 e^{-2^{23}} < 2^{-12000000}`.

    Example:
        >>> from discreet.randomness.rng import SystemRng
        >>> discrete_gaussian("25/2", (2, 3), SystemRng()).shape
        (2, 3)
    """
    return draw(Law(1 / (2 * exact_variance(sigma_squared)), Fraction(0)), size, rng)
