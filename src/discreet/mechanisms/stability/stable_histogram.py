"""The stability-based histogram: cells of any domain, with an error that does not grow with it."""

from discreet.core.contribution import Metric
from discreet.core.loss import Approximate, ApproximateZcdp
from discreet.mechanisms.noise.noisy_histogram import histogram_contribution
from discreet.mechanisms.stability.thresholded_keys import ThresholdedKeys


def stable_histogram(
    *, loss: Approximate | ApproximateZcdp, metric: Metric | str
) -> ThresholdedKeys:
    r"""Return the histogram of records that are each in one cell, with only cells that are shown.

    Guarantee:
        That of :class:`~discreet.mechanisms.stability.thresholded_keys.ThresholdedKeys` at the
        contribution of one record.

    Utility:
        Every cell, of whatever domain, is within ``radius(beta, present=n)`` of the truth for
        :math:`n` records: :math:`O(\log(n/(\beta\delta))/\varepsilon)`, while pure privacy and
        zCDP need an error that grows with the domain [Ste16, sections 2.6.1 and 2.6.2]. That
        is why the result has a :math:`\delta`, and no zCDP without one.

    Example:
        >>> stable_histogram(loss=Approximate(1, "1e-6"), metric=Metric.CHANGE_ONE)
        ThresholdedKeys(noise=DiscreteLaplace(scale=Fraction(2, 1)), threshold=30)
    """
    return ThresholdedKeys.calibrate(d_in=histogram_contribution(metric), loss=loss)
