r"""The pure loss of a mechanism that sees a sample, from its pure loss on the whole."""

from fractions import Fraction

from discreet.core.errors import Unsupported
from discreet.core.metric import Metric
from discreet.core.numbers import exp_bounds
from discreet.core.rounding import log_down, log_up, short_up
from discreet.core.sampling_event import FixedSizeSampledEvent, PoissonSampledEvent

Sampled = PoissonSampledEvent | FixedSizeSampledEvent

_BITS = 96
_LARGEST = 2_000
"""Beyond this ε the exponentials are too long to be worth writing down."""


def tells_who_was_sampled(event: Sampled) -> bool:
    """Tell whether ``inner`` may give away that the changed unit was sampled.

    A Poisson sample with the changed unit is larger by one than without it, and an event that is
    about changes alone says nothing about that.
    """
    return isinstance(event, PoissonSampledEvent) and event.inner.metric is Metric.CHANGE_ONE


def is_exchange(event: Sampled) -> bool:
    """Tell whether a unit is exchanged in a sample, while ``inner`` is about added units."""
    return event.metric is Metric.CHANGE_ONE and event.inner.metric is Metric.ADD_REMOVE


def sampled_epsilon(inner: Fraction, event: Sampled) -> Fraction:
    r"""Return the pure ε of a sampled event whose inner event has the pure ε ``inner``.

    Guarantee:
        Let :math:`M_0` be the law given that the unit in question is not sampled, :math:`M_1` and
        :math:`M_1'` given that it is, before and after the change.

        *One step*: a Poisson sample when a unit is added or removed, and a sample of fixed size.
        :math:`M_1 \le e^\varepsilon M_0`, so the ratio of :math:`(1-r)M_0 + rM_1` to :math:`M_0`,
        or to the same with :math:`M_1'`, is at most :math:`1 + r(e^\varepsilon - 1)` [BBG18].

        *Two steps*: a Poisson sample when a unit is changed, where ``inner`` is about added units.
        :math:`M_1 \le e^\varepsilon M_0` and :math:`M_1' \ge e^{-\varepsilon} M_0`, so the ratio is
        at most :math:`(1 + r(e^\varepsilon - 1)) / (1 - r(1 - e^{-\varepsilon}))`.

        *None*: a Poisson sample when a unit is changed, where ``inner`` is about changes. A
        mechanism that tells the size of its sample tells whether the unit is in it; given that it
        is, the loss is that of ``inner``. Sampling does not lower it.

    Example:
        >>> from discreet.core.stated_event import PureEvent
        >>> rare = PoissonSampledEvent(inner=PureEvent(epsilon=1), rate="1/100")
        >>> round(float(sampled_epsilon(Fraction(1), rare)), 6)
        0.017037
    """
    rate = event.rate
    if rate == 0 or inner == 0:
        return Fraction(0)
    if tells_who_was_sampled(event):
        return inner
    steps = 2 if is_exchange(event) else 1
    if rate == 1 or inner > _LARGEST:
        return steps * inner
    found = amplified_epsilon(inner, rate)
    if steps == 2:
        least = 1 - rate * (1 - exp_bounds(-inner, _BITS)[0])
        found = short_up(found - log_down(least), _BITS)
    return min(steps * inner, found)


def amplified_epsilon(inner: Fraction, rate: Fraction) -> Fraction:
    r"""Return :math:`\ln(1 + r(e^\varepsilon - 1))`, rounded up.

    Example:
        >>> round(float(amplified_epsilon(Fraction(1), Fraction(1, 2))), 6)
        0.620115
    """
    if rate == 1:
        return inner
    if inner > _LARGEST:
        raise Unsupported("This loss is too large to be amplified", must=f"be at most {_LARGEST}")
    return min(inner, short_up(log_up(1 + rate * (exp_bounds(inner, _BITS)[1] - 1)), _BITS))
