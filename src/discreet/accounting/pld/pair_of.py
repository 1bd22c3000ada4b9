"""The pair of laws of an event, by the theorem of each; unknown events are refused."""

import math
from contextlib import suppress
from fractions import Fraction
from functools import singledispatch

import numpy as np
from attrs import evolve

from discreet.accounting.accountants.approximate import approximate
from discreet.accounting.accountants.renyi import renyi
from discreet.accounting.accountants.sampling import (
    is_exchange,
    is_sampled,
    tells_who_was_sampled,
    two_steps,
)
from discreet.accounting.curves.curve import RenyiCurve
from discreet.accounting.curves.line import Line
from discreet.accounting.pld.exchanged import exchanged_pair
from discreet.accounting.pld.laws.atomic import (
    coin_law,
    discrete_gaussian_law,
    discrete_laplace_law,
    response_law,
)
from discreet.accounting.pld.laws.combined import MixtureLaw, WorstLaw
from discreet.accounting.pld.laws.continuous import (
    BoundedRangeLaw,
    ExchangedGaussianLaw,
    GaussianLaw,
    LaplaceLaw,
)
from discreet.accounting.pld.laws.float_assumptions import LARGEST_LOSS, LARGEST_MU
from discreet.accounting.pld.laws.grid import FloatArray
from discreet.accounting.pld.laws.law import Pair
from discreet.accounting.pld.pairs import (
    either_pair,
    fixed_size_pair,
    parts_of,
    poisson_pair,
    stated_pair,
    together_pair,
    told_pair,
)
from discreet.accounting.tails.normal_tail import normal_tail_bounds
from discreet.core.contribution import Metric
from discreet.core.errors import Unsupported
from discreet.core.event import Event, FixedSizeSampledEvent, MixtureEvent, PoissonSampledEvent
from discreet.core.mechanism_event import (
    AdaptiveThresholdsEvent,
    ApproximateResponseEvent,
    BetweenThresholdsEvent,
    DiscreteGaussianEvent,
    DiscreteLaplaceEvent,
    ExponentialSelectionEvent,
    LaplaceNoisyMaxEvent,
    LinfExponentialEvent,
    PermuteAndFlipEvent,
    RandomisedResponseEvent,
    SignOfGaussianEvent,
    SparseVectorEvent,
    StabilityTestEvent,
    TruncatedGeometricEvent,
    TwoCoinResponseEvent,
    UniformNoiseEvent,
)
from discreet.core.numbers import float_up
from discreet.core.rounding import sqrt_up
from discreet.core.stated_event import (
    ApproximateEvent,
    BoundedRangeEvent,
    GaussianEvent,
    LaplaceEvent,
    PureEvent,
)


@singledispatch
def pair_of(event: Event) -> Pair:
    """Return the pair of laws that encloses ``event``: by its Rényi curve, or refuse."""
    try:
        piece, lost = renyi(event)
    except Unsupported as refusal:
        raise Unsupported(
            "No privacy-loss distribution is known for this event",
            must="be an event with a dominating pair of laws",
            got=getattr(event, "kind", type(event).__name__),
            next="Account for it by zCDP or by its (ε, δ)",
        ) from refusal
    return stated_pair(RenyiCurve.of(piece), lost)


def is_known_by_its_curve(event: Event) -> bool:
    """Tell whether the pair of an event is that of its Rényi curve, for want of a better one."""
    return pair_of.dispatch(type(event)) is pair_of.dispatch(Event)


def _bounded(epsilon: Fraction) -> float:
    if epsilon > LARGEST_LOSS:
        raise Unsupported(
            "This loss is too large for a grid",
            must=f"have losses of at most {LARGEST_LOSS:g}",
            got=f"{float(epsilon):g}",
        )
    return float(epsilon)


def _one(value: float) -> FloatArray:
    return np.array([value])


@pair_of.register
def _(event: GaussianEvent) -> Pair:
    r"""Divide: :math:`\mu = distance / scale`."""
    mu = event.distance / event.scale
    if mu > LARGEST_MU:
        raise Unsupported(
            "This noise is too small for a grid",
            must=f"have a scale of at least 1/{LARGEST_MU} of the move",
        )
    return Pair.symmetric(GaussianLaw(_one(float(mu))) if mu else response_law(0.0))


@pair_of.register
def _(event: LaplaceEvent) -> Pair:
    shift = _bounded(event.distance / event.scale)
    return Pair.symmetric(LaplaceLaw(_one(shift)) if shift else response_law(0.0))


