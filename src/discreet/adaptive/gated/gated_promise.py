"""What a holdout of a declared table promises, whatever else is told of its people."""

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache

from attrs import evolve, field, frozen

from discreet.accounting.accounting_question import account
from discreet.accounting.conversions.convert import convert
from discreet.accounting.losses.group import group
from discreet.adaptive.guarantee import ROUNDING, STEPS
from discreet.adaptive.question_mix import CHOICE_WIDTH, QuestionMix
from discreet.adaptive.transfer import PosteriorTransfer, SampleAccuracy
from discreet.core import check
from discreet.core.contribution import Contribution
from discreet.core.counted import counted
from discreet.core.errors import Unsupported
from discreet.core.event import ComposedEvent, Event
from discreet.core.loss import Approximate, ApproximateZcdp, PrivacyLoss, Pure, Zcdp
from discreet.core.numbers import exact
from discreet.core.protocols import IntArray, Rng
from discreet.core.rounding import short_up
from discreet.core.unit_words import A_UNIT, UNITS
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.noise_json import Noise
from discreet.mechanisms.selection.exponential_mechanism import ExponentialMechanism
from discreet.mechanisms.selection.scores import Scores
from discreet.project.charged import charged
from discreet.project.noise import require_samplable

ONE_PERSON = Contribution(l0=1, linf=STEPS)
"""How far a person moves a sum of shares in steps: added, removed or replaced."""

ONE_COUNTED = Contribution(l0=1, linf=1)

MOST_LEVELS = 40
"""From so many doublings of what is told besides, nothing is promised."""

FIRST_LEVEL = Fraction(1, 8)
"""The first level allows for as much as this part of the holdout's own price."""

FIRST_DELTA = Fraction(1, 10**9)

COUNT_PART = Fraction(1, 8)
"""The part of β that the noisy number of people may fail with."""

_PARTS = tuple(Fraction(1, 10**place) for place in (2, 3, 4)) + tuple(
    Fraction(1, 3 * 10**place) for place in (1, 2, 3)
)


