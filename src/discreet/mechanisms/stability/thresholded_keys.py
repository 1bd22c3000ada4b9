"""Private keys: show the groups that have enough units, and not one that a unit brings alone."""

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from attrs import field, frozen

from discreet.accounting.accountants.approximate import (
    approximate_loss,
    close_gaussian_tail,
    laplace_tail_bounds,
    own_keys_delta,
)
from discreet.accounting.accountants.renyi import renyi_loss
from discreet.core import check
from discreet.core.contribution import Contribution
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.loss import Approximate, ApproximateZcdp, Pure, Zcdp
from discreet.core.mechanism_event import ThresholdedGaussianEvent, ThresholdedLaplaceEvent
from discreet.core.numbers import Number, exact, exp_bounds, log_bounds
from discreet.core.protocols import IntArray, Rng
from discreet.core.search import smallest
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.noise.integers import LARGEST_VALUE, integers
from discreet.mechanisms.stability.key_order import in_key_order

ThresholdedEvent = ThresholdedLaplaceEvent | ThresholdedGaussianEvent
"""How one use is described, by the noise."""


def _has_event(_: object, __: object, noise: Any) -> None:
    if not isinstance(noise, DiscreteLaplace | DiscreteGaussian):
        raise Unsupported(
            "No event describes keys that are chosen with this noise",
            must="be discrete Laplace or discrete Gaussian noise",
            got=type(noise).__name__,
        )


