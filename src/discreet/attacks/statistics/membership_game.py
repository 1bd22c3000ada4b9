r"""The membership game: how well tracing does against a mechanism, and what privacy allows.

In each round a population, its people, a stranger and a release are drawn anew. The attack knows
the population's means, which is more than any real one does. It looks at a member and at the
stranger, and says of each whether they are in the data. All of it is simulated: nobody's data are
in a report of this game.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from discreet.attacks.statistics.false_discovery import checked_level
from discreet.attacks.statistics.sign_data import Floats, draw_people, uniforms
from discreet.attacks.statistics.tracing import standard_score
from discreet.audit.binomial import lower_confidence, upper_confidence
from discreet.core.check import at_least_one
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Approximate, Pure
from discreet.core.numbers import Number, exact, float_down
from discreet.core.protocols import IntArray, Rng
from discreet.core.rounding import exp_up, log_down

CountRelease = Callable[[IntArray], NDArray[Any]]
"""Takes how many people have each attribute, and returns these counts as they are published."""


@frozen(kw_only=True, eq=False)
class MembershipGame:
    """How often members and strangers were taken for members.

    Attributes:
        rounds: How many rounds were played.
        traced: In how many of them the member was accused.
        false_alarms: In how many the stranger was.
        attributes: How many means were published.
        scores: The member's score in each round.
    """

    rounds: int
    traced: int
    false_alarms: int
    attributes: int
    scores: Floats

    def __str__(self) -> str:
        return (
            f"Members were traced in {self.traced} and strangers accused in {self.false_alarms} "
            f"of {self.rounds} rounds."
        )

    def breaks(self, loss: Pure | Approximate, *, failure: Number) -> bool:
        r"""Tell whether the mechanism is certainly not as private as ``loss`` says.

        Guarantee:
            For a mechanism that has ``loss`` the answer is yes with probability at most
            ``failure``.

            Proof. Exchange the member for the stranger: the data change in one person, and that
            the first of them is accused turns from a hit into a false alarm. So
            :math:`P[hit] \le e^\varepsilon P[alarm] + \delta`. Both have bounds [CP34] that fail
            with half of ``failure`` each.
        """
        low, high = self._bounds(failure)
        return low > exp_up(loss.epsilon) * high + _delta(loss)

    def least_epsilon(self, *, delta: Number = 0, failure: Number) -> float:
        """Return a lower confidence bound on ε, rounded down; 0 if nothing is shown."""
        low, high = self._bounds(failure)
        gain = low - exact(delta)
        if gain <= 0 or high <= 0:
            return 0.0
        return max(0.0, float_down(log_down(gain / high)))

    def _bounds(self, failure: Number) -> tuple[Fraction, Fraction]:
        half = exact(failure) / 2
        low = lower_confidence(self.traced, self.rounds, half)
        return low, upper_confidence(self.false_alarms, self.rounds, half)

    def least_mean_score(self, *, failure: float) -> float:
        r"""Return a lower confidence bound on a member's expected score.

        By the empirical Bernstein bound [MP09, theorem 4] for values in a range of :math:`4d`.
        """
        count, width = self.rounds, 4 * self.attributes
        log = math.log(2 / checked_level(failure))
        spread = math.sqrt(2 * float(self.scores.var(ddof=1)) * log / count)
        return float(self.scores.mean()) - spread - 7 * width * log / (3 * (count - 1))

    def breaks_score_bound(self, loss: Pure | Approximate, *, failure: float) -> bool:
        """Tell whether members score more than ``loss`` allows, certainly but for ``failure``."""
        return self.least_mean_score(failure=failure) > largest_mean_score(self.attributes, loss)


def largest_mean_score(attributes: int, loss: Pure | Approximate) -> float:
    r"""Return how much a member can score on average against a private release in [−1, 1].

    Guarantee:
        With :math:`Z = \langle M(x), x_i - p \rangle` and any population,
        :math:`E[Z] \le \sqrt{2d\ln(1/\delta)} + 2d(e^\varepsilon + 1)\delta`
        [Ste16, lemma 4.3.12], and :math:`E|Z| \le e^\varepsilon\sqrt d + 2d\delta`
        [Ste16, claim 4.3.5]. The smaller one is returned.

        Proof of the second. Draw person :math:`i` anew: now :math:`M` is independent of
        :math:`x_i`, so :math:`E|Z| \le \sqrt{E Z^2} \le \sqrt d`. Privacy raises the expectation
        of :math:`|Z| \in [0, 2d]` by at most a factor :math:`e^\varepsilon` and :math:`2d\delta`.
        For the first see Hoeffding's inequality with :math:`\lambda = \sqrt{2d\ln(1/\delta)}`.

    Example:
        >>> round(largest_mean_score(10_000, Pure(1)), 1)
        271.8
        >>> round(largest_mean_score(10_000, Approximate(3, "1e-6")), 1)
        526.1
    """
    size = at_least_one(attributes, "attributes")
    delta, grown = float(_delta(loss)), float(exp_up(loss.epsilon))
    second = grown * math.sqrt(size) + 2 * size * delta
    if delta <= 0:
        return second
    first = math.sqrt(2 * size * math.log(1 / delta)) + 2 * size * (grown + 1) * delta
    return min(first, second)


def _delta(loss: Pure | Approximate) -> Fraction:
    return loss.delta if isinstance(loss, Approximate) else Fraction(0)


def play_membership(
    release: CountRelease,
    *,
    people: int,
    attributes: int,
    rounds: int,
    rng: Rng,
    level: float = 0.05,
) -> MembershipGame:
    r"""Play the membership game against a way to publish counts.

    The means of the population are uniform in [−1, 1], anew in each round. A person :math:`y` is
    accused if :math:`\langle y - p, q \rangle` is above what a stranger's score exceeds with
    probability about ``level``; :math:`q` are the published means, put into [−1, 1].

    One person who is exchanged for another moves each count by at most 1: by ``attributes`` in the
    norm :math:`\ell_1`, and by its root in :math:`\ell_2`.

    Example:
        >>> from discreet import SystemRng
        >>> game = play_membership(
        ...     lambda counts: counts, people=5, attributes=2000, rounds=20, rng=SystemRng()
        ... )
        >>> game.traced
        20
    """
    count, size = at_least_one(people, "people"), at_least_one(attributes, "attributes")
    played = at_least_one(rounds, "rounds")
    if played < 2:
        raise InvalidArgument("rounds is out of range", must="be at least 2", got=str(played))
    cut = standard_score(level)
    scores, alarms, hits = np.empty(played), 0, 0
    for place in range(played):
        means = 2 * uniforms((size,), rng) - 1
        drawn = draw_people(means, count + 1, rng)
        published = np.asarray(release((drawn[:count] > 0).sum(axis=0, dtype=np.int64)))
        if published.shape != (size,):
            raise InvalidArgument(
                "The mechanism published another number of counts",
                must=f"be {size} counts",
                got=str(published.shape),
            )
        q = np.clip((2.0 * published - count) / count, -1.0, 1.0)
        member, stranger = ((drawn[who] - means) @ q for who in (0, count))
        threshold = cut * math.sqrt(float((q**2 * (1 - means**2)).sum()))
        scores[place] = member
        hits += int(member > threshold)
        alarms += int(stranger > threshold)
    return MembershipGame(
        rounds=played, traced=hits, false_alarms=alarms, attributes=size, scores=scores
    )
