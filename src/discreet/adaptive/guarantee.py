"""What a reusable holdout promises: how far answers are from the population, and why."""

import math
from fractions import Fraction
from functools import cached_property

from attrs import field, frozen

from discreet.accounting.accounting_question import account
from discreet.adaptive.likely_split import likely_split
from discreet.adaptive.transfer import (
    THEOREMS,
    ExpectationTransfer,
    SampleAccuracy,
    TransferTheorem,
)
from discreet.core import check
from discreet.core.contribution import Contribution
from discreet.core.counted import counted
from discreet.core.loss import Approximate, Zcdp, short
from discreet.core.numbers import Number, exact
from discreet.core.rounding import log_up, short_up, sqrt_up
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian

STEPS = 1 << 20
"""Values of a question are rounded to so many parts of its range, so that noise is exact."""

ROUNDING = Fraction(1, STEPS)
"""What a value is off by at most, in steps of a range: half of one by rounding, and less than half
of one by floats, of which a declared range keeps 23 bits or more."""


@frozen
class PopulationGuarantee:
    """How far each of many adaptive answers is from the population at most.

    Attributes:
        method: What answers, and by which theorem: ``gaussian/posterior``.
        rows: How many independent rows (people) there are.
        questions: How many questions may be asked.
        alpha: What all answers are within.
        beta: The chance that one is not; None if ``alpha`` is an expectation.
        noise: What is added to sums of values in steps; None if nothing is.
        source: The theorem.
    """

    method: str
    rows: int
    questions: int
    alpha: Fraction
    beta: Fraction | None
    noise: DiscreteGaussian | None
    source: str

    def __str__(self) -> str:
        within = f"within {short(self.alpha)} of the population"
        if self.beta is None:
            how = "on average over samples, the worst included"
        else:
            how = f"but for a chance of {short(self.beta)}"
        answers = counted(self.questions, "adaptive answer")
        verb = "is" if self.questions == 1 else "are"
        return (
            f"{answers} from {counted(self.rows, 'row')} {verb} {within}, {how}"
            f" ({self.method}: {self.source})"
        )


@frozen
class GaussianAnswers:
    r"""Answers to adaptive questions with discrete Gaussian noise, one charge for all.

    Guarantee:
        A row moves the sum of values in steps by at most ``STEPS``, so
        :math:`k` answers are :math:`\rho`-zCDP for :math:`\rho = k\,\mathrm{STEPS}^2/(2\sigma^2)`,
        also where questions depend on earlier answers [Ste16, lemma 2.1.7; CKS20, theorem 4].

    Example:
        >>> answers = GaussianAnswers.with_loss(rows=10_000, questions=100, rho="0.002")
        >>> round(float(answers.deviation), 4)
        0.0158
    """

    rows: int = field(converter=check.whole, validator=check.positive)
    questions: int = field(converter=check.whole, validator=check.positive)
    noise: DiscreteGaussian

    @classmethod
    def with_loss(cls, *, rows: int, questions: int, rho: Number) -> "GaussianAnswers":
        """Return what spends ρ on all questions together."""
        distance = Contribution(l2_squared=questions * STEPS**2)
        return cls(
            rows, questions, DiscreteGaussian.calibrate(d_in=distance, loss=Zcdp(exact(rho)))
        )

    @cached_property
    def loss(self) -> Zcdp:
        """What all answers tell together, if one row is replaced."""
        return self.noise.loss(Contribution(l2_squared=self.questions * STEPS**2))

    @cached_property
    def deviation(self) -> Fraction:
        """The standard deviation of the noise of one answer, rounded up."""
        return short_up(self.noise.spread / (STEPS * self.rows))

    def sample_accuracy(self, beta: Fraction) -> SampleAccuracy:
        """Return what all answers are within, of the sample; rounding to steps is in it."""
        largest = self.noise.error_quantile(beta / self.questions)
        return SampleAccuracy(largest / (STEPS * self.rows) + ROUNDING, beta)

    def expected_error(self) -> Fraction:
        r"""Return a bound of the expected largest error of the sample.

        The noise is sub-Gaussian with variance :math:`\sigma^2`, so the largest of :math:`k` has
        an expected size of at most :math:`\sigma\sqrt{2\ln 2k}`.
        """
        spread = self.deviation * sqrt_up(2 * log_up(Fraction(2 * self.questions)))
        return short_up(spread + ROUNDING)

    def stability(self, delta: Fraction) -> Approximate:
        """Return the loss of all answers at a δ."""
        one = self.noise.event(Contribution(l0=1, linf=STEPS))
        found = account(one * self.questions, delta=delta, measure="gaussian").loss
        assert isinstance(found, Approximate)
        return found


