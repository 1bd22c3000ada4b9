"""Answers from training rows, corrected from a holdout only where they overfit: Thresholdout."""

import math
from collections.abc import Iterator
from decimal import ROUND_FLOOR
from fractions import Fraction
from functools import cached_property

from attrs import field, frozen

from discreet.accounting.accounting_question import account
from discreet.adaptive.guarantee import ROUNDING, STEPS, PopulationGuarantee
from discreet.adaptive.transfer import PosteriorTransfer, SampleAccuracy
from discreet.core import check
from discreet.core.contribution import Contribution
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Approximate, Pure, short
from discreet.core.numbers import Number, exact
from discreet.core.rounding import log_up, short_up, sqrt_up
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.thresholds.numeric_sparse import NumericSparse
from discreet.mechanisms.thresholds.sparse_vector import Redraw, SparseVector

ONE_ROW = Contribution(l0=1, linf=STEPS)
"""How far the replacement of one row moves a sum of values in steps."""

VALUE_RATIO = 2
"""How many times the noise of comparisons the values carry: then they err no more than those."""


@frozen
class SparseAnswers:
    r"""Answers that come from training rows, unless the holdout says otherwise.

    Guarantee:
        Let :math:`S` be the sum of a question's values over the :math:`n` rows of the holdout, in
        steps, and :math:`g` the training rows' mean, times :math:`n`. The training rows are others,
        so :math:`g` is public as far as the holdout is concerned, and one row of the holdout moves
        :math:`|S - g|` by ``STEPS`` at most. A sparse vector compares that with a threshold
        :math:`T`: below, the answer is :math:`g`; above, :math:`S` with noise, at most ``overfits``
        times. So the loss is that of ``NumericSparse``, and it does not grow with the number of
        questions. This is Thresholdout [DFH15], with constants of our own: exact noise, and the
        transfer theorem of :class:`~discreet.adaptive.transfer.PosteriorTransfer`.

        Let comparisons be right within :math:`a_1`, and values within :math:`a_2`, but for a chance
        of :math:`\beta_s` together. Then an answer is within :math:`\max(T + a_1, a_2)` of the
        sample's sum, whichever it was. With :math:`T = tn + a_1` a question whose training mean is
        within a tolerance :math:`t` of the holdout's mean is never found above; so it spends
        nothing.

    Assumes:
        No training row is in the holdout; all were there before the first question.
    """

    rows: int = field(converter=check.whole, validator=check.positive)
    questions: int = field(converter=check.whole, validator=check.positive)
    machine: NumericSparse
    tolerance: Fraction = field(converter=exact, validator=check.non_negative)
    sample_beta: Fraction = field(converter=exact, validator=check.positive)

    @property
    def overfits(self) -> int:
        """How many answers may come from the holdout."""
        return self.machine.vector.most_above

    @cached_property
    def threshold(self) -> int:
        """From where on a training answer counts as overfitted, in steps of a sum."""
        room = self.tolerance * self.rows * STEPS
        return math.ceil(room + self._comparison_error)

    @cached_property
    def sample_accuracy(self) -> SampleAccuracy:
        """What all answers are within, of the sample; rounding to steps is in it."""
        value = self.machine.value_noise.error_quantile(self.sample_beta / 2 / self.overfits)
        largest = max(self.threshold + self._comparison_error, value)
        return SampleAccuracy(largest / (STEPS * self.rows) + ROUNDING, self.sample_beta)

    @cached_property
    def _comparison_error(self) -> Fraction:
        return self.machine.vector.error_quantile(self.sample_beta / 2, queries=self.questions)

    def stability(self, delta: Fraction) -> Approximate:
        """Return the loss of all answers at a δ; at 0 it is the pure loss."""
        event = self.machine.event(ONE_ROW)
        found = account(event, delta=delta, measure="mv" if delta else "basic").loss
        assert isinstance(found, Approximate | Pure)
        return Approximate(found.epsilon, delta)


@frozen(kw_only=True)
class SparseGuarantee(PopulationGuarantee):
    """What Thresholdout promises, until so many answers have overfitted.

    Attributes:
        answers: The machine that keeps the promise, with its tolerance and its budget.
    """

    answers: SparseAnswers

    def __str__(self) -> str:
        return (
            f"{super().__str__()}, until {self.answers.overfits:,} answers from training rows were"
            f" off; one within "
            f"{short(self.answers.tolerance, rounding=ROUND_FLOOR)} of the holdout never is"
        )


