"""How few terms, and how small a weight, still meet a target: searched roughly, then certified."""

import math
from collections.abc import Callable
from fractions import Fraction

from attrs import evolve

from discreet.noiseless.certifiable import PrivacyTarget
from discreet.noiseless.regression.box_sums import box_delta
from discreet.noiseless.regression.hidden_box import HiddenBox

_MOST_TERMS = 1 << 40
_TRIES = 12
_STEP = Fraction(51, 50)


def least_terms(box: HiddenBox, target: PrivacyTarget) -> int | None:
    """Return a number of terms that certainly meets a target, close to the least; None if none.

    Example:
        >>> from discreet.noiseless import RegressionDesign
        >>> from discreet.noiseless.regression.hidden_box import linear_box
        >>> design = RegressionDesign.uniform({"g": (-1, 1)}, {"h": (-1, 1)})
        >>> box = linear_box(design, ["g", "h"])
        >>> need = least_terms(box, PrivacyTarget(Fraction(1, 2), Fraction(1, 10**6)))
        >>> box_delta(box, need, Fraction(1, 2)) <= Fraction(1, 10**6)
        True
    """
    if target.epsilon <= 0 or target.delta <= 0:
        return None
    low, high = 2, 4
    while _about(box, high, target) > float(target.delta):
        low, high = high, 2 * high
        if high > _MOST_TERMS:
            return None
    while high - low > max(1, low // 512):
        middle = (low + high) // 2
        is_enough = _about(box, middle, target) <= float(target.delta)
        low, high = (low, middle) if is_enough else (middle, high)
    return _certified(
        Fraction(high), lambda terms: box_delta(box, math.ceil(terms), target.epsilon), target
    )


def least_weight(box: HiddenBox, terms: int, target: PrivacyTarget) -> Fraction | None:
    """Return a weight that certainly meets a target with so many terms, close to the least.

    A smaller density on the same box is a smaller weight.
    """
    if target.epsilon <= 0 or target.delta <= 0 or terms < 2:
        return None
    low, high = 0.0, 1.0
    for _ in range(20):
        middle = (low + high) / 2
        is_enough = _about(_weighed(box, Fraction(middle)), terms, target) <= float(target.delta)
        low, high = (low, middle) if is_enough else (middle, high)
    weight = Fraction(math.ceil(high * 2**16), 2**16)
    for _ in range(_TRIES):
        weight = min(weight, box.weight)
        if box_delta(_weighed(box, weight), terms, target.epsilon) <= target.delta:
            return weight
        if weight == box.weight:
            return None
        weight *= _STEP
    return None


def _weighed(box: HiddenBox, weight: Fraction) -> HiddenBox:
    return evolve(box, density=box.density * weight / box.weight)


def _certified(
    terms: Fraction, delta: Callable[[Fraction], Fraction], target: PrivacyTarget
) -> int | None:
    for _ in range(_TRIES):
        if delta(terms) <= target.delta:
            return math.ceil(terms)
        terms = Fraction(math.ceil(terms * _STEP) + 1)
    return None


def _about(box: HiddenBox, terms: int, target: PrivacyTarget) -> float:
    """Return about the mixture bound, with normal laws: it decides where to look, and no more."""
    weight = float(box.weight)
    mean, spread = (terms - 1) * weight, math.sqrt((terms - 1) * weight * (1 - weight))
    shifts = [float(shift) for shift in box.shifts]
    whole, delta, before = sum(shifts), 0.0, 0.0
    for cut in (-8, -7, -6, -5, -4, -3, -2, -1, 0, 1):
        upto = 1.0 if cut == 1 else math.erfc(-(cut + 1) / math.sqrt(2)) / 2
        hidden = mean + cut * spread
        given = 1.0
        if hidden > 1:
            parts = [
                _normal_delta(shift * math.sqrt(12 / hidden), float(target.epsilon) * shift / whole)
                for shift in shifts
            ]
            given = min(1.0, sum(parts))
        delta, before = delta + (upto - before) * given, upto
    return delta


def _normal_delta(shift: float, epsilon: float) -> float:
    """Return the δ of two normal laws of variance 1, so far apart."""
    root = math.sqrt(2)
    first = math.erfc((epsilon / shift - shift / 2) / root) / 2
    second = math.erfc((epsilon / shift + shift / 2) / root) / 2
    return max(0.0, first - math.exp(min(epsilon, 700.0)) * second)
