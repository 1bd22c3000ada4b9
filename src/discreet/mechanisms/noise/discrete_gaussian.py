"""Discrete Gaussian noise: the default for many counts at once, under zCDP."""

import math
from collections.abc import Callable
from fractions import Fraction
from statistics import NormalDist, StatisticsError
from typing import ClassVar, Self

from attrs import field, frozen

from discreet.accounting.accountants import discrete_gaussian as curve
from discreet.accounting.accountants.zcdp import zcdp_loss
from discreet.accounting.tails.gaussian_tail import (
    LARGEST_SUPPORT,
    gaussian_sum,
    gaussian_tail_bounds,
    support_size,
)
from discreet.core import check
from discreet.core.contribution import Contribution
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.loss import Approximate, PrivacyLoss, Zcdp
from discreet.core.mechanism_event import DiscreteGaussianEvent
from discreet.core.numbers import Number, exact, log_bounds, sqrt_bounds
from discreet.core.protocols import IntArray, Rng
from discreet.core.rounding import sqrt_up
from discreet.core.search import smallest
from discreet.mechanisms.noise.integers import integers
from discreet.mechanisms.noise.named_mechanism import NamedMechanism
from discreet.randomness.samplers import discrete_gaussian
from discreet.randomness.tables.law import LARGEST, SMALLEST

SIGMA_SQUARED_BITS = 20
"""Calibration to (ε, δ) looks among numbers with this many significant bits."""

_SUM_BITS = 112


