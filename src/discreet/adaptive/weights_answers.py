"""Answers from weights over a small universe, which learn from the holdout only where they err."""

from fractions import Fraction
from functools import cached_property

from attrs import field, frozen

from discreet.adaptive.guarantee import ROUNDING, PopulationGuarantee
from discreet.adaptive.transfer import PosteriorTransfer, SampleAccuracy
from discreet.core import check
from discreet.core.contribution import Contribution
from discreet.core.loss import Approximate, Pure
from discreet.core.numbers import Number, exact
from discreet.core.rounding import log_up, short_up, sqrt_up
from discreet.mechanisms.query_release.private_weights import PrivateMultiplicativeWeights
from discreet.mechanisms.query_release.row_total import LARGEST_GUESS

UNITS = 1 << 12
"""Values of a question are rounded to so many parts of its range."""

ONE_CHANGED = Contribution(l1=1)
"""How far a replaced row moves an answer: coefficients are not negative, so by one of them."""

EXACT = "universe/exact"
"""The method of exact answers about a small universe."""

MOST_QUESTIONS = 10**18
"""Exact answers have no end; a promise has a number."""

_LOSSES = tuple(Fraction(part, 64) for part in (1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96))
_UPDATES = tuple(2**place for place in range(1, 12))
_PARTS = (Fraction(1, 100), Fraction(1, 1000))


@frozen(kw_only=True)
class WeightsAnswers:
    r"""Answers to any question about a universe of few elements, by multiplicative weights.

    Guarantee:
        Each row is one of ``cells`` elements. A question is a value for each element, and its sum
        over rows a query with coefficients between 0 and ``UNITS``. If a row is replaced, one
        coefficient takes the place of another, so the sum moves by ``UNITS`` at most; the number of
        rows stays and is public. So private multiplicative weights are :math:`\varepsilon`-DP for
        all questions together, however they are chosen, and within their ``error_quantile`` of the
        sample [HR10]; :class:`~discreet.adaptive.transfer.PosteriorTransfer` does the rest.
    """

    rows: int
    questions: int
    epsilon: Fraction = field(converter=exact, validator=check.positive)
    machine: PrivateMultiplicativeWeights
    sample_beta: Fraction

    @cached_property
    def sample_accuracy(self) -> SampleAccuracy:
        """What all answers are within, of the sample; rounding is in it."""
        error = self.machine.error_quantile(
            self.sample_beta, queries=self.questions, rows=self.rows
        )
        return SampleAccuracy(
            error / (UNITS * self.rows) + ROUNDING + Fraction(1, 2 * UNITS), self.sample_beta
        )

    def alpha(self, beta: Fraction) -> Fraction:
        """Return what all answers are within, of the population, but for ``beta``."""
        found = PosteriorTransfer().alpha(
            self.sample_accuracy, Approximate(self.epsilon, 0), beta=beta, rows=self.rows
        )
        assert found is not None
        return found


@frozen(kw_only=True)
class WeightsGuarantee(PopulationGuarantee):
    """What multiplicative weights promise for a universe of few elements.

    Attributes:
        answers: The machine that keeps the promise.
    """

    answers: WeightsAnswers

    def __str__(self) -> str:
        return f"{super().__str__()}, for a universe of {self.answers.machine.cells:,} elements"


def weights_guarantee(
    *, rows: int, questions: int, cells: int, beta: Number
) -> WeightsGuarantee | None:
    """Return what multiplicative weights promise, with the best loss and number of updates.

    None if it is less than that answers are in their range, or rows times elements are too many.

    Example:
        >>> print(weights_guarantee(rows=10**6, questions=10**12, cells=16, beta="0.05"))
        1,000,000,000,000 adaptive answers from 1,000,000 rows are within 0.3...
    """
    wanted, size = check.level(beta), check.at_least_one(rows, "rows")
    count, universe = check.at_least_one(questions, "questions"), check.at_least_one(cells, "cells")
    if size * universe * UNITS > LARGEST_GUESS:
        return None  # the weights could not be kept exactly enough
    found = None
    for part in _PARTS:
        found_here = _best_of(size, count, universe, wanted * part)
        if found is None or found_here.alpha(wanted) < found.alpha(wanted):
            found = found_here
    assert found is not None
    alpha = short_up(found.alpha(wanted))
    if alpha >= 1:
        return None
    return WeightsGuarantee(
        method="weights/posterior",
        rows=size,
        questions=count,
        alpha=alpha,
        beta=wanted,
        noise=None,
        source="[HR10], " + PosteriorTransfer.source,
        answers=found,
    )


def uniform_guarantee(*, rows: int, cells: int, beta: Number) -> PopulationGuarantee | None:
    r"""Return what exact answers promise about a universe that is small for so many rows.

    Guarantee:
        A function with values in [0, 1] is a mean of indicators of sets, of which a universe of
        :math:`N` elements has :math:`2^N`. By Hoeffding's inequality and the union bound the shares
        of all of them, and so all means, are within :math:`\sqrt{\ln(2 \cdot 2^N/\beta)/(2n)}` of
        the population, but for :math:`\beta`: whatever is asked, and how often.

    Example:
        >>> round(float(uniform_guarantee(rows=10**6, cells=16, beta="0.05").alpha), 4)
        0.0027
    """
    wanted, size = check.level(beta), check.at_least_one(rows, "rows")
    exponent = log_up(2 / wanted) + check.at_least_one(cells, "cells") * log_up(Fraction(2))
    alpha = sqrt_up(short_up(exponent / (2 * size))) + ROUNDING
    if alpha >= 1:
        return None
    return PopulationGuarantee(
        EXACT, size, MOST_QUESTIONS, alpha, wanted, None, "Hoeffding's inequality for all sets"
    )


def _best_of(rows: int, questions: int, cells: int, sample_beta: Fraction) -> WeightsAnswers:
    """Return the answers with the least error of the sample and tilt together."""

    def made(epsilon: Fraction, updates: int) -> WeightsAnswers:
        machine = PrivateMultiplicativeWeights.calibrate(
            cells=cells,
            d_in=ONE_CHANGED,
            loss=Pure(epsilon),
            rows=rows,
            updates=updates,
            queries=questions,
            beta=sample_beta,
            is_declared=True,
            lower=0,
            upper=UNITS,
        )
        return WeightsAnswers(
            rows=rows,
            questions=questions,
            epsilon=epsilon,
            machine=machine,
            sample_beta=sample_beta,
        )

    tried = (made(epsilon, updates) for epsilon in _LOSSES for updates in _UPDATES)
    return min(tried, key=lambda one: one.sample_accuracy.alpha + one.epsilon / 4)
