"""Where to look for the best noise of Gaussian answers: in floats, which promise nothing."""

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from statistics import NormalDist

from discreet.core.numbers import exact
from discreet.core.rounding import short_up

Split = tuple[Fraction, Fraction, Fraction]
"""ρ of all answers, the chance that noise is larger than is counted with, and δ."""

_Place = tuple[float, float, float]

_ROUNDS = 40

_USELESS = 0.95
"""An error of nearly all of the range: what is left of it is not worth a promise."""


def likely_split(rows: int, questions: int, beta: float, theorem: str) -> Split | None:
    """Return the place near which a theorem is likely to promise most; None if that is nothing.

    Example:
        >>> [float(one) for one in likely_split(200_000, 1_000, 0.05, "posterior")]
        [0.000..., ..., ...]
    """
    place = _FINDERS[theorem](rows, questions, beta)
    if place is None or _ERRORS[theorem](rows, questions, beta, *place) >= _USELESS:
        return None
    rho, part, delta = (short_up(exact(one), 30) for one in place)
    return rho, part, delta


def likely_error(rows: int, questions: int, beta: float, theorem: str) -> float:
    """Return about what a theorem promises; infinite if that is nothing."""
    place = _FINDERS[theorem](rows, questions, beta)
    return math.inf if place is None else _ERRORS[theorem](rows, questions, beta, *place)


def _noise_error(rows: int, questions: int, rho: float, part: float) -> float:
    chance = part / (2 * questions)
    if not 1e-300 < chance < 0.5:
        return math.inf
    return -NormalDist().inv_cdf(chance) * math.sqrt(questions / (2 * rho)) / rows


def _delta(mu: float, epsilon: float) -> float:
    cdf = NormalDist().cdf
    return cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * cdf(-mu / 2 - epsilon / mu)


def _epsilon(rho: float, delta: float) -> float:
    """Return ε of Gaussian noise at a δ, by halving."""
    mu = math.sqrt(2 * rho)
    low, high = 0.0, 60.0
    if _delta(mu, low) <= delta:
        return low
    for _ in range(40):
        middle = (low + high) / 2
        if _delta(mu, middle) <= delta:
            high = middle
        else:
            low = middle
    return high


def _rho(epsilon: float, delta: float) -> float:
    """Return the largest ρ of Gaussian noise with that ε and δ, by halving."""
    low, high = -40.0, 3.0
    for _ in range(50):
        middle = (low + high) / 2
        if _delta(math.exp(middle), epsilon) <= delta:
            low = middle
        else:
            high = middle
    return math.exp(2 * low) / 2


# ---- Through the posterior.


def _posterior_error(
    rows: int, questions: int, beta: float, rho: float, part: float, delta: float
) -> float:
    if delta >= 1 or part >= 1:
        return math.inf
    epsilon = _epsilon(rho, delta)
    split = (math.sqrt(part) + math.sqrt(2 * delta)) ** 2 / beta
    return _noise_error(rows, questions, rho, part) + split + math.tanh(epsilon / 4)


def _posterior_place(rows: int, questions: int, beta: float) -> _Place | None:
    likely = math.log(questions) / 2 - math.log(rows)
    usual = product((likely - 2, likely + 2), (-8.0,), (-25.0, -12.0))
    # From the usual places a very small beta is too far away for so many steps.
    small = product((likely - 2, likely + 2), (math.log(beta) - 5,), (math.log(beta) - 9,))

    def error(place: _Place) -> float:
        rho, part, delta = (math.exp(one) for one in place)
        return _posterior_error(rows, questions, beta, rho, part, delta)

    best = min((_descended(error, start) for start in usual), key=error)
    if error(best) >= _USELESS:
        best = min((_descended(error, start) for start in small), key=error)
    if math.isinf(error(best)):
        return None
    rho, part, delta = best
    return math.exp(rho), math.exp(part), math.exp(delta)


def _descended(error: Callable[[_Place], float], start: _Place) -> _Place:
    """Go down coordinate by coordinate, in steps that halve."""
    place, value, step = start, error(start), 2.0
    for _ in range(_ROUNDS):
        moved = False
        for at, sign in product(range(3), (-step, step)):
            there = list(place)
            there[at] += sign
            found = error((there[0], there[1], there[2]))
            if found < value:
                place, value, moved = (there[0], there[1], there[2]), found, True
        if not moved:
            step /= 2
    return place


# ---- By overfitting that is unlikely: δ is ε times what is left of β.


def _overfitting_error(
    rows: int, questions: int, beta: float, rho: float, part: float, delta: float
) -> float:
    return _noise_error(rows, questions, rho, part) + 18 * _epsilon(rho, delta)


def _overfitting_place(rows: int, questions: int, beta: float) -> _Place | None:
    found = list(_overfitting_places(rows, questions, beta))
    return min(found, key=lambda one: _overfitting_error(rows, questions, beta, *one), default=None)


def _overfitting_places(rows: int, questions: int, beta: float) -> Iterator[_Place]:
    for step, share in product(range(200), (0.3, 0.6, 0.9)):
        epsilon = 0.33 * math.exp(-step / 20)
        # A little less, as the conversion of what is found is rounded up.
        delta = min(epsilon / 4, share * beta * epsilon) * 0.97
        if rows >= 2.02 / epsilon**2 * math.log(4 * epsilon / delta):
            yield _rho(epsilon, delta), (1 - share) * beta, delta


# ---- By the monitor: α says all the rest.


def _monitor_error(
    rows: int, questions: int, beta: float, rho: float, part: float, delta: float
) -> float:
    return max(
        8 * _noise_error(rows, questions, rho, part),
        64 * _epsilon(rho, delta),
        32 * delta / beta,
        16 * part / beta,
    )


def _monitor_place(rows: int, questions: int, beta: float) -> _Place | None:
    best: _Place | None = None
    for step in range(400):
        alpha = math.exp(-step / 40)
        delta = alpha * beta / 32
        place = _rho(alpha / 64, delta), alpha * beta / 16, delta
        if 8 * _noise_error(rows, questions, place[0], place[1]) > alpha:
            break
        best = place
    return best


_FINDERS = {
    "posterior": _posterior_place,
    "overfitting": _overfitting_place,
    "monitor": _monitor_place,
}
_ERRORS = {
    "posterior": _posterior_error,
    "overfitting": _overfitting_error,
    "monitor": _monitor_error,
}