def gaussian_guarantee(
    *, rows: int, questions: int, beta: Number, theorem: TransferTheorem = THEOREMS[0]
) -> PopulationGuarantee | None:
    """Return what Gaussian answers promise with the noise that suits a theorem best.

    Floats look for the noise and for the parts of ``beta``; what is found is stated exactly.
    None if the theorem promises less than that answers are in their range.

    Example:
        >>> print(gaussian_guarantee(rows=200_000, questions=1_000, beta="0.05"))
        1,000 adaptive answers from 200,000 rows are within 0.05... of the population, ...
    """
    rows, questions = check.at_least_one(rows, "rows"), check.at_least_one(questions, "questions")
    wanted = check.level(beta)
    split = likely_split(rows, questions, float(wanted), theorem.name)
    if split is None:
        return None
    rho, part, delta = split
    answers = GaussianAnswers.with_loss(rows=rows, questions=questions, rho=rho)
    alpha = theorem.alpha(
        answers.sample_accuracy(part), answers.stability(delta), beta=wanted, rows=rows
    )
    if alpha is None or alpha >= 1:
        return None
    return PopulationGuarantee(
        f"gaussian/{theorem.name}", rows, questions, alpha, wanted, answers.noise, theorem.source
    )


def expected_guarantee(*, rows: int, questions: int) -> PopulationGuarantee:
    r"""Return what Gaussian answers promise on average, with the best noise.

    With :math:`\rho = k/(2n^2s^2)` the bound is :math:`s\sqrt{2\ln 2k} + \sqrt k/(2ns)`, which is
    least at :math:`s^2 = \sqrt k/(2n\sqrt{2\ln 2k})`: then both parts are equal.

    Example:
        >>> round(float(expected_guarantee(rows=10**6, questions=10**5).alpha), 4)
        0.0559
    """
    rows, questions = check.at_least_one(rows, "rows"), check.at_least_one(questions, "questions")
    spread = math.sqrt(math.sqrt(questions) / (2 * rows * math.sqrt(2 * math.log(2 * questions))))
    rho = exact(questions / (2 * rows**2 * spread**2))
    answers = GaussianAnswers.with_loss(rows=rows, questions=questions, rho=short_up(rho, 40))
    theorem = ExpectationTransfer()
    alpha = theorem.alpha(answers.expected_error(), answers.loss)
    return PopulationGuarantee(
        "gaussian/expectation", rows, questions, alpha, None, answers.noise, theorem.source
    )


def splitting_guarantee(*, rows: int, questions: int, beta: Number) -> PopulationGuarantee | None:
    r"""Return what fresh rows for each question promise.

    Guarantee:
        Each question is answered from :math:`m = \lfloor n/k\rfloor` rows that no earlier answer
        has used, so it was chosen without them. By Hoeffding's inequality and the union bound all
        answers are within :math:`\sqrt{\ln(2k/\beta)/(2m)}`, but for :math:`\beta`
        [Ste16, section 1.2.1].

    Example:
        >>> round(float(splitting_guarantee(rows=10**5, questions=10, beta="0.05").alpha), 4)
        0.0173
    """
    rows, questions = check.at_least_one(rows, "rows"), check.at_least_one(questions, "questions")
    wanted = check.level(beta)
    each = rows // questions
    if each < 1:
        return None
    alpha = _hoeffding(each, Fraction(questions), wanted)
    return PopulationGuarantee(
        "splitting", rows, questions, alpha, wanted, None, "Hoeffding's inequality"
    )


def fixed_guarantee(*, rows: int, questions: int, beta: Number) -> PopulationGuarantee:
    """Return what exact answers promise to questions that were all chosen before any answer.

    Example:
        >>> round(float(fixed_guarantee(rows=10**5, questions=10, beta="0.05").alpha), 4)
        0.0055
    """
    rows, questions = check.at_least_one(rows, "rows"), check.at_least_one(questions, "questions")
    wanted = check.level(beta)
    alpha = _hoeffding(rows, Fraction(questions), wanted)
    return PopulationGuarantee(
        "fixed beforehand", rows, questions, alpha, wanted, None, "Hoeffding's inequality"
    )


def guarantees(*, rows: int, questions: int, beta: Number) -> tuple[PopulationGuarantee, ...]:
    """Return what each way of answering adaptive questions promises, the best first.

    Example:
        >>> [one.method for one in guarantees(rows=200_000, questions=1_000, beta="0.05")]
        ['gaussian/posterior', 'splitting', 'gaussian/overfitting', 'gaussian/monitor']
        >>> [one.method for one in guarantees(rows=200_000, questions=4, beta="0.05")][0]
        'splitting'
    """
    rows, questions = check.at_least_one(rows, "rows"), check.at_least_one(questions, "questions")
    found = [
        splitting_guarantee(rows=rows, questions=questions, beta=beta),
        *(
            gaussian_guarantee(rows=rows, questions=questions, beta=beta, theorem=theorem)
            for theorem in THEOREMS
        ),
    ]
    useful = [one for one in found if one is not None and one.alpha < 1]
    return tuple(sorted(useful, key=lambda one: one.alpha))


def _hoeffding(rows: int, questions: Fraction, beta: Fraction) -> Fraction:
    """Return the error of means over so many rows; values are rounded to steps."""
    return sqrt_up(short_up(log_up(2 * questions / beta) / (2 * rows))) + ROUNDING
