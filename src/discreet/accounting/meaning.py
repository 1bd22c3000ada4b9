"""What a loss means for one person, in numbers and in a sentence."""

from fractions import Fraction
from typing import Any

from attrs import frozen

from discreet.accounting.group import group
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.loss import Approximate, PrivacyLoss, Pure
from discreet.core.numbers import Number, exact, exp_bounds, float_up

PRIORS = (Fraction(1, 100), Fraction(1, 10), Fraction(1, 2))
FALSE_ALARMS = (Fraction(1, 1000), Fraction(1, 100), Fraction(1, 10))
GROUPS = (1, 2, 5, 10)


@frozen(kw_only=True)
class Meaning:
    r"""The strongest statements about one person that a loss of (ε, δ) allows anyone to make.

    Guarantee:
        For δ = 0, Bayes' rule with a likelihood ratio of at most :math:`e^\varepsilon` bounds every
        posterior [DR14, section 2.3]. For any δ, no test that is wrong about absent people with
        probability :math:`\alpha` is right about present ones with more than
        :math:`\min(e^\varepsilon\alpha + \delta,\ 1 - e^{-\varepsilon}(1 - \delta - \alpha))`
        [KOV15, Theorem 2.4]. All numbers are rounded up.
    """

    loss: Approximate

    @staticmethod
    def of(loss: Pure | Approximate) -> "Meaning":
        """Return the meaning of a pure or an approximate loss."""
        if isinstance(loss, Pure):
            return Meaning(loss=Approximate(loss.epsilon, 0))
        return Meaning(loss=loss)

    def posterior(self, prior: Number) -> Fraction:
        """Return how sure anyone can become of a fact about one person, from ``prior``.

        With δ above 0 this is the bound outside of an event of small probability; the test's power
        says what δ adds.

        Example:
            >>> float(Meaning.of(Pure(1)).posterior("0.5")) < 0.7311
            True
        """
        before = _probability("prior", prior)
        _, factor = exp_bounds(self.loss.epsilon)
        return before * factor / (1 - before + before * factor)

    def detection(self, false_alarm: Number) -> Fraction:
        """Return the most that any membership test can detect at this false-alarm rate."""
        rate = _probability("false_alarm", false_alarm)
        low, high = exp_bounds(self.loss.epsilon)
        near = high * rate + self.loss.delta
        far = 1 - (1 - self.loss.delta - rate) / high if low else Fraction(1)
        return min(Fraction(1), near, max(far, rate))

    def group(self, size: int) -> PrivacyLoss | None:
        """Return the loss about ``size`` people together, or ``None`` if nothing is promised.

        A δ grows faster than ``size`` times (:func:`discreet.accounting.group.group`).
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
            Whoever thinks it 50 % likely that something is true of a person will think so at most
            73.2 % after seeing everything that was released, compared with 50 % if that person's
            data had not been used. A test that wrongly points at 1 % of people who are not in the
            data can find at most 2.8 % of those who are.
        """
        after, found = self.posterior(Fraction(1, 2)), self.detection(Fraction(1, 100))
        caveat = (
            ""
            if not self.loss.delta
            else (
                f" With probability up to {float_up(self.loss.delta):.2g} even more may come out."
            )
        )
        return (
            f"Whoever thinks it 50 % likely that something is true of a person will think so at "
            f"most {_percent(after)} % after seeing everything that was released, compared with "
            f"50 % if that person's data had not been used. A test that wrongly points at 1 % of "
            f"people who are not in the data can find at most {_percent(found)} % of those who "
            f"are.{caveat}"
        )

    def to_json(self) -> dict[str, Any]:
        """Return the numbers, rounded up to floats."""
        groups = {str(size): self.group(size) for size in GROUPS}
        return {
            "loss": self.loss.to_json(),
            "posterior": {str(float(p)): float_up(self.posterior(p)) for p in PRIORS},
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
