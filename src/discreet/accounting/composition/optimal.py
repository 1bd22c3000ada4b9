r"""Optimal composition: the best that anything can say from the ε and δ of the parts.

Every :math:`(\varepsilon, \delta)`-DP mechanism is, on any pair of neighbours, made by
post-processing the complete mechanism: tell which of the two it is with probability
:math:`\delta`, otherwise answer by randomised response [KOV15; MV16, Lemma 3.2]. So the composition
of complete mechanisms is the worst there is, also for adaptively chosen mechanisms, and

.. math:: \delta_{opt}(\varepsilon) = 1 - (1 - \delta_0(\varepsilon)) \prod (1 - \delta_i)

with :math:`\delta_0` the curve of the responses alone [KOV15, Theorem 3.3; MV16, Theorem 1.5].
"""

import math
from fractions import Fraction

from discreet.accounting.composition.loss_curve import RoundedSide, loss_curve
from discreet.accounting.composition.workload import Losses, Workload, read_delta
from discreet.accounting.losses.result import Result
from discreet.core.errors import Unsupported
from discreet.core.loss import Approximate
from discreet.core.numbers import Number
from discreet.core.rounding import short_down, short_up

MOST_WORK = 2_000_000
_MOST_BITS = 1 << 14
_KOV = ("kov", "KOV15, Theorem 3.3")
_HETEROGENEOUS = ("optimal", "MV16, Theorem 1.5")

CountedSteps = tuple[dict[int, int], Fraction]
"""Whole multiples with their counts, and the unit that they are multiples of."""


def optimal_epsilon(work: Workload, delta: Fraction) -> Result:
    r"""Return the least ε at ``delta``, enclosed: ``loss`` above it, ``lower`` below.

    Guarantee:
        Exact up to certified rounding. Equal losses cost about the square root of their number;
        different ones as many products as their sums have values, and too many are refused.

    Example:
        >>> from discreet import Pure
        >>> work = Workload.read({Pure("0.1"): 50, Pure("0.25"): 8})
        >>> result = optimal_epsilon(work, Fraction(1, 10**6))
        >>> round(float(result.loss.epsilon), 6), result.method
        (4.518408, 'optimal')
    """
    steps = exact_steps(work)
    high = epsilon_above(work, steps, delta)
    low = epsilon_below(work, steps, delta)
    return _result(work, Approximate(high, delta), Approximate(low, delta))


def optimal_delta(work: Workload, epsilon: Fraction) -> Result:
    """Return the least δ at ``epsilon``, enclosed: ``loss`` above it, ``lower`` below."""
    steps = exact_steps(work)
    low, high = delta_between(work, steps, steps, epsilon)
    return _result(work, Approximate(epsilon, high), Approximate(epsilon, low))


def kov_epsilon(work: Workload, delta: Fraction) -> Result:
    """Return :func:`optimal_epsilon` for losses of one ε (the δ may differ); refuse others."""
    _require_one_epsilon(work)
    return optimal_epsilon(work, delta)


def kov_delta(work: Workload, epsilon: Fraction) -> Result:
    """Return :func:`optimal_delta` for losses of one ε (the δ may differ); refuse others."""
    _require_one_epsilon(work)
    return optimal_delta(work, epsilon)


def kov_grid(losses: Losses, *, delta: Number) -> Result:
    r"""Return the least :math:`(k - 2i)\varepsilon` of the printed theorem that ``delta`` admits.

    Guarantee:
        :math:`((k-2i)\varepsilon,\ 1 - (1 - \delta_i) \prod (1 - \delta_j))`-DP for every
        :math:`i \le k/2` [KOV15, Theorem 3.3]. The optimum, which :func:`optimal_epsilon` gives,
        lies between this and the next smaller point.

    Example:
        >>> from discreet import Pure
        >>> float(kov_grid({Pure("0.1"): 100}, delta="1e-6").loss.epsilon)
        4.8
    """
    work, slack = Workload.read(losses), read_delta(delta)
    _require_one_epsilon(work)
    if not work.responses:
        return optimal_epsilon(work, slack)
    ((epsilon, count),) = work.responses.items()
    steps = exact_steps(work)
    near = epsilon_above(work, steps, slack) / epsilon
    index = max(0, math.floor((count - near) / 2))
    point = (count - 2 * index) * epsilon
    return _result(work, Approximate(point, slack), None)


