"""Questions of several kinds in one holdout: means, values of a whole sample, and choices."""

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property

from attrs import field, frozen

from discreet.accounting.accounting_question import account
from discreet.adaptive.guarantee import ROUNDING, STEPS, PopulationGuarantee
from discreet.adaptive.transfer import PosteriorTransfer, SampleAccuracy
from discreet.core import check
from discreet.core.contribution import Contribution
from discreet.core.counted import counted
from discreet.core.errors import InvalidArgument
from discreet.core.event import ComposedEvent, Event
from discreet.core.loss import Approximate, Zcdp, short
from discreet.core.numbers import Number, exact
from discreet.core.rounding import short_up
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.selection.exponential_mechanism import ExponentialMechanism

SLACK = 1 + Fraction(1, 2**40)
"""A sensitivity may be above the declared one by this factor: people write it as a float."""

CHOICE_WIDTH = Fraction(2)
"""The difference of two losses has a range that is twice as wide as that of a loss."""


@frozen(kw_only=True)
class QuestionMix:
    """How many questions of each kind a holdout is made for.

    Attributes:
        means: How many ask for the mean of a function of one row.
        values: How many ask for a value that depends on all rows at once, such as an AUC.
        value_width: The most that those may have of *rows times sensitivity over range*. It is 1
            for a mean. A row of the rarer class moves an AUC by 1 over the size of that class, so
            its width is the number of rows over that size.
        choices: How many ask for the best of some choices.
        candidates: How many choices there are at most.

    Example:
        >>> print(QuestionMix(means=100, values=5, value_width=4, choices=3, candidates=20))
        100 means, 5 values (width 4), 3 choices of 20
    """

    means: int = field(default=0, converter=check.whole, validator=check.non_negative)
    values: int = field(default=0, converter=check.whole, validator=check.non_negative)
    value_width: Fraction = field(default=Fraction(1), converter=exact)
    choices: int = field(default=0, converter=check.whole, validator=check.non_negative)
    candidates: int = field(default=2, converter=check.whole)

    def __attrs_post_init__(self) -> None:
        if self.total < 1:
            raise InvalidArgument("A mix has no questions", must="have at least one", got="0")
        if self.value_width < 1:
            raise InvalidArgument(
                "A width is too small",
                must="be at least 1: a value that fills its range is moved by all rows together",
                got=str(self.value_width),
            )
        if self.candidates < 2:
            raise InvalidArgument(
                "There is nothing to choose", must="have 2 candidates", got=str(self.candidates)
            )

    @property
    def total(self) -> int:
        """How many questions there are."""
        return self.means + self.values + self.choices

    @property
    def by_kind(self) -> dict[str, int]:
        """How many there are of each kind that occurs."""
        kinds = {"means": self.means, "values": self.values, "choices": self.choices}
        return {kind: count for kind, count in kinds.items() if count}

    def __str__(self) -> str:
        parts = [counted(self.means, "mean")] if self.means else []
        if self.values:
            parts.append(f"{counted(self.values, 'value')} (width {float(self.value_width):.3g})")
        if self.choices:
            parts.append(f"{counted(self.choices, 'choice')} of {self.candidates:,}")
        return ", ".join(parts)


