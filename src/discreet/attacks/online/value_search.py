r"""Binary search: each threshold query halves what a value can be.

Half of the others are at the low end of a domain, half at the high end. Then the median is the
value of the few who are left, of one person if one is left, and
:math:`\lceil\log_2 T\rceil` adaptive questions "what share is at most :math:`m`?" spell it out
[Ste16, lemmas 7.5.5 and 7.5.6].
"""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from attrs import frozen

from discreet.accounting.losses.group import group
from discreet.attacks.online.sample_answers import one_answer
from discreet.attacks.reconstruction.guess_ceiling import GuessingRecord
from discreet.attacks.statistics.membership_record import delta_of
from discreet.core.check import at_least_one
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.loss import Approximate, Pure
from discreet.core.protocols import IntArray, QueryInterface, Rng
from discreet.core.rounding import exp_up
from discreet.randomness.samplers import uniform_integers

OpenValues = Callable[[IntArray], QueryInterface]
"""Makes an interface of values; it answers threshold queries with shares in [0, 1]."""

_CERTAIN = 64


@frozen
class ThresholdQuery:
    """Whether a value is at most a point: 1 if so, 0 if not.

    Example:
        >>> ThresholdQuery(5)(5), ThresholdQuery(5)(6)
        (1, 0)
    """

    point: int

    def __call__(self, value: int) -> int:
        """Give a row its value."""
        return int(value <= self.point)


@frozen(kw_only=True)
class FoundValue:
    """Where a search ended.

    Attributes:
        value: The point.
        queries: How many queries it took.
    """

    value: int
    queries: int


def search_value(interface: QueryInterface, *, lower: int, upper: int) -> FoundValue:
    r"""Find the median by adaptive threshold queries, at most :math:`\lceil\log_2 T\rceil` of them.

    Guarantee:
        If every answer is within α of the share, at least :math:`1/2 - \alpha` of the values are
        at most the result, and at least :math:`1/2 - \alpha` are at least it
        [Ste16, lemma 7.5.5]. Proof. Either the result was asked about and its answer was a half
        or more, or it is ``upper``; either the point before it was asked about and its answer was
        below a half, or the result is ``lower``. So if more than :math:`2\alpha n` people have one
        value in the middle, and equally many others lie on both sides, the result is that value.

    Example:
        >>> from discreet.attacks.online.sample_answers import ExactMeans
        >>> values = [0] * 10 + [613] + [1000] * 10
        >>> search_value(ExactMeans(rows=values), lower=0, upper=1000)
        FoundValue(value=613, queries=10)
    """
    low, high = int(lower), int(upper)
    if low > high:
        raise InvalidArgument("The domain is empty", must="have lower <= upper")
    asked = 0
    while low < high:
        middle = (low + high) // 2
        share = one_answer(interface.answers([ThresholdQuery(middle)]), noun="share")
        asked += 1
        if share >= 0.5:
            high = middle
        else:
            low = middle + 1
    return FoundValue(value=high, queries=asked)


def value_ceiling(loss: Pure | Approximate, *, values: int, holders: int = 1) -> Fraction:
    r"""Return the largest probability with which anybody guesses one of :math:`T` values.

    Guarantee:
        Let :math:`h` people have the secret value, uniform among :math:`T`, and ``loss`` be of all
        answers together, for one person who changes. The guess is right with probability at most
        :math:`(e^{h\varepsilon} + (T - 1)\delta_h)/(e^{h\varepsilon} + T - 1)`, where
        :math:`\delta_h` is the δ of a group. Two values make it the ceiling of a bit.

        Proof. Let :math:`a_t = P_t[G = t]`. By privacy of groups
        :math:`P_s[G = t] \ge e^{-h\varepsilon}(a_t - \delta_h)` for every :math:`s`. So
        :math:`1 \ge a_s + e^{-h\varepsilon}\sum_{t \ne s}(a_t - \delta_h)`. The mean over
        :math:`s` is :math:`1 \ge a + e^{-h\varepsilon}(T - 1)(a - \delta_h)` for the mean
        :math:`a` of all :math:`a_t`, which is the probability of a right guess. Randomised response
        over the values reaches it, and the δ too if it tells the value once in :math:`1/\delta`.

    Example:
        >>> round(float(value_ceiling(Pure(1), values=1000)), 5)
        0.00271
        >>> round(float(value_ceiling(Pure(1), values=1000, holders=9)), 3)
        0.89
    """
    count, size = at_least_one(values, "values"), at_least_one(holders, "holders")
    try:
        total = loss if size == 1 else group(loss, size).loss
    except Unsupported:
        return Fraction(1)
    if not isinstance(total, Pure | Approximate) or total.epsilon > _CERTAIN:
        return Fraction(1)
    factor, others = exp_up(total.epsilon), count - 1
    return min(Fraction(1), (factor + others * delta_of(total)) / (factor + others))


def play_search(
    open_values: OpenValues,
    *,
    sides: int,
    domain: int,
    rounds: int,
    loss: Pure | Approximate,
    rng: Rng,
    holders: int = 1,
) -> GuessingRecord:
    """Play the search again and again, each time for a value that is drawn anew.

    Args:
        open_values: Makes the interface that is searched.
        sides: How many people are at each end of the domain.
        domain: How many values there are: 0 and up.
        rounds: How many games are played.
        loss: What the interface loses about one person who changes, over all answers of a game.
        rng: Coins for the values.
        holders: How many people have the secret value.

    Example:
        >>> from discreet import SystemRng
        >>> from discreet.attacks.online.sample_answers import ExactMeans
        >>> record = play_search(
        ...     lambda values: ExactMeans(rows=values), sides=20, domain=1024, rounds=50,
        ...     loss=Pure(1), rng=SystemRng(),
        ... )
        >>> record.right, record.breaks_ceiling("1e-9")
        (50, True)
    """
    count, size = at_least_one(rounds, "rounds"), at_least_one(domain, "domain")
    people, few = at_least_one(sides, "sides"), at_least_one(holders, "holders")
    secrets = uniform_integers(size, count, rng)
    right = 0
    for secret in secrets.tolist():
        values = np.repeat(np.array([0, secret, size - 1]), [people, few, people]).astype(np.int64)
        found = search_value(open_values(values), lower=0, upper=size - 1)
        right += found.value == secret
    ceiling = value_ceiling(loss, values=size, holders=few)
    return GuessingRecord(right=right, trials=count, ceiling=ceiling)
