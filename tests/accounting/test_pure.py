"""The pure accountant: one theorem an event, sums, and refusals."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accounting.accountants.approximate import approximate_loss
from discreet.accounting.accountants.pure import epsilon, pure_loss
from discreet.accounting.accountants.zcdp import zcdp_loss
from discreet.core.contribution import Metric
from discreet.core.errors import Unsupported
from discreet.core.event import Event
from discreet.core.loss import Pure
from discreet.core.mechanism_event import (
    ApproximateResponseEvent,
    DiscreteGaussianEvent,
    DiscreteLaplaceEvent,
    LinfExponentialEvent,
    RandomisedResponseEvent,
    SignOfGaussianEvent,
    TruncatedGeometricEvent,
    TwoCoinResponseEvent,
    UniformNoiseEvent,
)

SCALES = st.fractions(min_value="1/100", max_value=1000, max_denominator=100)
LAPLACE = DiscreteLaplaceEvent(scale=4, distance=1)


@given(scale=SCALES, distance=SCALES)
def test_noise_costs_distance_over_scale(scale: Fraction, distance: Fraction):
    assert epsilon(DiscreteLaplaceEvent(scale=scale, distance=distance)) == distance / scale
    assert epsilon(LinfExponentialEvent(scale=scale, distance=distance)) == distance / scale


def test_events_add_up():
    response = RandomisedResponseEvent(epsilon="1/3", categories=4)
    assert pure_loss([LAPLACE, response]) == Pure("7/12")
    assert pure_loss([LAPLACE * 3 + response]) == Pure("13/12")
    assert pure_loss([]) == Pure(0)


def test_one_category_tells_nothing():
    assert epsilon(RandomisedResponseEvent(epsilon=5, categories=1)) == 0


@given(truth=st.fractions(0, "99/100"), yes=st.fractions("1/100", "99/100"))
def test_two_coins_cost_their_worst_answer(truth: Fraction, yes: Fraction):
    found = epsilon(TwoCoinResponseEvent(truth=truth, yes=yes))
    ratios = [(truth + (1 - truth) * chance) / ((1 - truth) * chance) for chance in (yes, 1 - yes)]
    worst = math.log(max(ratios))
    assert float(found) == pytest.approx(worst, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(("truth", "yes"), [(1, "1/2"), ("1/2", 0), ("1/2", 1)])
def test_coins_that_never_lie_are_refused(truth, yes):
    with pytest.raises(Unsupported):
        epsilon(TwoCoinResponseEvent(truth=truth, yes=yes))


@pytest.mark.parametrize("variance", ["1/50", "1", "100", "1e6"])
def test_sign_costs_its_odds(variance: str):
    found = float(epsilon(SignOfGaussianEvent(sigma_squared=variance)))
    lie = 0.5 * math.erfc(math.sqrt(1 / float(Fraction(variance))) / math.sqrt(2))
    assert found == pytest.approx(math.log((1 - lie) / lie), rel=1e-9)


@pytest.mark.parametrize(
    "event",
    [
        DiscreteGaussianEvent(sigma_squared=1, distance_squared=1),
        TruncatedGeometricEvent(scale=1, bound=9, distance=1, largest=1, entries=1),
        UniformNoiseEvent(radius=9, distance=1),
        ApproximateResponseEvent(epsilon=1, delta="0.1"),
        SignOfGaussianEvent(sigma_squared="1/1000"),
        LAPLACE + DiscreteGaussianEvent(sigma_squared=1, distance_squared=1),
    ],
    ids=lambda event: event.kind,
)
def test_events_without_a_pure_loss_are_refused(event: Event):
    with pytest.raises(Unsupported):
        pure_loss([event])


@pytest.mark.parametrize("accountant", [pure_loss, zcdp_loss, approximate_loss])
def test_mixed_neighbours_are_refused(accountant):
    here = DiscreteLaplaceEvent(scale=1, distance=1)
    there = DiscreteLaplaceEvent(scale=1, distance=0, metric=Metric.CHANGE_ONE)
    with pytest.raises(Unsupported, match="different neighbours"):
        accountant([here, there])
