"""Gamma variables of integer shape, rounded down to integers."""

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number
from discreet.core.protocols import IntArray, Rng
from discreet.randomness.samplers import geometric
from discreet.randomness.tables.draw import draw
from discreet.randomness.tables.law import ArraySize, NoiseLaw, exact_scale, shape_of

_LARGEST_SHAPE = 10**6
_LARGEST_MEAN = 1 << 60
_FURTHEST = 1 << 62
_HALF_BITS = 31
_TERMS_AT_ONCE = 1 << 20
_DIGIT_BITS = 32


def gamma_integer(shape: Number, scale: Number, size: ArraySize, rng: Rng) -> IntArray:
    r"""Return ``floor(G)`` for independent ``G`` with a Gamma law of integer ``shape``.

    ``G`` is the sum of ``shape`` independent exponential variables of mean ``scale``; its density
    is proportional to :math:`x^{shape - 1} e^{-x/scale}`. To round to the nearest integer instead,
    take ``(gamma_integer(shape, 2 * scale, ...) + 1) // 2``, because
    :math:`\lfloor G + 1/2 \rfloor = \lfloor (\lfloor 2G \rfloor + 1)/2 \rfloor`.

    Guarantee:
        Given ideal words the law is exactly this one. Proof. For an exponential ``X`` of mean
        ``s`` the integer :math:`\lfloor X \rfloor` is geometric of scale ``s`` and independent of
        the fraction; the next 32 binary digits of the fraction are an integer
        :math:`d < 2^{32}` of weight :math:`e^{-d / (2^{32} s)}`, independent of the fraction that
        is left, and so on. (The weight of :math:`\lfloor 2^{32} X \rfloor = 2^{32} i + d` is a
        product of one in ``i`` and one in ``d``.) Both laws are drawn exactly. With ``D`` the sum
        of the digits, the fractions sum to something in ``[D, D + shape) / 2**32``; where that
        interval holds an integer inside, more digits are drawn until it does not.

        A value beyond :math:`2^{62}` is moved there. The mean :math:`shape \cdot scale` is at most
        :math:`2^{60}`, so this has a probability below :math:`2^{-2300}`: with ``k`` for the shape,
        :math:`x = 2^{62}/scale \ge 4k` it is at most :math:`(x/k)^k e^{k-x}` (Markov's inequality
        for :math:`e^{tG}` at the best ``t``), which grows with ``k``, and at :math:`k = x/4` is
        :math:`e^{-(3 - \ln 4)x/4} \le e^{-1652}`, because :math:`x \ge 2^{12}`.

    Example:
        >>> from discreet import SystemRng
        >>> gamma_integer(3, 10, (2, 2), SystemRng()).shape
        (2, 2)
    """
    terms = check.whole(shape)
    if not 1 <= terms <= _LARGEST_SHAPE:
        raise InvalidArgument(
            "shape is out of range", must=f"be between 1 and {_LARGEST_SHAPE}", got=str(shape)
        )
    mean, lengths = exact_scale(scale), shape_of(size)
    if terms * mean > _LARGEST_MEAN:
        raise InvalidArgument(
            "The mean is out of range",
            must="have shape * scale at most 2**60",
            got=f"shape = {terms} and scale = {mean}",
        )
    values = np.empty(math.prod(lengths), dtype=np.int64)
    rows = max(1, _TERMS_AT_ONCE // terms)
    for start in range(0, values.size, rows):
        part = values[start : start + rows]
        part[:] = _sums(terms, mean, part.size, rng)
    return values.reshape(lengths)


def _sums(terms: int, scale: Fraction, rows: int, rng: Rng) -> IntArray:
    wholes = geometric(scale, (rows, terms), rng)
    digits = draw(_digit_law(scale, 1), (rows, terms), rng).sum(axis=1)
    carries = digits >> _DIGIT_BITS
    for row in np.flatnonzero(carries != (digits + (terms - 1)) >> _DIGIT_BITS):
        carries[row] = _settle_carry(terms, scale, int(digits[row]), rng)
    sums: IntArray = np.minimum(wholes.sum(axis=1) + carries, _FURTHEST)
    sums[_is_beyond(wholes)] = _FURTHEST
    return sums


def _is_beyond(wholes: IntArray) -> NDArray[np.bool_]:
    """Tell of each row whether its sum is so far beyond ``2**62`` that 64 bits might not hold it.

    The sum of the upper halves is exact: at most a million numbers of at most ``2**31``. If it is
    ``2**31`` or more, the whole sum is at least ``2**62``; otherwise the sum is below ``2**62``
    plus a million times ``2**31``, and does not wrap around.
    """
    halves: IntArray = (wholes >> _HALF_BITS).sum(axis=1)
    return halves >= 1 << _HALF_BITS


def _settle_carry(terms: int, scale: Fraction, digits: int, rng: Rng) -> int:
    """Return the integer part of the sum of the fractions, whose first digits sum to ``digits``."""
    places = 1
    while True:
        places += 1
        more = draw(_digit_law(scale, places), terms, rng).sum()
        digits = (digits << _DIGIT_BITS) + int(more)
        carry = digits >> (places * _DIGIT_BITS)
        if carry == (digits + terms - 1) >> (places * _DIGIT_BITS):
            return carry


def _digit_law(scale: Fraction, place: int) -> NoiseLaw:
    """Return the law of the ``place``-th 32 binary digits of an exponential variable."""
    unit = scale * (1 << (_DIGIT_BITS * place))
    return NoiseLaw(Fraction(0), 1 / unit, two_sided=False, length=1 << _DIGIT_BITS)
