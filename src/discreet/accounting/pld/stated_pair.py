"""The pair of a mechanism of which a Rényi curve is all that is known."""

import math
from fractions import Fraction

import numpy as np

from discreet.accounting.curves.curve import RenyiCurve
from discreet.accounting.pld.laws.response import response_law
from discreet.accounting.pld.laws.stated import stated_law
from discreet.accounting.pld.machine import LARGEST_LOSS
from discreet.accounting.pld.pair import Pair
from discreet.core.errors import Unsupported
from discreet.core.numbers import float_up

_ORDERS = 300
_LEAST, _LARGEST = 1e-2, 1e7
_POINTS = 320
_FARTHEST = -92.0
_SAFE = 1e-9
_EXPONENT = 700.0
_LARGEST_PRODUCT = 2e6
"""Products of this size are wrong by less than a billionth, and so is what they are raised to."""


def stated_pair(curve: RenyiCurve, lost: Fraction) -> Pair:
    r"""Return a pair that dominates every mechanism with ``curve``, outside of ``lost``.

    Guarantee:
        At every order and every ε the curve implies
        :math:`\delta = e^{(\alpha-1)(D_\alpha-\varepsilon)} (1-1/\alpha)^\alpha/(\alpha-1)`
        [CKS20, Proposition 12], and at ε = 0 no more than :math:`\sqrt{D/2}` and
        :math:`\sqrt{1 - e^{-D}}` (Pinsker; Bretagnolle and Huber), for the least order. These
        points are enough for :func:`discreet.accounting.pld.laws.stated.stated_law`. Divergences
        are rounded up, and each point is raised by a billionth for the rounding of the floats.

    Utility:
        For one use nothing is gained over converting the curve. It is what a sample needs, or a
        composition with something whose pair is known.

    Example:
        >>> from discreet.accounting.curves.line import Line
        >>> stated_pair(RenyiCurve.of(Line(rho="0.1")), Fraction(0)).attained is None
        True
    """
    gaps, divergences = _divergences(curve)
    if divergences[0] == 0.0 and not lost:
        return Pair.symmetric(response_law(0.0))
    order = 1 + gaps
    correction = gaps * np.log1p(-1 / order) - np.log(order)
    farthest = float((divergences + (correction - _FARTHEST) / gaps).min())
    if farthest > LARGEST_LOSS:
        raise Unsupported("This loss is too large for a grid", got=f"about {farthest:.3g}")
    epsilons = np.linspace(0.0, farthest, _POINTS)
    kept = gaps * (divergences + farthest) <= _LARGEST_PRODUCT
    gaps, correction = gaps[kept], correction[kept]
    exponents = gaps * (divergences[kept] - epsilons[:, None]) + correction
    deltas = np.exp(np.minimum(exponents.min(axis=1), _EXPONENT)) * (1 + _SAFE)
    least = float(divergences[0])
    deltas[0] = min(deltas[0], math.sqrt(least / 2), math.sqrt(-math.expm1(-least)))
    law = stated_law(epsilons, deltas * (1 + _SAFE) + float_up(lost))
    return Pair(law, law, None)


def _divergences(curve: RenyiCurve) -> tuple[np.ndarray, np.ndarray]:
    """Return distances of orders from 1, and the curve there, rounded up."""
    gaps, values = [], []
    for gap in np.geomspace(_LEAST, _LARGEST, _ORDERS).tolist():
        if curve.limit is not None and 1 + Fraction(gap) >= curve.limit:
            break
        gaps.append(gap)
        values.append(float_up(curve.upper(1 + Fraction(gap))))
    if not gaps:
        raise Unsupported("This curve says nothing at any order that is looked at")
    return np.array(gaps), np.array(values)