@pair_of.register
def _(event: DiscreteLaplaceEvent) -> Pair:
    r"""Round down: integers move by a whole number.

    Entries that move by :math:`d` in the L1 norm are no easier to tell than one that moves by
    :math:`d`, as for :class:`LaplaceLaw`: the law is log-concave, so (randomised) thresholds are
    the best tests for every pair of shifts.
    """
    distance = math.floor(event.distance)
    _bounded(distance / event.scale)
    return Pair.symmetric(discrete_laplace_law(event.scale, distance))


@pair_of.register
def _(event: DiscreteGaussianEvent) -> Pair:
    r"""Compose the entries of the one largest shift, if there is one.

    A shift that no other allowed shift exceeds in some entry is dominated by none; where there
    are several of these, the pair is that of their common Rényi curve.
    """
    budget = math.floor(event.distance_squared)
    top = math.isqrt(budget)
    if event.largest is not None:
        top = min(top, math.floor(event.largest))
    entries = budget if event.entries is None else min(event.entries, budget)
    if min(top, entries) > 0 and top > 1 and entries * top * top > budget and entries > 1:
        curve = RenyiCurve.of(Line(rho=event.distance_squared / (2 * event.sigma_squared)))
        return stated_pair(curve, Fraction(0))
    law = discrete_gaussian_law(event.sigma_squared, top if entries else 0)
    return Pair.symmetric(law, uses=max(1, entries))


@pair_of.register
def _(event: RandomisedResponseEvent) -> Pair:
    epsilon = _bounded(event.epsilon)
    return Pair.symmetric(response_law(epsilon, categories=event.categories))


@pair_of.register(PureEvent)
def _(event: PureEvent) -> Pair:
    r"""Take binary randomised response: it dominates every ε-DP mechanism [KOV15; MV16]."""
    return Pair.symmetric(response_law(_bounded(event.epsilon)))


@pair_of.register(ApproximateEvent)
@pair_of.register(ApproximateResponseEvent)
def _(event: ApproximateEvent | ApproximateResponseEvent) -> Pair:
    r"""Take the complete mechanism: it dominates every (ε, δ)-DP one [KOV15; MV16]."""
    epsilon = _bounded(event.epsilon)
    return Pair.symmetric(response_law(epsilon, told=float(event.delta)))


@pair_of.register(LinfExponentialEvent)
@pair_of.register(TruncatedGeometricEvent)
@pair_of.register(PermuteAndFlipEvent)
@pair_of.register(LaplaceNoisyMaxEvent)
@pair_of.register(SparseVectorEvent)
@pair_of.register(BetweenThresholdsEvent)
@pair_of.register(AdaptiveThresholdsEvent)
@pair_of.register(StabilityTestEvent)
def _(event: Event) -> Pair:
    r"""Take the complete mechanism of its (ε, δ), a bound that is not attained."""
    loss = approximate(event)
    law = response_law(_bounded(loss.epsilon), told=float(loss.delta))
    return Pair(law, law, None)


@pair_of.register
def _(event: UniformNoiseEvent) -> Pair:
    r"""Tell all with probability :math:`d / (2r + 1)`, else nothing.

    Entries with moves :math:`d_i` overlap with probability :math:`\prod (1 - d_i/(2r+1)) \ge
    1 - d/(2r+1)`, and where they do the two laws are the same.
    """
    share = Fraction(math.floor(event.distance), 2 * event.radius + 1)
    return Pair.symmetric(response_law(0.0, told=min(1.0, float(share))))


@pair_of.register
def _(event: SignOfGaussianEvent) -> Pair:
    r"""Throw a coin that lies with probability :math:`P[N > 1/\sigma]`."""
    low, high = normal_tail_bounds(1 / event.sigma_squared, bits=400)
    lie = (low + high) / 2
    if lie < Fraction(1, 10**100):
        raise Unsupported("This response hardly ever lies", must="lie with a chance above 1e-100")
    return Pair.symmetric(coin_law(1 - lie, lie))


@pair_of.register
def _(event: TwoCoinResponseEvent) -> Pair:
    r"""Take the worse direction at every ε; each of them is attained."""
    lie = 1 - event.truth
    yes, no = event.truth + lie * event.yes, lie * event.yes
    first, second = coin_law(yes, no), coin_law(no, yes)
    worst = WorstLaw(first, second)
    return Pair(worst, worst, (first, second))


@pair_of.register
def _(event: BoundedRangeEvent) -> Pair:
    r"""Take the worst offset at every ε; an offset in the middle is attained."""
    return _of_range(event.epsilon)


