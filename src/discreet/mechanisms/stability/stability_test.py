"""A private test of a margin: is the data far enough from data where an answer would tell?"""

from fractions import Fraction
from typing import Self

from attrs import field, frozen

from discreet.accounting.accountants.approximate import (
    approximate_loss,
    false_pass,
    laplace_tail_bounds,
)
from discreet.core import check
from discreet.core.contribution import Metric
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Approximate
from discreet.core.mechanism_event import StabilityTestEvent
from discreet.core.numbers import Number, exact
from discreet.core.protocols import Rng
from discreet.core.search import smallest
from discreet.mechanisms.noise.integers import LARGEST_VALUE
from discreet.randomness.samplers import discrete_laplace


@frozen(kw_only=True)
class StabilityTest:
    r"""Add discrete Laplace noise to a whole margin; pass if it is at least ``threshold``.

    Guarantee:
        Suppose that of two neighbours either the margins are at most ``distance`` apart and what
        follows a pass is then :math:`\varepsilon_2`-DP, or both margins are at most ``unstable``.
        Then test and what follows are :math:`(distance/scale + \varepsilon_2, \delta)`-DP with
        :math:`\delta = P[unstable + Z \ge threshold]`.

        Proof. In the first case the test is a function of the noisy margin, and what follows
        composes with it. In the second both laws say *no* but for probabilities
        :math:`p, p' \le \delta`, so for any event :math:`P(S) - e^\varepsilon P'(S) \le
        p + ((1-p) - (1-p'))^+ \le \delta`. This is the test of propose-test-release (Dwork and Lei
        2009) and of the distance to instability [DR14, sections 7.2 and 7.3], whose threshold
        :math:`\ln(1/\delta)/\varepsilon` is here the smallest whole one of the exact tail.

    Assumes:
        The caller proved what is supposed; ``rng`` is unpredictable to the reader.

    Utility:
        ``margin_needed`` says which margin passes, and how often.

    Example:
        >>> test = StabilityTest.calibrate(distance=1, unstable=0, loss=Approximate(1, "1e-6"))
        >>> test, test.margin_needed("0.95")
        (StabilityTest(scale=Fraction(1, 1), threshold=14), 16)
    """

    scale: Fraction = field(converter=exact, validator=check.positive)
    threshold: int = field(converter=check.whole, validator=check.positive)

    @classmethod
    def calibrate(cls, *, distance: int, unstable: int, loss: Approximate) -> Self:
        """Return the test with exactly the ε of ``loss``, and the smallest threshold for its δ."""
        if loss.epsilon <= 0 or loss.delta <= 0 or distance <= 0:
            raise InvalidArgument(
                "No test fits",
                must="have an ε and a δ above 0 and a distance above 0",
                got=f"ε = {loss.epsilon}, δ = {loss.delta} and distance = {distance}",
            )
        scale = distance / loss.epsilon

        def suffices(threshold: int) -> bool:
            test = cls(scale=scale, threshold=threshold)
            return false_pass(test.event(distance=distance, unstable=unstable)) <= loss.delta

        return cls(scale=scale, threshold=smallest(suffices, start=1))

    def event(
        self, *, distance: int, unstable: int, metric: Metric | str = Metric.ADD_REMOVE
    ) -> StabilityTestEvent:
        """Describe one test for the accountants; what follows it has an event of its own."""
        return StabilityTestEvent(
            scale=self.scale,
            threshold=self.threshold,
            distance=distance,
            unstable=unstable,
            metric=metric,
        )

    def loss(self, *, distance: int, unstable: int) -> Approximate:
        """Return the loss of the test alone."""
        return approximate_loss([self.event(distance=distance, unstable=unstable)])

    def passes(self, margin: int, rng: Rng) -> bool:
        """Tell whether ``margin`` plus noise reaches the threshold."""
        value = check.whole(margin)
        if not -LARGEST_VALUE <= value <= LARGEST_VALUE:
            raise InvalidArgument("The margin is too large", must="be below 2**62 in size")
        return value + int(discrete_laplace(self.scale, (1,), rng)[0]) >= self.threshold

    def pass_probability(self, margin: int) -> Fraction:
        """Return the probability that ``margin`` passes, rounded down."""
        return laplace_tail_bounds(self.scale, self.threshold - check.whole(margin))[0]

    def margin_needed(self, probability: Number) -> int:
        """Return the smallest margin that passes with at least this probability."""
        wanted = check.level(probability)
        return smallest(lambda margin: self.pass_probability(margin) >= wanted)
