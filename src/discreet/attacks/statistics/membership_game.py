r"""The membership game: how well tracing does against a mechanism, and what privacy allows.

In each round a population, its people, a stranger and a release are drawn anew. The attack knows
the population's means, which is more than any real one does. It looks at a member and at the
stranger, and says of each whether they are in the data. All of it is simulated: nobody's data are
in a report of this game.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from discreet.attacks.statistics.false_discovery import checked_level
from discreet.attacks.statistics.membership_record import MembershipRecord, delta_of
from discreet.attacks.statistics.sign_data import Floats, draw_people, uniforms
from discreet.attacks.statistics.tracing import standard_score
from discreet.core.check import at_least_one
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Approximate, Pure
from discreet.core.protocols import IntArray, Rng
from discreet.core.rounding import exp_up

CountRelease = Callable[[IntArray], NDArray[Any]]
"""Takes how many people have each attribute, and returns these counts as they are published."""


@frozen(kw_only=True, eq=False)
class MembershipGame(MembershipRecord):
    """How often members and strangers were taken for members, and what members scored.

    Attributes:
        attributes: How many means were published.
        scores: The member's score in each round.
    """

    attributes: int
    scores: Floats

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
    delta, grown = float(delta_of(loss)), float(exp_up(loss.epsilon))
    second = grown * math.sqrt(size) + 2 * size * delta
    if delta <= 0:
        return second
    first = math.sqrt(2 * size * math.log(1 / delta)) + 2 * size * (grown + 1) * delta
    return min(first, second)


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
        if published.dtype.kind not in "biuf" or not np.isfinite(published).all():
            raise InvalidArgument(
                "The mechanism published what is no count", must="be a finite number for each"
            )
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