@frozen(kw_only=True)
class GatedAnswers:
    r"""A noisy number of people, and noisy sums over them: their loss, and what they are within.

    Guarantee:
        Let :math:`n` people be independent draws from a population, :math:`C = n + Z_c` their noisy
        number, and :math:`S` the sum of a value in [0, 1] over them. The answer
        :math:`(S + Z)/C`, cut to [0, 1], is within :math:`(|Z| + |Z_c|)/C` of :math:`S/n`, because
        :math:`(S + Z)/C - S/n = (Z - Z_c S/n)/C`. If a person is *replaced*, :math:`n` stays, so
        given :math:`n` and :math:`Z_c` the answers are a mechanism of their own, and
        :class:`~discreet.adaptive.transfer.PosteriorTransfer` holds for it. The chance that
        :math:`Z_c` is larger than is counted with is a part of :math:`\beta`.

        *What others are told of the same people counts.* Questions may depend on it. Let level
        :math:`l` be the first whose ceiling is not below all losses that the ledger had charged
        for these people besides, when an answer was given. Stop all that is told once the ceiling
        of :math:`l` would be passed: what is left is private with that ceiling and the holdout's
        own loss together, for charges are a filter, whoever makes them and however they are
        chosen. These are two mechanisms that are asked in turns, each time in view of what both
        have said: the holdout, with all its questions at once by a composition of its own, and the
        filter. What is proved of mechanisms that answer once holds for such ones as well, for
        ε [VW21] and for :math:`(\varepsilon, \delta)` [Lyu22; VZ23]: so their ε and δ add up.
        The answers of level :math:`l` hold but for :math:`\beta_l`, and
        :math:`\beta_l = \beta/2^{l+1}` adds up to :math:`\beta` over all levels. The ceilings are
        fixed by the holdout, and not by what happens.

        A budget is about a person who is added or removed. To replace one is a group of two, for
        the losses of others; the holdout's own sums move by one person's value either way.

        *Choices.* Let :math:`S_j` be the sum of the values of candidate :math:`j`. The exponential
        mechanism chooses one with :math:`S_j - \min S \le g`, but for :math:`\beta_s`, for all
        choices together; so its mean is within :math:`g/n` of the least, and
        :math:`n \ge C - |Z_c|`. From the people to their population it is a question that is 2
        wide, as :class:`~discreet.adaptive.question_mix.MixedAnswers` proves for means of losses:
        by how much the answer is worse than the candidate that is best for the population, which
        depends on the question alone. For the largest the same holds of one minus the values. Means
        and choices have an equal part of :math:`\beta`, and the loss of both together.

        *Who comes or goes moves all sums in one direction*, so the ledger is charged
        :math:`\Delta/s` in ε for a scale :math:`s` and values that are :math:`\Delta` wide. Who is
        *replaced* may raise one sum and lower another, and the promise counts :math:`2\Delta/s`.

    Assumes:
        The people of the table are independent draws. Nothing was computed from their rows but what
        the ledger knows, and nothing was published exactly.
    """

    mix: QuestionMix
    beta: Fraction = field(converter=exact)
    noise: Noise
    count_noise: Noise
    choice: ExponentialMechanism
    """What chooses by sums of values in steps, which rise if somebody comes."""
    cap: PrivacyLoss

    @classmethod
    def with_price(
        cls, *, questions: int | QuestionMix, beta: Fraction, price: Pure | Zcdp, cap: PrivacyLoss
    ) -> "GatedAnswers":
        """Return the answers that spend a price together: a number of people, and all questions."""
        mix = _mix(questions)
        share = price * Fraction(1, mix.total + 1)
        noise, people = (_calibrated(d_in, share) for d_in in (ONE_PERSON, ONE_COUNTED))
        choice = ExponentialMechanism.calibrate(d_in=ONE_PERSON, loss=share, scores=Scores.MONOTONE)
        return cls(mix=mix, beta=beta, noise=noise, count_noise=people, choice=choice, cap=cap)

    @property
    def questions(self) -> int:
        """How many there are of all kinds."""
        return self.mix.total

    def said(self) -> str:
        """Return in words what may be asked."""
        return str(self.mix) if self.mix.choices else counted(self.questions, "question")

    def chooser(self, *, is_largest: bool) -> "BestSum":
        """Return what chooses the candidate whose sum is the least, or the largest."""
        return BestSum(choice=self.choice, is_largest=is_largest)

    @property
    def event(self) -> Event:
        """One answer."""
        return self.noise.event(ONE_PERSON)

    @property
    def count_event(self) -> Event:
        """The number of people."""
        return self.count_noise.event(ONE_COUNTED)

    @property
    def choice_event(self) -> Event:
        """One choice, if somebody comes or goes."""
        return self.choice.event(ONE_PERSON)

    @property
    def whole(self) -> PrivacyLoss:
        """What all of it costs, in the measure of the budget."""
        whole = charged(self.count_event, self.cap)
        if self.mix.means:
            whole = charged(self.event, self.cap) * self.mix.means + whole
        if self.mix.choices:
            whole = charged(self.choice_event, self.cap) * self.mix.choices + whole
        return whole

    def level(self, besides: PrivacyLoss | None) -> int | None:
        """Return the level of what was told besides; None if it is above all of them."""
        if besides is None or besides <= besides * 0:
            return 0
        levels = range(1, MOST_LEVELS)
        return next((one for one in levels if besides <= self.ceiling(one)), None)

    def ceiling(self, level: int) -> PrivacyLoss:
        """Return what a level from 1 on allows for."""
        base = self.whole * FIRST_LEVEL
        if isinstance(base, Approximate | ApproximateZcdp):
            base = evolve(base, delta=FIRST_DELTA)
        if isinstance(base, Zcdp | ApproximateZcdp):
            base = evolve(base, xi=base.rho)
        return base * Fraction(2) ** (level - 1)

    def reach(self, people: int, besides: PrivacyLoss | None, kind: str | None = None) -> Fraction:
        """Return what an answer of a kind is within, for a noisy number of people.

        It is a share of the range, and at least 1 where nothing is promised. Without a kind it is
        that of the one for which it is most.
        """
        if kind is None:
            return max(self.reach(people, besides, one) for one in self.mix.by_kind)
        level = self.level(besides)
        if level is None or people < 1:
            return Fraction(1)
        found = [
            PosteriorTransfer().alpha(
                self._sample(kind, part, level, people),
                stable,
                beta=self._level_beta(level) * (1 - COUNT_PART) / len(self.mix.by_kind),
                rows=people,
                width=CHOICE_WIDTH if kind == "choices" else Fraction(1),
            )
            for part, stable in _stabilities(self, level)
        ]
        return min((one for one in found if one is not None), default=Fraction(1))

    def count_error(self, level: int = 0) -> Fraction:
        """Return what the noisy number of people is within."""
        return exact(self.count_noise.error_quantile(self._level_beta(level) * COUNT_PART))

    def _level_beta(self, level: int) -> Fraction:
        return self.beta / (1 << (level + 1))

    def _sample(self, kind: str, part: Fraction, level: int, people: int) -> SampleAccuracy:
        count, each = self.count_error(level), part / self.mix.by_kind[kind]
        if kind == "means":
            noise = self.noise.error_quantile(each) / STEPS
            within = short_up((noise + count) / people) + ROUNDING
        elif people - count < 1:
            within = Fraction(1)
        else:
            gap = self.choice.error_quantile(each, candidates=self.mix.candidates) / STEPS
            # Both means that are compared were rounded to steps.
            within = short_up(gap / (people - count)) + 2 * ROUNDING
        return SampleAccuracy(min(Fraction(1), within), part)

    def stabilities(self, level: int) -> Iterator[tuple[Fraction, Approximate]]:
        """Give chances of larger noise, and losses of all that was told if one is replaced."""
        besides = None if level == 0 else self.ceiling(level)
        for part in (self._level_beta(level) * one for one in _PARTS):
            for delta in {part / 4, Fraction(0)}:
                own, other = self._own(delta), _replaced(besides, delta)
                if own is not None and other is not None:
                    yield part, own + other

    def _own(self, delta: Fraction) -> Approximate | None:
        """Return the loss of all answers if one person is replaced; None if there is none at δ."""
        is_gaussian = bool(self.mix.means) and isinstance(self.noise, DiscreteGaussian)
        if is_gaussian and not delta:
            return None
        events: list[Event] = []
        if self.mix.means:
            events.append(self.event * self.mix.means)
        if self.mix.choices:
            replaced = ExponentialMechanism(scale=self.choice.scale).event(ONE_PERSON)
            events.append(replaced * self.mix.choices)
        found = [
            account(ComposedEvent.of(events), delta=delta, measure=measure).loss
            for measure in self._measures(is_gaussian, delta)
        ]
        epsilons = [one.epsilon for one in found if isinstance(one, Approximate | Pure)]
        assert len(epsilons) == len(found)
        return Approximate(min(epsilons), delta)

    def _measures(self, is_gaussian: bool, delta: Fraction) -> tuple[str, ...]:
        if not delta:
            return ("basic",)
        if not self.mix.choices:
            return ("gaussian",) if is_gaussian else ("mv",)
        return ("rdp",) if is_gaussian else ("mv", "rdp")


