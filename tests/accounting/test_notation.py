"""Events as text: what is written is what is meant, and nothing else is run."""

from fractions import Fraction
from typing import Any

import pytest

from discreet.accounting.notation import NAMES, read_events, read_scaled
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.event import DiscreteGaussianEvent, DiscreteLaplaceEvent, TwoCoinResponseEvent
from discreet.core.sampling_event import PoissonSampledEvent
from discreet.core.stated_event import GaussianEvent, LaplaceEvent, PureEvent


def test_what_is_written_is_what_is_meant():
    events = read_events(["gaussian(scale=10) * 1000", "2 * laplace(0.1, distance=1/3) + pure(1)"])
    assert dict(events.parts) == {
        GaussianEvent(scale=10): 1000,
        LaplaceEvent(scale="1/10", distance="1/3"): 2,
        PureEvent(epsilon=1): 1,
    }


def test_counts_multiply_sums():
    assert dict(read_events("(pure(1) + pure(2) * 3) * 5").parts) == {
        PureEvent(epsilon=1): 5,
        PureEvent(epsilon=2): 15,
    }


def test_our_own_noise():
    parts = dict(read_events("discrete_gaussian(3, 2) + discrete_laplace(3) + rr(p=0.75)").parts)
    assert set(parts) == {
        DiscreteGaussianEvent(sigma_squared=9, distance_squared=4, entries=1, largest=2),
        DiscreteLaplaceEvent(scale=3, distance=1),
        TwoCoinResponseEvent(truth=Fraction(1, 2), yes=Fraction(1, 2)),
    }


def test_a_sampled_event_holds_another():
    (part, count) = read_events("poisson(gaussian(scale=1.1), rate=256/60000) * 14063").parts[0]
    assert part == PoissonSampledEvent(inner=GaussianEvent(scale="1.1"), rate="256/60000")
    assert count == 14063


@pytest.mark.parametrize(
    "text",
    [
        "poisson(0.1, rate=0.1)",
        "poisson(gaussian(1), rate=2)",
        "gaussian(pure(1))",
        "",
        "gaussian",
        "gaussian(",
        "gaussian(scale='10')",
        "gaussian(scale=10) - pure(1)",
        "gaussian(**{})",
        "pure(1/0)",
        "pure(1) * 0",
        "pure(1) * 1.5",
        "pure(1) * 10**30",
        "pure(1) * 10000000000",
        "pure(True)",
        "pure(-1)",
        "pure(1, 2, 3)",
        "approx(1, 1)",
        "gaussian(scale=0)",
        "gaussian(scale=1e999)",
        "rr(p=1)",
        "discrete_laplace(1, distance=0.5)",
        "discrete_gaussian(1, distance=1.9)",
        "rr(p=0.1)",
        "__import__('os').system('true')",
        "(" * 500 + "pure(1)" + ")" * 500,
        "pure(1)" + " + pure(1)" * 3000,
    ],
)
def test_anything_else_is_refused(text):
    with pytest.raises((InvalidArgument, Unsupported)):
        read_events(text)


def test_unknown_names_list_the_known_ones():
    with pytest.raises(Unsupported, match="laplace") as caught:
        read_events("laplac(3)")
    assert all(name in str(caught.value) for name in NAMES)


def test_scales_are_left_open_and_set_later():
    make: Any = read_scaled("poisson(gaussian + laplace(distance=3), rate=1/100) * 7", distance=2)
    for scale in (Fraction(3), Fraction(1, 7)):
        ((event, count),) = make(scale).parts
        (first, _), (second, _) = event.inner.parts
        assert (first.scale, first.distance, second.distance) == (scale, 2, 3)
        assert (event.rate, count) == (Fraction(1, 100), 7)


@pytest.mark.parametrize("text", ["gaussian(2)", "pure(1)", "nonsense", "poisson(rate=gaussian)"])
def test_what_has_no_open_scale_is_refused(text):
    with pytest.raises((InvalidArgument, Unsupported)):
        read_scaled(text)
