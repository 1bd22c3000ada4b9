"""What a loss means for one person, in numbers and in a sentence."""

from fractions import Fraction
from typing import Any

from attrs import field, frozen

from discreet.accounting.losses.bounds import loss_tail
from discreet.accounting.losses.group import group
from discreet.core.contribution import Metric, metric_of
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.html_text import html_page, html_steps
from discreet.core.loss import Approximate, PrivacyLoss, Pure
from discreet.core.numbers import Number, exact, exp_bounds, float_up

PRIORS = (Fraction(1, 100), Fraction(1, 10), Fraction(1, 2))
FALSE_ALARMS = (Fraction(1, 1000), Fraction(1, 100), Fraction(1, 10))
GROUPS = (1, 2, 5, 10)

SLACK = Fraction(1, 10)
"""How far beyond ε the beliefs are bounded when there is a δ: at ε itself nothing can be said."""


@frozen(kw_only=True)
class Meaning:
    r"""The strongest statements about one person that a loss of (ε, δ) allows anyone to make.

    Guarantee:
        *Beliefs.* By Bayes' rule odds change by at most :math:`e^t` where the privacy loss is at
        most :math:`t`. For δ = 0, :math:`t = \varepsilon` always [DR14, section 2.3]. With a δ,
        :math:`t = \varepsilon + s` but for a chance of :math:`\delta/(1 - e^{-s})`, with
        :math:`s` = ``SLACK`` (:func:`~discreet.accounting.losses.bounds.loss_tail`); that (ε, δ)-DP
        bounded the loss by ε except with probability δ would be false. Under add/remove this is
        about *being in the data*; two data sets in which a person is there but different are two
        such steps apart, so any other fact about the person changes its odds by at most
        :math:`e^{2t}`, but for the chance that follows from the loss about a group of two.

        *Tests.* For any δ, no test that is wrong about absent people with probability
        :math:`\alpha` is right about present ones with more than
        :math:`\min(e^\varepsilon\alpha + \delta,\ 1 - e^{-\varepsilon}(1 - \delta - \alpha))`
        [KOV15, Theorem 2.4]. All numbers are rounded up.
    """

    loss: Approximate
    metric: Metric = field(default=Metric.ADD_REMOVE, converter=metric_of)

    @staticmethod
    def of(loss: Pure | Approximate, *, metric: Metric | str = Metric.ADD_REMOVE) -> "Meaning":
        """Return the meaning of a pure or an approximate loss about these neighbours."""
        delta = loss.delta if isinstance(loss, Approximate) else Fraction(0)
        return Meaning(loss=Approximate(loss.epsilon, delta), metric=metric_of(metric))

    @property
    def exception(self) -> Fraction:
        """The chance with which a belief may change by more than is stated; 0 without a δ."""
        if not self.loss.delta:
            return Fraction(0)
        steps = self._steps
        about = self.group(steps)
        return Fraction(1) if about is None else loss_tail(about, steps * self._largest)

    @property
    def _steps(self) -> int:
        """How many neighbours lie between two data sets that differ in a fact about a person."""
        return 2 if self.metric is Metric.ADD_REMOVE else 1

    @property
    def _largest(self) -> Fraction:
        return self.loss.epsilon + (SLACK if self.loss.delta else 0)

    def membership(self, prior: Number) -> Fraction:
        """Return how sure anyone can become that a person is in the data, from ``prior``.

        Example:
            >>> 0.731 < float(Meaning.of(Pure(1)).membership("0.5")) < 0.7311
            True
        """
        if self.metric is not Metric.ADD_REMOVE:
            raise Unsupported(
                "Under change-one nothing is said about being in the data",
                next="Ask for fact(), which is about what the person's data says",
            )
        return self._posterior(prior, 1)

    def fact(self, prior: Number) -> Fraction:
        """Return how sure anyone can become of anything about a person, from ``prior``.

        Example:
            >>> 0.880 < float(Meaning.of(Pure(1)).fact("0.5")) < 0.881
            True
        """
        return self._posterior(prior, self._steps)

    def _posterior(self, prior: Number, steps: int) -> Fraction:
        before = _probability("prior", prior)
        _, factor = exp_bounds(steps * self._largest)
        return before * factor / (1 - before + before * factor)

    def detection(self, false_alarm: Number) -> Fraction:
        """Return the most that any membership test can detect at this false-alarm rate."""
        rate = _probability("false_alarm", false_alarm)
        _, high = exp_bounds(self.loss.epsilon)
        near = high * rate + self.loss.delta
        far = 1 - (1 - self.loss.delta - rate) / high
        return min(Fraction(1), near, max(far, rate))

    def group(self, size: int) -> PrivacyLoss | None:
        """Return the loss about ``size`` people together, or ``None`` if nothing is promised.

        A δ grows faster than ``size`` times (:func:`discreet.accounting.losses.group.group`).
        """
        loss = self.loss if self.loss.delta else Pure(self.loss.epsilon)
        try:
            return group(loss, size).loss
        except Unsupported:
            return None

    def sentence(self) -> str:
        """Return the meaning in words.

        Example:
            >>> print(Meaning.of(Pure(1)).sentence())
            Whoever thinks it 50 % likely that a person is in the data will think so at most 73.2 %
            after seeing everything that was released, and of anything else about that person at
            most 88.1 %. A test that wrongly points at 1 % of people who are not in the data can
            find at most 2.8 % of those who are.
        """
        half, found = Fraction(1, 2), self.detection(Fraction(1, 100))
        beliefs = f"of anything about a person will think so at most {_percent(self.fact(half))} %"
        if self.metric is Metric.ADD_REMOVE:
            beliefs = (
                f"that a person is in the data will think so at most "
                f"{_percent(self.membership(half))} %"
            )
        rest = ""
        if self.metric is Metric.ADD_REMOVE:
            rest = f", and of anything else about that person at most {_percent(self.fact(half))} %"
        caveat = f" (but for a chance of {float_up(self.exception):.2g})" if self.loss.delta else ""
        tested = "who are not in the data", "those who are"
        if self.metric is not Metric.ADD_REMOVE:
            tested = "of whom something is not true", "those of whom it is"
        return (
            f"Whoever thinks it 50 % likely {beliefs} after seeing everything that was "
            f"released{rest}{caveat}. A test that wrongly points at 1 % of people {tested[0]} can "
            f"find at most {_percent(found)} % of {tested[1]}."
        )

    def _repr_html_(self) -> str:
        return html_page(html_steps([(str(self.loss), self.sentence())]))

    def to_json(self) -> dict[str, Any]:
        """Return the numbers, rounded up to floats."""
        groups = {str(size): self.group(size) for size in GROUPS}
        beliefs = {"fact": {str(float(p)): float_up(self.fact(p)) for p in PRIORS}}
        if self.metric is Metric.ADD_REMOVE:
            beliefs["membership"] = {str(float(p)): float_up(self.membership(p)) for p in PRIORS}
        return beliefs | {
            "loss": self.loss.to_json(),
            "metric": self.metric.value,
            "exception": float_up(self.exception),
            "detection": {str(float(a)): float_up(self.detection(a)) for a in FALSE_ALARMS},
            "group": {size: None if g is None else g.to_json() for size, g in groups.items()},
            "sentence": self.sentence(),
        }


