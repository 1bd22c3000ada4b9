"""The Rényi accountant: events to a curve, by the theorem of each event, and a δ beside it."""

import math
from collections.abc import Iterable
from fractions import Fraction
from functools import singledispatch

from attrs import frozen

from discreet.accounting.accountants.approximate import approximate, false_pass, own_keys_delta
from discreet.accounting.accountants.flattened import composed_once
from discreet.accounting.accountants.pure import epsilon
from discreet.accounting.accountants.sampling import Sampled, tells_who_was_sampled
from discreet.accounting.accountants.zcdp import line, rho
from discreet.accounting.curves.bounded import (
    BinaryPiece,
    BoundedRangePiece,
    CategoricalPiece,
    TightPure,
)
from discreet.accounting.curves.curve import CurvePiece, RenyiCurve
from discreet.accounting.curves.halting import HaltingPiece
from discreet.accounting.curves.line import BoundedLine, CountedLine, Line, StatedPiece
from discreet.accounting.curves.noise import DiscreteLaplacePiece, GaussianPiece, LaplacePiece
from discreet.accounting.curves.sampled import SampledPiece, ToldPiece
from discreet.core.contribution import Metric
from discreet.core.errors import Unsupported
from discreet.core.event import ComposedEvent, Event, FixedSizeSampledEvent, PoissonSampledEvent
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


@frozen
class ApproximateCurve:
    r"""A Rényi curve that holds outside of events of probability ``delta``.

    Guarantee:
        Sums compose, also adaptively: the curves by [Mir17, Proposition 1], the probabilities by
        the union bound. An :math:`(\varepsilon, \delta)`-DP mechanism is a post-processing of one
        that tells all with probability :math:`\delta` and is :math:`\varepsilon`-DP otherwise
        [KOV15; MV16, Lemma 3.2], so it has the tight pure curve outside of :math:`\delta`.
    """

    curve: RenyiCurve
    delta: Fraction


def renyi_loss(events: Iterable[Event]) -> ApproximateCurve:
    """Return the curve, and the δ, of all ``events`` together.

    Example:
        >>> found = renyi_loss([PureEvent(epsilon=1), ApproximateEvent(epsilon=1, delta="1e-6")])
        >>> found.curve.shown(), float(found.delta)
        ('Rényi curve of 2 × tight_pure', 1e-06)
    """
    pieces: list[tuple[CurvePiece, int]] = []
    delta = Fraction(0)
    for part, count in composed_once(ComposedEvent.of(list(events))).parts:
        piece, lost = renyi(part)
        pieces.append((piece, count))
        delta += count * lost
    return ApproximateCurve(RenyiCurve(pieces), delta)


_NO_LOSS = Fraction(0)


@singledispatch
def renyi(event: Event) -> tuple[CurvePiece, Fraction]:
    """Return the curve of one event, and the δ beside it, or refuse."""
    raise Unsupported(
        "No Rényi curve is known for this event",
        got=getattr(event, "kind", type(event).__name__),
    )


@renyi.register
def _(event: GaussianEvent) -> tuple[CurvePiece, Fraction]:
    return GaussianPiece((event.distance / event.scale) ** 2), _NO_LOSS


@renyi.register(DiscreteGaussianEvent)
@renyi.register(SignOfGaussianEvent)
def _(event: Event) -> tuple[CurvePiece, Fraction]:
    return Line(rho=rho(event)), _NO_LOSS


@renyi.register
def _(event: ZcdpEvent) -> tuple[CurvePiece, Fraction]:
    return Line(rho=event.rho, xi=event.xi), _NO_LOSS


@renyi.register
def _(event: MeanConcentratedEvent) -> tuple[CurvePiece, Fraction]:
    found = line(event)
    return Line(rho=found.rho, xi=found.xi), _NO_LOSS


@renyi.register
def _(event: BoundedZcdpEvent) -> tuple[CurvePiece, Fraction]:
    return BoundedLine(rho=event.rho, order=event.order, xi=event.xi), _NO_LOSS


@renyi.register
def _(event: RenyiEvent) -> tuple[CurvePiece, Fraction]:
    return StatedPiece(event.points), _NO_LOSS


_SYMMETRIC = (
    DiscreteGaussianEvent,
    DiscreteLaplaceEvent,
    GaussianEvent,
    LaplaceEvent,
    PureEvent,
    RandomisedResponseEvent,
)
"""Events whose curve is that of a symmetric pair, or above it."""


_LEAST_RATE = Fraction(1, 10**20)
"""It stands for smaller rates, whose logarithms take long: larger samples tell no less."""


@renyi.register(PoissonSampledEvent)
@renyi.register(FixedSizeSampledEvent)
def _(event: Sampled) -> tuple[CurvePiece, Fraction]:
    """Sum over how often the unit was met; the proof is with ``SampledPiece``."""
    if event.rate == 0:
        return Line(rho=0), _NO_LOSS
    parts = ComposedEvent.of([event.inner]).parts
    found = renyi_loss([event.inner])
    if tells_who_was_sampled(event):
        return ToldPiece(inner=found.curve, rate=event.rate), event.rate * found.delta
    if event.metric is not Metric.ADD_REMOVE or not all(
        isinstance(part, _SYMMETRIC) for part, _ in parts
    ):
        raise Unsupported(
            "No Rényi curve is known for this sample",
            must="be about a unit that is added or removed, and have noise that is symmetric",
            got=event.kind,
            next="Account for it by its privacy-loss distribution",
        )
    return SampledPiece(inner=found.curve, rate=max(event.rate, _LEAST_RATE)), _NO_LOSS


