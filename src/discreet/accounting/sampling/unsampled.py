"""The same mechanisms on all units: what is left of an event if sampling is not used."""

from functools import singledispatch

from attrs import evolve

from discreet.accounting.sampling.sampled_epsilon import is_exchange
from discreet.accounting.sampling.two_steps import two_steps
from discreet.core.errors import Unsupported
from discreet.core.event import (
    ComposedEvent,
    DiscreteGaussianEvent,
    DiscreteLaplaceEvent,
    Event,
)
from discreet.core.metric import Metric
from discreet.core.sampling_event import (
    FixedSizeSampledEvent,
    MixtureEvent,
    PoissonSampledEvent,
)
from discreet.core.stated_event import (
    ApproximateEvent,
    BoundedRangeEvent,
    GaussianEvent,
    LaplaceEvent,
    PureEvent,
    ZcdpEvent,
)

_PLAIN = (
    ApproximateEvent,
    BoundedRangeEvent,
    DiscreteGaussianEvent,
    DiscreteLaplaceEvent,
    GaussianEvent,
    LaplaceEvent,
    PureEvent,
    ZcdpEvent,
)
"""Events whose theorems do not look at the neighbour relation."""


def is_sampled(event: Event) -> bool:
    """Tell whether any part of ``event`` sees a sample."""
    if isinstance(event, ComposedEvent | MixtureEvent):
        return any(is_sampled(part) for part, _ in event.parts)
    return isinstance(event, PoissonSampledEvent | FixedSizeSampledEvent)


@singledispatch
def unsampled(event: Event) -> Event:
    r"""Return an event without samples that bounds ``event``.

    Guarantee:
        With :math:`M_0`, :math:`M_1`, :math:`M_1'` as in
        :func:`discreet.accounting.sampling.sampled_epsilon.sampled_epsilon`, joint convexity gives
        :math:`H_e((1-r)M_0 + rM_1 \| (1-r)M_0 + rM_1') \le (1-r)(1-e)_+ + r H_e(M_1 \| M_1')`,
        and no :math:`H_e` is below :math:`(1-e)_+`: a sample tells no more than the whole. If one
        unit is added, :math:`M_0` is in the place of :math:`M_1'`.

    Example:
        >>> unsampled(PoissonSampledEvent(inner=GaussianEvent(scale=2), rate="1/9") * 3).parts[0][1]
        3
    """
    return event


@unsampled.register
def _(event: PoissonSampledEvent) -> Event:
    if event.rate == 0:
        return PureEvent(epsilon=0, metric=event.metric)
    inner = unsampled(event.inner)
    return two_steps(inner) if is_exchange(event) else inner


@unsampled.register
def _(event: FixedSizeSampledEvent) -> Event:
    if event.rate == 0:
        return PureEvent(epsilon=0, metric=event.metric)
    return _about(unsampled(event.inner), event.metric)


@unsampled.register
def _(event: ComposedEvent) -> Event:
    counts: dict[Event, int] = {}
    for part, count in event.parts:
        whole = unsampled(part)
        inner = whole.parts if isinstance(whole, ComposedEvent) else ((whole, 1),)
        for one, times in inner:
            counts[one] = counts.get(one, 0) + times * count
    return evolve(event, parts=tuple(counts.items()))


@unsampled.register
def _(event: MixtureEvent) -> Event:
    return evolve(event, parts=tuple((unsampled(part), weight) for part, weight in event.parts))


def _about(event: Event, metric: Metric) -> Event:
    """Return an event with the same numbers about other neighbours, whose laws differ alike."""
    if event.metric is metric:
        return event
    if isinstance(event, ComposedEvent):
        parts = tuple((_about(part, metric), count) for part, count in event.parts)
        return ComposedEvent(parts=parts, metric=metric)
    if isinstance(event, _PLAIN):
        return evolve(event, metric=metric)
    raise Unsupported("Nothing is known about this event for other neighbours", got=event.kind)
