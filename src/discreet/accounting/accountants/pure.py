"""The pure accountant: events to ε, by the theorem of each event; unknown ones are refused."""

from collections.abc import Iterable
from fractions import Fraction
from functools import singledispatch

from discreet.accounting.accountants.sampling import Sampled, sampled_epsilon
from discreet.accounting.tails.normal_tail import normal_tail_bounds
from discreet.core.errors import Unsupported
from discreet.core.event import (
    ComposedEvent,
    Event,
    FixedSizeSampledEvent,
    MixtureEvent,
    PoissonSampledEvent,
    require_one_metric,
)
from discreet.core.loss import Pure
from discreet.core.mechanism_event import (
    DiscreteLaplaceEvent,
    ExponentialSelectionEvent,
    LaplaceNoisyMaxEvent,
    LinfExponentialEvent,
    PermuteAndFlipEvent,
    RandomisedResponseEvent,
    SignOfGaussianEvent,
    SparseVectorEvent,
    TwoCoinResponseEvent,
)
from discreet.core.numbers import log_bounds
from discreet.core.stated_event import BoundedRangeEvent, LaplaceEvent, PureEvent


def pure_loss(events: Iterable[Event]) -> Pure:
    r"""Return the pure loss of all ``events`` together.

    Guarantee:
        The sum of the events' :math:`\varepsilon` bounds the loss of releasing all of them, even if
        each was chosen after seeing the ones before [DR14, Theorem 3.14].

    Example:
        >>> pure_loss([DiscreteLaplaceEvent(scale=4, distance=1)] * 2)
        Pure(ε = 0.5)
    """
    found = require_one_metric(events)
    return Pure(sum((epsilon(event) for event in found), Fraction(0)))


@singledispatch
def epsilon(event: Event) -> Fraction:
    """Return the pure ε of one event, or refuse."""
    raise Unsupported(
        "No pure bound is known for this event",
        must="be an event with a finite pure loss",
        got=getattr(event, "kind", type(event).__name__),
    )


@epsilon.register
def _(event: DiscreteLaplaceEvent) -> Fraction:
    # Moving the centre by v changes log P by at most |v|_1 / scale [GRS12, section 2].
    return event.distance / event.scale


@epsilon.register
def _(event: LinfExponentialEvent) -> Fraction:
    r"""Divide: a shift by ``v`` moves :math:`\|z\|_\infty` by at most :math:`\|v\|_\infty`."""
    return event.distance / event.scale


@epsilon.register
def _(event: RandomisedResponseEvent) -> Fraction:
    r"""Read off: no report is more than :math:`e^\varepsilon` times as likely [War65; KOV16]."""
    return event.epsilon if event.categories > 1 else Fraction(0)


@epsilon.register
def _(event: TwoCoinResponseEvent) -> Fraction:
    r"""Compare the two answers; the logarithm is rounded up [DR14, section 3.2].

    For *yes* the ratio is :math:`(t + (1 - t) y) / ((1 - t) y)`, for *no* the same with
    :math:`1 - y`.
    """
    if event.truth == 0:
        return Fraction(0)
    lie = 1 - event.truth
    if lie == 0 or event.yes in (0, 1):
        raise Unsupported(
            "This response has no finite pure loss",
            must="sometimes lie in either direction",
            got=f"truth = {event.truth} and yes = {event.yes}",
        )
    ratio = 1 + event.truth / (lie * min(event.yes, 1 - event.yes))
    return log_bounds(ratio, bits=96)[1]


@epsilon.register
def _(event: SignOfGaussianEvent) -> Fraction:
    r"""Compare the two signs: :math:`\ln((1 - p) / p)` with :math:`p = P[N > 1/\sigma]`.

    Rounded up. Far in the tail the chance of a lie is too small to bound from below.
    """
    low, _ = normal_tail_bounds(1 / event.sigma_squared, bits=256)
    if low == 0:
        raise Unsupported(
            "This response hardly ever lies", must="have a sigma_squared of at least 1/256"
        )
    return log_bounds((1 - low) / low, bits=96)[1]


@epsilon.register
def _(event: LaplaceEvent) -> Fraction:
    # As for discrete noise: log P moves by at most |v|_1 / scale [DMNS06, Proposition 1].
    return event.distance / event.scale


@epsilon.register(PureEvent)
@epsilon.register(BoundedRangeEvent)
def _(event: PureEvent | BoundedRangeEvent) -> Fraction:
    # Stated. A range of width ε contains 0, so the loss itself is at most ε.
    return event.epsilon


@epsilon.register
def _(event: SparseVectorEvent) -> Fraction:
    # Each draw of the threshold moves by one distance, each query above by two; the queries below
    # cost nothing [DR14, Theorem 3.23]. The proof is with SparseVector.
    return event.draws * epsilon(event.threshold_noise) + event.above * epsilon(event.query_noise)


@epsilon.register(ExponentialSelectionEvent)
@epsilon.register(PermuteAndFlipEvent)
@epsilon.register(LaplaceNoisyMaxEvent)
def _(event: ExponentialSelectionEvent | PermuteAndFlipEvent | LaplaceNoisyMaxEvent) -> Fraction:
    # One unit moves the noise that a candidate needs to win by at most the spread.
    return event.spread / event.scale


@epsilon.register
def _(event: ComposedEvent) -> Fraction:
    return sum((count * epsilon(part) for part, count in event.parts), Fraction(0))


@epsilon.register(PoissonSampledEvent)
@epsilon.register(FixedSizeSampledEvent)
def _(event: Sampled) -> Fraction:
    # The three cases are proved with sampled_epsilon.
    return sampled_epsilon(epsilon(event.inner), event) if event.rate else Fraction(0)


@epsilon.register
def _(event: MixtureEvent) -> Fraction:
    # Which part was drawn is told, so the loss is that of the worst.
    return max(epsilon(part) for part, weight in event.parts if weight)
