r"""Prefix queries that come one by one: what is easy offline gives the rows away online.

Row :math:`i` is its number, followed by random signs. The :math:`j`-th query asks, for all
:math:`i` at once, whether the next sign of row :math:`i` is +1: its prefixes are what was asked
about before, each with a 1 at the end. So its exact answer is the mean of one column of signs, of
which the query itself tells nothing. That is the hard instance of [Ste16, theorem 7.3.5].
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
from attrs import frozen

from discreet.attacks.online.sample_answers import one_answer
from discreet.attacks.statistics.false_discovery import checked_level
from discreet.attacks.statistics.membership_game import MembershipGame
from discreet.attacks.statistics.pirates import Signs
from discreet.attacks.statistics.sign_data import Floats, draw_people, uniforms
from discreet.core.check import at_least_one
from discreet.core.errors import InvalidArgument
from discreet.core.protocols import QueryInterface, Rng

OpenTexts = Callable[[Sequence[str]], QueryInterface]
"""Makes an interface of some texts; it answers prefix queries with means in [−1, 1]."""


@frozen
class PrefixQuery:
    """Whether a text begins with one of some prefixes: +1 if so, −1 if not.

    Example:
        >>> PrefixQuery(("ab", "c"))("abc"), PrefixQuery(("ab", "c"))("bc")
        (1, -1)
    """

    prefixes: tuple[str, ...]

    def __call__(self, text: str) -> int:
        """Give a row its value."""
        return 1 if text.startswith(self.prefixes) else -1


@frozen(kw_only=True, eq=False, repr=False)
class PrefixTracing:
    r"""Whom the answers to prefix queries give away. The people are made up.

    Attributes:
        members: The score of each row of the data.
        strangers: The score of each row that only the queries speak of.
        threshold: What a stranger's score exceeds with probability at most the level.
        queries: How many queries were asked.
        error: How far an answer was from the exact one at most.
    """

    members: Floats
    strangers: Floats
    threshold: float
    queries: int
    error: float

    @property
    def traced(self) -> int:
        """How many rows of the data are above the threshold."""
        return int((self.members > self.threshold).sum())

    @property
    def false_alarms(self) -> int:
        """How many of the others are."""
        return int((self.strangers > self.threshold).sum())

    def __str__(self) -> str:
        return (
            f"{self.traced} of {len(self.members)} rows are traced, and {self.false_alarms} of "
            f"{len(self.strangers)} strangers, after {self.queries:,} prefix queries."
        )

    def to_json(self) -> dict[str, object]:
        """Return the finding for other programs."""
        return {
            "queries": self.queries,
            "rows": len(self.members),
            "traced": self.traced,
            "strangers": len(self.strangers),
            "false_alarms": self.false_alarms,
            "error": self.error,
        }


def trace_prefixes(
    open_texts: OpenTexts,
    *,
    people: int,
    queries: int,
    rng: Rng,
    strangers: int = 1,
    level: float = 0.05,
) -> PrefixTracing:
    r"""Ask prefix queries one by one, and tell from the answers who is in the data.

    With means :math:`p_j` uniform in [−1, 1], signs :math:`c_{ij}` of those means and answers
    :math:`a_j` (put into [−1, 1]) row :math:`i` scores :math:`\sum_j a_j (c_{ij} - p_j)`.

    Guarantee:
        *Soundness.* A stranger's score exceeds :math:`\sqrt{2k\ln(1/\beta)}` with probability at
        most β, whatever answers. Proof. Query :math:`j` tells the signs before column :math:`j`,
        and no sign of it; so given all before, :math:`a_j` and a stranger's :math:`c_{ij}` are
        independent. The score is a sum of differences of a martingale, the :math:`j`-th of range
        :math:`2|a_j| \le 2`, and Hoeffding's inequality for martingales gives
        :math:`e^{-s^2/2k}` [Hoe63, theorem 2, and its remark on martingales].

        *Completeness.* Answers that are off by α on average give all rows together
        :math:`(2/3 - 2\alpha)k` [Ste16, lemma 4.3.4, with 2/3 in place of 1/3], and some row an
        :math:`n`-th of that. So exact answers trace rows from about :math:`14 n^2` queries on, and
        no :math:`(1, 1/30n)`-differentially private mechanism answers :math:`1663 n^2` of them
        online within a hundredth [Ste16, theorem 7.3.5].

    Example:
        >>> from discreet import SystemRng
        >>> from discreet.attacks.online.sample_answers import ExactMeans
        >>> found = trace_prefixes(
        ...     lambda texts: ExactMeans(rows=texts), people=3, queries=2000, rng=SystemRng(),
        ...     level=1e-6,
        ... )
        >>> print(found)
        3 of 3 rows are traced, and 0 of 1 strangers, after 2,000 prefix queries.
    """
    count, asked = at_least_one(people, "people"), at_least_one(queries, "queries")
    others = at_least_one(strangers, "strangers")
    cut = math.sqrt(2 * asked * math.log(1 / checked_level(level)))
    means = 2 * uniforms((asked,), rng) - 1
    signs = draw_people(means, count + others, rng)
    texts = _texts(signs)
    width = len(texts[0]) - asked
    interface = open_texts(texts[:count])
    answers = np.empty(asked)
    for place in range(asked):
        query = PrefixQuery(tuple(text[: width + place] + "1" for text in texts))
        answers[place] = one_answer(interface.answers([query]), noun="mean")
    scores = (signs - means) @ np.clip(answers, -1.0, 1.0)
    truth = signs[:count].mean(axis=0, dtype=np.float64)
    return PrefixTracing(
        members=scores[:count],
        strangers=scores[count:],
        threshold=cut,
        queries=asked,
        error=float(np.abs(answers - truth).max()),
    )


def _texts(signs: Signs) -> list[str]:
    """Write each row: its number, in as many binary digits as the last needs, then its signs."""
    width = max(1, (len(signs) - 1).bit_length())
    digits = np.where(signs > 0, ord("1"), ord("0")).astype(np.uint8)
    return [f"{place:0{width}b}{row.tobytes().decode()}" for place, row in enumerate(digits)]


def play_prefixes(
    open_texts: OpenTexts, *, people: int, queries: int, rounds: int, rng: Rng, level: float = 0.05
) -> MembershipGame:
    r"""Play the membership game by prefix queries: one row, and one stranger, in each round.

    Guarantee:
        The bounds of :class:`MembershipGame` hold. Proof. Fix all signs, so that the queries are
        fixed too; exchanging the row for the stranger changes the data in one row, and no query.
        (That the queries depend on the row's signs does not matter: they stay as they are.) The
        scores' bounds are those of
        :func:`~discreet.attacks.statistics.membership_game.largest_mean_score`, since the
        stranger's score is a martingale with :math:`E Z^2 \le k`.

    Example:
        >>> from discreet import SystemRng
        >>> from discreet.attacks.online.sample_answers import ExactMeans
        >>> game = play_prefixes(
        ...     lambda texts: ExactMeans(rows=texts), people=2, queries=1000, rounds=20,
        ...     rng=SystemRng(), level=1e-6,
        ... )
        >>> game.traced, game.false_alarms
        (20, 0)
    """
    played = at_least_one(rounds, "rounds")
    if played < 2:
        raise InvalidArgument("rounds is out of range", must="be at least 2", got=str(played))
    found = [
        trace_prefixes(open_texts, people=people, queries=queries, rng=rng, level=level)
        for _ in range(played)
    ]
    return MembershipGame(
        rounds=played,
        traced=sum(bool(one.members[0] > one.threshold) for one in found),
        false_alarms=sum(one.false_alarms for one in found),
        attributes=found[0].queries,
        scores=np.array([one.members[0] for one in found]),
    )
