"""Pairs of laws made of others or of a Rényi curve, and events taken apart into factors."""

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cache, singledispatch

import numpy as np

from discreet.accounting.accountants.approximate import own_keys_delta
from discreet.accounting.curves.curve import RenyiCurve, exact_line
from discreet.accounting.pld.laws.atomic import response_law, stated_law
from discreet.accounting.pld.laws.combined import (
    FixedSizeLaw,
    MixtureLaw,
    WorstLaw,
    sampled_laws,
)
from discreet.accounting.pld.laws.float_assumptions import LARGEST_LOSS
from discreet.accounting.pld.laws.law import LossLaw, Pair
from discreet.accounting.pld.laws.together import lower_together, upper_together
from discreet.core.errors import Unsupported
from discreet.core.event import ComposedEvent, Event
from discreet.core.mechanism_event import (
    DiscreteGaussianEvent,
    DiscreteLaplaceEvent,
    ThresholdedGaussianEvent,
    ThresholdedLaplaceEvent,
)
from discreet.core.numbers import float_up, ratio_up
from discreet.core.stated_event import ApproximateEvent


@singledispatch
def factors(event: Event) -> tuple[Event, ...]:
    r"""Return events whose composition dominates ``event``: most are one.

    Guarantee:
        For thresholded keys: the noise on the keys that both neighbours have, and the chance
        :math:`\delta` that a key of one's own is shown. The keys have independent noise, and where
        no key of one's own is shown the other neighbour shows none either, so the second factor is
        :math:`(0, \delta)`-DP by itself.
    """
    return (event,)


@factors.register
def _(event: ThresholdedLaplaceEvent) -> tuple[Event, ...]:
    return (
        DiscreteLaplaceEvent(scale=event.scale, distance=event.distance, metric=event.metric),
        _own_keys(event),
    )


@factors.register
def _(event: ThresholdedGaussianEvent) -> tuple[Event, ...]:
    noise = DiscreteGaussianEvent(
        sigma_squared=event.sigma_squared,
        distance_squared=event.distance_squared,
        entries=event.groups,
        largest=event.largest,
        metric=event.metric,
    )
    return noise, _own_keys(event)


def _own_keys(event: ThresholdedLaplaceEvent | ThresholdedGaussianEvent) -> Event:
    return ApproximateEvent(epsilon=0, delta=own_keys_delta(event), metric=event.metric)


def parts_of(event: Event) -> Iterable[tuple[Event, int]]:
    """Yield the factors of an event, and of all parts of a composition, with their numbers."""
    if not isinstance(event, ComposedEvent):
        yield from ((part, 1) for part in factors(event))
        return
    for part, count in event.parts:
        for inner, times in parts_of(part):
            yield inner, times * count


_POINTS = 600
_TAIL = 1e-40


def together_pair(pairs: Sequence[tuple[Pair, int]]) -> Pair:
    r"""Return one pair for several mechanisms that see the same sample.

    Guarantee:
        Products of dominating pairs dominate, also for mechanisms chosen adaptively, and what is
        attained by neighbours that stay the same is attained together.
    """
    if len(pairs) == 1 and pairs[0][1] == 1:
        return pairs[0][0]
    removal = upper_together([(pair.removal, count) for pair, count in pairs])
    known = [(pair.attained, count) for pair, count in pairs if pair.attained is not None]
    attained: tuple[LossLaw, LossLaw] | None = None
    is_symmetric = all(pair.is_symmetric for pair, _ in pairs)
    if len(known) == len(pairs):
        first = lower_together([(laws[0], count) for laws, count in known])
        second = first
        if not is_symmetric:
            second = lower_together([(laws[1], count) for laws, count in known])
        attained = first, second
    addition = removal
    if not is_symmetric:
        addition = upper_together([(pair.addition, count) for pair, count in pairs])
    return Pair(removal, addition, attained)


def poisson_pair(pair: Pair, rate: float) -> Pair:
    """Return the pair of a Poisson sample when a unit is added or removed [ZDW22]."""
    removal, addition = sampled_laws(pair.removal, pair.addition, rate)
    if pair.attained is None:
        return Pair(removal, addition, None)
    if pair.attained[0] is pair.removal and pair.attained[1] is pair.addition:
        return Pair(removal, addition, (removal, addition))
    return Pair(removal, addition, sampled_laws(*pair.attained, rate))


def told_pair(pair: Pair, rate: float) -> Pair:
    r"""Return the pair of a Poisson sample when a unit is changed, from one about changes.

    Guarantee:
        By joint convexity :math:`H_e((1-r)M_0 + rM_1 \| (1-r)M_0 + rM_1') \le (1-r)(1-e)_+ +
        r H_e(M_1 \| M_1')`: the curve of a mechanism that also tells whether the unit was sampled.
        Nothing less holds, because :math:`M_0` may be as far from the others as one likes: a
        mechanism may tell the size of its sample.
    """
    nothing = response_law(0.0)

    def mixed(law: LossLaw) -> LossLaw:
        return MixtureLaw((law, nothing), (rate, 1 - rate))

    removal = mixed(pair.removal)
    if pair.is_symmetric and pair.attained is not None and pair.attained[0] is pair.removal:
        return Pair.symmetric(removal)
    addition = removal if pair.is_symmetric else mixed(pair.addition)
    attained = None
    if pair.attained is not None:
        first = mixed(pair.attained[0])
        attained = first, first if pair.is_symmetric else mixed(pair.attained[1])
    return Pair(removal, addition, attained)