def _percent(share: Fraction) -> str:
    tenths = -(-share.numerator * 1000 // share.denominator)
    return f"{tenths / 10:g}"


def _probability(name: str, value: Number) -> Fraction:
    number = exact(value)
    if not 0 < number < 1:
        raise InvalidArgument(
            f"{name} is out of range", must="lie strictly between 0 and 1", got=str(number)
        )
    return number


@frozen
class Deployment:
    """One published deployment: who, how much, about what unit."""

    name: str
    loss: str
    unit: str
    """What is protected, where the registry says it in a word."""
    epsilon: float | None
    """The published ε for the unit, or ``None`` where another measure was published."""

    @property
    def label(self) -> str:
        """The name, with its unit."""
        return f"{self.name}, per {self.unit}" if self.unit else self.name


DEPLOYMENTS = (
    Deployment("Microsoft, broadband", "ε = 0.2", "", 0.2),
    Deployment("Google, mobility", "ε = 2.64", "user and day", 2.64),
    Deployment("Apple, emoji (local)", "ε = 4", "event", 4.0),
    Deployment("Israel, births", "ε = 9.98", "", 9.98),
    Deployment("Counter-Trafficking Data Collaborative", "ε = 12, δ = 5.8e-6", "", 12),
    Deployment("LinkedIn", "ε = 34.9, δ = 7e-9", "month", 34.9),
    Deployment("Gboard, Spanish", "ρ = 0.81", "", None),
    Deployment("Wikimedia, page views", "ρ = 0.015", "device and day", None),
    Deployment("US Census 2020, redistricting", "ρ = 2.63", "", None),
)
"""As registered in July 2026 [Reg26]. Units differ, so the numbers do not compare one to one."""
