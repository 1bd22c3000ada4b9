"""What a random sample does to a loss, and what is left of an event if sampling is not used."""

from fractions import Fraction
from functools import singledispatch

from attrs import evolve

from discreet.accounting.losses.group import group
from discreet.accounting.losses.result import Result
from discreet.core.contribution import Metric
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.event import (
    ComposedEvent,
    Event,
    FixedSizeSampledEvent,
    MixtureEvent,
    PoissonSampledEvent,
)
from discreet.core.loss import Approximate, Pure, Zcdp
from discreet.core.mechanism_event import (
    DiscreteGaussianEvent,
    DiscreteLaplaceEvent,
    LinfExponentialEvent,
)
from discreet.core.numbers import Number, exact, exp_bounds
from discreet.core.rounding import log_down, log_up, short_up
from discreet.core.stated_event import (
    ApproximateEvent,
    BoundedRangeEvent,
    GaussianEvent,
    LaplaceEvent,
    PureEvent,
    ZcdpEvent,
)

Sampled = PoissonSampledEvent | FixedSizeSampledEvent

_BITS = 96
_LARGEST = 2_000
"""Beyond this ε the exponentials are too long to be worth writing down."""


def tells_who_was_sampled(event: Sampled) -> bool:
    """Tell whether ``inner`` may give away that the changed unit was sampled.

    A Poisson sample with the changed unit is larger by one than without it, and an event that is
    about changes alone says nothing about that.
    """
    return isinstance(event, PoissonSampledEvent) and event.inner.metric is Metric.CHANGE_ONE


def is_exchange(event: Sampled) -> bool:
    """Tell whether a unit is exchanged in a sample, while ``inner`` is about added units."""
    return event.metric is Metric.CHANGE_ONE and event.inner.metric is Metric.ADD_REMOVE


def sampled_epsilon(inner: Fraction, event: Sampled) -> Fraction:
    r"""Return the pure ε of a sampled event whose inner event has the pure ε ``inner``.

    Guarantee:
        Let :math:`M_0` be the law given that the unit in question is not sampled, :math:`M_1` and
        :math:`M_1'` given that it is, before and after the change.

        *One step*: a Poisson sample when a unit is added or removed, and a sample of fixed size.
        :math:`M_1 \le e^\varepsilon M_0`, so the ratio of :math:`(1-r)M_0 + rM_1` to :math:`M_0`,
        or to the same with :math:`M_1'`, is at most :math:`1 + r(e^\varepsilon - 1)` [BBG18].

        *Two steps*: a Poisson sample when a unit is changed, where ``inner`` is about added units.
        :math:`M_1 \le e^\varepsilon M_0` and :math:`M_1' \ge e^{-\varepsilon} M_0`, so the ratio is
        at most :math:`(1 + r(e^\varepsilon - 1)) / (1 - r(1 - e^{-\varepsilon}))`.

        *None*: a Poisson sample when a unit is changed, where ``inner`` is about changes. A
        mechanism that tells the size of its sample tells whether the unit is in it; given that it
        is, the loss is that of ``inner``. Sampling does not lower it.

    Example:
        >>> from discreet.events import PureEvent
        >>> rare = PoissonSampledEvent(inner=PureEvent(epsilon=1), rate="1/100")
        >>> round(float(sampled_epsilon(Fraction(1), rare)), 6)
        0.017037
    """
    rate = event.rate
    if rate == 0 or inner == 0:
        return Fraction(0)
    if tells_who_was_sampled(event):
        return inner
    steps = 2 if is_exchange(event) else 1
    if rate == 1 or inner > _LARGEST:
        return steps * inner
    found = amplified_epsilon(inner, rate)
    if steps == 2:
        least = 1 - rate * (1 - exp_bounds(-inner, _BITS)[0])
        found = short_up(found - log_down(least), _BITS)
    return min(steps * inner, found)


def amplified_epsilon(inner: Fraction, rate: Fraction) -> Fraction:
    r"""Return :math:`\ln(1 + r(e^\varepsilon - 1))`, rounded up.

    Example:
        >>> round(float(amplified_epsilon(Fraction(1), Fraction(1, 2))), 6)
        0.620115
    """
    if rate == 1:
        return inner
    if inner > _LARGEST:
        raise Unsupported("This loss is too large to be amplified", must=f"be at most {_LARGEST}")
    return min(inner, short_up(log_up(1 + rate * (exp_bounds(inner, _BITS)[1] - 1)), _BITS))


@singledispatch
def two_steps(event: Event) -> Event:
    r"""Return an event about changed units that bounds two steps of ``event``, or refuse.

    Guarantee:
        Noise that is moved by :math:`u` when a unit is removed and by :math:`v` when another is
        added is moved by :math:`u - v`, at most twice as far in any norm, in at most twice as many
        entries. Losses add up along a chain of two
        (:func:`discreet.accounting.losses.group.group`). The steps of a composition are composed
        step by step.

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
        :func:`discreet.accounting.accountants.sampling.sampled_epsilon`, joint convexity gives
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


def amplify(loss: Pure | Approximate, *, rate: Number) -> Result:
    r"""Return the loss of a mechanism on a sample, from its loss on the whole.

    Guarantee:
        If a mechanism is :math:`(\varepsilon, \delta)`-DP, then on a secret sample it is
        :math:`(\ln(1 + r(e^\varepsilon - 1)), r\delta)`-DP: for a Poisson sample of rate
        :math:`r` when a unit is added or removed, and for a sample without replacement of a
        share :math:`r` when one is changed [BBG18].

        Proof. :math:`e' - 1 = r(e - 1)` makes :math:`H_{e'}((1-r)Q + rP \| Q) = r H_e(P \| Q)`,
        as the integrand :math:`(1-r)q + rp - e'q` is :math:`r(p - eq)`. For the other direction
        :math:`H_{e'}(P \| (1-r)P + rQ) \le r H_e(P \| Q)`, because
        :math:`p - e'(1-r)p - e'rq \le r(p - eq)`: the difference is :math:`(1-r)(1-e')p -
        r(e'-e)q`, which is :math:`(1-r)\,r\,(e-1)(q-p)` and where :math:`q > p` the left side is
        negative anyway. Without replacement, compare after pairing the samples that contain the
        changed unit with those that have another unit in its place.

        It does *not* hold for a Poisson sample when a unit is changed and nothing is known about
        an added one: a mechanism that tells the size of its sample keeps its ε.

    Example:
        >>> print(amplify(Approximate(1, "1e-6"), rate="1/100"))
        ε = 0.01704, δ = 1e-8 (sampling: BBG18)
    """
    share = exact(rate)
    if not 0 <= share <= 1:
        raise InvalidArgument("rate is out of range", must="lie between 0 and 1", got=str(rate))
    epsilon = amplified_epsilon(loss.epsilon, share) if share else Fraction(0)
    delta = share * (loss.delta if isinstance(loss, Approximate) else Fraction(0))
    found = Pure(epsilon) if isinstance(loss, Pure) else Approximate(epsilon, delta)
    return Result(loss=found, method="sampling", theorem="BBG18")
