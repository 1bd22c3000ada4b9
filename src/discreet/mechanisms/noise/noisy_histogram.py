"""A histogram with noise in every cell, and a radius that holds for all cells at once."""

from fractions import Fraction
from typing import Self

from attrs import field, frozen

from discreet.core import check
from discreet.core.contribution import Contribution, Metric, metric_of
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.loss import Pure, Zcdp
from discreet.core.mechanism_event import DiscreteGaussianEvent, DiscreteLaplaceEvent
from discreet.core.numbers import Number, exp_bounds, log_bounds
from discreet.core.protocols import IntArray, Rng
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace

_MOVES = {Metric.ADD_REMOVE: 1, Metric.CHANGE_ONE: 2}
"""How many cells one record can move by 1."""


def histogram_contribution(metric: Metric | str) -> Contribution:
    """Return what one record can move in a histogram: one cell by 1, or two if it changes cell.

    Example:
        >>> histogram_contribution(Metric.CHANGE_ONE).l2_squared
        Fraction(2, 1)
    """
    relation = metric_of(metric)
    return Contribution(l0=_MOVES[relation], linf=1, metric=relation)


@frozen(kw_only=True)
class NoisyHistogram:
    r"""Add independent noise to each of ``cells`` counts, each record being in one cell.

    Guarantee:
        That of ``noise`` at the contribution of one record. For neighbours of equal size, where a
        record changes cell, ``calibrate`` gives discrete Laplace noise of scale
        :math:`2/\varepsilon`, or discrete Gaussian noise with :math:`\sigma^2 = 1/\rho`
        [Ste16, section 2.6.1].

    Assumes:
        Each record is in exactly one cell, and the cells are public. ``rng`` is unpredictable.

    Utility:
        With probability at least :math:`1 - \beta` *all* cells are within ``radius(beta)``. The
        cells are independent, so the quantile of one cell at
        :math:`1 - (1 - \beta)^{1/T} \ge \beta/T` will do. For normal noise of variance
        :math:`1/\rho` that is at most :math:`\sqrt{2 \ln(T/\beta)/\rho}`; the
        :math:`\sqrt{\ln(T/\beta)/\rho}` that [Ste16, section 2.6.1] prints lacks the factor 2,
        and fails four times in five at :math:`T = 1000, \beta = 0.05`.

    Example:
        >>> histogram = NoisyHistogram.calibrate(
        ...     cells=1000, loss=Zcdp(rho="0.01"), metric=Metric.CHANGE_ONE
        ... )
        >>> histogram.noise, histogram.radius("0.05")
        (DiscreteGaussian(sigma_squared=Fraction(100, 1)), Fraction(40, 1))
    """

    noise: DiscreteLaplace | DiscreteGaussian
    cells: int = field(converter=check.whole, validator=check.positive)

    @classmethod
    def calibrate(cls, *, cells: int, loss: Pure | Zcdp, metric: Metric | str) -> Self:
        """Return the histogram that spends exactly ``loss``."""
        d_in = histogram_contribution(metric)
        noise: DiscreteLaplace | DiscreteGaussian
        if isinstance(loss, Pure):
            noise = DiscreteLaplace.calibrate(d_in=d_in, loss=loss)
        elif isinstance(loss, Zcdp):
            noise = DiscreteGaussian.calibrate(d_in=d_in, loss=loss)
        else:
            raise Unsupported(
                "A histogram cannot be calibrated to this measure",
                must="be pure or zCDP",
                got=type(loss).__name__,
            )
        return cls(noise=noise, cells=cells)

    def event(self, d_in: Contribution) -> DiscreteLaplaceEvent | DiscreteGaussianEvent:
        """Describe one use for the accountants."""
        return self.noise.event(d_in)

    def loss(self, d_in: Contribution) -> Pure | Zcdp:
        """Return the loss of one use."""
        return self.noise.loss(d_in)

    def release(self, exact_values: IntArray, rng: Rng) -> IntArray:
        """Return the counts plus noise, same shape and type. The gate already holds the loss."""
        if exact_values.size not in (0, self.cells):
            raise InvalidArgument("The histogram has another size", must=f"have {self.cells} cells")
        return self.noise.release(exact_values, rng)

    def error_quantile(self, beta: Number) -> Fraction:
        """Return a bound that one cell's error exceeds with probability at most ``beta``."""
        return self.noise.error_quantile(beta)

    def sum_error_quantile(self, beta: Number, *, cells: int) -> Fraction:
        """Return a bound for the error of a sum of ``cells`` cells."""
        return self.noise.sum_error_quantile(beta, cells=cells)

    def radius(self, beta: Number) -> Fraction:
        r"""Return a bound that all errors keep at once, but for a probability of ``beta``.

        The level :math:`1 - (1 - \beta)^{1/T}` of one cell is rounded down.
        """
        log_high = log_bounds(1 - check.level(beta), bits=128)[1] / self.cells
        one_cell = 1 - exp_bounds(log_high, bits=192)[1]
        return self.noise.error_quantile(max(one_cell, check.level(beta) / self.cells))