@frozen(kw_only=True)
class BestSum:
    """Chooses by sums of values: the least one, or the largest.

    Guarantee:
        Negated sums move as far as sums, and all in one direction if they do.
    """

    choice: ExponentialMechanism
    is_largest: bool

    def event(self, d_in: Contribution) -> Event:
        """Describe one use, on sums that one unit can move by ``d_in``."""
        return self.choice.event(d_in)

    def select(self, scores: IntArray, rng: Rng) -> int:
        """Return the place of a candidate that is nearly the best."""
        return self.choice.select(scores if self.is_largest else -scores, rng)


def _mix(questions: int | QuestionMix) -> QuestionMix:
    if not isinstance(questions, QuestionMix):
        return QuestionMix(means=check.at_least_one(questions, "questions"))
    if questions.values:
        raise Unsupported(
            f"A holdout of a table answers no values of all {UNITS} at once",
            must="be for means and choices",
            got=str(questions),
            next=f"Nothing was charged. SQL over all {UNITS} has no proved sensitivity: ask for"
            f" means of a value of {A_UNIT}",
        )
    return evolve(questions, candidates=questions.candidates if questions.choices else 2)


def _calibrated(d_in: Contribution, share: Pure | Zcdp) -> Noise:
    if isinstance(share, Pure):
        laplace = DiscreteLaplace.calibrate(d_in=d_in, loss=share)
        require_samplable(laplace.spread)
        return laplace
    gaussian = DiscreteGaussian.calibrate(d_in=d_in, loss=share)
    require_samplable(gaussian.spread)
    return gaussian


@lru_cache(maxsize=256)
def _stabilities(answers: GatedAnswers, level: int) -> tuple[tuple[Fraction, Approximate], ...]:
    return tuple(answers.stabilities(level))


def _replaced(told: PrivacyLoss | None, delta: Fraction) -> Approximate | None:
    """Return a loss of others for a person who is replaced; None if it is none at this δ."""
    if told is None:
        return Approximate(0, 0)
    if not delta and not isinstance(told, Pure | Approximate):
        return None
    try:
        if isinstance(told, ApproximateZcdp):
            told = convert(told, to="approximate", delta=told.delta + delta).loss
        found = group(told, 2).loss
        if isinstance(found, Pure):
            return Approximate(found.epsilon, 0)
        if not isinstance(found, Approximate):
            found = convert(found, to="approximate", delta=delta).loss
    except Unsupported:
        return None
    assert isinstance(found, Approximate)
    return found