@frozen(kw_only=True)
class MixedAnswers:
    r"""Gaussian means and values, and choices by the exponential mechanism, one loss for all.

    Guarantee:
        Let :math:`s` be the deviation of a mean's noise, in rows. A mean is moved by one row, a
        value by :math:`v` rows, with :math:`v` the width, and has noise :math:`vs`; the sum of a
        choice's loss is moved by one row, and the exponential mechanism has the scale :math:`s`.
        Each is :math:`1/(2s^2)`-zCDP [CKS20, theorem 4; CR21], so all questions cost the same, in
        any order. All together are composed by Rényi losses.

        *Each kind has its own promise, with an equal part of* :math:`\beta`. The answers to one
        kind are a part of the transcript, so the loss of all covers them, and the chances that a
        kind fails add up.

        *Means* are statistical questions. *Values* are questions of low sensitivity, of width
        :math:`v`. For both see :class:`~discreet.adaptive.transfer.PosteriorTransfer`.

        *Choices.* Let :math:`L(x, j)` be a mean over rows of losses in [0, 1], :math:`j` the
        answer, and :math:`i` the choice that is best for the population. The population is fixed,
        so :math:`i` depends on the question alone, and :math:`q(x) = L(x, j) - L(x, i)` on the
        transcript alone. It is the mean over rows of a value in [-1, 1]: a statistical question, 2
        wide. By how much the answer is worse than the best is :math:`q(P)`.

        *On the sample* :math:`q(S) \le L(S, j) - \min L(S, \cdot)`, which the mechanism keeps
        below :math:`\alpha_s` but for :math:`\beta_s`. As :math:`q \le 1`, its mean over samples
        that are as likely is at most :math:`\alpha_s + b(\pi)`, and :math:`b(\pi) \le c` but for
        :math:`\beta_s/c`.

        *From there to the population.* Without a :math:`\delta`: given the transcript, the law of
        a row has a density :math:`r` in the population, with a mean of 1, whose values differ by a
        factor :math:`e^\varepsilon` at most, because the chance of the transcript does if the row
        is replaced. For a value :math:`g` in an interval of length :math:`w`, :math:`E[g] - E[gr]`
        is largest if :math:`g` takes its ends alone, and :math:`r` is as small as possible where
        :math:`g` is large: on a part :math:`f` of the population. Then it is
        :math:`wf(1 - f)(e^\varepsilon - 1)/(f + (1 - f)e^\varepsilon)`, which is at most
        :math:`w\tanh(\varepsilon/4)`. So :math:`q(P) \le \alpha_s + c + 2\tanh(\varepsilon/4)`.
        With a :math:`\delta` it is the proof for statistical questions, of one side, for
        :math:`w = 2`.

        The formula of two sides is used, with :math:`cw` and :math:`d = 2w\delta`; that is a
        little more than this proof needs. Linear programs find no private mechanism that passes
        the tilt, and one that attains it (in the tests). The rule of [Ste16, theorem 3.5.1], an
        error that a row moves by :math:`2\Delta`, has :math:`2\tanh(\varepsilon/2)` instead, and
        holds for losses that are no means, too.
    """

    rows: int
    mix: QuestionMix
    rho_each: Fraction = field(converter=exact, validator=check.positive)

    @cached_property
    def mean_noise(self) -> DiscreteGaussian:
        """What is added to a sum of values in steps."""
        return self._gaussian(self._mean_step)

    @cached_property
    def value_noise(self) -> DiscreteGaussian:
        """What is added to a value in steps over rows."""
        return self._gaussian(self._value_step)

    @cached_property
    def choice(self) -> ExponentialMechanism:
        """What chooses by sums of losses in steps."""
        return ExponentialMechanism.calibrate(d_in=self._mean_step, loss=Zcdp(self.rho_each))

    def alphas(
        self, *, beta: Fraction, sample_beta: Fraction, delta: Fraction
    ) -> dict[str, Fraction]:
        """Return what the answers of each kind are within, as a share of their range."""
        stable = self.stability(delta)
        part = beta / len(self.mix.by_kind)
        found = {}
        for kind in self.mix.by_kind:
            theorem = PosteriorTransfer(is_statistical=kind != "values")
            sample = SampleAccuracy(self._sample_error(kind, sample_beta), sample_beta)
            alpha = theorem.alpha(
                sample, stable, beta=part, rows=self.rows, width=_width(self.mix, kind)
            )
            assert alpha is not None
            found[kind] = alpha
        return found

    def stability(self, delta: Fraction) -> Approximate:
        """Return the loss of all answers at a δ."""
        events: list[Event] = []
        if self.mix.means:
            events.append(self.mean_noise.event(self._mean_step) * self.mix.means)
        if self.mix.values:
            events.append(self.value_noise.event(self._value_step) * self.mix.values)
        if self.mix.choices:
            events.append(self.choice.event(self._mean_step) * self.mix.choices)
        found = account(ComposedEvent.of(events), delta=delta, measure="rdp").loss
        assert isinstance(found, Approximate)
        return found

    def _sample_error(self, kind: str, beta: Fraction) -> Fraction:
        unit, each = STEPS * self.rows, beta / self.mix.by_kind[kind]
        if kind == "means":
            return self.mean_noise.error_quantile(each) / unit + ROUNDING
        if kind == "values":
            return (self.value_noise.error_quantile(each) + Fraction(1, 2)) / unit
        gap = self.choice.error_quantile(each, candidates=self.mix.candidates)
        # Both losses that are compared were rounded to steps.
        return gap / unit + Fraction(1, STEPS)

    @property
    def _mean_step(self) -> Contribution:
        return Contribution(l0=1, linf=STEPS)

    @property
    def _value_step(self) -> Contribution:
        # Rounding to whole steps may add one to how far a value moves.
        return Contribution(l0=1, linf=math.ceil(self.mix.value_width * SLACK * STEPS) + 1)

    def _gaussian(self, step: Contribution) -> DiscreteGaussian:
        return DiscreteGaussian.calibrate(d_in=step, loss=Zcdp(self.rho_each))


