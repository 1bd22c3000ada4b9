"""The median mechanism: keep all small data sets that fit the answers, and answer their median."""

import math
from fractions import Fraction
from typing import Self

import numpy as np
from attrs import evolve, field, frozen

from discreet.core import check
from discreet.core.contribution import Contribution
from discreet.core.errors import InvalidArgument
from discreet.core.event import ComposedEvent, Event
from discreet.core.loss import Approximate, Pure
from discreet.core.numbers import Number
from discreet.core.protocols import IntArray, Rng
from discreet.mechanisms.query_release.guess_and_check import (
    GuessAndCheck,
    GuessAndCheckRun,
    open_with_total,
)
from discreet.mechanisms.query_release.linear_queries import LARGEST_ANSWER
from discreet.mechanisms.query_release.private_weights import (
    answer_error,
    shared_total,
)
from discreet.mechanisms.query_release.row_total import (
    RowTotal,
    row_total_of,
    total_bound,
    total_events,
)
from discreet.mechanisms.query_release.small_databases import (
    nearest_error,
    number_of_databases,
    require_enumerable,
    small_databases,
)


class MedianGuess:
    r"""The small data sets that are still possible; the guess is the median of their answers.

    Guarantee:
        Each time it learns, at least half of the data sets go: if the noisy answer is above the
        median, all whose answers are at most the median, and the other way round. If none would
        be left, all stay. It sees public numbers alone.

    Example:
        >>> guess = MedianGuess(cells=2, size=4, total=100)
        >>> guess.answer(np.array([1, 0]))
        50
        >>> guess.learn(np.array([1, 0]), 90)
        >>> guess.answer(np.array([1, 0])), guess.left
        (75, 2)
    """

    def __init__(self, *, cells: int, size: int, total: int) -> None:
        self._size, self._total = check.whole(size), check.whole(total)
        self._databases = small_databases(cells, self._size)

    @property
    def left(self) -> int:
        """How many data sets are still possible."""
        return len(self._databases)

    @property
    def databases(self) -> IntArray:
        """The data sets that are still possible, one histogram a row."""
        return self._databases.copy()

    def answer(self, query: IntArray) -> int:
        """Return the median answer, scaled to the total, as a whole number."""
        return self._scaled(_median(self._databases @ query))

    def learn(self, query: IntArray, value: int) -> None:
        """Drop all data sets on the wrong side of the median."""
        answers = self._databases @ query
        middle = _median(answers)
        guess = self._scaled(middle)
        fits = answers > middle if value > guess else answers < middle
        if value != guess and fits.any():
            self._databases = self._databases[fits]

    def _scaled(self, answer: int) -> int:
        guess = (2 * self._total * answer + self._size) // (2 * self._size)
        return min(max(guess, -LARGEST_ANSWER), LARGEST_ANSWER)


def _median(answers: IntArray) -> int:
    place = (answers.size - 1) // 2
    return int(np.partition(answers, place)[place])