@renyi.register
def _(event: LaplaceEvent) -> tuple[CurvePiece, Fraction]:
    return LaplacePiece(event.distance / event.scale), _NO_LOSS


@renyi.register
def _(event: DiscreteLaplaceEvent) -> tuple[CurvePiece, Fraction]:
    # Integers move by whole steps, so a distance between two integers is the lower one.
    steps = event.distance.numerator // event.distance.denominator
    return DiscreteLaplacePiece(scale=event.scale, distance=steps), _NO_LOSS


@renyi.register
def _(event: RandomisedResponseEvent) -> tuple[CurvePiece, Fraction]:
    return CategoricalPiece(event.epsilon, event.categories), _NO_LOSS


@renyi.register
def _(event: TwoCoinResponseEvent) -> tuple[CurvePiece, Fraction]:
    no = (1 - event.truth) * event.yes
    return BinaryPiece(event.truth + no, no), _NO_LOSS


@renyi.register
def _(event: BoundedRangeEvent) -> tuple[CurvePiece, Fraction]:
    return BoundedRangePiece(event.epsilon), _NO_LOSS


@renyi.register
def _(event: ExponentialSelectionEvent) -> tuple[CurvePiece, Fraction]:
    return BoundedRangePiece(epsilon(event)), _NO_LOSS


@renyi.register(PureEvent)
@renyi.register(PermuteAndFlipEvent)
@renyi.register(LaplaceNoisyMaxEvent)
@renyi.register(LinfExponentialEvent)
def _(event: Event) -> tuple[CurvePiece, Fraction]:
    return TightPure(epsilon(event)), _NO_LOSS


@renyi.register
def _(event: ThresholdedLaplaceEvent) -> tuple[CurvePiece, Fraction]:
    # Given that no key of one's own is shown, both laws are noise on the keys that both have.
    steps = event.distance.numerator // event.distance.denominator
    return DiscreteLaplacePiece(scale=event.scale, distance=steps), own_keys_delta(event)


@renyi.register
def _(event: ThresholdedGaussianEvent) -> tuple[CurvePiece, Fraction]:
    # As above; the noise is that of CKS20, Theorem 4, and the δ that of BS16, Definition 8.1.
    rho_ = event.distance_squared / (2 * event.sigma_squared)
    return Line(rho=rho_), own_keys_delta(event)


@renyi.register
def _(event: StabilityTestEvent) -> tuple[CurvePiece, Fraction]:
    # Either the noise hides how the margin moves, or both laws say no but for the false pass.
    return DiscreteLaplacePiece(scale=event.scale, distance=event.distance), false_pass(event)


@renyi.register(ApproximateEvent)
@renyi.register(ApproximateResponseEvent)
@renyi.register(TruncatedGeometricEvent)
@renyi.register(UniformNoiseEvent)
@renyi.register(BetweenThresholdsEvent)
@renyi.register(AdaptiveThresholdsEvent)
def _(event: Event) -> tuple[CurvePiece, Fraction]:
    loss = approximate(event)
    return TightPure(loss.epsilon), loss.delta


@renyi.register
def _(event: SparseVectorEvent) -> tuple[CurvePiece, Fraction]:
    """Take the tight pure curve, or the hybrid line, or count the transcripts of bounded length.

    [Das22, Theorems 9.9 and 9.12]; the proofs are with ``SparseVector``.
    """
    try:
        return TightPure(epsilon(event)), _NO_LOSS
    except Unsupported:
        pass
    try:
        found = line(event)
    except Unsupported:
        return _counted(event), _NO_LOSS
    return Line(rho=found.rho, xi=found.xi), _NO_LOSS


def _counted(event: SparseVectorEvent) -> CountedLine:
    if event.queries is None:
        raise Unsupported(
            "No bound is known without a limit on the number of queries",
            must="limit the queries, or add noise with a finite pure loss to them",
            next="Set most_queries, use DiscreteLaplace for query_noise, or HaltingSparseVector",
        )
    threshold = renyi(event.threshold_noise)[0].line()
    query = renyi(event.query_noise)[0].line()
    if threshold is None or query is None:
        raise Unsupported("This noise lies below no known line", got=event.kind)
    (xi, slope), (query_xi, query_slope) = threshold, query
    most = min(event.above, event.queries)
    return CountedLine(
        rho=event.draws * slope + event.above * query_slope,
        xi=event.draws * xi + event.above * query_xi,
        count=sum(math.comb(event.queries, above) for above in range(most + 1)),
    )


@renyi.register
def _(event: HaltingSparseVectorEvent) -> tuple[CurvePiece, Fraction]:
    piece = HaltingPiece(
        threshold_variance=event.threshold_variance,
        query_variance=event.query_variance,
        distance=event.distance,
        ceiling=event.ceiling,
    )
    return piece, _NO_LOSS