@frozen(kw_only=True)
class MixedGuarantee(PopulationGuarantee):
    """What a holdout for several kinds of questions promises; ``alpha`` is the largest of them.

    Attributes:
        answers: The mechanisms that keep the promise, and the mix that it was made for.
        alphas: What the answers of each kind are within, as a share of their range.
    """

    answers: MixedAnswers
    alphas: dict[str, Fraction]

    def __str__(self) -> str:
        kinds = ", ".join(f"{kind} within {short(alpha)}" for kind, alpha in self.alphas.items())
        assert self.beta is not None
        return (
            f"{self.answers.mix} from {self.rows:,} rows: {kinds} of the population, but for a "
            f"chance of {short(self.beta)} of all ({self.method}: {self.source})"
        )


def mixed_guarantee(*, rows: int, mix: QuestionMix, beta: Number) -> MixedGuarantee | None:
    """Return what a holdout promises for a mix of questions, with the noise that suits it best.

    Floats look for the noise that makes the largest error of any kind least; what is found is
    stated exactly. None if a kind has an error of 1 or more.

    Example:
        >>> mix = QuestionMix(means=100, values=5, value_width=2, choices=3, candidates=50)
        >>> found = mixed_guarantee(rows=200_000, mix=mix, beta="0.05")
        >>> {kind: round(float(alpha), 3) for kind, alpha in found.alphas.items()}
        {'means': 0.034, 'values': 0.088, 'choices': 0.094}
    """
    wanted, size = check.level(beta), check.at_least_one(rows, "rows")
    _, spread, part = min(_likely_mixes(size, mix, float(wanted)))
    answers = MixedAnswers(rows=size, mix=mix, rho_each=short_up(exact(0.5 / spread**2), 30))
    half = short_up(exact(part), 30)
    alphas = answers.alphas(beta=wanted, sample_beta=half, delta=half / 2)
    if max(alphas.values()) >= 1:
        return None
    theorem = PosteriorTransfer()
    return MixedGuarantee(
        method=f"mixed/{theorem.name}",
        rows=size,
        questions=mix.total,
        alpha=max(alphas.values()),
        beta=wanted,
        noise=answers.mean_noise,
        source=theorem.source,
        answers=answers,
        alphas=alphas,
    )


def _width(mix: QuestionMix, kind: str) -> Fraction:
    return {"means": Fraction(1), "values": mix.value_width * SLACK, "choices": CHOICE_WIDTH}[kind]


def _likely_mixes(rows: int, mix: QuestionMix, beta: float) -> Iterator[tuple[float, float, float]]:
    """Give the likely largest error, the deviation in rows, and the chance of a larger one."""
    share = beta / len(mix.by_kind)
    for part in (beta * 10 ** (-place / 2) for place in range(2, 14)):
        for place in range(-8, 80):
            spread = 10 ** (place / 10)
            rho = mix.total / (2 * spread**2)
            epsilon = rho + 2 * math.sqrt(rho * math.log(2 / part))
            worst = 0.0
            for kind, count in mix.by_kind.items():
                width = float(_width(mix, kind))
                if kind == "choices":
                    sample = spread * math.log(mix.candidates * count / part) / rows
                else:
                    sample = width * spread * math.sqrt(2 * math.log(2 * count / part)) / rows
                tilt = math.tanh(epsilon / (2 if kind == "values" else 4))
                worst = max(worst, sample + width * (tilt + 4 * part / share))
            yield worst, spread, part
