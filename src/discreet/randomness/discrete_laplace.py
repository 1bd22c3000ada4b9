"""Discrete Laplace variables."""

from fractions import Fraction

from discreet.core.numbers import Number
from discreet.core.protocols import IntArray, Rng
from discreet.randomness.draw import draw
from discreet.randomness.law import Law
from discreet.randomness.scale import exact_scale
from discreet.randomness.size import Size


def discrete_laplace(scale: Number, size: Size, rng: Rng) -> IntArray:
    r"""Return independent integers with :math:`P(z) \propto e^{-|z|/scale}`.

    Guarantee:
        Given ideal words the law is exactly this one, for every ``scale`` from 1/1000 to 2**50
        (proof: :mod:`discreet.randomness.block_table`), except that a value beyond
        :math:`\pm 2^{62}` is moved there, which has a probability of less than
        :math:`2 e^{-2^{62}/scale}/(1 + e^{-1/scale}) \le 2 e^{-4096} < 2^{-5900}`.

    Example:
        >>> from discreet.randomness.rng import SystemRng
        >>> discrete_laplace("7/2", (2, 3), SystemRng()).shape
        (2, 3)
    """
    return draw(Law(Fraction(0), 1 / exact_scale(scale)), size, rng)
