"""Bad input: the right error before any noise is drawn, and no error quotes a value."""

import math

import numpy as np
import pytest

from discreet.core.contribution import Contribution
from discreet.core.errors import DiscreetError, InvalidArgument, Unsupported
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.noise.geometric import geometric
from discreet.mechanisms.noise.grid import Grid, on_grid
from discreet.mechanisms.noise.integers import LARGEST_VALUE
from discreet.mechanisms.noise.linf_exponential import LinfExponential
from discreet.mechanisms.noise.noisy_histogram import NoisyHistogram
from discreet.mechanisms.noise.truncated_geometric import TruncatedGeometric
from discreet.mechanisms.noise.uniform_smoothing import UniformSmoothing, smoothed_delta
from discreet.mechanisms.response.approximate_response import ApproximateResponse
from discreet.mechanisms.response.categorical_response import CategoricalResponse
from discreet.mechanisms.response.sign_of_gaussian import SignOfGaussian
from discreet.mechanisms.response.two_coin_response import TwoCoinResponse
from tests.mechanisms.cases import CASES, Case

BAD_NUMBERS = [0, -1, "-1/3", math.nan, math.inf, -math.inf, "nan", "", None, [1], True, "1e9999"]
MAKERS = {
    "laplace scale": lambda bad: DiscreteLaplace(scale=bad),
    "gaussian variance": lambda bad: DiscreteGaussian(sigma_squared=bad),
    "geometric epsilon": geometric,
    "truncated scale": lambda bad: TruncatedGeometric(scale=bad, bound=3),
    "truncated bound": lambda bad: TruncatedGeometric(scale=1, bound=bad),
    "cube scale": lambda bad: LinfExponential(scale=bad, dimension=2),
    "cube dimension": lambda bad: LinfExponential(scale=1, dimension=bad),
    "histogram cells": lambda bad: NoisyHistogram(noise=DiscreteLaplace(scale=1), cells=bad),
    "grid step": lambda bad: Grid(step=bad, bound=1),
    "grid bound": lambda bad: Grid(step=1, bound=bad),
    "response epsilon": lambda bad: CategoricalResponse(epsilon=bad),
    "response categories": lambda bad: CategoricalResponse(epsilon=1, categories=bad),
    "sign variance": lambda bad: SignOfGaussian(sigma_squared=bad),
    "two coin yes": lambda bad: TwoCoinResponse(yes=bad),
    "smoothed advantage": lambda bad: smoothed_delta(epsilon=1, distinguishing=bad, error=1),
}


class SilentRng:
    """Fails the test if anybody asks for randomness."""

    def words(self, count: int) -> np.ndarray:
        raise AssertionError("noise was drawn")


SILENT = SilentRng()


@pytest.mark.parametrize("bad", BAD_NUMBERS, ids=repr)
@pytest.mark.parametrize("maker", MAKERS)
def test_bad_numbers_are_refused(maker: str, bad):
    with pytest.raises(InvalidArgument) as caught:
        MAKERS[maker](bad)
    assert caught.value.must


@pytest.mark.parametrize(
    "maker",
    [
        lambda: UniformSmoothing(radius=-1),
        lambda: UniformSmoothing(radius="1/2"),
        lambda: UniformSmoothing(radius=2**62),
        lambda: TruncatedGeometric(scale=1, bound="3/2"),
        lambda: TwoCoinResponse(truth=1),
        lambda: TwoCoinResponse(truth=-1),
        lambda: TwoCoinResponse(yes=1),
        lambda: ApproximateResponse(epsilon=-1, delta=0),
        lambda: ApproximateResponse(epsilon=1, delta=1),
        lambda: ApproximateResponse(epsilon=1, delta=math.nan),
        lambda: ApproximateResponse(epsilon=65, delta=0),
        lambda: CategoricalResponse(epsilon=65),
        lambda: CategoricalResponse(epsilon=1, categories=1),
        lambda: CategoricalResponse(epsilon=1, categories="5/2"),
        lambda: SignOfGaussian(sigma_squared="1e-9"),
        lambda: LinfExponential(scale=10**12, dimension=10**4),
        lambda: LinfExponential(scale=2**49 + 1, dimension=1),
        lambda: LinfExponential(scale=2**49 + 1, dimension=2),
        lambda: smoothed_delta(epsilon=-1, distinguishing="1e-9", error=1),
        lambda: smoothed_delta(epsilon=1, distinguishing="1e-9", error=1, dimension=0),
        lambda: smoothed_delta(epsilon=1, distinguishing=2, error=1),
    ],
)
def test_numbers_outside_their_range_are_refused(maker):
    with pytest.raises(InvalidArgument):
        maker()


