"""The accountant as people use it: known values, edges, refusals."""

from fractions import Fraction

import pytest

from discreet.core.contribution import Metric
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.event import FixedSizeSampledEvent, MixtureEvent, PoissonSampledEvent
from discreet.core.event_json import event_from_json
from discreet.core.loss import Approximate, Pure
from discreet.core.mechanism_event import (
    DiscreteGaussianEvent,
    DiscreteLaplaceEvent,
    ExponentialSelectionEvent,
    LinfExponentialEvent,
    RandomisedResponseEvent,
    SignOfGaussianEvent,
    ThresholdedLaplaceEvent,
    TwoCoinResponseEvent,
    UniformNoiseEvent,
)
from discreet.core.stated_event import (
    ApproximateEvent,
    BoundedRangeEvent,
    GaussianEvent,
    LaplaceEvent,
    PureEvent,
    ZcdpEvent,
)
from tests.accounting.pld.asking import amplified, compose_epsilon, pld_delta, pld_epsilon


def gaussian(scale, **more):
    return GaussianEvent(scale=scale, **more)


def laplace(scale, **more):
    return LaplaceEvent(scale=scale, **more)


def sampled(inner, rate):
    return PoissonSampledEvent(inner=inner, rate=rate)


def ends(result) -> tuple[float, float]:
    low = 0.0 if result.lower is None else float(result.lower.epsilon)
    return low, float(result.loss.epsilon)