@pair_of.register
def _(event: ExponentialSelectionEvent) -> Pair:
    return _of_range(event.spread / event.scale)


def _of_range(width: Fraction) -> Pair:
    epsilon = _bounded(width)
    if epsilon == 0.0:
        return Pair.symmetric(response_law(0.0))
    law, middle = BoundedRangeLaw(_one(epsilon)), response_law(epsilon / 2)
    return Pair(law, law, (middle, middle))


def one_pair(event: Event) -> Pair:
    """Return the pair of all parts of ``event`` together, as one."""
    squared, pairs = Fraction(0), []
    for part, count in parts_of(event):
        if isinstance(part, GaussianEvent):
            squared += count * (part.distance / part.scale) ** 2
        else:
            pair = pair_of(part)
            pairs.append((pair, count * pair.uses))
    if squared:
        mu = float(sqrt_up(squared))
        if mu > LARGEST_MU:
            raise Unsupported("This noise is too small for a grid", got=f"μ = {mu:g}")
        pairs.append((Pair.symmetric(GaussianLaw(_one(mu))), 1))
    return together_pair(pairs) if pairs else Pair.symmetric(response_law(0.0))


def _gaussian_mu(event: Event) -> float | None:
    """Return the μ of an event that is continuous Gaussians only."""
    parts = list(parts_of(event))
    if not all(isinstance(part, GaussianEvent) for part, _ in parts):
        return None
    squares = [
        count * (part.distance / part.scale) ** 2
        for part, count in parts
        if isinstance(part, GaussianEvent)
    ]
    return float(sqrt_up(sum(squares, Fraction(0))))


_LEAST_RATE = 1e-15
"""Smaller rates are lost beside 1, so this one stands for them: larger samples tell no less.

So every rate is rounded up: near 1 the chance to be missed has few digits.
"""


@pair_of.register
def _(event: PoissonSampledEvent) -> Pair:
    if event.rate == 0:
        return Pair.symmetric(response_law(0.0))
    rate = max(float_up(event.rate), _LEAST_RATE)
    if rate == 1.0:
        return _of_all(event)
    found = _poisson_sampled(event, rate)
    return found if event.rate >= _LEAST_RATE else evolve(found, attained=None)


def _of_all(event: PoissonSampledEvent) -> Pair:
    """Return the pair of a sample of everybody; what is sampled inside stays so."""
    if not is_exchange(event):
        return one_pair(event.inner)
    if not is_sampled(event.inner):
        with suppress(Unsupported):
            return evolve(one_pair(two_steps(event.inner)), attained=None)
    return exchanged_pair(one_pair(event.inner), 1.0)


def _poisson_sampled(event: PoissonSampledEvent, rate: float) -> Pair:
    if not is_exchange(event):
        pair = one_pair(event.inner)
        return told_pair(pair, rate) if tells_who_was_sampled(event) else poisson_pair(pair, rate)
    mu = _gaussian_mu(event.inner)
    if mu is not None and 0 < mu <= LARGEST_MU:
        return Pair.symmetric(ExchangedGaussianLaw(mu, rate))
    return exchanged_pair(one_pair(event.inner), rate)


@pair_of.register
def _(event: FixedSizeSampledEvent) -> Pair:
    if event.rate == 0:
        return Pair.symmetric(response_law(0.0))
    rate = max(float_up(event.rate), _LEAST_RATE)
    pair = one_pair(event.inner)
    if rate == 1.0:
        return pair
    is_changed = event.metric is Metric.CHANGE_ONE
    found = fixed_size_pair(pair, rate) if is_changed else poisson_pair(either_pair(pair), rate)
    return found if event.rate >= _LEAST_RATE else evolve(found, attained=None)


@pair_of.register
def _(event: MixtureEvent) -> Pair:
    pairs = [one_pair(part) for part, _ in event.parts]
    weights = tuple(float(weight) for _, weight in event.parts)
    removal = MixtureLaw(tuple(pair.removal for pair in pairs), weights)
    if all(
        pair.is_symmetric and pair.attained and pair.attained[0] is pair.removal for pair in pairs
    ):
        return Pair.symmetric(removal)
    addition = MixtureLaw(tuple(pair.addition for pair in pairs), weights)
    known = [pair.attained for pair in pairs if pair.attained is not None]
    if len(known) < len(pairs):
        return Pair(removal, addition, None)
    first = MixtureLaw(tuple(laws[0] for laws in known), weights)
    second = MixtureLaw(tuple(laws[1] for laws in known), weights)
    return Pair(removal, addition, (first, second))
