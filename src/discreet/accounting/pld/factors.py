"""Events that are several independent ones side by side, taken apart."""

from collections.abc import Iterable
from functools import singledispatch

from discreet.accounting.accountants.approximate import own_keys_delta
from discreet.core.event import ComposedEvent, DiscreteGaussianEvent, DiscreteLaplaceEvent, Event
from discreet.core.stability_event import ThresholdedGaussianEvent, ThresholdedLaplaceEvent
from discreet.core.stated_event import ApproximateEvent


@singledispatch
def factors(event: Event) -> tuple[Event, ...]:
    r"""Return events whose composition dominates ``event``: most are one.

    Guarantee:
        For thresholded keys: the noise on the keys that both neighbours have, and the chance
        :math:`\delta` that a key of one's own is shown. The keys have independent noise, and where
        no key of one's own is shown the other neighbour shows none either, so the second factor is
        :math:`(0, \delta)`-DP by itself.
    """
    return (event,)


@factors.register
def _(event: ThresholdedLaplaceEvent) -> tuple[Event, ...]:
    return (
        DiscreteLaplaceEvent(scale=event.scale, distance=event.distance, metric=event.metric),
        _own_keys(event),
    )


@factors.register
def _(event: ThresholdedGaussianEvent) -> tuple[Event, ...]:
    noise = DiscreteGaussianEvent(
        sigma_squared=event.sigma_squared,
        distance_squared=event.distance_squared,
        entries=event.groups,
        largest=event.largest,
        metric=event.metric,
    )
    return noise, _own_keys(event)


def _own_keys(event: ThresholdedLaplaceEvent | ThresholdedGaussianEvent) -> Event:
    return ApproximateEvent(epsilon=0, delta=own_keys_delta(event), metric=event.metric)


def parts_of(event: Event) -> Iterable[tuple[Event, int]]:
    """Yield the factors of an event, and of all parts of a composition, with their numbers."""
    if not isinstance(event, ComposedEvent):
        yield from ((part, 1) for part in factors(event))
        return
    for part, count in event.parts:
        for inner, times in parts_of(part):
            yield inner, times * count