# From dp-accounting 0.6.0, rounded to four places; the last also from prv-accountant.
GOLDEN = {
    "Gaussian": ({gaussian(1): 1}, "1e-5", 4.3772),
    "Gaussians": ({gaussian(10): 100}, "1e-5", 4.3772),
    "Laplace, 100": ({laplace(10): 100}, "1e-5", 4.2203),
    "Laplace, 1000": ({laplace(10): 1000}, "1e-5", 17.4237),
    "10 of each": ({laplace(10): 10, gaussian(10): 10}, "1e-5", 1.6909),
    "sampled Laplace": ({sampled(laplace(1), "0.01"): 1000}, "1e-5", 1.1238),
    "sampled Gaussian": ({sampled(gaussian(1), "0.01"): 10_000}, "1e-6", 6.9074),
    "training": ({sampled(gaussian("1.1"), "256/60000"): 14_063}, "1e-5", 2.3818),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_known_values(name: str):
    events, delta, value = GOLDEN[name]
    result = pld_epsilon(events, delta=delta, width="1e-4")
    low, high = ends(result)
    assert low - 1e-4 <= value <= high + 1e-4
    assert high - low <= 1e-4 * max(1, high)
    assert result.method == "pld"


def test_width_is_what_was_asked_for():
    events = {sampled(gaussian(1), "0.01"): 1000, laplace(3): 5, PureEvent(epsilon="0.1"): 7}
    for width in ("1e-2", "1e-3", "1e-4"):
        low, high = ends(pld_epsilon(events, delta="1e-9", width=width))
        assert high - low <= float(width) * max(1, high)


def test_at_delta_zero_it_is_the_largest_loss():
    """dp-accounting calibrates this Laplace to a scale of 20.04."""
    assert pld_epsilon(laplace(1), delta=0).loss == Approximate(1, 0)
    assert pld_epsilon(laplace(2) * 6, delta=0).loss == Approximate(3, 0)
    with pytest.raises(Unsupported):
        pld_epsilon(gaussian(1), delta=0)


@pytest.mark.parametrize("delta", ["1e-12", "1e-30", "1e-100", "1e-200", "1e-300"])
@pytest.mark.parametrize(
    "events",
    [
        laplace(10) * 100,
        {laplace(10): 10, gaussian(10): 10},
        sampled(gaussian(1), "0.01") * 1000,
        DiscreteGaussianEvent(sigma_squared=100, distance_squared=1, entries=1) * 10,
        gaussian(1) * 10,
    ],
)
def test_tiny_deltas_have_a_bound(events, delta: str):
    result = pld_epsilon(events, delta=delta)
    assert 0 < float(result.loss.epsilon) < 2000
    assert result.lower is None or result.lower.epsilon <= result.loss.epsilon
    if Fraction(delta) >= Fraction("1e-30"):
        assert ends(result)[1] - ends(result)[0] <= 1e-3 * max(1.0, ends(result)[1])


@pytest.mark.parametrize(
    ("events", "about"),
    [
        (PureEvent(epsilon="1e-6"), 1e-6),
        (PureEvent(epsilon=500), 500),
        (PureEvent(epsilon=100) * 5, 500),
        (laplace(1) * 1000, 500),
        (gaussian(10**6), 2e-6),
        ({gaussian("0.04"): 1}, 425),
        (laplace(10**6) * 3, 3e-6),
    ],
)
def test_small_and_large_losses(events, about: float):
    low, high = ends(pld_epsilon(events, delta="1e-7"))
    assert 0 <= low <= high <= 1.3 * about
    assert high - low <= 1e-3 * max(1, high)


def test_delta_and_epsilon_agree():
    events = {sampled(laplace(1), "0.1"): 50, gaussian(20): 30}
    low, high = ends(pld_epsilon(events, delta="1e-6", width="1e-4"))
    assert float(pld_delta(events, epsilon=high * 1.001).loss.delta) <= 1.01e-6
    assert float(pld_delta(events, epsilon=low * 0.999).lower.delta) >= 0.99e-6


def test_pure_events_agree_with_the_optimal_composition():
    for epsilon, count in (("0.1", 200), ("1", 12), ("0.017", 1000)):
        found = pld_epsilon(PureEvent(epsilon=epsilon) * count, delta="1e-6")
        exactly = compose_epsilon({Pure(epsilon): count}, delta="1e-6")
        assert found.lower.epsilon <= exactly.loss.epsilon
        assert exactly.lower.epsilon <= found.loss.epsilon
        assert found.loss.epsilon - found.lower.epsilon < Fraction(1, 10**4)


def test_continuous_and_discrete_are_different_laws():
    low, _ = ends(pld_epsilon(DiscreteLaplaceEvent(scale=1, distance=1) * 10, delta="1e-3"))
    _, high = ends(pld_epsilon(laplace(1) * 10, delta="1e-3"))
    assert low > high + 0.4


OTHER = {
    "discrete Gaussian vector": DiscreteGaussianEvent(
        sigma_squared=9, distance_squared=5, entries=5, largest=1
    ),
    "categories": RandomisedResponseEvent(epsilon=1, categories=10),
    "two coins": TwoCoinResponseEvent(truth="1/2", yes="1/3"),
    "sign": SignOfGaussianEvent(sigma_squared=4),
    "uniform": UniformNoiseEvent(radius=10**8, distance=1),
    "cube": LinfExponentialEvent(scale=10, distance=1),
    "range": BoundedRangeEvent(epsilon="0.1"),
    "selection": ExponentialSelectionEvent(scale=20, spread=2),
    "keys": ThresholdedLaplaceEvent(scale=5, threshold=200, groups=2, largest=1, distance=2),
    "mixture": MixtureEvent(parts=((laplace(1), "1/3"), (gaussian(2), "2/3"))),
    "fixed size": FixedSizeSampledEvent(
        inner=gaussian(1, metric=Metric.CHANGE_ONE), population=1000, sample=10
    ),
    "sampled response": sampled(RandomisedResponseEvent(epsilon=1, categories=3), "1/10"),
    "sampled approximate": sampled(ApproximateEvent(epsilon=1, delta="1e-9"), "1/10"),
}


@pytest.mark.parametrize("name", OTHER)
def test_every_event_has_an_interval(name: str):
    event = OTHER[name]
    result = pld_epsilon(event * 10, delta="1e-6")
    low, high = ends(result)
    assert 0 <= low <= high < 40
    once = pld_epsilon(event, delta="1e-6")
    assert ends(once)[0] <= high
    assert event_from_json(event.to_json()) == event


def test_bounded_range_is_between_its_known_bounds():
    result = pld_epsilon(BoundedRangeEvent(epsilon="0.1") * 100, delta="1e-6")
    pure = pld_epsilon(PureEvent(epsilon="0.1") * 100, delta="1e-6")
    half = pld_epsilon(PureEvent(epsilon="0.05") * 100, delta="1e-6")
    assert half.lower.epsilon <= result.loss.epsilon < pure.lower.epsilon


def test_sampling_helps_and_certain_sampling_does_nothing():
    whole = pld_epsilon(gaussian(2) * 10, delta="1e-6")
    assert pld_epsilon(sampled(gaussian(2), 1) * 10, delta="1e-6").lower.epsilon <= (
        whole.loss.epsilon
    )
    assert pld_epsilon(sampled(gaussian(2), "1/10") * 10, delta="1e-6").loss.epsilon < (
        whole.lower.epsilon
    )
    assert pld_epsilon(sampled(gaussian(2), 0) * 10, delta="1e-6").loss.epsilon == 0


def test_fixed_size_is_no_better_than_removal_and_no_worse_than_twice():
    change = gaussian(1, metric=Metric.CHANGE_ONE)
    fixed = FixedSizeSampledEvent(inner=change, population=100, sample=5)
    poisson = sampled(gaussian(1), "1/20")
    for count in (1, 20):
        first = pld_epsilon(fixed * count, delta="1e-6")
        second = pld_epsilon(poisson * count, delta="1e-6")
        assert first.loss.epsilon >= second.lower.epsilon
        assert first.lower.epsilon <= second.loss.epsilon
    once = pld_epsilon(fixed, delta="1e-6")
    assert ends(once)[1] - ends(once)[0] <= 1e-3


def test_amplification_in_closed_form_is_what_the_distribution_says():
    loss = amplified(Approximate(1, "1e-6"), rate="1/10").loss
    event = sampled(ApproximateEvent(epsilon=1, delta="1e-6"), "1/10")
    found = pld_delta(event, epsilon=loss.epsilon)
    assert found.lower.delta <= loss.delta <= found.loss.delta


def test_an_interval_of_delta_is_called_narrow_only_if_it_is():
    """[0.383, 0.585] was called narrow: a lower end above 0 was enough."""
    response = RandomisedResponseEvent(epsilon=3, metric=Metric.CHANGE_ONE)
    wide = FixedSizeSampledEvent(inner=response, population=5, sample=1)
    found = pld_delta(wide * 20, epsilon=4)
    assert found.loss.delta > Fraction("1.2") * found.lower.delta
    assert found.method == "pld, wider than asked for"
    for events in (laplace(10) * 100, {sampled(gaussian(1), "0.01"): 1000, laplace(3): 5}):
        narrow = pld_delta(events, epsilon=4)
        assert narrow.method == "pld"
        assert narrow.loss.delta <= Fraction("1.05") * narrow.lower.delta


def test_atoms_on_the_grid_are_not_lost():
    """With a step of 2**-7 both atoms of the Laplace law are grid points: δ was 14 % too wide."""
    events = {gaussian(10): 100, laplace(2): 1}
    for epsilon in ("0.6964", "2.0307"):
        found = pld_delta(events, epsilon=epsilon, width="1e-4")
        assert found.loss.delta - found.lower.delta <= Fraction(1, 500) * found.loss.delta


def test_refusals():
    assert pld_epsilon(ZcdpEvent(rho=1), delta="1e-6").method == "zCDP"
    with pytest.raises(Unsupported):
        pld_epsilon(ApproximateEvent(epsilon=1, delta="1e-5"), delta="1e-6")
    with pytest.raises(InvalidArgument):
        pld_epsilon([], delta="1e-6")
    with pytest.raises(InvalidArgument):
        pld_epsilon(gaussian(1), delta=1)
    with pytest.raises(InvalidArgument):
        pld_epsilon(gaussian(1), delta="1e-6", width=0)
    with pytest.raises(InvalidArgument):
        pld_delta(gaussian(1), epsilon=-1)
    with pytest.raises(Unsupported):
        pld_epsilon([gaussian(1), gaussian(1, metric=Metric.CHANGE_ONE)], delta="1e-6")
    with pytest.raises(Unsupported):
        FixedSizeSampledEvent(inner=gaussian(1), population=10, sample=1, metric=Metric.ADD_REMOVE)
    with pytest.raises(InvalidArgument):
        MixtureEvent(parts=((gaussian(1), "1/2"),))
