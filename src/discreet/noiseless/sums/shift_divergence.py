"""How far a sum of uniform numbers tells from which of two places it was shifted."""

import math
from fractions import Fraction
from functools import lru_cache

from discreet.core.numbers import exp_bounds
from discreet.core.rounding import dyadic_down, short_up
from discreet.noiseless.sums.contour import Enclosure
from discreet.noiseless.sums.uniform_sums import (
    UniformSum,
    cumulant,
    saddle,
    uniform_at,
)

LEAST_DELTA = Fraction(1, 10**300)
"""No smaller δ is told apart from this one."""

_RARE = -700.0
_STEPS = 60
_TRIES = 40
_BITS = 128
_FINE = 1 << 40
_FEW = 12


def shift_delta(law: UniformSum, shift: Fraction, epsilon: Fraction) -> Fraction:
    r"""Return an upper bound of the δ at which a sum and its shifted copy are ε-close.

    Guarantee:
        The result is at least the hockey-stick divergence of the law of S from that of S + D, in
        both directions (they are equal, because the law is symmetric).

        Proof. Uniform laws are log-concave, and so are their convolutions: Assumption 6.1 of
        [Gro14] is a theorem. So the ratio :math:`r(y) = f(y) / f(y - D)` falls, the best set is a
        half-line, and :math:`\delta = \sup_y F(y) - e^\varepsilon F(y - D)`. Let :math:`y_0` be a
        point (on a grid, the next one) with :math:`r \le e^\varepsilon`. No later y is better.
        An earlier one is better by at most :math:`\int f(u - D) (e^\varepsilon - r(u))^+ du \le
        F(y_0 - D) (e^\varepsilon - r(y_0))^+`, so that :math:`\delta \le F(y_0) - \min(
        e^\varepsilon, r(y_0)) F(y_0 - D)`: all three are enclosed, and nothing else is assumed.

    Utility:
        Where :math:`y_0` is found to many digits, so is δ. A larger shift and a shorter sum have
        a larger δ.

    Example:
        >>> float(shift_delta(UniformSum(99), Fraction(1, 2), Fraction(1, 2)))  # doctest: +ELLIPSIS
        0.00014916...
    """
    if shift == 0:
        return Fraction(0)
    if shift > law.largest or (shift == law.largest and law.points is None):
        return Fraction(1)
    return _shift_delta(law, shift, epsilon)


@lru_cache(maxsize=4096)
def _shift_delta(law: UniformSum, shift: Fraction, epsilon: Fraction) -> Fraction:
    point = crossing(law, shift, epsilon)
    if point is None:
        return Fraction(1)
    here, there = uniform_at(law, point), uniform_at(law, point - shift)
    low, high = exp_bounds(epsilon, _BITS)
    ratio = min(dyadic_down(low, _BITS), _least_ratio(here, there, high))
    found = here.below.high - ratio * there.below.low
    return short_up(min(Fraction(1), max(found, LEAST_DELTA)))


@lru_cache(maxsize=4096)
def crossing(law: UniformSum, shift: Fraction, epsilon: Fraction) -> Fraction | None:
    r"""Return a point after which (on a grid: after whose next) :math:`r \le e^\varepsilon`.

    It is about the first such point, or one at which all that lies below is tiny. It is None if
    none was found.
    """
    least = dyadic_down(exp_bounds(epsilon, _BITS)[0], _BITS)
    point, step = _start(law, shift, epsilon), _first_step(law)
    for _ in range(_TRIES):
        if _is_past(law, shift, point, least):
            return point
        point, step = point + step, 2 * step
    return None


def _is_past(law: UniformSum, shift: Fraction, point: Fraction, least: Fraction) -> bool:
    """Tell whether the ratio is certainly at most e^ε from here on (on a grid: from the next)."""
    after = point if law.points is None else point + 1
    if after > law.largest:
        return True
    here, there = uniform_at(law, after).density, uniform_at(law, after - shift).density
    return here.high <= least * there.low


