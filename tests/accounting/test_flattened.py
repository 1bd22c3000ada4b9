"""Compositions of compositions: what they cost does not depend on where brackets stand."""

from fractions import Fraction
from itertools import pairwise

import pytest

from discreet.accounting.accountants.flattened import composed_once, flattened
from discreet.accounting.accountants.renyi import renyi_loss
from discreet.accounting.accounting_question import METHODS, account
from discreet.core.errors import Unsupported
from discreet.core.event import (
    ComposedEvent,
    Event,
    FixedSizeSampledEvent,
    MixtureEvent,
    PoissonSampledEvent,
)
from discreet.core.mechanism_event import DiscreteGaussianEvent, DiscreteLaplaceEvent
from discreet.core.stated_event import ApproximateEvent, GaussianEvent, LaplaceEvent, PureEvent

PURE, GAUSS = PureEvent("0.1"), GaussianEvent(10)
DISCRETE = DiscreteGaussianEvent(sigma_squared=100, distance_squared=1)
DELTA = Fraction(1, 10**6)


def cost(event: Event, method: str) -> object:
    """Return what a method says, or that it says nothing."""
    try:
        return account(event, delta=DELTA, measure=method).epsilon
    except Unsupported as refusal:
        return refusal.what


@pytest.mark.parametrize("method", [*METHODS, "auto"])
@pytest.mark.parametrize(
    ("bracketed", "plain"),
    [
        ((PURE * 4) * 5, PURE * 20),
        ((GAUSS + LaplaceEvent(10)) * 5, GAUSS * 5 + LaplaceEvent(10) * 5),
        (((DISCRETE * 2) * 2) * 2, DISCRETE * 8),
        (
            (DiscreteLaplaceEvent(10, 1) * 3 + PURE) * 2,
            DiscreteLaplaceEvent(10, 1) * 6 + PURE * 2,
        ),
        ((ApproximateEvent("0.1", "1e-9") * 2) * 3, ApproximateEvent("0.1", "1e-9") * 6),
        ((PoissonSampledEvent("0.01", GAUSS) * 5) * 4, PoissonSampledEvent("0.01", GAUSS) * 20),
        (
            PoissonSampledEvent("0.01", (PURE * 3) * 2) * 9,
            PoissonSampledEvent("0.01", PURE * 6) * 9,
        ),
    ],
)
def test_every_method_reads_brackets_away(bracketed: Event, plain: Event, method: str):
    assert cost(bracketed, method) == cost(plain, method)


def test_a_curve_is_that_of_all_parts():
    curves = [renyi_loss([one]).curve for one in ((GAUSS * 3) * 4, GAUSS * 12)]
    assert curves[0].upper(8) == curves[1].upper(8)


def test_nothing_is_lost_and_the_meaning_stays():
    change = GaussianEvent(1, 2, metric="change_one")
    inner = (change * 2) * 3
    sampled = FixedSizeSampledEvent(9, 3, inner)
    mixed = MixtureEvent([((PURE * 2) * 2, "1/4"), (PURE, "3/4")])
    assert flattened(sampled) == FixedSizeSampledEvent(9, 3, change * 6)
    assert flattened(mixed) == MixtureEvent([(PURE * 4, "1/4"), (PURE, "3/4")])
    assert composed_once((sampled * 2 + change) * 5).metric is sampled.metric
    assert composed_once((PURE * 0) * 5).parts == ((PURE, 0),)
    deep: Event = PURE
    for _ in range(9):
        deep = deep * 2 + GAUSS
    flat = composed_once(ComposedEvent.of([deep]))
    assert dict(flat.parts) == {PURE: 512, GAUSS: 2**9 - 1}
    costs = [account(one * 2, delta=DELTA).epsilon for one in (PURE, PURE + PURE, deep)]
    assert all(less <= more for less, more in pairwise(costs))
