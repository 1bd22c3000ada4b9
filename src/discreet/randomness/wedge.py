r"""Decide whether a point of a wedge is under the weight, nearly always in machine arithmetic."""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.core.numbers import exp_bounds
from discreet.core.protocols import IntArray, Rng
from discreet.randomness.blocks import Blocks
from discreet.randomness.law import Law
from discreet.randomness.settle import Bounds, is_below

_TERMS = 14
_TOLERANCE = 2.0**-44
_TINY = 2.0**-900
_WORD = 2.0**-64

_Floats = NDArray[np.float64]


def under_weight(
    blocks: Blocks, block: NDArray[np.intp], values: IntArray, rng: Rng
) -> NDArray[np.bool_]:
    r"""Keep ``values`` of the wedges of ``block`` with the probability that the weight asks for.

    Guarantee:
        Let ``t`` and ``T`` be the rises of ``h`` from the block's heaviest integer to the value
        and to the lightest integer. The weight is above the rectangle by the fraction
        :math:`1 - \frac{1 - e^{-t}}{1 - e^{-T}}` of the wedge's height, so the value is kept when
        a fresh uniform ``V`` has :math:`V (1 - e^{-T}) \ge 1 - e^{-t}`.

        Both sides are computed in binary64 with sums, products and quotients alone, which
        IEEE 754 rounds correctly (``u = 2**-53``), as it does the conversion of an integer. So
        ``t`` and ``T`` carry at most six roundings (:func:`_rise`), however large the integers,
        and as :math:`1 - e^{-t}` has no larger relative error than ``t``, these move it by at most
        ``6u`` of itself. :math:`1 - e^{-t} = t(1 - \frac t2(1 - \frac t3(\dots)))` with every
        bracket in [7/8, 1] since ``t <= 1/4``: a bracket inherits at most a quarter of the next
        one's error and adds four roundings, in all at most ``6u``; what is cut after 14 terms is
        below ``2**-60`` of it. With the last product each side has ``13u``, and with the
        conversion of ``V`` and its product two more on one: together they are off by less than
        ``32u = 2**-48`` of :math:`1 - e^{-T}`, which also covers the digits of ``V`` after the
        64th. The comparison is trusted only beyond ``2**-44`` of it; the others, about one in
        ``2**43``, are settled exactly. So are all wedges lower than ``2**-900``, where numbers
        too small for binary64 could lose more than a rounding.
    """
    level, side = np.divmod(block, blocks.sides)
    near = level * blocks.width + side
    steps = np.abs(values) - near
    height = _one_minus_exp(_rise(blocks.law, near, np.full_like(near, blocks.width - 1)))
    above = _one_minus_exp(_rise(blocks.law, near, steps))
    words = rng.words(block.size)
    point = words.astype(np.float64) * _WORD * height
    kept: NDArray[np.bool_] = point >= above
    is_close = np.abs(point - above) <= _TOLERANCE * height
    for i in np.flatnonzero(is_close | (height < _TINY)):
        share = _share(blocks, int(near[i]), int(steps[i]))
        kept[i] = not is_below(int(words[i]), share, rng)
    return kept


def _rise(law: Law, near: IntArray, steps: IntArray) -> _Floats:
    """Return ``h(near + steps) - h(near)``, with at most six roundings.

    These are of the quadratic part, of the sum of integers as a float, of their product, of the
    sum with the linear part (which was rounded once itself; nothing is negative, so a sum inherits
    no more than the larger error of its parts), of the steps as a float, and of the last product.
    At a scale of ``2**50`` the integers reach ``2**56``; below ``2**53`` they are not rounded, and
    the steps, which are below ``2**48``, never are.
    """
    quadratic, linear = float(law.quadratic), float(law.linear)
    doubled: _Floats = (2 * near + steps).astype(np.float64)
    return steps.astype(np.float64) * (quadratic * doubled + linear)


def _one_minus_exp(t: _Floats) -> _Floats:
    """Return ``1 - e**-t`` for ``0 <= t <= 1/4`` by its nested series."""
    bracket: _Floats = np.ones_like(t)
    for k in range(_TERMS, 1, -1):
        bracket = 1.0 - t / k * bracket
    return t * bracket


def _share(blocks: Blocks, near: int, steps: int) -> Bounds:
    """Return enclosures of ``(1 - e**-t) / (1 - e**-T)``."""
    rise = blocks.law.rise(near, steps)
    whole_rise = blocks.law.rise(near, blocks.width - 1)

    def bounds(bits: int) -> tuple[Fraction, Fraction]:
        low, high = exp_bounds(-rise, bits)
        whole_low, whole_high = exp_bounds(-whole_rise, bits)
        if whole_high >= 1:
            return Fraction(0), Fraction(1)
        return (1 - high) / (1 - whole_low), (1 - low) / (1 - whole_high)

    return bounds
