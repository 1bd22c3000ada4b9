"""Events as text: what is written is what is meant, and nothing else is run."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given

from discreet.accounting.notation import read_events, read_scaled
from discreet.accounting.notation_names import SHORT
from discreet.accounting.notation_writer import write_events
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.event import (
    ComposedEvent,
    Event,
    FixedSizeSampledEvent,
    MixtureEvent,
    PoissonSampledEvent,
)
from discreet.core.mechanism_event import (
    DiscreteGaussianEvent,
    DiscreteLaplaceEvent,
    TwoCoinResponseEvent,
)
from discreet.core.stated_event import GaussianEvent, LaplaceEvent, PureEvent
from tests.support.statistics.every_event import every_event


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


def test_neighbours_fixed_samples_and_mixtures_have_a_notation():
    inner = GaussianEvent(2, metric="change_one")
    texts = {
        "gaussian(2, metric=change_one)": inner,
        "gaussian(2, metric='change_one')": inner,
        "fixed_size(gaussian(2, metric=change_one), population=1000, sample=10)": (
            FixedSizeSampledEvent(1000, 10, inner)
        ),
        "fixed_size(1000, 10, gaussian(2, metric=change_one), metric=add_remove)": (
            FixedSizeSampledEvent(1000, 10, inner, metric="add_remove")
        ),
        "poisson(0.01, gaussian(2), metric=change_one)": (
            PoissonSampledEvent("0.01", GaussianEvent(2), metric="change_one")
        ),
        "mixture((pure(1), 1/4), (gaussian(1) + pure(2), 3/4))": (
            MixtureEvent([(PureEvent(1), "1/4"), (GaussianEvent(1) + PureEvent(2), "3/4")])
        ),
    }
    for text, meant in texts.items():
        assert read_events(text) == meant * 1


@given(event=every_event())
def test_what_is_written_reads_as_the_same(event: Event):
    text = write_events(event)
    assert read_events(text) == ComposedEvent.of([event])
    assert write_events(read_events(text)) in (text, f"{text} * 1")


@pytest.mark.parametrize(
    "text",
    [
        "gaussian(1, metric=nearby)",
        "gaussian(1, metric='nearby')",
        "gaussian(1, metric=1)",
        "gaussian(1) + gaussian(1, metric=change_one)",
        "fixed_size(gaussian(1), population=10, sample=1)",
        "fixed_size(gaussian(1, metric=change_one), population=10, sample=11)",
        "poisson(gaussian(1), gaussian(1), rate=0.1)",
        "mixture(pure(1))",
        "mixture((pure(1), 1/2))",
        "mixture((pure(1), 1/2, 1/2))",
        "mixture()",
        "renyi((1, 2))",
        "renyi(2, 1)",
        "sparse_vector(1, 2)",
        "composed(pure(1))",
        "pure((1, 2))",
        "pure(" + "-" * 5000 + "1)",
        "pure(" + "1/" * 4000 + "1)",
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
        "discrete_gaussian(sigma_squared=4, distance_squared=0.5)",
        "discrete_gaussian(sigma_squared=4, distance_squared=1/1000, largest=1)",
        "truncated_geometric(scale=2, bound=10, distance=0.5, largest=1, entries=1)",
        "linf_exponential(2, 0.5)",
        "uniform_noise(10, 0.5)",
        "rr(p=0.1)",
        "__import__('os').system('true')",
        "(" * 500 + "pure(1)" + ")" * 500,
        "pure(1)" + " + pure(1)" * 3000,
    ],
)
def test_anything_else_is_refused(text):
    with pytest.raises((InvalidArgument, Unsupported)):
        read_events(text)


def test_a_long_sum_is_read_and_not_too_deep():
    text = " + ".join(f"pure({number})" for number in range(1, 700))
    assert len(read_events(text).parts) == 699
    assert len(read_scaled(f"{text} + gaussian")(Fraction(2)).parts) == 700  # type: ignore[attr-defined]


def test_unknown_names_list_the_known_ones():
    with pytest.raises(Unsupported, match="laplace") as caught:
        read_events("laplac(3)")
    assert all(name in str(caught.value) for name in SHORT)


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