@frozen(kw_only=True)
class ThresholdedKeys:
    r"""Add noise to the number of units of each key that is present; show it if it is enough.

    A key is shown, with the noisy count :math:`c_k + Z_k` that decided, if that is at least
    ``threshold``. A key with a count of 0 is absent: it draws no noise and is never shown. So the
    keys need not be known beforehand, and nothing of the size of their domain is ever done.

    Guarantee:
        Let one unit move at most :math:`l_0` of the counts by at most :math:`m` each (1, if they
        count units). Let :math:`p = P[m + Z \ge threshold]` and
        :math:`\delta = 1 - (1 - p)^{l_0}`. The keys *with* their noisy counts are

        - with discrete Laplace noise :math:`(l_1/scale,\, \delta)`-DP;
        - with discrete Gaussian noise :math:`\delta`-approximate
          :math:`\|v\|_2^2/(2\sigma^2)`-zCDP [BS16, Definition 8.1; CKS20, Theorem 4].

        Proof. Let :math:`A` and :math:`B` be the keys that only the first and only the second
        data set has. The unit's rows are all that they have, so each counts at most :math:`m`, and
        together they are at most :math:`l_0`. Given that none of :math:`A` is shown, the first
        law is that of independent noise on the keys that both have; given that none of :math:`B`
        is, so is the second; and these two keep the loss of the noise. The conditions fail with
        probability at most :math:`\delta_A` and :math:`\delta_B`, both at most :math:`\delta`.
        That is approximate zCDP. For Laplace noise and any event :math:`S`, with conditional laws
        :math:`C` and :math:`C'`, :math:`P(S) - e^\varepsilon P'(S) \le
        \delta_A + (1-\delta_A)\,C(S) - e^\varepsilon (1 - \delta_B)\, C'(S) \le
        \delta_A + ((1 - \delta_A) - (1 - \delta_B))^+ \le \max(\delta_A, \delta_B)`. If all
        :math:`l_0` keys are the unit's own, :math:`\delta` is attained. (With continuous Laplace
        noise this is the threshold of [WZLDSG20]; :math:`\delta` for one key alone would be
        too small by a factor of nearly :math:`l_0`.) More: ``docs/proofs/stability.md``.

    Assumes:
        The counts are of the pairs (unit, key) that were *kept* by the contribution limit, and
        whatever else is released about a key that is shown uses the same pairs and its own loss.
        ``rng`` is unpredictable. The time that it takes grows with the number of keys present,
        which is private: it must not be shown.

    Utility:
        ``units_needed`` says how many units a key needs to appear, and ``radius`` bounds all
        errors at once; both depend on the number of units and not on the domain.

    Example:
        >>> target = Approximate(1, "1e-6")
        >>> keys = ThresholdedKeys.calibrate(d_in=Contribution(l0=3, linf=1), loss=target)
        >>> keys
        ThresholdedKeys(noise=DiscreteLaplace(scale=Fraction(3, 1)), threshold=45)
        >>> keys.units_needed("0.95")
        52
        >>> from discreet import SystemRng
        >>> list(keys.release({"rare": 1, "other": 10**6, "common": 10**6}, SystemRng()))
        ['common', 'other']
    """

    stored_as: ClassVar[str] = "ThresholdedKeys"
    noise: DiscreteLaplace | DiscreteGaussian = field(validator=_has_event)
    threshold: int = field(converter=check.whole, validator=check.positive)

    @classmethod
    def calibrate(cls, *, d_in: Contribution, loss: Approximate | ApproximateZcdp) -> Self:
        """Return the keys that spend ``loss``: its ε or ρ exactly, and the smallest threshold.

        Approximate privacy gives discrete Laplace noise, approximate zCDP discrete Gaussian noise.
        The δ of the threshold is certainly at most that of ``loss``; one below is not certain.
        """
        noise: DiscreteLaplace | DiscreteGaussian
        if isinstance(loss, Approximate):
            noise = DiscreteLaplace.calibrate(d_in=d_in, loss=Pure(loss.epsilon))
        elif isinstance(loss, ApproximateZcdp):
            noise = DiscreteGaussian.calibrate(d_in=d_in, loss=Zcdp(rho=loss.rho))
        else:
            raise Unsupported(
                "Private keys cannot be calibrated to this measure",
                must="be approximate or approximate zCDP",
                got=type(loss).__name__,
                next="Declare the keys as public, or allow a δ",
            )
        return cls.with_noise(noise, d_in=d_in, delta=loss.delta)

    @classmethod
    def with_noise(
        cls, noise: DiscreteLaplace | DiscreteGaussian, *, d_in: Contribution, delta: Number
    ) -> Self:
        """Return the keys with this noise, and the smallest threshold that is certain of ``delta``.

        Example:
            >>> noise = DiscreteGaussian(sigma_squared=50)
            >>> d_in = Contribution(l0=1, linf=1)
            >>> ThresholdedKeys.with_noise(noise, d_in=d_in, delta="1e-9").threshold
            44
        """
        limit = _share(delta, "delta")
        enough = smallest(
            lambda threshold: (
                own_keys_delta(cls(noise=noise, threshold=threshold).event(d_in)) <= limit
            ),
            start=1,
        )
        return cls(noise=noise, threshold=enough)

    def event(self, d_in: Contribution) -> ThresholdedEvent:
        """Describe one use for the accountants."""
        largest = math.floor(d_in.bound("linf"))
        groups = math.floor(d_in.bound("l1")) if d_in.l0 is None else d_in.l0
        if isinstance(self.noise, DiscreteLaplace):
            return ThresholdedLaplaceEvent(
                scale=self.noise.scale,
                threshold=self.threshold,
                groups=groups,
                largest=largest,
                distance=d_in.bound("l1"),
                metric=d_in.metric,
            )
        return ThresholdedGaussianEvent(
            sigma_squared=self.noise.sigma_squared,
            threshold=self.threshold,
            groups=groups,
            largest=largest,
            distance_squared=d_in.bound("l2_squared"),
            metric=d_in.metric,
        )

    def loss(self, d_in: Contribution) -> Approximate | ApproximateZcdp:
        """Return the loss of one use: approximate for Laplace noise, approximate zCDP otherwise."""
        event = self.event(d_in)
        if isinstance(event, ThresholdedLaplaceEvent):
            return approximate_loss([event])
        found = renyi_loss([event])
        line = found.curve.line()
        assert line is not None
        return ApproximateZcdp(rho=line[1], xi=line[0], delta=found.delta)

    def release(self, counts: Mapping[Any, int], rng: Rng) -> dict[Any, int]:
        """Return the keys to show with their noisy counts, in the order of the keys.

        Args:
            counts: how many units each present key has, exactly.
            rng: the randomness.

        The order of ``counts`` has no influence: the noise of the keys is independent and alike,
        and the result is sorted. The gate already holds the loss.
        """
        present = [key for key, count in counts.items() if count]
        values = _whole_counts([counts[key] for key in present])
        noisy = self.noise.release(values, rng)
        shown = {present[i]: int(noisy[i]) for i in np.flatnonzero(noisy >= self.threshold)}
        return {key: shown[key] for key in in_key_order(shown)}

    def release_probability(self, count: int) -> Fraction:
        """Return the probability that a key of ``count`` units is shown, rounded down.

        Example:
            >>> keys = ThresholdedKeys(noise=DiscreteLaplace(scale=3), threshold=45)
            >>> [round(float(keys.release_probability(count)), 4) for count in (1, 45, 52)]
            [0.0, 0.5826, 0.9595]
        """
        units = check.whole(count)
        if units < 0:
            raise InvalidArgument("count is out of range", must="be at least 0", got=str(count))
        if units == 0:
            return Fraction(0)
        if isinstance(self.noise, DiscreteLaplace):
            return laplace_tail_bounds(self.noise.scale, self.threshold - units)[0]
        return close_gaussian_tail(self.noise.sigma_squared, self.threshold - units)[0]

    def units_needed(self, probability: Number) -> int:
        """Return how many units a key needs to be shown with at least this probability."""
        wanted = _share(probability, "probability")
        return smallest(lambda count: self.release_probability(count) >= wanted, start=1)

    def error_quantile(self, beta: Number) -> Fraction:
        """Return a bound that a key is shown with a larger error than, at most ``beta`` often.

        A key near the threshold is shown only if its noise is high: given that it *is* shown, its
        count is too large on average, as in every selection by noisy values.
        """
        return self.noise.error_quantile(beta)

    def radius(self, beta: Number, *, present: int) -> Fraction:
        r"""Return a bound on the errors of all keys at once, but for a probability of ``beta``.

        Of keys that are not shown the answer is 0. With at most ``present`` keys, each noise is
        below its quantile :math:`r` at level :math:`1 - (1-\beta)^{1/present}`, together; then a
        key that is not shown has at most :math:`threshold - 1 + r` units, and an absent one none.
        """
        keys, limit = check.whole(present), check.level(beta)
        if keys < 1:
            raise InvalidArgument("present is out of range", must="be at least 1", got=str(present))
        log_high = log_bounds(1 - limit, bits=128)[1] / keys
        one_key = max(1 - exp_bounds(log_high, bits=192)[1], limit / keys)
        return self.threshold - 1 + self.noise.error_quantile(one_key)


def _share(value: Number, name: str) -> Fraction:
    share = exact(value)
    if not 0 < share < 1:
        raise InvalidArgument(
            f"{name} is out of range", must="lie strictly between 0 and 1", got=str(share)
        )
    return share


def _whole_counts(counts: list[int]) -> IntArray:
    if any(isinstance(count, bool) or not isinstance(count, int | np.integer) for count in counts):
        raise InvalidArgument("The counts have the wrong type", must="be whole numbers")
    if any(count < 0 or count > LARGEST_VALUE for count in counts):
        raise InvalidArgument("A count is out of range", must="be at least 0 and below 2**62")
    return integers(np.array(counts, dtype=np.int64))
