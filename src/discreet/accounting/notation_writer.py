"""Write events as the text that reads as them: the other way of ``read_events``."""

from fractions import Fraction
from functools import singledispatch
from math import isqrt
from typing import Any

from attrs import fields

from discreet.core.contribution import Metric
from discreet.core.errors import Unsupported
from discreet.core.event import (
    ComposedEvent,
    Event,
    FixedSizeSampledEvent,
    MixtureEvent,
    PoissonSampledEvent,
)
from discreet.core.mechanism_event import (
    DiscreteGaussianEvent,
    DiscreteLaplaceEvent,
    LinfExponentialEvent,
    TruncatedGeometricEvent,
    TwoCoinResponseEvent,
    UniformNoiseEvent,
)
from discreet.core.numbers import written
from discreet.core.stated_event import ApproximateEvent, BoundedRangeEvent, RenyiEvent


def write_events(event: Event) -> str:
    """Return the text that :func:`~discreet.accounting.notation.read_events` reads as ``event``.

    A composition of compositions is written as one: counts multiply.

    Example:
        >>> from discreet import read_events
        >>> text = write_events(read_events("poisson(gaussian(1.1), 256/60000) * 14063 + rr(3/4)"))
        >>> text
        'poisson(gaussian(scale=1.1), rate=8/1875) * 14063 + rr(p=0.75)'
        >>> write_events(read_events(text)) == text
        True
    """
    if not isinstance(event, ComposedEvent):
        return _written(event)
    parts = event.parts
    shown = [_counted(part, count, is_alone=len(parts) == 1) for part, count in parts]
    return " + ".join(shown)


def _counted(event: Event, count: int, *, is_alone: bool) -> str:
    text = f"({write_events(event)})" if isinstance(event, ComposedEvent) else _written(event)
    return text if count == 1 and not is_alone else f"{text} * {count}"


@singledispatch
def _written(event: Event) -> str:
    return _call(_OTHER_NAMES.get(type(event), event.kind), [], event)


_OTHER_NAMES: dict[type[Event], str] = {
    ApproximateEvent: "approx",
    BoundedRangeEvent: "exponential",
}
"""Names that are not the kind of the event."""


@_written.register
def _(event: PoissonSampledEvent) -> str:
    return _call("poisson", [write_events(event.inner)], event, without=("inner",))


@_written.register
def _(event: FixedSizeSampledEvent) -> str:
    return _call("fixed_size", [write_events(event.inner)], event, without=("inner",))


@_written.register
def _(event: MixtureEvent) -> str:
    return _call("mixture", map(_value, event.parts), event, without=("parts",))


@_written.register
def _(event: RenyiEvent) -> str:
    return _call("renyi", map(_value, event.points), event, without=("points",))


@_written.register
def _(event: TwoCoinResponseEvent) -> str:
    if event.yes != Fraction(1, 2) or event.truth == 1:
        return _call(event.kind, [], event)
    right = f"p={written((event.truth + 1) / 2)}"
    return _call("rr", [right], event, without=("truth", "yes"))


@_written.register
def _(event: DiscreteLaplaceEvent) -> str:
    if event.distance.denominator != 1:
        raise _no_text(event.distance)
    return _call(event.kind, [], event)


@_written.register
def _(event: DiscreteGaussianEvent) -> str:
    if 0 < event.distance_squared < 1:
        raise _no_text(event.distance_squared)
    scale, moved = _root(event.sigma_squared), event.largest
    is_one = event.entries == 1 and moved is not None and moved.denominator == 1
    if not is_one or scale is None or moved is None or moved**2 != event.distance_squared:
        return _call(event.kind, [], event)
    own = [f"scale={written(scale)}", *([] if moved == 1 else [f"distance={written(moved)}"])]
    return _call(event.kind, own, event, without=[a.name for a in fields(type(event))][1:])


@_written.register(LinfExponentialEvent)
@_written.register(TruncatedGeometricEvent)
@_written.register(UniformNoiseEvent)
def _(event: Any) -> str:
    if 0 < event.distance < 1:
        raise _no_text(event.distance)
    return _call(event.kind, [], event)


def _no_text(moved: Fraction) -> Unsupported:
    return Unsupported(
        "No text means this event",
        must="move by whole steps of discrete noise",
        got=written(moved),
        next="Round the distance down: integers cannot move by a part of a step",
    )


def _root(value: Fraction) -> Fraction | None:
    root = Fraction(isqrt(value.numerator), isqrt(value.denominator))
    return root if root**2 == value else None


def _call(name: str, first: Any, event: Event, without: Any = ()) -> str:
    """Return a call: what is given, then the fields that are not as by default."""
    given = [a for a in fields(type(event)) if a.name not in without]
    named = [
        f"{a.name}={_value(getattr(event, a.name))}"
        for a in sorted(given, key=lambda a: a.name == "metric")
        if getattr(event, a.name) != a.default
    ]
    return f"{name}({', '.join([*first, *named])})"


def _value(value: Any) -> str:
    if isinstance(value, Event):
        return write_events(value)
    if isinstance(value, Metric):
        return value.value
    if isinstance(value, tuple):
        return f"({', '.join(map(_value, value))})"
    return written(value)
