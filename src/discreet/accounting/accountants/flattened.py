"""Compositions of compositions, as one: so that each theorem sees every event by itself."""

from functools import singledispatch

from attrs import evolve

from discreet.core.event import (
    ComposedEvent,
    Event,
    FixedSizeSampledEvent,
    MixtureEvent,
    PoissonSampledEvent,
)


@singledispatch
def flattened(event: Event) -> Event:
    r"""Return the same event, in which no composition is part of another; equal ones are counted.

    Guarantee:
        Composing is associative: :math:`n` times all of several events is each of them :math:`n`
        times, whatever the order, since a bound on a composition holds for events that are chosen
        adaptively. Inside a sample and a mixture the same holds of what is inside.

    Example:
        >>> from discreet.events import PureEvent
        >>> flattened((PureEvent(1) * 2 + PureEvent(2)) * 10)
        PureEvent(epsilon=1) * 20 + PureEvent(epsilon=2) * 10
    """
    return event


@flattened.register
def composed_once(event: ComposedEvent) -> ComposedEvent:
    """Return a composition none of whose parts is one."""
    counts: dict[Event, int] = {}
    for part, count in event.parts:
        flat = flattened(part)
        inner = flat.parts if isinstance(flat, ComposedEvent) else ((flat, 1),)
        for one, times in inner:
            counts[one] = counts.get(one, 0) + times * count
    return evolve(event, parts=tuple(counts.items()))


@flattened.register(PoissonSampledEvent)
@flattened.register(FixedSizeSampledEvent)
def _(event: PoissonSampledEvent | FixedSizeSampledEvent) -> Event:
    return evolve(event, inner=flattened(event.inner))


@flattened.register
def _(event: MixtureEvent) -> MixtureEvent:
    return evolve(event, parts=tuple((flattened(part), weight) for part, weight in event.parts))
