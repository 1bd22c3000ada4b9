"""Propose-test-release: noise for a proposed sensitivity, after a test that it is safe here."""

import math
from fractions import Fraction
from typing import Self

from attrs import field, frozen

from discreet.accounting.accountants.approximate import approximate_loss
from discreet.core import check
from discreet.core.contribution import Contribution
from discreet.core.event import ComposedEvent
from discreet.core.loss import Approximate, Pure
from discreet.core.numbers import Number, exact
from discreet.core.protocols import Rng
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.noise.integers import LARGEST_VALUE
from discreet.mechanisms.stability.stability_test import StabilityTest
from discreet.randomness.samplers import discrete_laplace


@frozen(kw_only=True)
class ProposeTestRelease:
    r"""Release a whole number with noise for a ``proposed`` sensitivity, if a margin passes.

    Guarantee:
        The *local sensitivity* of data is the largest move of the number by one step (one row more
        or less). The margin is the number of steps to the nearest data whose local sensitivity
        exceeds ``proposed``, or any smaller number that moves by at most 1 a step and is at most 0
        there. If a unit is at most :math:`s` steps, the output is
        :math:`(s/scale_{test} + s \cdot proposed/scale_{noise},\,
        P[s - 1 + Z \ge threshold])`-DP.

        Proof. The margin moves by at most :math:`s`. If that of one neighbour is at least
        :math:`s`, then every data set on the way to the other but the last has a margin of at
        least 1, so no step moves the number by more than ``proposed``, and the noise hides
        :math:`s` of them. Otherwise both margins are at most :math:`s - 1`. Conclude with
        :class:`~discreet.mechanisms.stability.stability_test.StabilityTest`. For :math:`s = 1`
        this is Dwork and Lei, "Differential privacy and robust statistics" (2009)
        [DR14, section 7.2].

    Assumes:
        The caller proved the margin; ``proposed`` does not depend on the data; ``rng`` is
        unpredictable. The test alone hides whether a number comes, so a refusal costs as much.

    Utility:
        ``error_quantile`` is that of the noise, and ``margin_needed`` that of the test.

    Example:
        >>> loss = Approximate(1, "1e-6")
        >>> ptr = ProposeTestRelease.calibrate(proposed=3, d_in=Contribution(l1=1), loss=loss)
        >>> ptr.noise, ptr.margin_needed("0.95"), ptr.loss(Contribution(l1=1)).epsilon
        (DiscreteLaplace(scale=Fraction(6, 1)), 32, Fraction(1, 1))
    """

    proposed: int = field(converter=check.whole, validator=check.positive)
    test: StabilityTest
    noise: DiscreteLaplace

    @classmethod
    def calibrate(
        cls,
        *,
        proposed: int,
        d_in: Contribution,
        loss: Approximate,
        test_share: Number = "1/2",
    ) -> Self:
        """Return the mechanism that spends ``loss``, and ``test_share`` of its ε on the test."""
        bound, steps = check.whole(proposed), _steps(d_in)
        for_test = Approximate(exact(test_share) * loss.epsilon, loss.delta)
        for_noise = Pure(loss.epsilon - for_test.epsilon)
        return cls(
            proposed=bound,
            test=StabilityTest.calibrate(distance=steps, unstable=steps - 1, loss=for_test),
            noise=DiscreteLaplace.calibrate(d_in=Contribution(l1=steps * bound), loss=for_noise),
        )

    def event(self, d_in: Contribution) -> ComposedEvent:
        """Describe one use: the test and the noise, for a unit of at most ``d_in.l1`` steps."""
        steps = _steps(d_in)
        test = self.test.event(distance=steps, unstable=max(0, steps - 1), metric=d_in.metric)
        moved = Contribution(l0=1, linf=steps * self.proposed, metric=d_in.metric)
        return test + self.noise.event(moved)

    def loss(self, d_in: Contribution) -> Approximate:
        """Return the loss of one use."""
        return approximate_loss([self.event(d_in)])

    def release(self, value: int, margin: int, rng: Rng) -> int | None:
        """Return ``value`` plus noise, or ``None`` if the margin does not pass.

        The noise is drawn in either case, so that the work does not tell.
        """
        number = check.whole(value)
        clamped = max(-LARGEST_VALUE, min(LARGEST_VALUE, number))
        passed = self.test.passes(margin, rng)
        noisy = clamped + int(discrete_laplace(self.noise.scale, (1,), rng)[0])
        return noisy if passed else None

    def error_quantile(self, beta: Number) -> Fraction:
        """Return a bound on the error of what is released, but for a probability of ``beta``."""
        return self.noise.error_quantile(beta)

    def margin_needed(self, probability: Number) -> int:
        """Return the smallest margin that passes with at least this probability."""
        return self.test.margin_needed(probability)


def _steps(d_in: Contribution) -> int:
    return math.floor(d_in.bound("l1"))
