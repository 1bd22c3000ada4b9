"""Discrete Laplace noise: the default for counts and integer sums under pure privacy."""

import math
from fractions import Fraction
from typing import ClassVar, Self

from attrs import field, frozen

from discreet.accounting.accountants.pure import pure_loss
from discreet.core import check
from discreet.core.contribution import Contribution
from discreet.core.errors import InvalidArgument
from discreet.core.loss import PrivacyLoss, Pure, Zcdp
from discreet.core.mechanism_event import DiscreteLaplaceEvent
from discreet.core.numbers import Number, exact, exp_bounds, log_bounds
from discreet.core.protocols import IntArray, Rng
from discreet.core.rounding import sqrt_down
from discreet.mechanisms.noise.integers import integers
from discreet.mechanisms.noise.laplace_sum import laplace_sum_quantile
from discreet.mechanisms.noise.named_mechanism import NamedMechanism
from discreet.randomness.samplers import discrete_laplace
from discreet.randomness.tables.law import LARGEST, SMALLEST


@frozen(kw_only=True)
class DiscreteLaplace(NamedMechanism):
    r"""Add independent discrete Laplace noise to each entry of an integer array.

    Guarantee:
        If neighbouring inputs are integer arrays at L1 distance at most ``d_in.l1``, the output is
        :math:`\varepsilon`-DP with :math:`\varepsilon = d_{in} / scale`.

        Proof. :math:`P(z) \propto e^{-|z| / scale}` on the integers, so moving the centre by
        :math:`v` changes :math:`\log P` by at most :math:`\|v\|_1 / scale` (triangle inequality,
        independent entries). The sampler is exact, so nothing is lost to rounding
        [GRS12, section 2; CKS20, section 5].

    Assumes:
        The caller proved the L1 bound; ``rng`` is unpredictable to the reader.

    Utility:
        Unbiased; variance at most :math:`2\,scale^2`; ``error_quantile`` is the exact quantile.

    Example:
        >>> DiscreteLaplace(scale=2).loss(Contribution(l1=1))
        Pure(ε = 0.5)
        >>> DiscreteLaplace(scale=2).error_quantile("0.05")
        Fraction(6, 1)
    """

    stored_as: ClassVar[str] = "DiscreteLaplace"
    law: ClassVar[str] = "discrete_laplace"
    words: ClassVar[str] = "discrete Laplace"
    scale: Fraction = field(converter=exact, validator=check.positive)

    @classmethod
    def calibrate(cls, *, d_in: Contribution, loss: Pure) -> Self:
        """Return the mechanism that spends exactly ``loss`` at distance ``d_in``."""
        distance = d_in.bound("l1")
        if loss.epsilon <= 0 or distance <= 0:
            raise InvalidArgument(
                "No scale fits",
                must="have an ε above 0 and a contribution above 0",
                got=f"ε = {loss.epsilon} and l1 = {distance}",
            )
        return cls(scale=distance / loss.epsilon)

    @classmethod
    def for_share(cls, d_in: Contribution, share: PrivacyLoss) -> Self | None:
        r"""Return the noise that spends a share of a price, or None if it is none for that.

        ε-DP costs at most :math:`\varepsilon^2 / 2` of ρ [BS16, Proposition 1.4], so
        :math:`\varepsilon = \sqrt{2\rho}` fits.
        """
        pure = Pure(sqrt_down(2 * share.rho)) if isinstance(share, Zcdp) else share
        return cls.calibrate(d_in=d_in, loss=pure) if isinstance(pure, Pure) else None

    @property
    def spread(self) -> Fraction:
        """The scale."""
        return self.scale

    @property
    def can_be_drawn(self) -> bool:
        """Whether the scale is one for which noise is drawn exactly."""
        return SMALLEST <= self.scale <= LARGEST

    def event(self, d_in: Contribution) -> DiscreteLaplaceEvent:
        """Describe one use for the accountants."""
        return DiscreteLaplaceEvent(scale=self.scale, distance=d_in.bound("l1"), metric=d_in.metric)

    def loss(self, d_in: Contribution) -> Pure:
        """Return the loss of one use."""
        return pure_loss([self.event(d_in)])

    def release(self, exact_values: IntArray, rng: Rng) -> IntArray:
        """Return the values plus noise, same shape and type. The gate already holds the loss."""
        values = integers(exact_values)
        return values + discrete_laplace(self.scale, values.shape, rng)

    def error_quantile(self, beta: Number) -> Fraction:
        r"""Return the smallest whole :math:`t` with :math:`P[|Z| > t] \le \beta`.

        With :math:`q = e^{-1/scale}`, :math:`P[|Z| > t] = 2 q^{t+1} / (1 + q)`, so :math:`t + 1` is
        the ceiling of :math:`scale \cdot \ln(2 / (\beta (1 + q)))`, computed rounding up.
        """
        beta = check.level(beta)
        q_low, _ = exp_bounds(-1 / self.scale, bits=128)
        _, log_high = log_bounds(2 / (beta * (1 + q_low)), bits=128)
        return Fraction(max(0, math.ceil(self.scale * log_high) - 1))

    def sum_error_quantile(self, beta: Number, *, cells: int) -> Fraction:
        r"""Return a whole :math:`t` with :math:`P[|Z_1 + \dots + Z_k| > t] \le \beta`.

        The smallest such ``t`` for up to 32 cells, by the exact law of the sum; for more cells a
        bound through the moment generating function
        (:func:`discreet.mechanisms.noise.laplace_sum.laplace_sum_quantile`).

        Example:
            >>> noise = DiscreteLaplace(scale=2)
            >>> noise.sum_error_quantile("0.05", cells=1) == noise.error_quantile("0.05")
            True
            >>> noise.sum_error_quantile("0.05", cells=16)
            Fraction(22, 1)
        """
        return Fraction(laplace_sum_quantile(self.scale, check.whole(cells), check.level(beta)))
