"""Random compositions with their truth, drawn from a numbered stream."""

from fractions import Fraction

from attrs import frozen

from discreet.core.event import Event, PoissonSampledEvent
from discreet.core.mechanism_event import (
    ApproximateResponseEvent,
    DiscreteLaplaceEvent,
    RandomisedResponseEvent,
)
from discreet.core.stated_event import ApproximateEvent, GaussianEvent, LaplaceEvent, PureEvent
from tests.accounting.pld import exact_truth as truth
from tests.accounting.pld.exact_truth import Curve, Truth
from tests.support.statistics.numbered_rng import NumberedRng


@frozen
class Case:
    counts: dict[Event, int]
    truth: tuple[Truth, ...]
    """The curve is the larger one of these."""
    delta: Fraction

    def true_delta(self, epsilon: float):
        return max(one.delta(epsilon) for one in self.truth)


class Draw:
    """Numbers from a stream."""

    def __init__(self, rng: NumberedRng) -> None:
        self.rng = rng

    def unit(self) -> float:
        return int(self.rng.words(1)[0]) / 2.0**64

    def between(self, low: int, high: int) -> int:
        return low + int(self.rng.words(1)[0]) % (high - low + 1)

    def sized(self, low: float, high: float) -> Fraction:
        """A short number, evenly distributed in its logarithm."""
        value = low * (high / low) ** self.unit()
        return Fraction(f"{value:.3g}")


def small(draw: Draw) -> tuple[Event, Truth]:
    """An event with few losses."""
    kind = draw.between(0, 5)
    epsilon = draw.sized(0.01, 3)
    if kind == 0:
        categories = draw.between(2, 6)
        event: Event = RandomisedResponseEvent(epsilon=epsilon, categories=categories)
        return event, truth.response(epsilon, categories)
    if kind == 1:
        return PureEvent(epsilon=epsilon), truth.response(epsilon)
    if kind == 2:
        told = draw.sized(1e-15, 1e-3)
        return ApproximateEvent(epsilon=epsilon, delta=told), truth.response(epsilon, 2, told)
    if kind == 3:
        told = draw.sized(1e-15, 1e-3)
        event = ApproximateResponseEvent(epsilon=epsilon, delta=told)
        return event, truth.response(epsilon, 2, told)
    scale, distance = draw.sized(0.5, 30), draw.between(1, 4)
    event = DiscreteLaplaceEvent(scale=scale, distance=distance)
    return event, truth.discrete_laplace(scale, distance)


def finite_case(draw: Draw) -> Case:
    """Up to five different events with few losses, enumerated."""
    counts: dict[Event, int] = {}
    whole: Truth | None = None
    while whole is None or (draw.between(0, 3) and len(whole.atoms) < 300):
        event, one = small(draw)
        count = draw.between(1, 3)
        counts[event] = counts.get(event, 0) + count
        one = truth.power(one, count)
        whole = one if whole is None else truth.product(whole, one)
    return Case(counts, (whole,), draw.sized(1e-12, 0.1))


def response_case(draw: Draw) -> Case:
    """Many equal responses: the binomial law."""
    epsilon, count = draw.sized(0.01, 1), draw.between(1, 400)
    whole = truth.binomial_response(epsilon, count)
    return Case({PureEvent(epsilon=epsilon): count}, (whole,), draw.sized(1e-12, 0.1))


def continuous_case(draw: Draw) -> Case:
    """One continuous event, sampled or not, beside some with few losses."""
    event, curves = _continuous(draw)
    counts: dict[Event, int] = {event: 1}
    atoms = truth.response(Fraction(0))
    for _ in range(draw.between(0, 2)):
        other, one = small(draw)
        counts[other] = counts.get(other, 0) + 1
        atoms = truth.product(atoms, one)
    wholes = tuple(Truth(atoms.atoms, atoms.infinite, curve) for curve in curves)
    return Case(counts, wholes, draw.sized(1e-12, 0.1))


def _continuous(draw: Draw) -> tuple[Event, tuple[Curve, ...]]:
    scale = draw.sized(0.3, 20)
    inner: Event
    if draw.between(0, 1):
        inner, curve = LaplaceEvent(scale=scale), truth.laplace(1 / scale)
    else:
        inner, curve = GaussianEvent(scale=scale), truth.gaussian(1 / scale**2)
    if draw.between(0, 1):
        return inner, (curve,)
    rate = draw.sized(0.001, 0.9)
    event = PoissonSampledEvent(inner=inner, rate=rate)
    return event, (truth.removal(rate, curve), truth.addition(rate, curve))


def sampled_case(draw: Draw) -> Case:
    """Several uses of a sampled response, enumerated in both directions."""
    rate, epsilon, count = draw.sized(0.001, 0.9), draw.sized(0.05, 3), draw.between(1, 40)
    inner = truth.response(epsilon)
    removed = truth.power(truth.sampled_removal(rate, inner), count)
    event = PoissonSampledEvent(inner=PureEvent(epsilon=epsilon), rate=rate)
    added = truth.reversed_law(removed)
    return Case({event: count}, (removed, added), draw.sized(1e-12, 0.1))


def gaussian_case(draw: Draw) -> Case:
    """Continuous Gaussians together, as one."""
    scale, count = draw.sized(2, 200), draw.between(1, 1000)
    curve = truth.gaussian(count / scale**2)
    nothing = truth.response(Fraction(0))
    whole = Truth(nothing.atoms, nothing.infinite, curve)
    return Case({GaussianEvent(scale=scale): count}, (whole,), draw.sized(1e-12, 0.1))