def fixed_size_pair(pair: Pair, rate: float) -> Pair:
    """Return the pair of a sample of fixed size when a unit is changed.

    Both halves of :class:`FixedSizeLaw` are attained, each by itself. If all other units are like
    the changed one after (or before) the change, what is not sampled makes the sample look like
    that side: the pair of a removal (or an addition).
    """
    law = FixedSizeLaw(_either(pair), rate)
    if pair.attained is None:
        return Pair(law, law, None)
    return Pair(law, law, sampled_laws(*pair.attained, rate))


def either_pair(pair: Pair) -> Pair:
    """Return the same pair for both directions: which one it is, is not known."""
    law = _either(pair)
    return Pair(law, law, pair.attained)


def _either(pair: Pair) -> LossLaw:
    """Return a law that dominates both directions, and is then its own reverse at most."""
    return pair.removal if pair.is_symmetric else WorstLaw(pair.removal, pair.addition)


_ORDERS = 300
_LEAST, _LARGEST = 1e-2, 1e7
_STATED_POINTS = 320
_FARTHEST = -92.0
_SAFE = 1e-9
_EXPONENT = 700.0
_LARGEST_PRODUCT = 2e6
"""Products of this size are wrong by less than a billionth, and so is what they are raised to."""


def stated_pair(curve: RenyiCurve, lost: Fraction) -> Pair:
    r"""Return a pair that dominates every mechanism with ``curve``, outside of ``lost``.

    Guarantee:
        At every order and every ε the curve implies
        :math:`\delta = e^{(\alpha-1)(D_\alpha-\varepsilon)} (1-1/\alpha)^\alpha/(\alpha-1)`
        [CKS20, Proposition 12], and at ε = 0 no more than :math:`\sqrt{D/2}` and
        :math:`\sqrt{1 - e^{-D}}` (Pinsker; Bretagnolle and Huber), for the least order. These
        points are enough for :func:`discreet.accounting.pld.laws.atomic.stated_law`. Divergences
        are rounded up, and each point is raised by a billionth for the rounding of the floats.

    Utility:
        For one use nothing is gained over converting the curve. It is what a sample needs, or a
        composition with something whose pair is known.

    Example:
        >>> from discreet.accounting import Line
        >>> stated_pair(RenyiCurve.of(Line(rho="0.1")), Fraction(0)).attained is None
        True
    """
    gaps, divergences = _divergences(curve)
    if divergences[0] == 0.0 and not lost:
        return Pair.symmetric(response_law(0.0))
    order = 1 + gaps
    correction = gaps * np.log1p(-1 / order) - np.log(order)
    farthest = float((divergences + (correction - _FARTHEST) / gaps).min())
    if farthest > LARGEST_LOSS:
        raise Unsupported("This loss is too large for a grid", got=f"about {farthest:.3g}")
    epsilons = np.linspace(0.0, farthest, _STATED_POINTS)
    kept = gaps * (divergences + farthest) <= _LARGEST_PRODUCT
    gaps, correction = gaps[kept], correction[kept]
    exponents = gaps * (divergences[kept] - epsilons[:, None]) + correction
    deltas = np.exp(np.minimum(exponents.min(axis=1), _EXPONENT)) * (1 + _SAFE)
    least = float(divergences[0])
    deltas[0] = min(deltas[0], math.sqrt(least / 2), math.sqrt(-math.expm1(-least)))
    law = stated_law(epsilons, deltas * (1 + _SAFE) + float_up(lost))
    return Pair(law, law, None)


def _divergences(curve: RenyiCurve) -> tuple[np.ndarray, np.ndarray]:
    """Return distances of orders from 1, and the curve there, rounded up."""
    below = curve.limit
    orders = [order for order in _orders() if below is None or order < below]
    if not orders:
        raise Unsupported("This curve says nothing at any order that is looked at")
    line = exact_line(curve)
    values = [float_up(curve.upper(one)) for one in orders] if line is None else _on(line, orders)
    return _GAPS[: len(orders)], np.array(values)


_GAPS = np.geomspace(_LEAST, _LARGEST, _ORDERS)


@cache
def _orders() -> tuple[Fraction, ...]:
    return tuple(1 + Fraction(gap) for gap in _GAPS.tolist())


def _on(line: tuple[Fraction, Fraction], orders: Iterable[Fraction]) -> list[float]:
    """Return a straight line at some orders, rounded up: by whole numbers, which is quick."""
    xi, rho = line
    bottom = xi.denominator * rho.denominator
    start, slope = xi.numerator * rho.denominator, rho.numerator * xi.denominator
    return [
        ratio_up(start * one.denominator + slope * one.numerator, bottom * one.denominator)
        for one in orders
    ]