@frozen(kw_only=True)
class MedianMechanism:
    r"""Answer queries one by one with the median of all data sets of ``size`` rows that still fit.

    It is :class:`~discreet.mechanisms.query_release.guess_and_check.GuessAndCheck` with a
    :class:`MedianGuess` [RR10]. It is for small universes, where all these data sets
    can be listed; private multiplicative weights go much further.

    Guarantee:
        The loss of ``checks``, and of one noisy count if the total is measured. The proof stands
        there: which data sets are left is a function of public answers alone.

    Assumes:
        As :class:`~discreet.mechanisms.query_release.guess_and_check.GuessAndCheck`; all data
        sets of ``size`` rows over ``cells`` cells can be listed.

    Utility:
        ``error_quantile``: with a threshold of ``least_threshold`` and ``least_updates``, the
        machine does not end by itself, and all answers are within the bound, but for :math:`\beta`.

    Example:
        >>> one = Contribution(l1=1)
        >>> machine = MedianMechanism.calibrate(
        ...     cells=4, size=20, d_in=one, loss=Pure(1), rows=10_000, queries=16, beta="0.05"
        ... )
        >>> machine.checks.most_above
        11
        >>> machine.error_quantile("0.05", queries=16, rows=10_000) < 3000
        True
        >>> from discreet import SystemRng
        >>> run = machine.open(np.array([7000, 1000, 1500, 500]), d_in=one, rng=SystemRng())
        >>> abs(run.ask(np.array([1, 1, 0, 0])).value - 8000) < 3000
        True
    """

    checks: GuessAndCheck
    cells: int = field(converter=check.whole, validator=check.positive)
    size: int = field(converter=check.whole, validator=check.positive)
    total: RowTotal = field(converter=row_total_of)

    def __attrs_post_init__(self) -> None:
        """Refuse a universe that is too large, before anything is spent."""
        require_enumerable(self.cells, self.size)

    @classmethod
    def calibrate(
        cls,
        *,
        cells: int,
        size: int,
        d_in: Contribution,
        loss: Pure | Approximate,
        rows: int,
        queries: int,
        beta: Number,
        is_declared: bool = False,
        lower: int = 0,
        upper: int = 1,
    ) -> Self:
        """Return a machine within ``loss`` with the least threshold that has a theorem.

        ``rows`` is a public number that there are at most, which sets the threshold; the total
        is measured, unless ``is_declared`` says that ``rows`` is the number itself, and public.
        """
        require_enumerable(cells, size)
        total, rest = shared_total(loss, d_in, rows=rows, is_declared=is_declared)
        checks = GuessAndCheck.calibrate(
            d_in=d_in,
            loss=rest,
            most_above=least_updates(cells, size),
            threshold=1,
            lower=lower,
            upper=upper,
        )
        first = cls(checks=checks, cells=cells, size=size, total=total)
        threshold = first.least_threshold(beta, queries=queries, rows=rows)
        return evolve(first, checks=evolve(checks, threshold=threshold))

    def event(self, d_in: Contribution) -> Event:
        """Describe the whole life of one machine; ``d_in`` is how one unit moves the histogram."""
        return ComposedEvent.of([*total_events(self.total, d_in), self.checks.event(d_in)])

    def open(
        self, histogram: IntArray, *, d_in: Contribution, rng: Rng
    ) -> GuessAndCheckRun[MedianGuess]:
        """Return a machine in its first state. The gate already holds the loss of its event."""

        def guess(total: int) -> MedianGuess:
            return MedianGuess(cells=self.cells, size=self.size, total=total)

        return open_with_total(
            self.checks,
            histogram,
            guess,
            cells=self.cells,
            total=self.total,
            d_in=d_in,
            event=self.event(d_in),
            rng=rng,
        )

    def least_threshold(self, beta: Number, *, queries: int, rows: int) -> int:
        r"""Return the least threshold at which the best small data set is never dropped.

        Let :math:`\alpha_1, \alpha_2, \alpha_3` bound the errors of comparisons, measurements and
        the total :math:`\hat n`, each but for a third of :math:`\beta`, and let :math:`\gamma` be
        ``nearest_error``. At an update with threshold :math:`T` the truth is at least
        :math:`T - \alpha_1` from the median. If that is more than :math:`\alpha_2`, the noisy
        answer is on the same side; if it is more than :math:`w\alpha_3 + \hat n\gamma + 1`, so is
        the best data set, which then stays. Each update drops at least half, and one is always
        left, so there are at most :math:`\log_2` of their number [RR10]. The queries
        are from a class of so many that was fixed beforehand; which are asked may depend on
        answers.
        """
        third = check.level(beta) / 3
        size = self.cells * self.checks.largest
        total = total_bound(self.total, third, rows=rows, size=size)
        nearest = nearest_error(
            cells=self.cells, size=self.size, queries=queries, width=self.checks.width
        )
        far = self.checks.largest * total.error + total.most * nearest + 1
        distance = max(self.checks.value_error(third), far)
        return math.floor(distance + self.checks.comparison_error(third, queries)) + 1

    def error_quantile(self, beta: Number, *, queries: int, rows: int) -> Fraction:
        """Return a bound on the errors of all of the first ``queries`` answers, but for ``beta``.

        It is refused if the threshold is too low, or the updates too few, for a theorem.
        """
        updates = least_updates(self.cells, self.size)
        if self.checks.most_above < updates:
            raise InvalidArgument(
                "The machine might end before all queries are answered",
                must=f"allow for {updates} updates",
                got=f"most_above = {self.checks.most_above}",
            )
        least = self.least_threshold(beta, queries=queries, rows=rows)
        return answer_error(self.checks, beta, queries=queries, least=least)


def least_updates(cells: int, size: int) -> int:
    """Return one more than how often all small data sets can be halved.

    Example:
        >>> least_updates(2, 3)
        3
    """
    return number_of_databases(cells, size).bit_length()