def _least_ratio(here: Enclosure, there: Enclosure, most: Fraction) -> Fraction:
    """Return a number that is not above the ratio of the densities, if that is below e^ε."""
    if there.density.high == 0:
        return most
    return here.density.low / there.density.high


def _first_step(law: UniformSum) -> Fraction:
    if law.points is not None:
        return Fraction(1)
    # A tiny part of a deviation: more digits than that have no effect that could be seen.
    return Fraction(2 ** max(0, math.frexp(law.deviation)[1] + 4), _FINE)


def _start(law: UniformSum, shift: Fraction, epsilon: Fraction) -> Fraction:
    """Return about the best end of a half-line, or a later point where all is tiny."""
    if law.count < _FEW:
        return _bisected(law, shift, float(epsilon))
    point, is_best = estimated_crossing(law, float(shift), float(epsilon))
    for _ in range(0 if not is_best else 3 if law.points is None else 1):
        point = _refined(law, shift, float(epsilon), point)
    return _on_grid(law, point)


def _on_grid(law: UniformSum, point: float) -> Fraction:
    if law.points is not None:
        return Fraction(math.floor(point))
    return Fraction(math.ceil(point * _FINE), _FINE)


def _bisected(law: UniformSum, shift: Fraction, epsilon: float) -> Fraction:
    low, high = shift, shift + law.largest
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if law.points is not None:
            middle = Fraction(math.floor(middle))
            if middle == low:
                break
        here, there = uniform_at(law, middle).density, uniform_at(law, middle - shift).density
        if here.low and (not there.high or _log(here.low) - _log(there.high) > epsilon):
            low = middle
        else:
            high = middle
    return low if law.points is not None else high


def _log(value: Fraction) -> float:
    return math.log(value.numerator) - math.log(value.denominator)


def log_density(law: UniformSum, y: float) -> float:
    """Return about the logarithm of the density, by the saddle-point formula."""
    if y <= 0 or y >= law.largest:
        return -math.inf
    y = min(y, law.largest - y)
    tilt = saddle(law, y)
    value, _, bend = cumulant(law, tilt)
    return law.count * value - tilt * y - math.log(2 * math.pi * law.count * bend) / 2


def log_below(law: UniformSum, y: float) -> float:
    """Return about the logarithm of what lies below, from above: Chernoff's bound."""
    tilt = saddle(law, y)
    return law.count * cumulant(law, tilt)[0] - tilt * y


def estimated_crossing(law: UniformSum, shift: float, epsilon: float) -> tuple[float, bool]:
    """Return about the best end, or one beyond it at which all is tiny, and which of them it is."""
    low, high = shift, (law.largest + shift) / 2
    middle = max((low + high) / 2, high - epsilon * law.deviation**2 / shift)
    middle = middle if low < middle <= high else (low + high) / 2
    for _ in range(_STEPS):
        excess = log_density(law, middle) - log_density(law, middle - shift) - epsilon
        low, high = (middle, high) if excess > 0 else (low, middle)
        slope = _tilt(law, middle) - _tilt(law, middle - shift)
        step = excess / slope if slope > 0 and math.isfinite(excess) else math.inf
        if abs(step) < 1e-9 * law.deviation:
            high = middle
            break
        middle = middle + step if low < middle + step < high else (low + high) / 2
    if 2 * high > law.largest or log_below(law, high) > _RARE:
        return high, True
    low, high = high, law.largest / 2
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if log_below(law, middle) > _RARE else (middle, high)
    return high, False


def _refined(law: UniformSum, shift: Fraction, epsilon: float, point: float) -> float:
    """Return a better point, by one step of Newton's method on enclosed densities."""
    at = _on_grid(law, point)
    here, there = uniform_at(law, at).density, uniform_at(law, at - shift).density
    if not (here.low and there.low):
        return point
    slope = _tilt(law, point - float(shift)) - _tilt(law, point)
    if slope >= 0:
        return point
    return float(at) + (epsilon - (_log(here.low) - _log(there.low))) / slope


def _tilt(law: UniformSum, y: float) -> float:
    return saddle(law, y) if 2 * y <= law.largest else -saddle(law, law.largest - y)
