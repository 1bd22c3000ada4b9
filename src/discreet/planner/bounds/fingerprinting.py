"""Fingerprinting: answers about many columns are traced back to people, however they are made."""

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

from attrs import frozen

from discreet.core.loss import Approximate, PrivacyLoss, Pure, Zcdp
from discreet.core.rounding import exp_down, exp_up, log_up, short_up, sqrt_up
from discreet.planner.bounds.wanted import (
    OTHER_MEASURE,
    GroupLoss,
    Ruling,
    Wanted,
    copies_to_try,
)


@frozen
class Fingerprinting:
    r"""The mean scores of members add up to more than privacy allows.

    Guarantee:
        Let :math:`m` people have rows in :math:`\{\pm1\}^d` whose columns have means :math:`p` that
        are uniform in [-1, 1], and let :math:`f` be the answers, moved into [-1, 1], and
        :math:`\bar x` the truth. Then

        .. math:: \sum_i E\langle f, x_i - p\rangle + 2E\|f - \bar x\|_1 \ge \tfrac23 d,
            \qquad \sum_i E\langle f, x_i - p\rangle + E\|f - \bar x\|_2^2
            \ge \tfrac{m + 4}{3(m + 2)} d

        [Ste16, lemma 4.3.4 and proposition 4.3.10, both with 1/3; these are the exact minima, for
        :math:`E[\sum_i(x_i - p)|x] = 2m\bar x/(m + 2)`; tests enumerate them].

        Each of the :math:`m` is put in :math:`j` times, and the other :math:`n - mj` people are all
        alike and known. Without the :math:`j` copies of :math:`i` the answers do not depend on
        :math:`x_i`, and the score :math:`Z = \langle f, x_i - p\rangle` has mean 0, mean square
        :math:`\frac23 d` at most, and is sub-Gaussian with variance :math:`d`. With them its mean
        is at most each of these:

        - :math:`\sinh(j\varepsilon)\sqrt{2d/3} + 2d\delta_j(1 + e^{-j\varepsilon})`, from
          :math:`E[Z^+] \le e^{j\varepsilon} E'[Z^+] + 2d\delta_j` and the same for
          :math:`Z^-` the other way;
        - :math:`\sqrt{2dD}` where the divergence is at most :math:`D` (Donsker and Varadhan);
        - :math:`\sqrt{2d\ln(1/\delta_j)} + 2d(e^{j\varepsilon} + 1)\delta_j`
          [Ste16, lemma 4.3.12].

        An answer within :math:`a` people says the mean of :math:`\pm1` within
        :math:`\alpha = 2a/(mj)`, and is never off by more than 2. So if for some :math:`m`,
        :math:`j` with :math:`mj \le n` the scores stay below
        :math:`d\max(\frac23 - 2\alpha - 4\beta, \frac{m + 4}{3(m + 2)} - \alpha^2 - 4\beta)`,
        nobody can do that. Promises are used for :math:`n` people alone.

    Example:
        >>> bound = Fingerprinting(10**6)
        >>> wanted = Wanted(10_000, Fraction(10), Fraction(1, 20), Approximate(1, "1e-9"))
        >>> bound.rule(wanted).refutes
        True
    """

    columns: int
    name: ClassVar[str] = "fingerprinting"
    source: ClassVar[str] = "[Ste16, section 4.3], sharpened"

    def rule(self, wanted: Wanted) -> Ruling:
        """Say whether some number of people and of copies leads to a contradiction."""
        if 6 * wanted.beta >= 1:
            return Ruling(False, "a release may fail too often for it: one time in six")
        if not isinstance(wanted.loss, Pure | Approximate | Zcdp):
            return OTHER_MEASURE
        for copies in copies_to_try(wanted):
            score = mean_score(wanted.loss, copies, self.columns)
            if score is not None and self._contradicts(wanted, copies, score):
                return Ruling(True)
        return Ruling(False)

    def _contradicts(self, wanted: Wanted, copies: int, score: Fraction) -> bool:
        d, most = self.columns, wanted.people // copies
        per = float(wanted.error) / copies
        ratio = d / max(float(score), 1e-300)
        guesses = [math.sqrt(4 * per * ratio), (8 * per**2 * ratio) ** (1 / 3), 1.0, float(most)]
        sizes = {
            min(most, max(1, place))
            for guess in guesses
            for place in (math.floor(min(guess, most)), math.ceil(min(guess, most)))
        }
        return any(
            people * score < d * self._needed(people, 2 * wanted.error / (people * copies), wanted)
            for people in sizes
            if people * copies <= wanted.people
        )

    @staticmethod
    def _needed(people: int, alpha: Fraction, wanted: Wanted) -> Fraction:
        """Return what the scores of all members add up to at least, for each column."""
        by_sizes = Fraction(2, 3) - 2 * alpha
        by_squares = Fraction(people + 4, 3 * (people + 2)) - alpha**2
        return max(by_sizes, by_squares) - 4 * wanted.beta


@lru_cache(maxsize=1 << 14)
def mean_score(loss: PrivacyLoss, copies: int, columns: int) -> Fraction | None:
    """Return what the mean score of a member is at most, rounded up; None if nothing is known."""
    return min(_mean_scores(GroupLoss(loss, copies), columns), default=None)


def _mean_scores(group: GroupLoss, columns: int) -> Iterator[Fraction]:
    """Yield what it is at most by each argument."""
    d, epsilon = Fraction(columns), group.epsilon
    if epsilon is not None:
        delta, up = group.delta, exp_up(epsilon)
        sinh = short_up((up - exp_down(-epsilon)) / 2)
        yield sinh * sqrt_up(2 * d / 3) + 2 * d * delta * (1 + exp_up(-epsilon))
        if 0 < delta < 1:
            likely = sqrt_up(short_up(2 * d * log_up(1 / delta)))
            yield likely + 2 * d * (up + 1) * delta
    if group.divergence is not None:
        yield sqrt_up(short_up(2 * d * group.divergence))
