"""Our intervals and the estimates of dp-accounting, from above and from below, overlap."""

from typing import Any

from dp_accounting.pld import privacy_loss_distribution as pld

from discreet.core.event import Event, PoissonSampledEvent
from discreet.core.mechanism_event import DiscreteGaussianEvent, DiscreteLaplaceEvent
from discreet.core.stated_event import GaussianEvent, LaplaceEvent, PureEvent
from tests.accounting.pld.asking import pld_epsilon
from tests.accounting.pld.cases import Draw

STEP = 2e-3
ROUNDING = 1e-6


def one(draw: Draw):
    """One random event, with what makes its distribution there, given the side."""
    scale = draw.sized(2, 30)
    kind = draw.between(0, 5)
    number = float(scale)
    common = {"value_discretization_interval": STEP}
    event: Event
    values: dict[str, Any]
    if kind == 0:
        event, make, values = GaussianEvent(scale=scale), pld.from_gaussian_mechanism, {}
    elif kind == 1:
        event, make, values = LaplaceEvent(scale=scale), pld.from_laplace_mechanism, {}
    elif kind == 2:
        rate = draw.sized(0.01, 0.5)
        event = PoissonSampledEvent(inner=GaussianEvent(scale=scale), rate=rate)
        make, values = pld.from_gaussian_mechanism, {"sampling_prob": float(rate)}
    elif kind == 3:
        rate = draw.sized(0.01, 0.5)
        event = PoissonSampledEvent(inner=LaplaceEvent(scale=scale), rate=rate)
        make, values = pld.from_laplace_mechanism, {"sampling_prob": float(rate)}
    elif kind == 4:
        distance = draw.between(1, 3)
        event = DiscreteLaplaceEvent(scale=scale, distance=distance)
        make, values = pld.from_discrete_laplace_mechanism, {"sensitivity": distance}
        number = float(1 / scale)
    else:
        square = scale * scale
        event = DiscreteGaussianEvent(sigma_squared=square, distance_squared=1, entries=1)
        make, values = pld.from_discrete_gaussian_mechanism, {"sensitivity": 1}
    return event, lambda side: make(number, pessimistic_estimate=side, **values, **common)


def test_intervals_overlap(rng, soak):
    draw = Draw(rng)
    for _ in range(soak.cases(200)):
        counts: dict[Event, int] = {}
        theirs: dict[bool, Any] = {True: None, False: None}
        for _ in range(draw.between(1, 3)):
            event, make = one(draw)
            count = draw.between(1, 20)
            counts[event] = counts.get(event, 0) + count
            for side, before in theirs.items():
                power = make(side).self_compose(count)
                theirs[side] = power if before is None else before.compose(power)
        delta = draw.sized(1e-9, 1e-2)
        high = theirs[True].get_epsilon_for_delta(float(delta))
        low = theirs[False].get_epsilon_for_delta(float(delta))
        ours = pld_epsilon(counts, delta=delta)
        assert float(ours.lower.epsilon) <= high + ROUNDING, (counts, delta)
        assert low <= float(ours.loss.epsilon) + ROUNDING, (counts, delta)


def test_a_laplace_at_delta_zero():
    """Theirs is infinite below a tiny δ that their own truncation makes; ours is the loss."""
    assert pld_epsilon(LaplaceEvent(scale=1), delta=0).loss.epsilon == 1
    assert pld_epsilon(PureEvent(epsilon=2), delta=0).loss.epsilon == 2
