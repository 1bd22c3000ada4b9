"""Weights ``e**(-n / scale)`` for arrays of integers, with a proven error."""

from fractions import Fraction
from functools import lru_cache

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from discreet.core.errors import InvalidArgument
from discreet.core.numbers import exp_bounds
from discreet.randomness.tables.boundary import WordInterval

_DIGIT_BITS = 8
_DIGITS = 8
_BASE = 1 << _DIGIT_BITS
_BELOW_ALL_FLOATS = 1200
_LOW_BYTE = np.uint64(_BASE - 1)
_SHIFTS = tuple(np.uint64(_DIGIT_BITS * place) for place in range(1, _DIGITS))


@frozen(eq=False)
class Decay:
    r"""The powers of :math:`e^{-1/scale}` by the eight bytes of the exponent.

    Guarantee:
        ``weights`` is within :math:`2^{-48} w + 2^{-980}` of each true weight ``w``. Proof. Each
        of the eight factors is the float nearest to a number within :math:`2^{-1190}` of the true
        factor. If :math:`w \ge 2^{-990}` every factor and every partial product is at least that,
        so the eight factors and seven products each carry a relative error below
        :math:`2^{-52.9}`, in all below :math:`2^{-48}`. Otherwise, as all factors are at most 1
        and rounding keeps order, the result is at most :math:`2^{-989}`.
    """

    scale: Fraction
    factors: tuple[NDArray[np.float64], ...]

    def weights(self, exponents: NDArray[np.uint64]) -> NDArray[np.float64]:
        """Return ``e**(-n / scale)`` for each ``n``; the work does not depend on them."""
        product = self.factors[0].take((exponents & _LOW_BYTE).view(np.int64), mode="clip")
        for shift, factors in zip(_SHIFTS, self.factors[1:], strict=True):
            digit = ((exponents >> shift) & _LOW_BYTE).view(np.int64)
            product *= factors.take(digit, mode="clip")
        return product


@lru_cache(maxsize=32)
def decay(scale: Fraction) -> Decay:
    """Return the tables of ``scale``, built once and kept while they are in use."""
    if scale <= 0:
        raise InvalidArgument("scale is out of range", must="be greater than 0", got=str(scale))
    one = 1 << _BELOW_ALL_FLOATS
    tables = digit_weights(scale, _BELOW_ALL_FLOATS)
    return Decay(scale, tuple(np.array([low / one for low, _ in table]) for table in tables))


def digit_weights(scale: Fraction, bits: int) -> list[list[WordInterval]]:
    """Enclose ``e**(-digit * 256**place / scale)`` by place and digit, in units of ``2**-bits``."""
    return [_powers(Fraction(_BASE**place) / scale, bits) for place in range(_DIGITS)]


def enclose(exponent: int, tables: list[list[WordInterval]], bits: int) -> WordInterval:
    """Enclose ``e**(-exponent / scale)`` by the product of its digits' enclosures."""
    low = high = 1 << bits
    for place, table in enumerate(tables):
        factor_low, factor_high = table[(exponent >> (_DIGIT_BITS * place)) & (_BASE - 1)]
        low, high = low * factor_low >> bits, -(-high * factor_high >> bits)
    return low, high


def _powers(x: Fraction, bits: int) -> list[WordInterval]:
    """Enclose ``e**(-j x)`` for each byte ``j``, by products with outward rounding."""
    lower, upper = exp_bounds(-x, bits)
    ratio_low = (lower.numerator << bits) // lower.denominator
    ratio_high = -((-upper.numerator << bits) // upper.denominator)
    powers = [(1 << bits, 1 << bits)]
    for _ in range(_BASE - 1):
        low, high = powers[-1]
        powers.append((low * ratio_low >> bits, -(-high * ratio_high >> bits)))
    return powers
