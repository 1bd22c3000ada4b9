"""The names of events in text, and what their arguments mean."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from discreet.core.errors import InvalidArgument
from discreet.core.event import Event, FixedSizeSampledEvent, MixtureEvent, PoissonSampledEvent
from discreet.core.mechanism_event import (
    AdaptiveThresholdsEvent,
    ApproximateResponseEvent,
    BetweenThresholdsEvent,
    DiscreteGaussianEvent,
    DiscreteLaplaceEvent,
    ExponentialSelectionEvent,
    HaltingSparseVectorEvent,
    LaplaceNoisyMaxEvent,
    LinfExponentialEvent,
    PermuteAndFlipEvent,
    RandomisedResponseEvent,
    SignOfGaussianEvent,
    SparseVectorEvent,
    StabilityTestEvent,
    ThresholdedGaussianEvent,
    ThresholdedLaplaceEvent,
    TruncatedGeometricEvent,
    TwoCoinResponseEvent,
    UniformNoiseEvent,
)
from discreet.core.numbers import Number, exact
from discreet.core.stated_event import (
    ApproximateEvent,
    BoundedRangeEvent,
    BoundedZcdpEvent,
    GaussianEvent,
    LaplaceEvent,
    MeanConcentratedEvent,
    PureEvent,
    RenyiEvent,
    ZcdpEvent,
)


def _discrete_gaussian(*given: Number, **named: Any) -> Event:
    """Read a scale and a distance of one entry, or the fields of the event."""
    if not given and "scale" not in named:
        return DiscreteGaussianEvent(**named)
    return _one_discrete_gaussian(*given, **named)


def _one_discrete_gaussian(scale: Number, distance: Number = 1, **named: Any) -> Event:
    moved = _whole_distance(distance)
    return DiscreteGaussianEvent(exact(scale) ** 2, moved**2, entries=1, largest=moved, **named)


def _discrete_laplace(scale: Number, distance: Number = 1, **named: Any) -> Event:
    return DiscreteLaplaceEvent(scale, _whole_distance(distance), **named)


def _whole_distance(distance: Number) -> Fraction:
    """Refuse a part of a step: integers cannot move by one, so it is a mistake of units."""
    moved = exact(distance)
    if moved.denominator != 1:
        raise InvalidArgument(
            "distance is not whole", must="count steps of discrete noise", got=str(moved)
        )
    return moved


def require_steps(event: Event) -> Event:
    """Refuse integers that move by less than a step: they would not move, and cost nothing.

    It is a mistake of units: the distance of values that were not yet counted in steps.
    """
    for name in ("distance", "distance_squared"):
        moved = getattr(event, name, 0) if isinstance(event, ON_INTEGERS) else 0
        if 0 < moved < 1:
            raise InvalidArgument(
                f"{name} is less than a step of discrete noise",
                must="count steps, and be 0 or at least 1",
                got=str(moved),
            )
    return event


ON_INTEGERS = (
    DiscreteGaussianEvent,
    DiscreteLaplaceEvent,
    LinfExponentialEvent,
    TruncatedGeometricEvent,
    UniformNoiseEvent,
)
"""Noise on integers, whose distances are counted in steps."""


def _response(p: Number, **named: Any) -> Event:
    right = exact(p)
    if not Fraction(1, 2) <= right < 1:
        raise InvalidArgument("p is out of range", must="lie from 1/2 to below 1", got=str(right))
    return TwoCoinResponseEvent(2 * right - 1, Fraction(1, 2), **named)


def _poisson(*given: Any, **named: Any) -> Event:
    """Read the inner event and the rate, in either order: they cannot be mistaken."""
    return PoissonSampledEvent(**_named(("rate",), given), **named)


def _fixed_size(*given: Any, **named: Any) -> Event:
    """Read the inner event, before or after the population and the sample."""
    return FixedSizeSampledEvent(**_named(("population", "sample"), given), **named)


def _named(names: tuple[str, ...], given: tuple[Any, ...]) -> dict[str, Any]:
    """Return what was given by its place, the inner event apart from the numbers."""
    numbers = [value for value in given if not isinstance(value, Event)]
    events = [value for value in given if isinstance(value, Event)]
    if len(events) > 1 or len(numbers) > len(names):
        raise TypeError("too many arguments")
    found = dict(zip(names, numbers, strict=False))
    return found | {"inner": events[0]} if events else found


def _mixture(*parts: Any, **named: Any) -> Event:
    return MixtureEvent(parts, **named)


def _renyi(*points: Any, **named: Any) -> Event:
    return RenyiEvent(points, **named)


SHORT: dict[str, Callable[..., Event]] = {
    "pure": PureEvent,
    "approx": ApproximateEvent,
    "zcdp": ZcdpEvent,
    "gaussian": GaussianEvent,
    "laplace": LaplaceEvent,
    "discrete_gaussian": _discrete_gaussian,
    "discrete_laplace": _discrete_laplace,
    "rr": _response,
    "exponential": BoundedRangeEvent,
    "poisson": _poisson,
    "fixed_size": _fixed_size,
    "mixture": _mixture,
    "renyi": _renyi,
}
"""What people write most, and the event that it means."""

_KINDS: tuple[type[Event], ...] = (
    AdaptiveThresholdsEvent,
    ApproximateResponseEvent,
    BetweenThresholdsEvent,
    BoundedZcdpEvent,
    ExponentialSelectionEvent,
    HaltingSparseVectorEvent,
    LaplaceNoisyMaxEvent,
    LinfExponentialEvent,
    MeanConcentratedEvent,
    PermuteAndFlipEvent,
    RandomisedResponseEvent,
    SignOfGaussianEvent,
    SparseVectorEvent,
    StabilityTestEvent,
    ThresholdedGaussianEvent,
    ThresholdedLaplaceEvent,
    TruncatedGeometricEvent,
    TwoCoinResponseEvent,
    UniformNoiseEvent,
)
"""Events that are written by their kind, with the names of their fields."""

NAMES: dict[str, Callable[..., Event]] = SHORT | {kind.kind: kind for kind in _KINDS}
"""What can be written, and the event that it means."""

SCALED = ("gaussian", "laplace", "discrete_gaussian", "discrete_laplace")
"""Noise whose scale may be left open."""
