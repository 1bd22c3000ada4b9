"""Discrete Laplace noise that is never beyond a bound, at the price of a δ."""

from fractions import Fraction
from typing import Self

from attrs import field, frozen

from discreet.accounting.accountants.approximate import approximate, approximate_loss
from discreet.core import check
from discreet.core.contribution import Contribution
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.loss import Approximate
from discreet.core.mechanism_event import TruncatedGeometricEvent
from discreet.core.numbers import Number, exact
from discreet.core.protocols import IntArray, Rng
from discreet.core.search import smallest
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.noise.integers import integers
from discreet.randomness.samplers import clamped_discrete_laplace


@frozen(kw_only=True)
class TruncatedGeometric:
    r"""Add discrete Laplace noise to each entry, moved to ``±bound`` where it is beyond.

    Guarantee:
        If neighbouring inputs are integer arrays of which at most ``d_in.l0`` entries differ, each
        by at most ``d_in.linf``, the output is :math:`(\varepsilon, \delta)`-DP with
        :math:`\varepsilon = d_{in}.l1 / scale` and :math:`\delta` the number of entries times the
        exact :math:`\delta` of one entry
        (:func:`discreet.accounting.accountants.approximate.truncated_delta`). For one entry that
        moves by 1,
        :math:`\delta \le e^{-(B - 1)/scale}`: the bound
        :math:`B \ge (2/\varepsilon) \ln(2/\delta) + 1` suffices for two entries of scale
        :math:`2/\varepsilon`, where [Das22, Theorem 9.6] prints :math:`\ln(4/\delta)`.
        ``calibrate`` finds the smallest ``B`` of the exact formula.

    Assumes:
        The caller proved the bounds; ``rng`` is unpredictable to the reader.

    Utility:
        Unbiased; no error is ever above ``bound``; smaller noise than without it.

    Example:
        >>> target = Approximate(1, "1e-6")
        >>> TruncatedGeometric.calibrate(d_in=Contribution(l0=2, linf=1), loss=target)
        TruncatedGeometric(scale=Fraction(2, 1), bound=29)
    """

    scale: Fraction = field(converter=exact, validator=check.positive)
    bound: int = field(converter=check.whole, validator=check.positive)

    @classmethod
    def calibrate(cls, *, d_in: Contribution, loss: Approximate) -> Self:
        """Return the mechanism with exactly the ε of ``loss``, and the smallest bound for its δ.

        The bound before it is not certain to be enough.
        """
        distance = d_in.bound("l1")
        if min(loss.epsilon, loss.delta, distance) <= 0:
            raise InvalidArgument(
                "No scale fits",
                must="have an ε and a δ above 0 and a contribution above 0",
                got=f"ε = {loss.epsilon}, δ = {loss.delta} and l1 = {distance}",
            )
        scale = distance / loss.epsilon

        def suffices(bound: int) -> bool:
            try:
                return approximate(cls(scale=scale, bound=bound).event(d_in)).delta <= loss.delta
            except Unsupported:
                return False

        return cls(scale=scale, bound=smallest(suffices, start=1))

    def event(self, d_in: Contribution) -> TruncatedGeometricEvent:
        """Describe one use for the accountants."""
        distance, largest = d_in.bound("l1"), d_in.bound("linf")
        entries = int(distance) if d_in.l0 is None else d_in.l0
        return TruncatedGeometricEvent(
            scale=self.scale,
            bound=self.bound,
            distance=distance,
            largest=largest,
            entries=entries,
            metric=d_in.metric,
        )

    def loss(self, d_in: Contribution) -> Approximate:
        """Return the loss of one use."""
        return approximate_loss([self.event(d_in)])

    def release(self, exact_values: IntArray, rng: Rng) -> IntArray:
        """Return the values plus noise, same shape and type. The gate already holds the loss."""
        values = integers(exact_values)
        return values + clamped_discrete_laplace(self.scale, self.bound, values.shape, rng)

    def error_quantile(self, beta: Number) -> Fraction:
        r"""Return the smallest whole :math:`t` with :math:`P[|Z| > t] \le \beta`."""
        return min(Fraction(self.bound), DiscreteLaplace(scale=self.scale).error_quantile(beta))
