"""The event of two steps: what a unit that is removed and added again does."""

from functools import singledispatch

from attrs import evolve

from discreet.accounting.group import group
from discreet.core.errors import Unsupported
from discreet.core.event import (
    ComposedEvent,
    DiscreteGaussianEvent,
    DiscreteLaplaceEvent,
    Event,
    LinfExponentialEvent,
)
from discreet.core.loss import Approximate, Zcdp
from discreet.core.metric import Metric
from discreet.core.stated_event import (
    ApproximateEvent,
    BoundedRangeEvent,
    GaussianEvent,
    LaplaceEvent,
    PureEvent,
    ZcdpEvent,
)


@singledispatch
def two_steps(event: Event) -> Event:
    r"""Return an event about changed units that bounds two steps of ``event``, or refuse.

    Guarantee:
        Noise that is moved by :math:`u` when a unit is removed and by :math:`v` when another is
        added is moved by :math:`u - v`, at most twice as far in any norm, in at most twice as many
        entries. Losses add up along a chain of two (:func:`discreet.accounting.group.group`). The
        steps of a composition are composed step by step.

    Example:
        >>> two_steps(LaplaceEvent(scale=3)).distance
        Fraction(2, 1)
    """
    raise Unsupported(
        "Nothing is known about two steps of this event",
        got=getattr(event, "kind", type(event).__name__),
        next="Give an event about changed units",
    )


@two_steps.register(GaussianEvent)
@two_steps.register(LaplaceEvent)
@two_steps.register(DiscreteLaplaceEvent)
@two_steps.register(LinfExponentialEvent)
def _(event: GaussianEvent | LaplaceEvent | DiscreteLaplaceEvent | LinfExponentialEvent) -> Event:
    return evolve(event, distance=2 * event.distance, metric=Metric.CHANGE_ONE)


@two_steps.register
def _(event: DiscreteGaussianEvent) -> Event:
    return evolve(
        event,
        distance_squared=4 * event.distance_squared,
        entries=None if event.entries is None else 2 * event.entries,
        largest=None if event.largest is None else 2 * event.largest,
        metric=Metric.CHANGE_ONE,
    )


@two_steps.register(PureEvent)
@two_steps.register(BoundedRangeEvent)
def _(event: PureEvent | BoundedRangeEvent) -> Event:
    # The interval of the whole loss is the sum of the two intervals.
    return evolve(event, epsilon=2 * event.epsilon, metric=Metric.CHANGE_ONE)


@two_steps.register
def _(event: ApproximateEvent) -> Event:
    found = group(Approximate(event.epsilon, event.delta), 2).loss
    assert isinstance(found, Approximate)
    return ApproximateEvent(epsilon=found.epsilon, delta=found.delta, metric=Metric.CHANGE_ONE)


@two_steps.register
def _(event: ZcdpEvent) -> Event:
    found = group(Zcdp(rho=event.rho, xi=event.xi), 2).loss
    assert isinstance(found, Zcdp)
    return ZcdpEvent(rho=found.rho, xi=found.xi, metric=Metric.CHANGE_ONE)


@two_steps.register
def _(event: ComposedEvent) -> Event:
    parts = tuple((two_steps(part), count) for part, count in event.parts)
    return ComposedEvent(parts=parts, metric=Metric.CHANGE_ONE)
