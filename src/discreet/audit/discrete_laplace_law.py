"""The exact law of discrete Laplace noise around a centre."""

from fractions import Fraction

from discreet.audit.exponential_sum import ExponentialSum, exp
from discreet.audit.law import ExactLaw
from discreet.core.check import whole
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact


def discrete_laplace_law(scale: Number, *, centre: int, window: tuple[int, int]) -> ExactLaw:
    r"""Return the law of ``centre`` plus discrete Laplace noise, clamped to ``window``.

    The outcome at an end of the window stands for everything at or beyond it.

    Guarantee:
        For two centres inside one window and the same scale, every divergence between the two laws
        is that of the laws without the clamp.

        Proof. With :math:`q = e^{-1/scale}` the unclamped probability of :math:`z` is
        :math:`\frac{1-q}{1+q} q^{|z - centre|}`. Beyond both centres the ratio of two such
        probabilities does not depend on :math:`z`, and a divergence of the form
        :math:`\sum Q f(P/Q)` (or a largest ratio) does not change when outcomes of equal ratio are
        merged. The weights here are those probabilities times :math:`1 + q`: inside,
        :math:`q^k - q^{k+1}`; at an end that is :math:`k` away, the geometric sum :math:`q^k`, or
        :math:`1` if the centre itself is that end.

    Assumes:
        Nothing if the scales differ, except that clamping is a function of the outcome, so that
        divergences can only be smaller than the true ones.

    Example:
        >>> discrete_laplace_law(2, centre=0, window=(-3, 3))
        ExactLaw of 7 outcomes
    """
    scale = exact(scale)
    centre, low, high = whole(centre), whole(window[0]), whole(window[1])
    if scale <= 0:
        raise InvalidArgument("scale is out of range", must="be greater than 0", got=str(scale))
    if not low <= centre <= high or low == high:
        raise InvalidArgument(
            "The window does not fit",
            must="hold the centre and at least two outcomes",
            got=f"{low} to {high} around {centre}",
        )

    def beyond(distance: int) -> ExponentialSum:
        return exp(Fraction(-distance) / scale)

    weights = {
        z: beyond(abs(z - centre)) - beyond(abs(z - centre) + 1) for z in range(low, high + 1)
    }
    weights[low] = beyond(centre - low)
    weights[high] = beyond(high - centre)
    return ExactLaw(weights)
