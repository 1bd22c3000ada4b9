"""Every event, importable from one place: ``from discreet.events import GaussianEvent``.

An event says all that an accountant must know about one use of a mechanism: see
:mod:`discreet.core.event`. Numbers may be given in their order, and ``metric`` by name.

Example:
    >>> from discreet import account
    >>> step = PoissonSampledEvent("0.01", GaussianEvent(1))
    >>> account(step * 10_000, delta="1e-5")
    ε ≤ 6.188 at δ = 0.00001 (pld)
"""

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

__all__ = [
    "AdaptiveThresholdsEvent",
    "ApproximateEvent",
    "ApproximateResponseEvent",
    "BetweenThresholdsEvent",
    "BoundedRangeEvent",
    "BoundedZcdpEvent",
    "ComposedEvent",
    "DiscreteGaussianEvent",
    "DiscreteLaplaceEvent",
    "Event",
    "ExponentialSelectionEvent",
    "FixedSizeSampledEvent",
    "GaussianEvent",
    "HaltingSparseVectorEvent",
    "LaplaceEvent",
    "LaplaceNoisyMaxEvent",
    "LinfExponentialEvent",
    "MeanConcentratedEvent",
    "MixtureEvent",
    "PermuteAndFlipEvent",
    "PoissonSampledEvent",
    "PureEvent",
    "RandomisedResponseEvent",
    "RenyiEvent",
    "SignOfGaussianEvent",
    "SparseVectorEvent",
    "StabilityTestEvent",
    "ThresholdedGaussianEvent",
    "ThresholdedLaplaceEvent",
    "TruncatedGeometricEvent",
    "TwoCoinResponseEvent",
    "UniformNoiseEvent",
    "ZcdpEvent",
]
