"""Private multiplicative weights: any number of queries, one by one, at one charge."""

import math
from fractions import Fraction
from typing import Self

from attrs import evolve, field, frozen

from discreet.core import check
from discreet.core.contribution import Contribution
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.event import ComposedEvent, Event
from discreet.core.loss import Approximate, Pure
from discreet.core.numbers import Number
from discreet.core.protocols import IntArray, Rng
from discreet.core.rounding import sqrt_up
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.query_release.guess_and_check import (
    GuessAndCheck,
    GuessAndCheckRun,
    open_with_total,
)
from discreet.mechanisms.query_release.public_weights import PublicWeights, first_entropy
from discreet.mechanisms.query_release.row_total import (
    RowTotal,
    row_total_of,
    total_bound,
    total_events,
)
from discreet.mechanisms.thresholds.sparse_vector import SparseVector

TOTAL_SHARE = Fraction(1, 10)
"""The part of ε that the number of rows gets, where it is measured."""


@frozen(kw_only=True)
class PrivateMultiplicativeWeights:
    r"""Answer queries one by one from weights over the universe, and measure only where they err.

    It is :class:`~discreet.mechanisms.query_release.guess_and_check.GuessAndCheck` with a guess
    that learns by multiplicative weights [HR10; DR14, section 4.2]. Nobody has to know the
    queries beforehand: each may depend on all answers before it.

    Guarantee:
        The loss of ``checks``, and of one noisy count if the total is measured. The proof stands
        there: the weights are a function of public answers alone.

        The published form has shares of a known number of rows [HR10]. Here that number is private,
        so counts are compared with counts, and the weights add up to a public total.

    Assumes:
        As :class:`~discreet.mechanisms.query_release.guess_and_check.GuessAndCheck`; the universe
        is public and enumerated.

    Utility:
        ``error_quantile``: if ``threshold`` is at least ``least_threshold``, the machine does not
        end by itself, and all answers are within the bound, with probability :math:`1 - \beta`.

    Example:
        >>> one = Contribution(l1=1)
        >>> machine = PrivateMultiplicativeWeights.calibrate(
        ...     cells=32, d_in=one, loss=Pure(1), rows=200_000, updates=10, queries=10_000,
        ...     beta="0.05",
        ... )
        >>> machine.error_quantile("0.05", queries=10_000, rows=200_000) < 90_000
        True
        >>> import numpy as np
        >>> from discreet import SystemRng
        >>> run = machine.open(np.full(32, 6000), d_in=one, rng=SystemRng())
        >>> abs(run.ask(np.array([1, 0] * 16)).value - 96_000) < 20_000
        True
        >>> run.guess.histogram.shape  # the weights as they are now, which are public
        (32,)
    """

    checks: GuessAndCheck
    cells: int = field(converter=check.whole, validator=check.positive)
    total: RowTotal = field(converter=row_total_of)

    @classmethod
    def calibrate(
        cls,
        *,
        cells: int,
        d_in: Contribution,
        loss: Pure | Approximate,
        rows: int,
        updates: int,
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
        total, rest = shared_total(loss, d_in, rows=rows, is_declared=is_declared)
        checks = GuessAndCheck.calibrate(
            d_in=d_in, loss=rest, most_above=updates, threshold=1, lower=lower, upper=upper
        )
        first = cls(checks=checks, cells=cells, total=total)
        threshold = first.least_threshold(beta, queries=queries, rows=rows)
        return evolve(first, checks=evolve(checks, threshold=threshold))

    def event(self, d_in: Contribution) -> Event:
        """Describe the whole life of one machine; ``d_in`` is how one unit moves the histogram."""
        return ComposedEvent.of([*total_events(self.total, d_in), self.checks.event(d_in)])

    def open(
        self, histogram: IntArray, *, d_in: Contribution, rng: Rng
    ) -> GuessAndCheckRun[PublicWeights]:
        """Return a machine in its first state. The gate already holds the loss of its event."""

        def guess(total: int) -> PublicWeights:
            return PublicWeights(cells=self.cells, total=total, width=self.checks.width)

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
        r"""Return the least threshold at which fewer than ``most_above`` updates are ever made.

        Let :math:`\alpha_1, \alpha_2, \alpha_3` bound the errors of comparisons, measurements and
        the total :math:`\hat n`, each but for a third of :math:`\beta`. Compare with the truth
        scaled to :math:`\hat n`, which moves answers by :math:`w\alpha_3` at most. At an update
        with threshold :math:`T` the guess is off by at least
        :math:`d = T - \alpha_1 - w\alpha_3 - 1` (1 is for rounding), and the measurement by at most
        :math:`e = \alpha_2 + w\alpha_3`. By the lemma of ``PublicWeights`` each update takes
        :math:`2(d^2 - e^2)/(\hat n R)^2` from an entropy of at most :math:`\ln N`; so if
        :math:`d^2 > e^2 + (\hat n R)^2 \ln N/(2c)` there are fewer than :math:`c` updates [HR10].
        """
        third = check.level(beta) / 3
        size = self.cells * self.checks.largest
        total = total_bound(self.total, third, rows=rows, size=size)
        drift = self.checks.largest * total.error
        error = self.checks.value_error(third) + drift
        learning = (total.most * self.checks.width) ** 2 * first_entropy(self.cells)
        distance = sqrt_up(error**2 + learning / (2 * self.checks.most_above))
        comparison = self.checks.comparison_error(third, queries)
        return math.floor(distance + comparison + drift + 1) + 1

    def error_quantile(self, beta: Number, *, queries: int, rows: int) -> Fraction:
        """Return a bound on the errors of all of the first ``queries`` answers, but for ``beta``.

        It is refused if the threshold is too low for a theorem.
        """
        least = self.least_threshold(beta, queries=queries, rows=rows)
        return answer_error(self.checks, beta, queries=queries, least=least)


def answer_error(checks: GuessAndCheck, beta: Number, *, queries: int, least: int) -> Fraction:
    """Return the error of all answers, if the threshold is at least ``least``; refuse if not."""
    if checks.threshold < least:
        raise InvalidArgument(
            "The machine might end before all queries are answered",
            must=f"have a threshold of at least {least} for this bound",
            got=f"threshold = {checks.threshold}",
            next="Raise the threshold, or the number of updates",
        )
    limit = checks.vector.most_queries if isinstance(checks.vector, SparseVector) else None
    if limit is not None and limit < check.whole(queries):
        raise InvalidArgument(
            "The machine ends before so many queries",
            must=f"be asked at most {limit}",
            got=f"queries = {queries}",
        )
    third = check.level(beta) / 3
    return max(
        checks.threshold + checks.comparison_error(third, queries), checks.value_error(third)
    )


def shared_total(
    loss: Pure | Approximate, d_in: Contribution, *, rows: int, is_declared: bool
) -> tuple[RowTotal, Pure | Approximate]:
    """Return the total, declared or with its noise, and what is left of the loss.

    Example:
        >>> shared_total(Pure(1), Contribution(l1=2), rows=50, is_declared=False)
        (DiscreteLaplace(scale=Fraction(20, 1)), Pure(ε = 0.9))
    """
    if not isinstance(loss, Pure | Approximate):
        raise Unsupported(
            "A machine that guesses cannot be calibrated to this measure",
            must="be pure or approximate",
            got=type(loss).__name__,
        )
    if is_declared:
        return row_total_of(rows), loss
    part = loss.epsilon * TOTAL_SHARE
    row = Contribution(l0=1, linf=d_in.bound("l1"), metric=d_in.metric)
    return DiscreteLaplace.calibrate(d_in=row, loss=Pure(part)), evolve(
        loss, epsilon=loss.epsilon - part
    )
