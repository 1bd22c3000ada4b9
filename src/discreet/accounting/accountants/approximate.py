"""The approximate accountant: events to (ε, δ), by basic composition. It refuses the unknown."""

from collections.abc import Iterable
from fractions import Fraction
from functools import singledispatch

from discreet.accounting.accountants.between_thresholds import between_delta
from discreet.accounting.accountants.pure import epsilon
from discreet.accounting.accountants.sampling import (
    Sampled,
    is_exchange,
    sampled_epsilon,
)
from discreet.accounting.tails.gaussian_tail import gaussian_tail_bounds
from discreet.core.contribution import Metric
from discreet.core.errors import Unsupported
from discreet.core.event import (
    ComposedEvent,
    Event,
    FixedSizeSampledEvent,
    MixtureEvent,
    PoissonSampledEvent,
    require_one_metric,
)
from discreet.core.loss import Approximate
from discreet.core.mechanism_event import (
    AdaptiveThresholdsEvent,
    ApproximateResponseEvent,
    BetweenThresholdsEvent,
    DiscreteLaplaceEvent,
    ExponentialSelectionEvent,
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
from discreet.core.numbers import exp_bounds
from discreet.core.rounding import exp_down, exp_up, short_down, short_up
from discreet.core.stated_event import (
    ApproximateEvent,
    BoundedRangeEvent,
    LaplaceEvent,
    PureEvent,
)


def approximate_loss(events: Iterable[Event]) -> Approximate:
    r"""Return the approximate loss of all ``events`` together.

    Guarantee:
        The sums of the events' :math:`\varepsilon` and of their :math:`\delta` bound the loss of
        releasing all of them, even if each was chosen after seeing the ones before
        [DR14, Theorem 3.16].

    Example:
        >>> approximate_loss([ApproximateResponseEvent(epsilon=1, delta="1e-6")] * 2)
        Approximate(ε = 2, δ = 0.000002)
    """
    losses = [approximate(event) for event in require_one_metric(events)]
    return Approximate(
        sum((loss.epsilon for loss in losses), Fraction(0)),
        _below_one(sum((loss.delta for loss in losses), Fraction(0))),
    )


@singledispatch
def approximate(event: Event) -> Approximate:
    """Return the (ε, δ) of one event, or refuse."""
    raise Unsupported(
        "No (ε, δ) is known for this event without a choice of ε or δ",
        must="be an event with a stated (ε, δ)",
        got=getattr(event, "kind", type(event).__name__),
    )


@approximate.register(DiscreteLaplaceEvent)
@approximate.register(LinfExponentialEvent)
@approximate.register(RandomisedResponseEvent)
@approximate.register(TwoCoinResponseEvent)
@approximate.register(SignOfGaussianEvent)
@approximate.register(PureEvent)
@approximate.register(LaplaceEvent)
@approximate.register(BoundedRangeEvent)
@approximate.register(ExponentialSelectionEvent)
@approximate.register(PermuteAndFlipEvent)
@approximate.register(LaplaceNoisyMaxEvent)
@approximate.register(SparseVectorEvent)
def _(event: Event) -> Approximate:
    return Approximate(epsilon(event), 0)


@approximate.register
def _(event: ApproximateEvent) -> Approximate:
    return Approximate(event.epsilon, event.delta)


@approximate.register
def _(event: ApproximateResponseEvent) -> Approximate:
    """Read off: the hockey-stick divergence at ε is exactly δ [KOV15; MV16, Lemma 3.2]."""
    return Approximate(event.epsilon, _below_one(event.delta))


@approximate.register
def _(event: UniformNoiseEvent) -> Approximate:
    r"""Count the outcomes that only one of the two laws has.

    A shift by ``s`` leaves ``s`` of the :math:`2r + 1` outcomes of an entry uncovered, and the rest
    as they were; over several entries these masses add up to at most the L1 distance over
    :math:`2r + 1`.
    """
    return Approximate(0, _below_one(event.distance / (2 * event.radius + 1)))


@approximate.register
def _(event: TruncatedGeometricEvent) -> Approximate:
    r"""Compose the entries [DR14, Theorem 3.16].

    If the distance is that of all entries moving by the largest shift, each has the
    :math:`\varepsilon` and the :func:`truncated_delta` of that shift: at a fixed
    :math:`\varepsilon` a smaller shift has a smaller :math:`\delta`. Otherwise an entry that
    moves by ``s`` spends :math:`s / scale`, and its :math:`\delta`, which need not grow with
    ``s``, is bounded by its first term at the largest shift and its second at the smallest.
    """
    shift = int(event.largest)
    if event.entries * shift <= event.distance:
        _, high = truncated_delta(event.scale, event.bound, shift)
    else:
        _, high = _truncated(event.scale, event.bound, outer=shift, inner=min(1, shift))
    return Approximate(event.distance / event.scale, _below_one(event.entries * high))


@approximate.register
def _(event: ThresholdedLaplaceEvent) -> Approximate:
    """Add: the noise on keys that both have, and the chance that a key of one's own is shown."""
    return Approximate(event.distance / event.scale, _below_one(own_keys_delta(event)))


@approximate.register
def _(event: StabilityTestEvent) -> Approximate:
    """Add: the noise on the margin, and the chance that the test passes where it must not."""
    return Approximate(event.distance / event.scale, _below_one(false_pass(event)))


@approximate.register
def _(event: BetweenThresholdsEvent) -> Approximate:
    return Approximate(event.epsilon, _below_one(between_delta(event)))


@approximate.register
def _(event: AdaptiveThresholdsEvent) -> Approximate:
    r"""Add the cuts and the chunks that change: the proof is with ``AdaptiveThresholds``.

    Where a unit is added or removed, ``depth`` variables move by 1 and two chunks change; where it
    is changed, twice as many and three. The chunks' machines run side by side, so each changed
    chunk is one step of a chain: :math:`\delta (1 + e^\varepsilon + \dots)`.
    """
    chunk = approximate(event.chunk)
    steps = 2 if event.metric is Metric.ADD_REMOVE else 3
    cuts = (steps - 1) * event.depth / event.cut_scale
    factor = sum((exp_bounds(step * chunk.epsilon, 96)[1] for step in range(steps)), Fraction(0))
    return Approximate(cuts + steps * chunk.epsilon, _below_one(factor * chunk.delta))


@approximate.register
def _(event: ComposedEvent) -> Approximate:
    losses = [(approximate(part), count) for part, count in event.parts]
    return Approximate(
        sum((count * loss.epsilon for loss, count in losses), Fraction(0)),
        _below_one(sum((count * loss.delta for loss, count in losses), Fraction(0))),
    )


@approximate.register(PoissonSampledEvent)
@approximate.register(FixedSizeSampledEvent)
def _(event: Sampled) -> Approximate:
    r"""Amplify: δ by the rate, ε as for a pure loss; the proof is with ``amplify`` [BBG18].

    An exchanged unit: with :math:`b = e^{-\varepsilon}` in
    :func:`discreet.accounting.pld.exchanged.exchanged_pair`, where :math:`a \ge e^\varepsilon`,
    δ is :math:`r\delta(1 + e^{\varepsilon' - \varepsilon})` at the ε′ of a pure loss. A mechanism
    that may tell who was sampled keeps its ε: :math:`H_e \le r H_e(M_1 \| M_1')` for
    :math:`e \ge 1`.
    """
    if event.rate == 0:
        return Approximate(0, 0)
    inner = approximate(event.inner)
    found = sampled_epsilon(inner.epsilon, event)
    delta = event.rate * inner.delta
    if delta and is_exchange(event):
        growth = found - inner.epsilon
        delta = delta * (1 + exp_up(growth)) if growth <= _LARGEST_GROWTH else Fraction(1)
    return Approximate(found, _below_one(delta))


_LARGEST_GROWTH = Fraction(10_000)
"""Beyond this exponent every δ is taken to become 1."""


@approximate.register
def _(event: MixtureEvent) -> Approximate:
    r"""Take the largest ε, at which each δ is only smaller, and the mean δ."""
    losses = [(approximate(part), weight) for part, weight in event.parts if weight]
    delta = sum((weight * loss.delta for loss, weight in losses), Fraction(0))
    return Approximate(max(loss.epsilon for loss, _ in losses), delta)


_MOST_BITS = 10_000
_FAR = Fraction(100)
"""Past this exponent the second term of the delta below is zero for every scale below e^99."""


def truncated_delta(scale: Fraction, bound: int, shift: int) -> tuple[Fraction, Fraction]:
    r"""Enclose the exact :math:`\delta` at :math:`\varepsilon = s / scale` of one shifted entry.

    Guarantee:
        With :math:`q = e^{-1/scale}`, :math:`B` the bound and :math:`1 \le s < B` it is

        .. math:: \delta = \frac{q^{B-s+1} + \max(0,\, q^B - (1 - q)\, q^{B-2s})}{1 + q}.

        Proof. Compare noise around ``s`` with noise around 0. Outcomes above :math:`B` have
        probability 0 around 0, and :math:`P[Z > B - s] = q^{B-s+1}/(1+q)` in all around ``s``.
        At :math:`s - B` the mass that was moved to the end, :math:`q^B/(1+q)`, stands against
        :math:`(1-q)\,q^{B-s}/(1+q)`, of which it may claim :math:`q^{-s}` times as much. At
        :math:`B` the ratio is :math:`(1-q)\,q^{-s}`, within; elsewhere it is at most
        :math:`q^{-s}`. The other direction is the mirror image. A shift of :math:`B` or more is
        given :math:`\delta = 1`.

        It is at most :math:`q^{B-s}`, so for ``s = 1`` a bound of
        :math:`B \ge scale \ln(1/\delta) + 1` suffices: for two entries of scale
        :math:`2/\varepsilon` and :math:`\delta/2` each, :math:`B \ge (2/\varepsilon)
        \ln(2/\delta) + 1`, which sharpens the :math:`(2/\varepsilon) \ln(4/\delta) + 1` that
        is usually printed.

    Example:
        >>> low, high = truncated_delta(Fraction(2), 20, 1)
        >>> low < Fraction("0.0000283") and high > Fraction("0.0000282")
        True
    """
    return _truncated(scale, bound, outer=shift, inner=shift)


def _truncated(scale: Fraction, bound: int, *, outer: int, inner: int) -> tuple[Fraction, Fraction]:
    """Enclose the formula above, its first term at shift ``outer`` and its second at ``inner``."""
    if outer <= 0:
        return Fraction(0), Fraction(0)
    if outer >= bound:
        return Fraction(1), Fraction(1)
    bits = 128 + min(_MOST_BITS, int(2 * bound / scale))
    q_low, q_high = exp_bounds(-1 / scale, bits)
    outside = exp_bounds(-(bound - outer + 1) / scale, bits)
    end = exp_bounds(-bound / scale, bits)
    across = exp_bounds(min(_FAR, (2 * inner - bound) / scale), bits)
    low = outside[0] + max(Fraction(0), end[0] - (1 - q_low) * across[1])
    high = outside[1] + max(Fraction(0), end[1] - (1 - q_high) * across[0])
    return low / (1 + q_high), min(Fraction(1), high / (1 + q_low))


def laplace_tail_bounds(scale: Fraction, start: int) -> tuple[Fraction, Fraction]:
    r"""Enclose :math:`P[Z \ge start]` of discrete Laplace noise, closely also where it is tiny.

    With :math:`q = e^{-1/scale}` it is :math:`q^t/(1+q)` for :math:`t \ge 1`, a geometric series;
    otherwise the complement of :math:`P[Z \ge 1 - t]`, by symmetry.

    Example:
        >>> low, high = laplace_tail_bounds(Fraction(2), 0)
        >>> low <= Fraction("0.6224593313") and high >= Fraction("0.6224593312")
        True
    """
    if start <= 0:
        low, high = laplace_tail_bounds(scale, 1 - start)
        return 1 - high, 1 - low
    low = exp_down(-start / scale) / (1 + exp_up(-1 / scale))
    high = exp_up(-start / scale) / (1 + exp_down(-1 / scale))
    return short_down(low, _TAIL_BITS), short_up(high, _TAIL_BITS)


_TAIL_BITS = 96
_MOST_TAIL_BITS = 1 << 13


def close_gaussian_tail(sigma_squared: Fraction, start: int) -> tuple[Fraction, Fraction]:
    r"""Enclose :math:`P[Z \ge start]` of discrete Gaussian noise, closely also where it is tiny.

    The precision is doubled until the ends agree to 64 significant bits, or the tail is below
    :math:`2^{-8000}`; the upper end is always right.
    """
    bits = 2 * _TAIL_BITS
    while True:
        low, high = gaussian_tail_bounds(sigma_squared, start, bits)
        if (high - low) * 2**64 <= high or bits >= _MOST_TAIL_BITS:
            return short_down(low, _TAIL_BITS), short_up(high, _TAIL_BITS)
        bits *= 2


def own_keys_delta(event: ThresholdedLaplaceEvent | ThresholdedGaussianEvent) -> Fraction:
    r"""Return the chance that any key of one unit's own is shown, rounded up.

    Guarantee:
        :math:`1 - (1 - p)^{groups}` with :math:`p = P[largest + Z \ge threshold]`: a key that the
        other data set lacks counts at most ``largest``, there are at most ``groups`` of them, and
        their noise is independent. It is the exact :math:`\delta` of the worst pair, in which
        *all* keys of the unit are its own; the union bound :math:`groups \cdot p` is a little more.

    Example:
        >>> one = ThresholdedLaplaceEvent(scale=1, threshold=10, groups=1, largest=1, distance=1)
        >>> round(float(own_keys_delta(one)), 8)
        9.022e-05
    """
    if event.groups == 0 or event.largest == 0:
        return Fraction(0)
    start = event.threshold - event.largest
    if isinstance(event, ThresholdedLaplaceEvent):
        _, chance = laplace_tail_bounds(event.scale, start)
    else:
        _, chance = close_gaussian_tail(event.sigma_squared, start)
    return any_of(chance, event.groups)


def false_pass(event: StabilityTestEvent) -> Fraction:
    """Return the chance that a margin of ``unstable`` passes the test, rounded up."""
    if event.distance == event.unstable == 0:  # the neighbours are equal
        return Fraction(0)
    return laplace_tail_bounds(event.scale, event.threshold - event.unstable)[1]


def any_of(chance: Fraction, count: int) -> Fraction:
    r"""Return :math:`1 - (1 - chance)^{count}`, rounded up, by squaring.

    Every product is rounded down to so many bits that the result has about 96 good ones. So has
    the sum of the chances where it is tiny, and that takes no long numbers.

    Example:
        >>> any_of(Fraction(1, 10), 2), any_of(Fraction(1), 3)
        (Fraction(19, 100), Fraction(1, 1))
    """
    if chance in (0, 1):
        return chance
    if count * chance <= Fraction(1, 1 << _TAIL_BITS):
        return short_up(count * chance, _TAIL_BITS)
    small = chance.denominator.bit_length() - chance.numerator.bit_length()
    bits = _TAIL_BITS + 8 + max(0, small) + count.bit_length()
    kept, power = Fraction(1), short_down(1 - chance, bits)
    while count:
        if power < Fraction(1, 1 << 2 * bits):  # what is kept is no more, and 1 is as good
            return Fraction(1)
        if count % 2:
            kept = short_down(kept * power, bits)
        power, count = short_down(power * power, bits), count // 2
    return short_up(1 - kept, _TAIL_BITS)


_LARGEST_SHOWN = Fraction(10**300)


def _below_one(delta: Fraction) -> Fraction:
    if delta >= 1:
        raise Unsupported(
            "This release promises nothing",
            must="have a δ below 1",
            got=f"about {float(min(delta, _LARGEST_SHOWN)):.3g}",
            next="Use more noise",
        )
    return delta
