"""A quantile by binary search with noisy counts: the median that needs nothing but counts."""

from fractions import Fraction
from typing import Self

import numpy as np
from attrs import field, frozen

from discreet.accounting.accountants.pure import pure_loss
from discreet.accounting.accountants.zcdp import zcdp_loss
from discreet.core import check
from discreet.core.contribution import Contribution
from discreet.core.errors import Unsupported
from discreet.core.event import ComposedEvent
from discreet.core.loss import Pure, Zcdp
from discreet.core.numbers import Number, exact
from discreet.core.protocols import IntArray, Rng
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.selection.rank_mechanism import in_domain, require_domain, require_share


@frozen(kw_only=True)
class BinarySearchQuantile:
    r"""Halve a bounded domain until one integer is left, asking each time for one noisy count.

    With :math:`q = a/b` the count that is asked for at ``m`` is the integer
    :math:`b\,\#\{x \le m\} - a\,n`. If it is at least 0 with its noise, the quantile is at ``m``
    or below.

    Guarantee:
        One row moves each count by at most :math:`\max(a, b - a)`, and at most
        :math:`\lceil \log_2 D \rceil` counts are asked for on a domain of ``D`` integers. The loss
        is that of so many uses of ``noise``, chosen adaptively.

    Assumes:
        As for :class:`~discreet.mechanisms.selection.quantile.Quantile`: ``d_in.l1`` bounds the
        rows of one unit, the domain is public, and values outside are moved to its ends.

    Utility:
        If every count is within :math:`\alpha` of the truth, so is the rank of the answer ``v``:
        :math:`\#\{x \le v\} \ge qn - \alpha/b` and :math:`\#\{x < v\} \le qn + \alpha/b`.
        Proof. Either ``v`` was asked about, and its noisy count was at least 0, or it is the end
        of the domain, where the count cannot be below 0; and likewise ``v - 1`` from the other
        side [Ste16, Lemma 7.5.5, for the median]. With :math:`\log_2 D` questions instead of one
        choice, the error is larger than that of the exponential mechanism by about that factor.

    Example:
        >>> median = BinarySearchQuantile(
        ...     quantile="1/2", lower=0, upper=127, noise=DiscreteLaplace(scale=14)
        ... )
        >>> median.steps, median.loss(Contribution(l1=1))
        (7, Pure(ε = 0.5))
        >>> float(median.error_quantile("0.05"))
        34.5
    """

    quantile: Fraction = field(converter=exact, validator=require_share)
    lower: int = field(converter=check.whole)
    upper: int = field(converter=check.whole, validator=require_domain)
    noise: DiscreteLaplace | DiscreteGaussian

    @classmethod
    def calibrate(
        cls,
        *,
        d_in: Contribution,
        loss: Pure | Zcdp,
        quantile: Number,
        lower: int,
        upper: int,
    ) -> Self:
        """Return the search that spends exactly ``loss`` in all, an equal part on each count."""
        draft = cls(
            quantile=exact(quantile), lower=lower, upper=upper, noise=DiscreteLaplace(scale=1)
        )
        one, steps = draft._count_contribution(d_in), max(1, draft.steps)
        noise: DiscreteLaplace | DiscreteGaussian
        if isinstance(loss, Pure):
            noise = DiscreteLaplace.calibrate(d_in=one, loss=Pure(loss.epsilon / steps))
        elif isinstance(loss, Zcdp) and not loss.xi:
            noise = DiscreteGaussian.calibrate(d_in=one, loss=Zcdp(rho=loss.rho / steps))
        else:
            raise Unsupported(
                "A search cannot be calibrated to this measure",
                must="be pure, or zCDP with ξ = 0",
                got=str(loss),
            )
        return cls(quantile=draft.quantile, lower=lower, upper=upper, noise=noise)

    @property
    def steps(self) -> int:
        """The most counts that are asked for."""
        return (self.upper - self.lower).bit_length()

    def event(self, d_in: Contribution) -> ComposedEvent:
        """Describe one use for the accountants; ``d_in.l1`` is in rows."""
        return self.noise.event(self._count_contribution(d_in)) * self.steps

    def loss(self, d_in: Contribution) -> Pure | Zcdp:
        """Return the loss of one use, in the measure of the noise."""
        events = [self.event(d_in)]
        return pure_loss(events) if isinstance(self.noise, DiscreteLaplace) else zcdp_loss(events)

    def release(self, values: IntArray, rng: Rng) -> int:
        """Return the integer that is left. The gate already holds the loss."""
        rows = in_domain(values, self.lower, self.upper)
        share = self.quantile
        low, high = self.lower - 1, self.upper
        while high - low > 1:
            middle = (low + high + 1) // 2
            at_most = int(np.count_nonzero(rows <= middle))
            count = share.denominator * at_most - share.numerator * rows.size
            if int(self.noise.release(np.array([count]), rng)[0]) >= 0:
                high = middle
            else:
                low = middle
        return high

    def error_quantile(self, beta: Number) -> Fraction:
        """Return a bound on the rank error, in rows, that fails with at most ``beta``."""
        share = check.level(beta) / max(1, self.steps)
        return self.noise.error_quantile(share) / self.quantile.denominator

    def _count_contribution(self, d_in: Contribution) -> Contribution:
        most = max(self.quantile, 1 - self.quantile) * self.quantile.denominator
        return Contribution(l0=1, linf=most * d_in.bound("l1"), metric=d_in.metric)
