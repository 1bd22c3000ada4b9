"""Answers about a population to questions that depend on earlier answers."""

import math
from fractions import Fraction
from typing import ClassVar

from attrs import field, frozen

from discreet.adaptive.guarantee import guarantees
from discreet.adaptive.rows_needed import least_rows
from discreet.adaptive.separations.false_discovery_limit import false_discovery_limit
from discreet.core import check
from discreet.core.counted import counted
from discreet.core.loss import PrivacyLoss, short
from discreet.planner.bounds.sampling import Sampling
from discreet.planner.bounds.wanted import LowerBound, Wanted
from discreet.planner.tasks.known_way import MOST_DIMENSIONS, KnownWay, ordered


@frozen
class AdaptiveTask:
    """Answers to statistical questions from a holdout, within an error of the population."""

    questions: int = field(converter=check.whole, validator=check.between(1, MOST_DIMENSIONS))
    name: ClassVar[str] = "adaptive"
    share_of: ClassVar[str] = "the range"

    @property
    def words(self) -> str:
        """The task, in words."""
        return f"{counted(self.questions, 'adaptive answer')} about a population"

    def ways(self, loss: PrivacyLoss, beta: Fraction, people: int) -> tuple[KnownWay, ...]:
        """Return what each way of answering promises; there is no loss to choose."""
        found = guarantees(rows=people, questions=self.questions, beta=beta)
        return ordered(KnownWay(one.method, one.alpha * people) for one in found)

    def least_people(self, within: Fraction, beta: Fraction) -> int:
        """Return the fewest people that are enough, to three digits."""
        return least_rows(alpha=within, questions=self.questions, beta=beta).rows

    def bounds(self) -> tuple[LowerBound, ...]:
        """Return what says that something is impossible, for questions that are fixed already.

        What is known of adaptive ones besides has no constant that is of use.
        """
        return (Sampling(self.questions),)

    def remarks(self, wanted: Wanted) -> tuple[str, ...]:
        r"""Return the rate, and what is known of very many questions.

        :math:`64\lceil 6\pi n/(1/2)^2\rceil^2 \cdot 11` questions, by interactive fingerprinting
        codes with :math:`\delta = 1/1000` and no errors [Ste16, theorem 6.3.2]. Answers there are
        in [-1, 1] and off by 0.99, which is 0.495 of the range. Of mechanisms that may take any
        time it holds where a row has a key of as many signs out of three
        [Ste16, theorem 6.3.10], which is less than twice as many bits.
        """
        alpha = float(wanted.error / wanted.people)
        rate = math.sqrt(self.questions) / alpha if alpha else math.inf
        most = short(Fraction(false_discovery_limit(people=wanted.people).questions))
        people = f"rate: it takes about √questions / error = {rate:,.3g} people or more, without"
        many = f"no quick mechanism answers {most} questions within 49.5% of the range every"
        any_time = "for rows of twice as many bits no mechanism at all does"
        sources = "[Ste16, theorems 6.3.2 and 6.3.10]"
        return (
            f"{people} constants [Ste16, section 6.3]",
            f"if one-way functions exist, {many} second time; {any_time} {sources}",
        )