def exact_steps(work: Workload) -> CountedSteps:
    """Return the ε of ``work`` as whole multiples of their greatest common divisor."""
    shared = math.lcm(*(e.denominator for e in work.responses))
    wholes = {int(e * shared): n for e, n in work.responses.items()}
    divisor = math.gcd(*wholes) or 1
    return {whole // divisor: n for whole, n in wholes.items()}, Fraction(divisor, shared)


def epsilon_above(
    work: Workload, steps: CountedSteps, delta: Fraction, most_work: int = MOST_WORK
) -> Fraction:
    """Return an upper bound on the ε of complete mechanisms with these steps, at ``delta``."""
    pure, _ = work.pure_part(delta)
    largest = sum((a * n for a, n in steps[0].items()), 0) * steps[1]
    if pure == 0 or not steps[0]:
        return largest
    bits = fine_bits(steps, pure)
    curve = loss_curve(steps[0], steps[1], bits=bits, side=RoundedSide.UPPER, most_work=most_work)
    found = curve.epsilon(pure)
    return largest if found is None else min(largest, found)


def epsilon_below(
    work: Workload, steps: CountedSteps, delta: Fraction, most_work: int = MOST_WORK
) -> Fraction:
    """Return a lower bound on the ε of complete mechanisms with these steps, at ``delta``."""
    _, pure = work.pure_part(delta)
    if pure == 0:
        return sum((a * n for a, n in steps[0].items()), 0) * steps[1]
    if not steps[0]:
        return Fraction(0)
    bits = fine_bits(steps, pure)
    curve = loss_curve(steps[0], steps[1], bits=bits, side=RoundedSide.LOWER, most_work=most_work)
    return curve.epsilon(pure) or Fraction(0)


def delta_between(
    work: Workload,
    low_steps: CountedSteps,
    high_steps: CountedSteps,
    epsilon: Fraction,
    most_work: int = MOST_WORK,
) -> tuple[Fraction, Fraction]:
    """Enclose δ between the curves of two kinds of steps, with more bits while it is tiny."""
    bits = 128 if len(high_steps[0]) <= 1 else 72
    while True:
        low, high = (
            loss_curve(steps, unit, bits=bits, side=side, most_work=most_work).delta(epsilon)
            if steps
            else Fraction(0)
            for (steps, unit), side in (
                (low_steps, RoundedSide.LOWER),
                (high_steps, RoundedSide.UPPER),
            )
        )
        clear = low_steps != high_steps or (high - low) * (1 << 24) <= high
        if clear or bits >= _MOST_BITS or work.delta_sum:
            return short_down(work.least_delta(low)), _below_one(work.total_delta(high))
        bits *= 4


def fine_bits(steps: CountedSteps, delta: Fraction) -> int:
    """Return how many bits make the roundings small beside ``delta``; more for a quick curve."""
    return (112 if len(steps[0]) == 1 else 56) + _size(1 / delta)


def _below_one(delta: Fraction) -> Fraction:
    rounded = short_up(delta)
    if rounded >= 1:
        raise Unsupported("Together these losses promise nothing at this epsilon")
    return rounded


def _size(value: Fraction) -> int:
    return max(0, value.numerator.bit_length() - value.denominator.bit_length() + 1)


def _result(work: Workload, loss: Approximate, lower: Approximate | None) -> Result:
    method, theorem = _KOV if len(work.responses) <= 1 else _HETEROGENEOUS
    return Result(loss=loss, method=method, theorem=theorem, lower=lower)


def _require_one_epsilon(work: Workload) -> None:
    if len(work.responses) > 1:
        raise Unsupported(
            "This theorem is about losses with one and the same epsilon",
            must="have one epsilon",
            got=f"{len(work.responses)} different ones",
            next="Use the method 'optimal' or 'mv'",
        )
