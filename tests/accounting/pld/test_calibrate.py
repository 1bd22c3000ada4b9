"""The parameter that is found is certified, and its neighbour is not."""

from fractions import Fraction
from typing import Any

import pytest

from discreet.accounting.pld.parameters import (
    Target,
    five_digits,
    largest_rate,
    least_scale,
    most_uses,
    place_of,
    target,
)
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.event import PoissonSampledEvent
from discreet.core.mechanism_event import DiscreteGaussianEvent, DiscreteLaplaceEvent
from discreet.core.stated_event import GaussianEvent, LaplaceEvent, ZcdpEvent
from tests.accounting.pld.asking import pld_epsilon

NOISE: dict[str, Any] = {
    "gaussian": lambda scale: GaussianEvent(scale=scale),
    "gaussians": lambda scale: GaussianEvent(scale=scale) * 1000,
    "laplace": lambda scale: LaplaceEvent(scale=scale),
    "laplaces": lambda scale: LaplaceEvent(scale=scale) * 100,
    "discrete laplace": lambda scale: DiscreteLaplaceEvent(scale=scale, distance=2) * 20,
    "discrete gaussian": lambda scale: (
        DiscreteGaussianEvent(sigma_squared=scale**2, distance_squared=1, entries=1) * 20
    ),
    "training": lambda scale: (
        PoissonSampledEvent(inner=GaussianEvent(scale=scale), rate="256/60000") * 14_063
    ),
    "sampled laplace": lambda scale: (
        PoissonSampledEvent(inner=LaplaceEvent(scale=scale), rate="1/10") * 50
    ),
    "both": lambda scale: {LaplaceEvent(scale=scale): 3, GaussianEvent(scale=scale): 4},
}


@pytest.mark.parametrize("name", NOISE)
@pytest.mark.parametrize("wanted", [Target(Fraction(1), Fraction("1e-6")),
                                    Target(Fraction(4), Fraction("1e-9"))])  # fmt: skip
def test_least_scale(name: str, wanted: Target):
    make = NOISE[name]
    found = least_scale(make, epsilon=wanted.epsilon, delta=wanted.delta)
    smaller = five_digits(place_of(found) - 1)
    assert wanted.excess(make(found)) <= 0 < wanted.excess(make(smaller))
    result = pld_epsilon(make(found), delta=wanted.delta, width="1e-4")
    assert result.lower.epsilon <= wanted.epsilon
    assert float(wanted.epsilon - result.lower.epsilon) < 1.5e-3 * float(wanted.epsilon)


def test_pure_laplace_is_exact():
    """dp-accounting finds a scale of 20.04 here."""
    assert least_scale(NOISE["laplace"], epsilon=1, delta=0) == 1
    assert least_scale(NOISE["laplaces"], epsilon="0.5", delta=0) == 200
    assert least_scale(NOISE["laplace"], epsilon=3, delta=0) == Fraction("0.33334")


def test_most_uses():
    event = LaplaceEvent(scale=10)
    found = most_uses(event, epsilon=4, delta="1e-5")
    wanted = target(4, "1e-5")
    assert wanted.excess({event: found}) <= 0 < wanted.excess({event: found + 1})
    assert most_uses(LaplaceEvent(scale="1/10"), epsilon=1, delta="1e-6") == 0
    assert most_uses(LaplaceEvent(scale=10), epsilon=1, delta=0) == 10


def test_largest_rate():
    def make(rate):
        return PoissonSampledEvent(inner=GaussianEvent(scale=1), rate=rate) * 100

    found = largest_rate(make, epsilon=1, delta="1e-6")
    wanted = target(1, "1e-6")
    larger = five_digits(place_of(found) + 1)
    assert wanted.excess(make(found)) <= 0 < wanted.excess(make(larger))


def test_rate_of_all_is_one():
    found = largest_rate(
        lambda rate: PoissonSampledEvent(inner=GaussianEvent(scale=100), rate=rate),
        epsilon=1,
        delta="1e-6",
    )
    assert found == 1


def test_refusals():
    with pytest.raises(InvalidArgument):
        least_scale(NOISE["gaussian"], epsilon=0, delta="1e-6")
    with pytest.raises(Unsupported):
        least_scale(lambda scale: ZcdpEvent(rho=scale), epsilon=1, delta="1e-6")


def test_places_are_in_order():
    for place in (-90_001, -1, 0, 1, 89_999, 90_000, 123_456):
        assert place_of(five_digits(place)) == place
        assert five_digits(place) < five_digits(place + 1)