def sparse_guarantee(
    *,
    rows: int,
    questions: int,
    overfits: int,
    beta: Number,
    tolerance: Number | None = None,
    training: int | None = None,
) -> SparseGuarantee | None:
    r"""Return what answers from training rows promise, if a holdout corrects those that overfit.

    Args:
        rows: How many rows the holdout has.
        questions: How many questions may be asked at most.
        overfits: How many answers may be corrected; after that the holdout is used up.
        beta: The chance that some answer is farther off than promised.
        tolerance: How far a training answer may be from the holdout without a correction, as a
            share of the range. Without one it is what two means of fixed questions differ by.
        training: How many training rows there are; as many as in the holdout, if not given.

    Floats look for the noise; what is found is stated exactly. None if it promises less than that
    answers are in their range.

    Example:
        >>> print(sparse_guarantee(rows=200_000, questions=10**6, overfits=10, beta="0.05"))
        1,000,000 adaptive answers from 200,000 rows are within 0.1...
    """
    wanted, limit = check.level(beta), check.at_least_one(overfits, "overfits")
    count, size = check.at_least_one(questions, "questions"), check.at_least_one(rows, "rows")
    limit = min(limit, count)
    other = size if training is None else check.at_least_one(training, "training")
    room = _usual_difference(size, other, count, wanted) if tolerance is None else exact(tolerance)
    if not 0 <= room < 1:
        raise InvalidArgument(
            "A tolerance is out of range", must="be at least 0 and below 1", got=str(room)
        )
    found = [_promise(size, count, limit, room, wanted, is_redrawn) for is_redrawn in (False, True)]
    best = min(found, key=lambda one: one.alpha)
    return best if best.alpha < 1 else None


def _usual_difference(rows: int, training: int, questions: int, beta: Fraction) -> Fraction:
    """Return what the means of all questions differ by at most, if none depends on any answer."""
    spread = log_up(4 * questions / beta) / 2
    parts = sqrt_up(short_up(spread / rows)) + sqrt_up(short_up(spread / training))
    return min(short_up(parts, 20), Fraction(1, 2))


def _promise(
    rows: int, questions: int, overfits: int, tolerance: Fraction, beta: Fraction, is_redrawn: bool
) -> SparseGuarantee:
    """Return the promise with the noise that floats find best, stated exactly."""
    _, scale, part = min(_likely(rows, questions, overfits, float(beta), is_redrawn))
    machine = _machine(scale, questions, overfits, is_redrawn)
    answers = SparseAnswers(rows, questions, machine, tolerance, short_up(exact(part), 30))
    delta = answers.sample_beta / 2 if is_redrawn else Fraction(0)
    theorem = PosteriorTransfer()
    alpha = theorem.alpha(answers.sample_accuracy, answers.stability(delta), beta=beta, rows=rows)
    assert alpha is not None
    return SparseGuarantee(
        method=f"sparse/{theorem.name}",
        rows=rows,
        questions=questions,
        alpha=alpha,
        beta=beta,
        noise=None,
        source="[DFH15], " + theorem.source,
        answers=answers,
    )


def _likely(
    rows: int, questions: int, overfits: int, beta: float, is_redrawn: bool
) -> Iterator[tuple[float, float, float]]:
    """Give the likely error, the scale in rows, and the chance of a wrong comparison."""
    times = overfits if is_redrawn else 1
    for part in (beta * 10 ** (-place / 2) for place in range(2, 14)):
        few, many = math.log(4 * times / part), math.log(4 * questions / part)
        for place in range(-24, 80):
            scale = 10 ** (place / 8)
            first = _first_scale(scale, few, many, overfits, is_redrawn)
            epsilon = times / first + overfits * (2 + 1 / VALUE_RATIO) / scale
            if is_redrawn:
                one = epsilon / overfits
                spread = one * math.sqrt(2 * overfits * math.log(2 / part))
                epsilon = min(epsilon, overfits * one * one / 2 + spread)
            split = (4 if is_redrawn else 1) * part / beta
            error = 2 * (first * few + scale * many) / rows + math.tanh(epsilon / 4) + split
            yield error, scale, part


def _first_scale(scale: float, few: float, many: float, overfits: int, is_redrawn: bool) -> float:
    """Return the scale of the threshold's noise that suits that of the queries.

    The least sum of scales times quantiles at a given loss has scales as the roots of loss over
    quantile.
    """
    return scale * math.sqrt(many / (few * 2 * (1 if is_redrawn else overfits)))


def _machine(scale: float, questions: int, overfits: int, is_redrawn: bool) -> NumericSparse:
    # The quantiles only set a ratio here, so a fixed chance is near enough.
    few, many = math.log(4e4 * (overfits if is_redrawn else 1)), math.log(4e4 * questions)
    first = _first_scale(scale, few, many, overfits, is_redrawn)
    vector = SparseVector(
        threshold_noise=_laplace(first),
        query_noise=_laplace(scale),
        most_above=overfits,
        most_queries=questions,
        redraw=Redraw.AFTER_ABOVE if is_redrawn else Redraw.NEVER,
    )
    return NumericSparse(vector=vector, value_noise=_laplace(VALUE_RATIO * scale))


def _laplace(scale: float) -> DiscreteLaplace:
    return DiscreteLaplace(scale=short_up(exact(scale * STEPS), 24))
