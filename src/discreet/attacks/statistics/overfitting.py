r"""Overfitting by adding up signs: random questions, and one question that looks like a finding.

Whoever may ask many questions of one sample learns which way each random question deviates on it.
The majority of those deviations is a question whose answer on the sample is far from its true
value of one half, though no question was chosen dishonestly.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from numbers import Real
from statistics import NormalDist
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import ArrayLike, NDArray

from discreet.attacks.reconstruction.guess_ceiling import GuessingRecord
from discreet.attacks.statistics.membership_record import delta_of
from discreet.attacks.statistics.sign_data import Floats
from discreet.core.check import at_least_one
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Approximate, Pure
from discreet.core.optional import load
from discreet.core.protocols import Rng
from discreet.core.rounding import exp_up

MeanAnswer = Callable[[NDArray[np.bool_]], float]
"""Takes a question, as yes or no for each point of the universe; answers the share of yes."""


@frozen(kw_only=True, eq=False)
class OverfittedQuery:
    """A question that was fitted to a sample which the attack has never seen.

    Attributes:
        query: Its yes or no for each point of the universe.
        queries: How many questions it took.
        answers: What was answered. Private, if the answers were.
    """

    query: NDArray[np.bool_]
    queries: int
    answers: Floats

    @property
    def population_value(self) -> float:
        """The true share of yes, over the whole universe."""
        return float(self.query.mean())

    def excess_on(self, sample: ArrayLike) -> float:
        """Return by how much the answer on a sample is above one half."""
        return float(self.query[np.asarray(sample)].mean()) - 0.5


def overfit(answer: MeanAnswer, *, universe: int, queries: int, rng: Rng) -> OverfittedQuery:
    r"""Ask random questions, and return the one that their deviations add up to.

    Each question :math:`q_j` says yes or no of every point by a fair coin. With the answers
    :math:`a_j`, the result says yes of :math:`x` if
    :math:`\sum_j \mathrm{sign}(a_j - ½)(q_j(x) - ½) > 0`, and tosses a coin for a tie
    [Ste16, section 1.2.1]. Its law is :func:`expected_excess`.

    Example:
        >>> from discreet import SystemRng
        >>> sample = np.arange(51)
        >>> found = overfit(
        ...     lambda query: query[sample].mean(), universe=500, queries=400, rng=SystemRng()
        ... )
        >>> found.excess_on(sample) > 0.3
        True
    """
    points, asked = at_least_one(universe, "universe"), at_least_one(queries, "queries")
    votes = np.zeros(points, dtype=np.int64)
    answers = np.empty(asked)
    for place in range(asked):
        query = _coins(points, rng)
        told: Any = answer(query)  # whoever is attacked may say anything
        given = float(told) if isinstance(told, Real) else math.nan
        if not math.isfinite(given):
            raise InvalidArgument("An answer is no number", must="be finite")
        answers[place] = given
        if given != 0.5:
            votes += np.where(query, 1, -1) * (1 if given > 0.5 else -1)
    query = np.where(votes == 0, _coins(points, rng), votes > 0)
    return OverfittedQuery(query=query, queries=asked, answers=answers)


def _coins(count: int, rng: Rng) -> NDArray[np.bool_]:
    words = rng.words(-(-count // 64))
    return np.unpackbits(words.view(np.uint8))[:count].astype(np.bool_)


def expected_excess(
    people: int, queries: int, *, deviation: float = 0.0, scale: float = 0.0
) -> float:
    r"""Return by how much the fitted question's answer exceeds one half on the sample.

    It is :math:`\Phi(\sqrt k\,f/n) - ½`, where :math:`f` is the density at 0 of what an answer
    deviates by: of :math:`N(0, 1/4n)` and of the noise on it, normal with the standard deviation
    ``deviation``, or Laplace of a ``scale``, or both. With normal noise alone that is
    :math:`\Phi(\sqrt{2k/(\pi n(1 + 4n\sigma^2))}) - ½`.

    Why: a person moves an answer by :math:`\pm 1/2n`, so their vote in it has correlation
    :math:`f/n` with the sign of the noisy deviation, and :math:`k` votes add up to a normal number.
    It is a law for many people and questions, not a bound. Laplace noise hides less than normal
    noise of the same deviation, as it is more often near 0.

    Example:
        >>> [round(expected_excess(1001, 1000, deviation=d), 3) for d in (0, 0.064)]
        [0.287, 0.076]
        >>> round(expected_excess(1001, 1000, scale=0.064 / math.sqrt(2)), 3)
        0.106
    """
    count, asked = at_least_one(people, "people"), at_least_one(queries, "queries")
    for name, value in (("deviation", deviation), ("scale", scale)):
        if not 0 <= value < math.inf:
            raise InvalidArgument(f"{name} is out of range", must="be finite and at least 0")
    spread = math.sqrt(1 / (4 * count) + deviation**2)
    density = 1 / (spread * math.sqrt(2 * math.pi))
    if scale > 1e-9 * spread:
        density = float(load("scipy.special").erfcx(spread / (scale * math.sqrt(2)))) / (2 * scale)
    return NormalDist().cdf(math.sqrt(asked) * density / count) - 0.5


def excess_ceiling(loss: Pure | Approximate) -> Fraction:
    r"""Return by how much any question that is fitted to private answers exceeds one half.

    Guarantee:
        ``loss`` is of all answers together. Then the fitted question's answer on the sample is at
        most :math:`1/2 + (1 - e^{-\varepsilon})/2 + \delta e^{-\varepsilon}` on average.

        Proof. Exchange a person of the sample for a point outside it. The coins of the questions
        at that person are then independent of the answers, and the fitted question says no there
        with probability one half exactly, ties included. Privacy bounds that half by
        :math:`e^\varepsilon P[no] + \delta`; so with the person in the sample
        :math:`P[no] \ge (1/2 - \delta)e^{-\varepsilon}`. Average over the sample.

    Example:
        >>> round(float(excess_ceiling(Pure("0.1"))), 4), float(excess_ceiling(Pure(0)))
        (0.0476, 0.0)
    """
    half = Fraction(1, 2)
    return min(half, half - (half - delta_of(loss)) / exp_up(loss.epsilon))


def play_overfitting(
    open_answer: Callable[[], MeanAnswer],
    *,
    universe: int,
    queries: int,
    rounds: int,
    loss: Pure | Approximate,
    rng: Rng,
) -> GuessingRecord:
    """Overfit a new mechanism in each round, and count how often its question says yes of point 0.

    Args:
        open_answer: Makes the mechanism anew. Point 0 is in its sample, and the last point is not.
        universe: How many points there are.
        queries: How many questions are asked in a round.
        rounds: How many rounds are played.
        loss: What a mechanism loses about one person who is exchanged, over all its answers.
        rng: Coins for the questions.

    Guarantee:
        Rounds are independent, and each is a yes with probability at most one half and
        :func:`excess_ceiling`.

    Example:
        >>> from discreet import SystemRng
        >>> record = play_overfitting(
        ...     lambda: lambda query: float(query[0]), universe=2, queries=25, rounds=200,
        ...     loss=Pure(1), rng=SystemRng(),
        ... )
        >>> record.right, record.breaks_ceiling("1e-6")
        (200, True)
    """
    played = at_least_one(rounds, "rounds")
    right = sum(
        bool(overfit(open_answer(), universe=universe, queries=queries, rng=rng).query[0])
        for _ in range(played)
    )
    ceiling = Fraction(1, 2) + excess_ceiling(loss)
    return GuessingRecord(right=right, trials=played, ceiling=ceiling)
