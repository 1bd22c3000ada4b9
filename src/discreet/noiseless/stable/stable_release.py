"""What follows if one row hardly ever changes what is released: the simulator is the release."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from attrs import field, frozen

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact, float_up
from discreet.core.rounding import exp_down, short_up
from discreet.noiseless.certifiable import BreakingPoint, NoiseInstead, PrivacyTarget, Way

LARGEST_EPSILON = Fraction(100)
"""A δ at this ε is one at every larger one."""


def stable_delta(
    epsilon: Number, *, instability: Number, least_probability: Number = 0
) -> Fraction:
    r"""Return an upper bound of δ from how often one row changes the outcome.

    Guarantee:
        Let :math:`P[F(X) \ne F(X_{-i}) \mid X_i = x_i, Z = z] \le \mu`, and let every outcome of
        :math:`F(X)` have at least probability :math:`c` given the same. With the release itself as
        the simulator, :math:`\delta(\epsilon) = \max(0, c - e^\epsilon(c - \mu))` if
        :math:`\mu < c`, and :math:`\mu` if not.

        Proof. Let :math:`P, Q` be the laws of :math:`F(X)` and :math:`F(X_{-i})`. They are coupled
        with :math:`P[\ne] \le \mu`, so :math:`|P(S) - Q(S)| \le \mu` for every set. Then
        :math:`P(S) - e^\epsilon Q(S) \le \mu - (e^\epsilon - 1) Q(S)`, and a set of outcomes has
        :math:`Q(S) \ge c - \mu`, which gives :math:`c - e^\epsilon(c - \mu)`. The other way round
        :math:`Q(S) - e^\epsilon P(S) \le \mu - (e^\epsilon - 1)c`, which is less. ∎ At
        :math:`\epsilon = 0` this is δ = μ [Gro14, theorem 6.1], and from
        :math:`\epsilon = \ln(c/(c-\mu))` on it is 0. The source has
        :math:`\ln((c+\mu)/(c-\mu))` there [Gro14, theorem 6.2], which is larger than needed.

    Example:
        >>> stable_delta(0, instability="0.01", least_probability="0.2")
        Fraction(1, 100)
        >>> stable_delta("0.052", instability="0.01", least_probability="0.2")
        Fraction(0, 1)
    """
    flips, least = exact(instability), exact(least_probability)
    at = exact(epsilon)
    if at < 0:
        raise InvalidArgument("epsilon is out of range", must="be at least 0", got=str(at))
    if flips <= 0 or least <= flips:
        return max(Fraction(0), min(Fraction(1), flips))
    at = min(at, LARGEST_EPSILON)
    return max(Fraction(0), min(flips, short_up(least - exp_down(at) * (least - flips))))


@frozen(kw_only=True)
class StableRelease:
    """A release of which it is known, from proof or from sampling a law, how seldom a row flips it.

    Attributes:
        name: What is released, in words.
        instability: The most that P[F(X) ≠ F(X without i)] can be, given any row i and all that the
            adversary knows.
        least_probability: The least probability of any outcome, given the same; 0 if not known.
        reason: Why these are true, as a sentence; it is one of the assumptions.

    Example:
        >>> winner = StableRelease(name="the winner", instability="1e-9", reason="It was proved.")
        >>> winner.deltas(Fraction(0))
        {<Way.SOURCE: 'source'>: Fraction(1, 1000000000)}
    """

    name: str
    instability: Fraction = field(converter=exact, validator=check.probability)
    least_probability: Fraction = field(
        default=Fraction(0), converter=exact, validator=check.probability
    )
    reason: str = field(validator=check.non_empty)

    @property
    def statistic(self) -> str:
        """What is released, in words."""
        return self.name

    @property
    def simulator(self) -> str:
        """What imitates the release without one person's row, in words."""
        return "the same release from all rows but that one"

    @property
    def assumptions(self) -> tuple[str, ...]:
        """All that is assumed, a sentence each."""
        often = (
            "Without one row the outcome would differ with probability at most "
            f"{float_up(self.instability):.3g}, whatever that row is and whatever is known."
        )
        return (often, self.reason)

    def deltas(self, epsilon: Fraction) -> Mapping[Way, Fraction]:
        """Return an upper bound of δ at an ε."""
        bound = stable_delta(
            epsilon, instability=self.instability, least_probability=self.least_probability
        )
        return {Way.SOURCE: bound}

    def breaking_points(self, target: PrivacyTarget) -> tuple[BreakingPoint, ...]:
        """Return the largest instability with which the target is still met."""
        least, delta = self.least_probability, target.delta
        growth = exp_down(min(target.epsilon, LARGEST_EPSILON))
        most = max(delta, least - (least - delta) / growth) if least > delta else delta
        words = "If a single row decides more often than that, the outcome tells of it."
        return (BreakingPoint("how often one row decides", min(Fraction(1), most), words),)

    def noise_instead(self, target: PrivacyTarget) -> NoiseInstead | None:
        """Return None: nothing is known of the numbers that the outcome is made of."""

    def to_json(self) -> dict[str, Any]:
        """Return all that is asserted."""
        return {
            "statistic": "stable",
            "name": self.name,
            "instability": str(self.instability),
            "least_probability": str(self.least_probability),
            "reason": self.reason,
        }