@pytest.mark.parametrize("beta", [0, 1, -1, 2, "1e-301", math.nan, math.inf, "x"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_bad_levels_are_refused(case: Case, beta):
    with pytest.raises(InvalidArgument):
        case.mechanism.error_quantile(beta)


@pytest.mark.parametrize("cells", [0, -1, "1/2"])
def test_bad_numbers_of_cells_are_refused(cells):
    for noise in (DiscreteLaplace(scale=1), DiscreteGaussian(sigma_squared=1)):
        with pytest.raises(InvalidArgument):
            noise.sum_error_quantile("0.1", cells=cells)


@pytest.mark.parametrize(
    "dtype", [np.int32, np.uint64, np.float64, np.bool_, np.complex128, np.str_, object]
)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_other_types_are_refused_before_noise(case: Case, dtype):
    values = np.array([1, 0]).astype(dtype)
    with pytest.raises(InvalidArgument, match="type"):
        case.mechanism.release(values, SILENT)


SECRET = 4_611_686_018_427_391_234
"""A value near 2**62 that must appear in no error."""


@pytest.mark.parametrize("value", [SECRET, -SECRET, 2**63 - 1, -(2**63)])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_values_without_room_are_refused_before_noise(case: Case, value: int):
    with pytest.raises(InvalidArgument) as caught:
        case.mechanism.release(np.array([0, value]), SILENT)
    assert_quotes_nothing(caught.value, value)


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("sign", [1, -1])
def test_the_largest_values_do_not_wrap_around(case: Case, sign: int, rng):
    values = np.array([sign * LARGEST_VALUE, sign * LARGEST_VALUE])
    for _ in range(20):
        released = case.mechanism.release(values, rng)
        assert (abs(released - values) < 10**6).all()
        assert (np.sign(released) == sign).all()


@pytest.mark.parametrize("sign", [1, -1])
def test_the_largest_noise_on_the_largest_values_does_not_wrap_around(sign: int, rng):
    """At every edge at once: what comes out is the exact value plus noise that is not too large."""
    values = np.array([sign * LARGEST_VALUE, sign * LARGEST_VALUE])
    for mechanism, reach in (
        (DiscreteLaplace(scale=2**50), 60 * 2**50),
        (DiscreteGaussian(sigma_squared=2**100), 10 * 2**50),
        (TruncatedGeometric(scale=2**50, bound=2**62), 60 * 2**50),
        (TruncatedGeometric(scale=2**50, bound=2**50 + 1), 2**50 + 1),
        (LinfExponential(scale=2**49, dimension=2), 60 * 2**50),
        (UniformSmoothing(radius=LARGEST_VALUE), LARGEST_VALUE),
        (NoisyHistogram(noise=DiscreteLaplace(scale=2**50), cells=2), 60 * 2**50),
    ):
        released = [int(value) for _ in range(20) for value in mechanism.release(values, rng)]
        assert all(abs(value - sign * LARGEST_VALUE) <= reach for value in released)


@pytest.mark.parametrize("noise", [2**62, -(2**62)])
@pytest.mark.parametrize("sign", [1, -1])
def test_the_furthest_noise_on_the_largest_values_does_not_wrap_around(noise, sign, monkeypatch):
    """Draws are moved to 2**62 at most: the sum is the one of whole numbers."""
    value = sign * LARGEST_VALUE
    for module, name in (
        ("discrete_laplace", "discrete_laplace"),
        ("discrete_gaussian", "discrete_gaussian"),
        ("truncated_geometric", "clamped_discrete_laplace"),
    ):
        furthest = lambda *_: np.array([noise])  # noqa: E731 - one for each module
        monkeypatch.setattr(f"discreet.mechanisms.noise.{module}.{name}", furthest)
    for mechanism in (
        DiscreteLaplace(scale=2**50),
        DiscreteGaussian(sigma_squared=2**100),
        TruncatedGeometric(scale=2**50, bound=2**62),
    ):
        assert mechanism.release(np.array([value]), SILENT).tolist() == [value + noise]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_nothing_in_nothing_out(case: Case):
    released = case.mechanism.release(np.empty((0, 3), dtype=np.int64), SilentOrEmpty())
    assert released.shape == (0, 3)
    assert released.dtype == np.int64


class SilentOrEmpty:
    """Gives out no randomness, but lets one ask for none."""

    def words(self, count: int) -> np.ndarray:
        assert count == 0, "noise was drawn for nothing"
        return np.empty(0, dtype=np.uint64)


def test_scales_that_cannot_be_drawn_are_refused_before_noise():
    zeros = np.zeros(2, dtype=np.int64)
    for noise in (
        DiscreteLaplace(scale="1e-9"),
        DiscreteLaplace(scale=2**50 + 1),
        DiscreteGaussian(sigma_squared="1e-9"),
        DiscreteGaussian(sigma_squared=2**100 + 1),
        TruncatedGeometric(scale=2**50 + 1, bound=5),
        LinfExponential(scale="1e-9", dimension=2),
    ):
        with pytest.raises(InvalidArgument, match="range"):
            noise.release(zeros, SILENT)


def test_vectors_of_another_size_are_refused_before_noise():
    for noise in (
        LinfExponential(scale=1, dimension=3),
        NoisyHistogram(noise=DiscreteLaplace(scale=1), cells=3),
    ):
        with pytest.raises(InvalidArgument):
            noise.release(np.zeros(2, dtype=np.int64), SILENT)


# ---------------------------------------------------------------- distances


@pytest.mark.parametrize("case", CASES, ids=str)
def test_unknown_distances_are_refused(case: Case):
    with pytest.raises(Unsupported):
        case.mechanism.event(Contribution(l0=3))


def test_bad_distances_are_refused():
    for bad in (-1, math.nan, math.inf):
        with pytest.raises(InvalidArgument):
            Contribution(l1=bad)


def test_a_loss_that_promises_nothing_is_refused():
    with pytest.raises(Unsupported, match="promises nothing"):
        UniformSmoothing(radius=1).loss(Contribution(l1=3))
    with pytest.raises(Unsupported, match="promises nothing"):
        TruncatedGeometric(scale=1, bound=3).loss(Contribution(l0=1, linf=3))


# ---------------------------------------------------------------- grids


def test_a_grid_finer_than_the_type_is_refused():
    with pytest.raises(InvalidArgument, match="finer than the type"):
        Grid(step="1e-18", bound=100)
    with pytest.raises(InvalidArgument, match="finer than the type"):
        on_grid(DiscreteLaplace(scale=1), step=1, bound=2**62)


def test_a_grid_refuses_what_is_not_a_number():
    noise = on_grid(DiscreteLaplace(scale=1), step="0.1", bound=100)
    for values in (np.array([1.0, math.nan]), np.array(["1"]), np.array([None])):
        with pytest.raises(InvalidArgument):
            noise.release(values, SILENT)


# ---------------------------------------------------------------- responses

RESPONSES = [
    TwoCoinResponse(),
    CategoricalResponse(epsilon=1, categories=3),
    ApproximateResponse(epsilon=1, delta="0.1"),
    SignOfGaussian(sigma_squared=1),
]


@pytest.mark.parametrize("response", RESPONSES, ids=lambda r: type(r).__name__)
@pytest.mark.parametrize("value", [987_654_321, -987_654_321, 2**63 - 1])
def test_answers_out_of_range_are_refused_before_noise(response, value: int):
    with pytest.raises(InvalidArgument) as caught:
        response.randomise_all(np.array([1, value]), SILENT)
    assert_quotes_nothing(caught.value, value)


@pytest.mark.parametrize("response", RESPONSES, ids=lambda r: type(r).__name__)
def test_responses_refuse_other_types_and_no_reports(response):
    for values in (np.array([1.0]), np.array([True]), np.array(["1"]), np.array([1], np.int32)):
        with pytest.raises(InvalidArgument, match="type"):
            response.randomise_all(values, SILENT)
    with pytest.raises(InvalidArgument, match="no reports"):
        response.estimate(np.empty(0, dtype=np.int64))
    for bad in (0, -1, 1.5, True):
        with pytest.raises(InvalidArgument):
            response.variance(bad)
    empty = response.randomise_all(np.empty((0, 2), dtype=np.int64), SilentOrEmpty())
    assert empty.shape == (0, 2)
    assert empty.dtype == np.int64


def test_nothing_is_estimated_from_noise_alone():
    ones = np.array([1, 1])
    with pytest.raises(InvalidArgument, match="Nothing can be estimated"):
        TwoCoinResponse(truth=0).estimate(ones)
    with pytest.raises(InvalidArgument, match="Nothing can be estimated"):
        TwoCoinResponse(truth=0).variance(1)
    with pytest.raises(InvalidArgument, match="Nothing can be estimated"):
        ApproximateResponse(epsilon=0, delta="0.1").estimate(ones)


def assert_quotes_nothing(error: DiscreetError, value: int) -> None:
    shown = str(error) + str(error.to_json())
    assert str(value) not in shown
    assert str(abs(value)) not in shown
