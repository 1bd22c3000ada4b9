r"""Optimal composition to a stated accuracy, for losses whose exact optimum would take too long.

Computing the optimum is #P-complete, and dynamic programming over rounded losses approximates it
[MV16]. Randomised response at a smaller ε is a post-processing of one at a larger ε, so rounding
every :math:`\varepsilon_i` up to a grid gives an upper bound on the optimum, and rounding down a
lower one: an interval whose width is known, not estimated.
"""

import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction

from discreet.accounting.composition.optimal import (
    MOST_WORK,
    CountedSteps,
    delta_between,
    epsilon_above,
    epsilon_below,
)
from discreet.accounting.composition.workload import Workload
from discreet.accounting.losses.result import Result
from discreet.core.errors import Unsupported
from discreet.core.loss import Approximate

ACCURACY = Fraction(1, 100)
RATIO = Fraction(11, 10)
_MOST_WORK = 4 * MOST_WORK

_Ends = tuple[Fraction, Fraction]


def mv_epsilon(work: Workload, delta: Fraction, *, accuracy: Fraction = ACCURACY) -> Result:
    r"""Return an interval that holds the optimal ε: ``lower`` and ``loss``.

    Guarantee:
        The optimum lies in the interval. The grid is made finer until the interval is at most
        ``accuracy`` wide, or until a finer one would take too long; its width says which.

    Example:
        >>> from discreet import Pure
        >>> work = Workload.read(Pure(Fraction(1, n)) for n in range(3, 30))
        >>> result = mv_epsilon(work, Fraction(1, 10**6))
        >>> result.loss.epsilon - result.lower.epsilon <= Fraction(1, 100)
        True
    """

    def interval(down: CountedSteps, up: CountedSteps) -> _Ends:
        high = epsilon_above(work, up, delta, most_work=_MOST_WORK)
        low = epsilon_below(work, down, delta, most_work=_MOST_WORK)
        return low, min(high, work.epsilon_sum)

    low, high = _refined(work, interval, lambda low, high: (high - low) / accuracy)
    return _result(Approximate(high, delta), Approximate(low, delta))


def mv_delta(work: Workload, epsilon: Fraction, *, ratio: Fraction = RATIO) -> Result:
    """Return an interval that holds the optimal δ at ``epsilon``: ``lower`` and ``loss``.

    The grid is made finer until its ends are at most a factor ``ratio`` apart, or until a finer
    one would take too long.
    """

    def interval(down: CountedSteps, up: CountedSteps) -> _Ends:
        return delta_between(work, down, up, epsilon, most_work=_MOST_WORK)

    low, high = _refined(
        work, interval, lambda low, high: (high - low) / max(low * (ratio - 1), _TINY)
    )
    return _result(Approximate(epsilon, high), Approximate(epsilon, low))


def _refined(
    work: Workload,
    interval: Callable[[CountedSteps, CountedSteps], _Ends],
    excess: Callable[[Fraction, Fraction], Fraction],
) -> _Ends:
    """Return the best interval found, on finer and finer grids while ``excess`` is above 1."""
    most = _most_parts(work)
    parts = min(most, max(_FEWEST, 8 * work.count))
    found: _Ends | None = None
    for _ in range(_MOST_ROUNDS):
        try:
            low, high = interval(*_grids(work, parts))
        except Unsupported:
            if found is not None or parts <= _FEWEST:
                break
            parts = most = max(_FEWEST, parts // 4)
            continue
        found = (low, high) if found is None else (max(low, found[0]), min(high, found[1]))
        wider = excess(*found)
        if wider <= 1 or 2 * parts > most:
            break
        parts = min(
            most,
            math.ceil(parts * min(Fraction(_FASTEST), max(Fraction(2), Fraction(13, 10) * wider))),
        )
    if found is None:
        raise Unsupported(
            "Optimal composition would take too long for so many different losses",
            must="be fewer, or fewer kinds",
            got=f"{work.count} losses of {len(work.responses)} kinds",
            next="Use the method 'tail' or 'zcdp', which are quick for any count",
        )
    return found


def _grids(work: Workload, parts: int) -> tuple[CountedSteps, CountedSteps]:
    """Return the steps rounded down and up, on a grid with about ``parts`` points in all."""
    unit = work.epsilon_sum / parts if work.responses else Fraction(1)
    unit = Fraction(max(1, math.floor(unit * _FINE)), _FINE)
    down: Counter[int] = Counter()
    up: Counter[int] = Counter()
    for epsilon, count in work.responses.items():
        down[math.floor(epsilon / unit)] += count
        up[math.ceil(epsilon / unit)] += count
    del down[0]
    return (dict(down), unit), (dict(up), unit)


def _most_parts(work: Workload) -> int:
    """Return about how fine a grid is affordable; only time depends on it."""
    parts = _FEWEST
    while parts < _FINEST and _work(work, 2 * parts) <= _MOST_WORK:
        parts *= 2
    return parts


def _work(work: Workload, parts: int) -> float:
    """Estimate the products of one curve: the widths of the laws, in points of the grid."""
    unit = float(work.epsilon_sum) / parts
    variance = products = 0.0
    for epsilon, count in sorted(work.responses.items(), reverse=True):
        lie = 1 / (1 + math.exp(min(700.0, float(epsilon))))
        spread = count * lie * (1 - lie)
        terms = min(count + 1, _WIDTH * math.sqrt(spread) + 1)
        products += min(parts / 2, _WIDTH * math.sqrt(variance) + 1) * terms
        variance += spread * (float(epsilon) / unit) ** 2
    return products


_FINE = 1 << 64
_FINEST, _WIDTH = 10**9, 20
_FEWEST, _FASTEST, _MOST_ROUNDS = 200, 16, 6
_TINY = Fraction(1, 1 << 200)


def _result(loss: Approximate, lower: Approximate) -> Result:
    return Result(
        loss=loss, method="mv", theorem="MV16, Theorem 1.5, rounded to a grid", lower=lower
    )
