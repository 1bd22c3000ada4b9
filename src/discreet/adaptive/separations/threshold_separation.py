r"""Thresholds: a search finds a median with few questions, and what is pure cannot allow that.

The data are numbers from 1 to :math:`T`; question :math:`t` asks which share of people is at most
:math:`t`. All thresholds at once take a number of people that grows as a power of
:math:`\log k`, with pure privacy. If they are asked one by one it grows as :math:`k`
[Ste16, theorem 7.1.3]; with a :math:`\delta` even adaptive ones take :math:`\log k`
[Ste16, theorem 7.1.4].
"""

import math
from collections.abc import Callable
from fractions import Fraction

from attrs import frozen

from discreet.core import check
from discreet.core.contribution import Contribution
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Approximate
from discreet.core.numbers import Number, exact
from discreet.core.rounding import log_down
from discreet.mechanisms.noise.laplace_sum import laplace_sum_quantile
from discreet.mechanisms.thresholds.adaptive_thresholds import AdaptiveThresholds

AskThreshold = Callable[[int], Number]
"""Returns about which share of people is at most a number."""


@frozen
class FoundMedian:
    """What a search found, and how many questions it asked."""

    value: int
    questions: int


def search_median(ask: AskThreshold, *, size: int) -> FoundMedian:
    r"""Find a median of numbers from 1 to ``size`` by halving [Ste16, figure 7.6].

    Guarantee:
        If all answers are within :math:`\alpha`, at least :math:`\frac12 - \alpha` of all people
        are at most what is found, and as many at least that. At most
        :math:`\lceil\log_2 T\rceil` questions are asked.

        Proof. It keeps :math:`l < u` such that :math:`u` is :math:`T` or was answered with
        :math:`\frac12` or more, and :math:`l` is 0 or was answered with less; at the end
        :math:`u = l + 1`. So at least :math:`\frac12 - \alpha` are at most :math:`u`, and at most
        :math:`\frac12 + \alpha` are at most :math:`l`, that is below :math:`u`.

    Example:
        >>> rows = [3, 5, 5, 8, 9]
        >>> search_median(lambda t: sum(row <= t for row in rows) / 5, size=16)
        FoundMedian(value=5, questions=4)
    """
    low, high, asked = 0, check.at_least_one(size, "size"), 0
    while high - low > 1:
        middle = (low + high + 1) // 2
        asked += 1
        if exact(ask(middle)) >= Fraction(1, 2):
            high = middle
        else:
            low = middle
    return FoundMedian(high, asked)


def people_online(*, questions: int, epsilon: Number, alpha: Number, beta: Number) -> int:
    r"""Return how many people thresholds take at least, one by one and with pure privacy.

    Guarantee:
        Let answers to :math:`k` thresholds, one by one, be within :math:`\alpha` but for
        :math:`\beta`, and :math:`\varepsilon`-DP if a person is replaced. Then
        :math:`n \ge (\ln((1 - \beta)(T - 1)/\beta) - 2\varepsilon)/(2\alpha\varepsilon)` with
        :math:`T = 2^k` [Ste16, lemma 7.5.6].

        Proof. Let :math:`x^t` have :math:`m = \lceil(\frac12 - \alpha)n\rceil - 1` people at 1, as
        many at :math:`T`, and all others at :math:`t`. The only median within :math:`\alpha` is
        :math:`t`, so a search on :math:`x^t` finds :math:`t`, but for :math:`\beta`. Two such data
        sets differ in :math:`n - 2m \le 2\alpha n + 2` people; so on :math:`x^t` it finds each
        other :math:`t'` with a chance of at least
        :math:`(1 - \beta)e^{-\varepsilon(2\alpha n + 2)}`, and all of them with :math:`\beta` at
        most. It does not help that questions are fixed beforehand, as long as the mechanism does
        not know them: for each :math:`t` those that lead to :math:`t` are fixed, and what a
        mechanism says to them one by one is what it would say to the search as long as that goes
        the same way.

    Example:
        >>> people_online(questions=40, epsilon=1, alpha="0.05", beta="0.05")
        287
    """
    count, price = check.at_least_one(questions, "questions"), exact(epsilon)
    off, miss = exact(alpha), check.level(beta)
    _require(price, off)
    # 2^k - 1 is 2^k (1 - 2^-k), and 64 is as good as more: so many questions need no such number.
    part = 1 - Fraction(1, 1 << min(count, 64))
    others = count * log_down(Fraction(2)) + log_down(part * (1 - miss) / miss)
    least = (others - 2 * price) / (2 * off * price)
    return max(1, math.ceil(least))


def people_offline(*, questions: int, epsilon: Number, alpha: Number, beta: Number) -> int:
    r"""Return how many people are enough if all thresholds are known, with pure privacy.

    Guarantee:
        The thresholds cut the numbers into :math:`k + 1` intervals; a tree over them has
        :math:`h = \lceil\log_2(k + 1)\rceil` levels below its root, and each has a discrete
        Laplace count with the scale :math:`2h/\varepsilon`: a person who is replaced changes two
        counts of a level. The root is :math:`n`, which is public then. A threshold is a sum of at
        most :math:`h` counts, and all of them are within the quantile of such a sum at
        :math:`\beta/k`, but for :math:`\beta` [Ste16, proposition 7.5.2, with a tree].

    Example:
        >>> people_offline(questions=40, epsilon=1, alpha="0.05", beta="0.05")
        3020
    """
    count, price = check.at_least_one(questions, "questions"), exact(epsilon)
    off, miss = exact(alpha), check.level(beta)
    _require(price, off)
    levels = count.bit_length()
    error = laplace_sum_quantile(2 * levels / price, levels, miss / count)
    return math.ceil(error / off)


def people_adaptive(*, questions: int, loss: Approximate, alpha: Number, beta: Number) -> int:
    """Return how many people are enough for adaptive thresholds, with a δ.

    It is what :class:`~discreet.mechanisms.thresholds.adaptive_thresholds.AdaptiveThresholds`
    needs, for a person who is added or removed.

    Example:
        >>> found = people_adaptive(
        ...     questions=1_000, loss=Approximate(1, "1e-6"), alpha="0.1", beta="0.05"
        ... )
        >>> found < 60_000
        True
    """
    count = check.at_least_one(questions, "questions")
    machine = AdaptiveThresholds.calibrate(
        d_in=Contribution(linf=1), loss=loss, alpha=alpha, beta=beta, queries=count
    )
    return machine.least_size(beta, queries=count)


_LEAST_EPSILON = Fraction(1, 10**9)


def _require(epsilon: Fraction, alpha: Fraction) -> None:
    if not (epsilon >= _LEAST_EPSILON and 0 < alpha < Fraction(1, 2)):
        raise InvalidArgument(
            "These thresholds make no sense",
            must="have an ε of at least 1e-9, and an error between 0 and 1/2",
            got=f"ε = {float(epsilon):.3g}, error {float(alpha):.3g}",
        )
