"""Events that were written down: the table of every kind, and the way back from JSON.

What is stored names its kind. Kinds are looked up here and nowhere else, so that reading does not
depend on what happens to be imported.
"""

from typing import Any

from discreet.core.errors import Unsupported
from discreet.core.event import (
    ComposedEvent,
    Event,
    FixedSizeSampledEvent,
    MixtureEvent,
    PoissonSampledEvent,
)
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

EVENTS: tuple[type[Event], ...] = (
    AdaptiveThresholdsEvent,
    ApproximateEvent,
    ApproximateResponseEvent,
    BetweenThresholdsEvent,
    BoundedRangeEvent,
    BoundedZcdpEvent,
    ComposedEvent,
    DiscreteGaussianEvent,
    DiscreteLaplaceEvent,
    ExponentialSelectionEvent,
    FixedSizeSampledEvent,
    GaussianEvent,
    HaltingSparseVectorEvent,
    LaplaceEvent,
    LaplaceNoisyMaxEvent,
    LinfExponentialEvent,
    MeanConcentratedEvent,
    MixtureEvent,
    PermuteAndFlipEvent,
    PoissonSampledEvent,
    PureEvent,
    RandomisedResponseEvent,
    RenyiEvent,
    SignOfGaussianEvent,
    SparseVectorEvent,
    StabilityTestEvent,
    ThresholdedGaussianEvent,
    ThresholdedLaplaceEvent,
    TruncatedGeometricEvent,
    TwoCoinResponseEvent,
    UniformNoiseEvent,
    ZcdpEvent,
)
"""Every kind of event."""

_KINDS = {cls.kind: cls for cls in EVENTS}


def event_from_json(data: dict[str, Any]) -> Event:
    """Read an event that :meth:`~discreet.core.event.Event.to_json` wrote; refuse unknown kinds.

    Example:
        >>> event = DiscreteLaplaceEvent(scale="1/2", distance=1) * 3
        >>> event_from_json(event.to_json()) == event
        True
    """
    cls = _KINDS.get(data.get("kind", ""))
    if cls is None:
        raise Unsupported("This is not an event that we know", got=str(data.get("kind")))
    return cls(**{name: _read(value) for name, value in data.items() if name != "kind"})


def _read(value: Any) -> Any:
    """Return a field; an event in it is an object with a kind."""
    if isinstance(value, dict):
        return event_from_json(value)
    return tuple(map(_read, value)) if isinstance(value, list) else value
