"""Geometric variables."""

from fractions import Fraction

from discreet.core.numbers import Number
from discreet.core.protocols import IntArray, Rng
from discreet.randomness.draw import draw
from discreet.randomness.law import Law
from discreet.randomness.scale import exact_scale
from discreet.randomness.size import Size


def geometric(scale: Number, size: Size, rng: Rng) -> IntArray:
    r"""Return independent integers from 0 on with :math:`P(G \ge k) = e^{-k/scale}`.

    Guarantee:
        Given ideal words the law is exactly this one, for every ``scale`` from 1/1000 to 2**50
        (proof: :mod:`discreet.randomness.block_table`), except that a value beyond :math:`2^{62}`
        is moved there, which has a probability of less than
        :math:`e^{-2^{62}/scale} \le e^{-4096} < 2^{-5900}`.

    Example:
        >>> from discreet.randomness.rng import SystemRng
        >>> bool((geometric(5, 100, SystemRng()) >= 0).all())
        True
    """
    return draw(Law(Fraction(0), 1 / exact_scale(scale), two_sided=False), size, rng)
