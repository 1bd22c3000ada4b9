"""Sparse: which queries are above a threshold, up to a number of them."""

from fractions import Fraction

from discreet.accounting.calibration import calibrate
from discreet.core import check
from discreet.core.contribution import Contribution
from discreet.core.errors import InvalidArgument
from discreet.core.event import Event
from discreet.core.loss import Approximate, Pure
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.thresholds.interactive import sensitivity
from discreet.mechanisms.thresholds.sparse_vector import Redraw, SparseVector


def sparse(*, d_in: Contribution, loss: Pure | Approximate, most_above: int) -> SparseVector:
    r"""Return the machine that is ``most_above`` times AboveThreshold, and spends ``loss``.

    Guarantee:
        Each query above ends one AboveThreshold and starts the next with a new threshold, so the
        losses compose. For a pure loss the scales are :math:`2c\Delta/\varepsilon` and
        :math:`4c\Delta/\varepsilon` [Das22, Theorem 6.4]. For :math:`\delta > 0` the scale is the
        least that the accountant certifies. The printed one,
        :math:`\sqrt{32c\ln(1/\delta)}/\varepsilon`, follows from advanced composition only where
        :math:`e^{\varepsilon'} - 1 \le \sqrt{2\ln(1/\delta)/c}` with
        :math:`\varepsilon' = \varepsilon/\sqrt{8c\ln(1/\delta)}`, a condition that
        [Das22, Theorem 6.4] leaves out; where it holds, ours is smaller.

    Assumes:
        As :class:`~discreet.mechanisms.thresholds.sparse_vector.SparseVector`.

    Utility:
        ``error_quantile(beta, queries=k)``; for a pure loss it is at most
        :math:`8c\Delta(\ln k + \ln(2c/\beta))/\varepsilon + 2` [Das22, Theorem 6.5].

    Example:
        >>> sparse(d_in=Contribution(linf=1), loss=Pure(1), most_above=5).query_noise
        DiscreteLaplace(scale=Fraction(20, 1))
        >>> found = sparse(d_in=Contribution(linf=1), loss=Approximate(1, "1e-6"), most_above=50)
        >>> 58 < found.threshold_noise.scale < 59
        True
    """
    count = check.whole(most_above)
    if loss.epsilon <= 0 or count < 1:
        raise InvalidArgument(
            "No scale fits",
            must="have an ε above 0 and at least one query above",
            got=f"ε = {loss.epsilon} and most_above = {most_above}",
        )
    distance = sensitivity(d_in).bound("linf")
    if isinstance(loss, Pure) or loss.delta == 0:
        return with_scale(2 * count * distance / loss.epsilon, count)

    def event(scale: Fraction) -> Event:
        return with_scale(scale, count).event(d_in)

    return with_scale(calibrate(event, target=loss).scale, count)


def with_scale(scale: Fraction, most_above: int) -> SparseVector:
    """Return the machine with this scale for the threshold and twice that for the queries."""
    return SparseVector(
        threshold_noise=DiscreteLaplace(scale=scale),
        query_noise=DiscreteLaplace(scale=2 * scale),
        most_above=most_above,
        redraw=Redraw.AFTER_ABOVE,
    )
