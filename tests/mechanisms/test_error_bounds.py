"""Error bounds: exact tails by independent sums, and the printed formulas that do not hold."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from discreet.core.contribution import Metric
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Zcdp
from discreet.mechanisms.noise.cube_radius import MOST_EXACT_SHAPE, gamma_tail
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.noise.laplace_sum import MOST_EXACT_CELLS, laplace_sum_tail
from discreet.mechanisms.noise.linf_exponential import LinfExponential
from discreet.mechanisms.noise.noisy_histogram import NoisyHistogram
from tests.support.statistics.exact_tests import alpha, binomial_p_value

BETAS = ["0.5", "0.05", "1e-3", "1e-9"]


def laplace_masses(scale: float, reach: int) -> np.ndarray:
    ratio = math.exp(-1 / scale)
    return np.array([(1 - ratio) / (1 + ratio) * ratio ** abs(z) for z in range(-reach, reach + 1)])


def gaussian_masses(variance: float, reach: int) -> np.ndarray:
    weights = np.array([math.exp(-z * z / (2 * variance)) for z in range(-reach, reach + 1)])
    return weights / weights.sum()


def test_the_smallest_level_is_fast_and_what_is_below_is_refused():
    assert DiscreteGaussian(sigma_squared=12345).error_quantile("1e-300") == 4118
    for noise in (DiscreteGaussian(sigma_squared=12345), DiscreteLaplace(scale=5)):
        for beta in (1e-320, Fraction(1, 10**9999)):
            with pytest.raises(InvalidArgument, match="1e-300"):
                noise.error_quantile(beta)


def above(masses: np.ndarray, cells: int, bound: int) -> float:
    """P(|sum of cells| > bound), by plain convolution of floats."""
    law = masses
    for _ in range(cells - 1):
        law = np.convolve(law, masses)
    middle = len(law) // 2
    return float(law[: max(0, middle - bound)].sum() + law[middle + bound + 1 :].sum())


@pytest.mark.parametrize("beta", BETAS)
@pytest.mark.parametrize("scale", ["1/3", "1", "7/2", "20"])
def test_laplace_quantile_is_the_smallest(scale: str, beta: str):
    bound = int(DiscreteLaplace(scale=scale).error_quantile(beta))
    ratio = math.exp(-1 / float(Fraction(scale)))

    def tail(t: int) -> float:
        return 2 * ratio ** (t + 1) / (1 + ratio)

    assert tail(bound) <= float(beta) * (1 + 1e-12)
    assert bound == 0 or tail(bound - 1) > float(beta) * (1 - 1e-12)


@pytest.mark.parametrize("beta", BETAS)
@pytest.mark.parametrize("variance", ["1/9", "1", "49/4", "400"])
def test_gaussian_quantile_is_the_smallest(variance: str, beta: str):
    bound = int(DiscreteGaussian(sigma_squared=variance).error_quantile(beta))
    masses = gaussian_masses(float(Fraction(variance)), 400)
    assert above(masses, 1, bound) <= float(beta) * (1 + 1e-9)
    assert bound == 0 or above(masses, 1, bound - 1) > float(beta) * (1 - 1e-9)


@pytest.mark.parametrize("variance", [10**6, 10**12, 10**24, 2**100])
def test_gaussian_quantile_at_any_scale(variance: int):
    bound = DiscreteGaussian(sigma_squared=variance).error_quantile("1e-6")
    normal = stats.norm.isf(5e-7) * math.sqrt(variance)
    assert abs(float(bound) - normal) <= 1 + normal * 1e-9


@pytest.mark.parametrize("cells", [1, 2, 5, 16])
@pytest.mark.parametrize("scale", ["1/2", "3"])
def test_sum_of_laplace_cells(scale: str, cells: int):
    noise = DiscreteLaplace(scale=scale)
    masses = laplace_masses(float(Fraction(scale)), 120)
    for beta in ("0.3", "0.01", "1e-6"):
        bound = int(noise.sum_error_quantile(beta, cells=cells))
        assert above(masses, cells, bound) <= float(beta) * (1 + 1e-9)
        assert bound == 0 or above(masses, cells, bound - 1) > float(beta) * (1 - 1e-9)


@pytest.mark.parametrize("cells", [2, 7, 25])
@pytest.mark.parametrize("variance", ["1/2", "9"])
def test_sum_of_gaussian_cells(variance: str, cells: int):
    noise = DiscreteGaussian(sigma_squared=variance)
    masses = gaussian_masses(float(Fraction(variance)), 60)
    for beta in ("0.3", "0.01", "1e-6"):
        bound = int(noise.sum_error_quantile(beta, cells=cells))
        assert above(masses, cells, bound) <= float(beta) * (1 + 1e-9)
        assert bound == 0 or above(masses, cells, bound - 1) > float(beta) * (1 - 1e-9)


def test_a_sum_of_cells_is_not_one_cell():
    """The error of 16 cells is neither that of one nor 16 times it."""
    for noise in (DiscreteLaplace(scale=3), DiscreteGaussian(sigma_squared=9)):
        one, many = noise.error_quantile("0.05"), noise.sum_error_quantile("0.05", cells=16)
        assert 3 * one < many < 8 * one


@settings(max_examples=25)
@given(
    scale=st.fractions(min_value="1/20", max_value=200, max_denominator=20),
    cells=st.integers(1, 40),
)
def test_bounds_for_sums_are_in_order(scale: Fraction, cells: int):
    """More cells or a smaller beta never give a smaller bound; exact ones stay below bounds."""
    noise = DiscreteLaplace(scale=scale)
    first = noise.sum_error_quantile("0.1", cells=cells)
    if cells != MOST_EXACT_CELLS:
        assert first <= noise.sum_error_quantile("0.1", cells=cells + 1)
    assert first <= noise.sum_error_quantile("0.01", cells=cells)


def test_tail_of_laplace_sums_is_rounded_up_and_tight():
    for scale, cells, t in ((1, 3, 2), (2, 16, 22), (10, 32, 100)):
        tail = float(laplace_sum_tail(Fraction(scale), cells, t))
        masses = laplace_masses(float(scale), 500)
        assert tail == pytest.approx(above(masses, cells, t) / 2, rel=1e-9)


@pytest.mark.parametrize("scale", ["1/1000", "1/200"])
def test_sums_of_tiny_noise(scale: str):
    assert DiscreteLaplace(scale=scale).sum_error_quantile("1e-9", cells=10) == 0


# ---------------------------------------------------------------- all cells of a histogram


def all_within(variance: float, cells: int, radius: float) -> float:
    masses = gaussian_masses(variance, 400)
    return (1 - above(masses, 1, math.floor(radius))) ** cells


def test_histogram_radius_holds_and_the_printed_one_does_not():
    """T = 1000, beta = 0.05, rho = 1/100: the radius without the factor 2 nearly always fails."""
    cells, beta, rho = 1000, 0.05, 0.01
    histogram = NoisyHistogram.calibrate(
        cells=cells, loss=Zcdp(rho="0.01"), metric=Metric.CHANGE_ONE
    )
    assert histogram.noise == DiscreteGaussian(sigma_squared=100)
    radius = float(histogram.radius("0.05"))
    assert 1 - all_within(1 / rho, cells, radius) <= beta
    assert 1 - all_within(1 / rho, cells, radius - 1) > beta, "and it is the smallest"
    corrected = math.sqrt(2 * math.log(cells / beta) / rho)
    printed = math.sqrt(math.log(cells / beta) / rho)
    assert radius <= corrected
    assert 1 - all_within(1 / rho, cells, corrected) <= beta
    assert 1 - all_within(1 / rho, cells, printed) > 0.75


def test_histogram_radius_by_simulation(rng):
    histogram = NoisyHistogram(noise=DiscreteLaplace(scale=2), cells=50)
    radius = int(histogram.radius("0.2"))
    counts = np.zeros((4000, 50), dtype=np.int64)
    failures = int((abs(histogram.noise.release(counts, rng)).max(axis=1) > radius).sum())
    level = alpha("mechanisms/histogram radius")
    q = math.exp(-0.5)
    truth = 1 - (1 - 2 * q ** (radius + 1) / (1 + q)) ** 50
    assert truth <= 0.2
    assert binomial_p_value(failures, 4000, truth) > level


# ---------------------------------------------------------------- the largest of many errors


def printed_tail(shape: int, x: float) -> float:
    """The tail bound of the source, with its base turned upside down."""
    return (shape / x) ** shape * math.exp(shape - x)


def corrected_tail(shape: int, x: float) -> float:
    return (x / shape) ** shape * math.exp(shape - x)


@pytest.mark.parametrize("shape", [1, 2, 5, 20, 200, MOST_EXACT_SHAPE])
@pytest.mark.parametrize("ratio", ["1/2", "1", "3/2", "3"])
def test_gamma_tail_is_exact(shape: int, ratio: str):
    x = shape * Fraction(ratio)
    truth = stats.gamma.sf(float(x), shape)
    assert float(gamma_tail(shape, x)) == pytest.approx(truth, rel=1e-8, abs=1e-60)
    assert gamma_tail(shape, x) >= Fraction(truth) * Fraction(999_999, 1_000_000)


def test_printed_gamma_bound_is_broken_and_the_corrected_one_holds():
    for shape in (2, 5, 20):
        x = 2.0 * shape
        truth = stats.gamma.sf(x, shape)
        assert printed_tail(shape, x) < truth < corrected_tail(shape, x)
    assert float(gamma_tail(5, Fraction(10))) == pytest.approx(0.0293, abs=5e-5)
    assert printed_tail(5, 10.0) == pytest.approx(2.1e-4, rel=0.02)
    assert corrected_tail(5, 10.0) == pytest.approx(0.216, abs=5e-4)


def test_gamma_bound_beyond_the_exact_shapes():
    shape = MOST_EXACT_SHAPE + 1
    for ratio in ("21/20", "11/10", "2"):
        x = shape * Fraction(ratio)
        assert float(gamma_tail(shape, x)) >= stats.gamma.sf(float(x), shape)
    assert gamma_tail(shape, Fraction(shape)) == 1


def test_sample_sizes_for_one_way_marginals():
    """The size 2 GammaInvSF(0.05; d) / 0.1: 314, 2340 and 21052 for d = 10, 100 and 1000."""
    for dimension, size in ((10, 314), (100, 2340), (1000, 21052)):
        bound = LinfExponential(scale=10**6, dimension=dimension).error_quantile("0.05")
        assert float(bound) / 10**6 * 20 == pytest.approx(size, abs=0.6)


@pytest.mark.parametrize(("scale", "dimension"), [("0.3", 1), (2, 3), (10, 400), (50, 10**6)])
def test_the_largest_error_is_the_smallest_that_the_tail_allows(scale, dimension, monkeypatch):
    """A guess only says where to look: the bound holds for it and for no smaller one."""
    noise = LinfExponential(scale=scale, dimension=dimension)
    seen = []

    def counted(shape, x):
        seen.append(x)
        return gamma_tail(shape, x)

    monkeypatch.setattr("discreet.mechanisms.noise.linf_exponential.gamma_tail", counted)
    factor = math.exp(1 / noise.scale)
    for beta in ("0.999999", "0.4", "0.05", "1e-30", "1e-200"):
        seen.clear()
        found = int(noise.error_quantile(beta))
        assert len(seen) < 40
        tails = [
            factor * float(gamma_tail(dimension, (t + Fraction(1, 2)) / noise.scale))
            for t in (found, found - 1)
        ]
        assert tails[0] <= float(beta) * (1 + 1e-9)
        assert found == 0 or tails[1] >= float(beta) * (1 - 1e-9)