@frozen(kw_only=True)
class DiscreteGaussian(NamedMechanism):
    r"""Add independent discrete Gaussian noise to each entry of an integer array.

    Guarantee:
        If neighbouring inputs are integer arrays at squared L2 distance at most
        ``d_in.l2_squared``, the output is :math:`\rho`-zCDP with
        :math:`\rho = d_{in}^2 / (2\sigma^2)` [CKS20, Theorem 4] (Rényi divergences of independent
        entries add). For one entry that moves by at most :math:`\Delta` it is
        :math:`(\varepsilon, \delta)`-DP exactly for

        .. math:: \delta = P[Z > \varepsilon\sigma^2/\Delta - \Delta/2]
            - e^\varepsilon P[Z > \varepsilon\sigma^2/\Delta + \Delta/2]

        with discrete ``Z`` [CKS20, Theorem 7]; ``approximate_loss`` uses this, and for several
        entries the largest such value over the integer shifts, or zCDP. The continuous formula is
        not used: it can be too small (at :math:`\sigma = \Delta = \varepsilon = 1` it says 0.127,
        the truth is 0.141).

    Assumes:
        The caller proved the L2 bound; ``rng`` is unpredictable to the reader. The sampler is exact
        but for draws beyond :math:`2^{62}`, which have probability below :math:`2^{-12000000}`.

    Utility:
        Unbiased; variance at most :math:`\sigma^2` [CKS20, Corollary 9]; ``error_quantile`` is
        the exact quantile.

    Example:
        >>> DiscreteGaussian(sigma_squared=4).loss(Contribution(l2_squared=2))
        Zcdp(ρ = 0.25)
        >>> DiscreteGaussian(sigma_squared=4).error_quantile("0.05")
        Fraction(4, 1)
    """

    stored_as: ClassVar[str] = "DiscreteGaussian"
    law: ClassVar[str] = "discrete_gaussian"
    words: ClassVar[str] = "discrete Gaussian"
    sigma_squared: Fraction = field(converter=exact, validator=check.positive)

    @classmethod
    def calibrate(cls, *, d_in: Contribution, loss: Zcdp | Approximate) -> Self:
        r"""Return the mechanism that spends ``loss`` at distance ``d_in``.

        Guarantee:
            For zCDP, exactly :math:`\rho`. For :math:`(\varepsilon, \delta)`, certainly at most
            :math:`\delta`; the next smaller :math:`\sigma^2` with 20 significant bits is not
            certain to be.
        """
        distance = d_in.bound("l2_squared")
        if isinstance(loss, Zcdp):
            return cls(sigma_squared=_zcdp_variance(distance, loss))
        if not isinstance(loss, Approximate):
            raise Unsupported(
                "Discrete Gaussian noise cannot be calibrated to this measure",
                must="be zCDP or approximate",
                got=type(loss).__name__,
            )
        if loss.delta <= 0 or distance <= 0:
            raise InvalidArgument(
                "No scale fits",
                must="have a δ above 0 and a contribution above 0",
                got=f"δ = {loss.delta} and l2_squared = {distance}",
            )

        def suffices(place: int) -> bool:
            event = cls(sigma_squared=_place(place)).event(d_in)
            return curve.upper_delta(event, loss.epsilon) <= loss.delta

        return cls(sigma_squared=_place(_smallest_place(suffices)))

    @classmethod
    def for_share(cls, d_in: Contribution, share: PrivacyLoss) -> Self | None:
        """Return the noise that spends a share of a price, or None if it is none for that."""
        return cls.calibrate(d_in=d_in, loss=share) if isinstance(share, Zcdp) else None

    @property
    def can_be_drawn(self) -> bool:
        """Whether σ is one for which noise is drawn exactly."""
        return SMALLEST**2 <= self.sigma_squared <= LARGEST**2

    @property
    def spread(self) -> Fraction:
        """The standard deviation σ, rounded up."""
        return sqrt_up(self.sigma_squared)

    def event(self, d_in: Contribution) -> DiscreteGaussianEvent:
        """Describe one use for the accountants."""
        return DiscreteGaussianEvent(
            sigma_squared=self.sigma_squared,
            distance_squared=d_in.bound("l2_squared"),
            entries=d_in.l0,
            largest=d_in.linf,
            metric=d_in.metric,
        )

    def loss(self, d_in: Contribution) -> Zcdp:
        """Return the loss of one use."""
        return zcdp_loss([self.event(d_in)])

    def approximate_loss(
        self, d_in: Contribution, *, epsilon: Number | None = None, delta: Number | None = None
    ) -> Approximate:
        r"""Return the :math:`(\varepsilon, \delta)` of one use, at a given ε or a given δ.

        Example:
            >>> noise, one = DiscreteGaussian(sigma_squared=20), Contribution(l0=1, linf=1)
            >>> float(noise.approximate_loss(one, delta="1e-6").epsilon)
            0.9411...
        """
        event = self.event(d_in)
        if (epsilon is None) == (delta is None):
            raise InvalidArgument("Give either epsilon or delta", must="give exactly one of them")
        if epsilon is not None:
            return Approximate(exact(epsilon), curve.upper_delta(event, epsilon))
        assert delta is not None
        return Approximate(curve.epsilon(event, delta), delta)

    def release(self, exact_values: IntArray, rng: Rng) -> IntArray:
        """Return the values plus noise, same shape and type. The gate already holds the loss."""
        values = integers(exact_values)
        return values + discrete_gaussian(self.sigma_squared, values.shape, rng)

    def error_quantile(self, beta: Number) -> Fraction:
        r"""Return the smallest whole :math:`t` with :math:`P[|Z| > t] \le \beta`, certainly."""
        limit = check.level(beta)
        bits = 128 + 2 * (limit.denominator.bit_length() - limit.numerator.bit_length())
        return Fraction(
            smallest(
                lambda t: 2 * gaussian_tail_bounds(self.sigma_squared, t + 1, bits)[1] <= limit,
                near=self._likely_error(limit),
            )
        )

    def _likely_error(self, limit: Fraction) -> int | None:
        """Guess where to look for an error bar: what continuous noise would have."""
        try:
            deviations = -NormalDist().inv_cdf(float(limit / 2))
            return math.ceil(math.sqrt(self.sigma_squared) * deviations - 0.5)
        except (StatisticsError, OverflowError):
            return None  # there are shares and scales beyond floats

    def sum_error_quantile(self, beta: Number, *, cells: int) -> Fraction:
        r"""Return a whole :math:`t` with :math:`P[|Z_1 + \dots + Z_k| > t] \le \beta`.

        By exact convolution where the law of the sum is small enough. Otherwise, each ``Z`` is
        sub-Gaussian: :math:`E\,e^{\lambda Z} = e^{\lambda^2\sigma^2/2}
        \theta(\lambda\sigma^2)/\theta(0) \le e^{\lambda^2\sigma^2/2}`, because the sum
        :math:`\theta(c)` of a Gaussian over the integers shifted by ``c`` is largest at ``c = 0``
        (Poisson: all Fourier coefficients are positive). So
        :math:`P[|S| \ge u] \le 2 e^{-u^2/(2k\sigma^2)}`.

        Example:
            >>> DiscreteGaussian(sigma_squared=4).sum_error_quantile("0.05", cells=25)
            Fraction(20, 1)
        """
        count, limit = check.whole(cells), check.level(beta)
        if count < 1:
            raise InvalidArgument("cells is out of range", must="be at least 1", got=str(cells))
        if count == 1:
            return self.error_quantile(limit)
        weights = (1,) * count
        log_high = log_bounds(2 / limit, bits=96)[1]
        root = sqrt_bounds(2 * count * self.sigma_squared * log_high, bits=64)[1]
        bound = max(0, math.ceil(root) - 1)
        if support_size(self.sigma_squared, weights, _SUM_BITS) > LARGEST_SUPPORT:
            return Fraction(bound)
        law = gaussian_sum(self.sigma_squared, weights, _SUM_BITS)
        return Fraction(smallest(lambda t: t >= bound or 2 * law.tail(t + 1)[1] <= limit))


def _zcdp_variance(distance: Fraction, loss: Zcdp) -> Fraction:
    if loss.rho <= 0 or distance <= 0:
        raise InvalidArgument(
            "No scale fits",
            must="have a ρ above 0 and a contribution above 0",
            got=f"ρ = {loss.rho} and l2_squared = {distance}",
        )
    return distance / (2 * loss.rho)


_FIRST = 1 << (SIGMA_SQUARED_BITS - 1)
_SMALLEST_EXPONENT = -40


def _place(place: int) -> Fraction:
    """Return the number at ``place`` in the row of all numbers with 20 significant bits."""
    exponent, mantissa = divmod(place, _FIRST)
    return (_FIRST + mantissa) * Fraction(2) ** (exponent + _SMALLEST_EXPONENT)


def _smallest_place(suffices: Callable[[int], bool]) -> int:
    return smallest(lambda place: suffices(place + 1), start=-1) + 1
