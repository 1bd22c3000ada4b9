"""AboveThreshold: which query is the first above a threshold, at the price of one question."""

from discreet.core.contribution import Contribution
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Pure
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.thresholds.interactive import sensitivity
from discreet.mechanisms.thresholds.sparse_vector import SparseVector


def above_threshold(*, d_in: Contribution, loss: Pure) -> SparseVector:
    r"""Return the machine that spends ``loss``, half on the threshold and half on the queries.

    The threshold has noise of scale :math:`2\Delta/\varepsilon` and each query of scale
    :math:`4\Delta/\varepsilon` [DR14, Algorithm 1].

    Guarantee:
        :math:`\varepsilon`-DP for any number of adaptive queries, because it *halts* at the first
        one above [DR14, Theorem 3.23]. [Das22, Algorithm 5] prints it without the halt; then the
        loss grows with the number of queries (2.1 after ten at ε = 1, 46 after two hundred).

    Assumes:
        As :class:`~discreet.mechanisms.thresholds.sparse_vector.SparseVector`.

    Utility:
        ``error_quantile(beta, queries=k)`` is at most
        :math:`8\Delta(\ln k + \ln(2/\beta))/\varepsilon + 2` [Das22, Theorem 6.3].

    Example:
        >>> machine = above_threshold(d_in=Contribution(linf=1), loss=Pure("1/2"))
        >>> machine.threshold_noise, machine.query_noise
        (DiscreteLaplace(scale=Fraction(4, 1)), DiscreteLaplace(scale=Fraction(8, 1)))
        >>> machine.error_quantile("0.05", queries=1000)
        Fraction(100, 1)
    """
    if loss.epsilon <= 0:
        raise InvalidArgument("No scale fits", must="have an ε above 0", got=str(loss.epsilon))
    scale = 2 * sensitivity(d_in).bound("linf") / loss.epsilon
    return SparseVector(
        threshold_noise=DiscreteLaplace(scale=scale), query_noise=DiscreteLaplace(scale=2 * scale)
    )
