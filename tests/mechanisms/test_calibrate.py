"""Calibration: exactly the target where it is rational, else never above and hardly below it."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.accounting.accountants.approximate import truncated_delta
from discreet.accounting.accountants.discrete_gaussian import delta
from discreet.core.contribution import Contribution, Metric
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.loss import Approximate, Pure, Zcdp
from discreet.mechanisms.noise.discrete_gaussian import SIGMA_SQUARED_BITS, DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.noise.linf_exponential import LinfExponential
from discreet.mechanisms.noise.noisy_histogram import NoisyHistogram, histogram_contribution
from discreet.mechanisms.noise.truncated_geometric import TruncatedGeometric
from discreet.mechanisms.noise.uniform_smoothing import UniformSmoothing
from discreet.mechanisms.response.approximate_response import ApproximateResponse
from discreet.mechanisms.response.categorical_response import CategoricalResponse
from discreet.mechanisms.response.sign_of_gaussian import SignOfGaussian
from discreet.mechanisms.response.two_coin_response import TRUTH_STEP, TwoCoinResponse

EPSILONS = st.fractions(min_value="1/50", max_value=8, max_denominator=1000)
DISTANCES = st.fractions(min_value="1/10", max_value=1000, max_denominator=100)


@given(epsilon=EPSILONS, distance=DISTANCES)
def test_rational_losses_are_met_exactly(epsilon: Fraction, distance: Fraction):
    loss, d_in = Pure(epsilon), Contribution(l0=1, linf=distance)
    assert DiscreteLaplace.calibrate(d_in=d_in, loss=loss).loss(d_in) == loss
    assert LinfExponential.calibrate(d_in=d_in, loss=loss, dimension=3).loss(d_in) == loss
    assert CategoricalResponse.calibrate(loss=loss, categories=5).loss() == loss
    rho = Zcdp(rho=epsilon)
    assert DiscreteGaussian.calibrate(d_in=d_in, loss=rho).loss(d_in) == rho
    assert SignOfGaussian.calibrate(loss=rho).loss() == rho
    both = Approximate(epsilon, "1e-6")
    assert ApproximateResponse.calibrate(loss=both).loss() == both


@pytest.mark.parametrize("metric", list(Metric))
@pytest.mark.parametrize("loss", [Pure("2/3"), Zcdp(rho="1/50")])
def test_histograms_are_met_exactly(metric: Metric, loss):
    histogram = NoisyHistogram.calibrate(cells=9, loss=loss, metric=metric)
    assert histogram.loss(histogram_contribution(metric)) == loss


def test_histogram_scales_of_the_source():
    """Records that change cell: Laplace 2/ε, Gaussian variance 1/ρ."""
    pure = NoisyHistogram.calibrate(cells=4, loss=Pure("1/4"), metric=Metric.CHANGE_ONE)
    zcdp = NoisyHistogram.calibrate(cells=4, loss=Zcdp(rho="1/4"), metric=Metric.CHANGE_ONE)
    assert pure.noise == DiscreteLaplace(scale=8)
    assert zcdp.noise == DiscreteGaussian(sigma_squared=4)


@given(epsilon=EPSILONS)
def test_two_coins_never_overspend(epsilon: Fraction):
    response = TwoCoinResponse.calibrate(loss=Pure(epsilon))
    assert response.loss().epsilon <= epsilon
    assert TwoCoinResponse(truth=response.truth + TRUTH_STEP).loss().epsilon > epsilon


def before(sigma_squared: Fraction) -> Fraction:
    """The next smaller number with as many significant bits."""
    scale = Fraction(1)
    while sigma_squared / scale >= 2**SIGMA_SQUARED_BITS:
        scale *= 2
    while sigma_squared / scale < 2 ** (SIGMA_SQUARED_BITS - 1):
        scale /= 2
    assert (sigma_squared / scale).denominator == 1
    return sigma_squared - scale


@settings(max_examples=20)
@given(
    epsilon=EPSILONS,
    exponent=st.integers(2, 12),
    d_in=st.sampled_from(
        [
            Contribution(l0=1, linf=1),
            Contribution(l0=1, linf=7),
            Contribution(l0=3, linf=1),
            Contribution(l2_squared=1000),
        ]
    ),
)
def test_gaussian_never_overspends(epsilon: Fraction, exponent: int, d_in: Contribution):
    target = Approximate(epsilon, Fraction(1, 10**exponent))
    noise = DiscreteGaussian.calibrate(d_in=d_in, loss=target)
    assert noise.approximate_loss(d_in, epsilon=epsilon) <= target
    closer = DiscreteGaussian(sigma_squared=before(noise.sigma_squared))
    assert delta(closer.event(d_in), epsilon)[1] > target.delta


@given(epsilon=EPSILONS, exponent=st.integers(1, 15), largest=st.integers(1, 5))
def test_truncated_geometric_never_overspends(epsilon: Fraction, exponent: int, largest: int):
    d_in = Contribution(l0=2, linf=largest)
    target = Approximate(epsilon, Fraction(1, 10**exponent))
    noise = TruncatedGeometric.calibrate(d_in=d_in, loss=target)
    assert noise.loss(d_in) <= target
    assert noise.loss(d_in).epsilon == epsilon
    if noise.bound > largest + 1:
        low, _ = truncated_delta(noise.scale, noise.bound - 1, largest)
        assert 2 * low > target.delta


def test_truncated_geometric_needs_less_than_the_source():
    """Two queries of scale 2/ε: ⌈(2/ε) ln(2/δ) + 1⌉ suffices, the printed one has ln(4/δ)."""
    for inverse, exponent in ((1, 6), (2, 9), (10, 5)):
        epsilon = Fraction(1, inverse)
        target = Approximate(epsilon, Fraction(1, 10**exponent))
        d_in = Contribution(l0=2, linf=1)
        exact = TruncatedGeometric.calibrate(d_in=d_in, loss=target)
        sufficient = 2 * inverse * (0.6931471806 + exponent * 2.302585093) + 1
        printed = 2 * inverse * (2 * 0.6931471806 + exponent * 2.302585093) + 1
        assert exact.scale == 2 * inverse
        assert exact.bound <= sufficient + 1 <= printed + 1
        enough = TruncatedGeometric(scale=exact.scale, bound=int(sufficient) + 1)
        assert enough.loss(d_in) <= target


@given(exponent=st.integers(1, 9), distance=st.integers(1, 50))
def test_uniform_smoothing_never_overspends(exponent: int, distance: int):
    d_in, target = Contribution(l1=distance), Approximate(0, Fraction(1, 10**exponent))
    noise = UniformSmoothing.calibrate(d_in=d_in, loss=target)
    assert noise.loss(d_in) <= target
    assert Fraction(distance, 2 * (noise.radius - 1) + 1) > target.delta


@pytest.mark.parametrize(
    "attempt",
    [
        lambda d: DiscreteLaplace.calibrate(d_in=d, loss=Pure(0)),
        lambda d: DiscreteGaussian.calibrate(d_in=d, loss=Zcdp(rho=0)),
        lambda d: DiscreteGaussian.calibrate(d_in=d, loss=Approximate(1, 0)),
        lambda d: LinfExponential.calibrate(d_in=d, loss=Pure(0), dimension=2),
        lambda d: TruncatedGeometric.calibrate(d_in=d, loss=Approximate(1, 0)),
        lambda d: TruncatedGeometric.calibrate(d_in=d, loss=Approximate(0, "0.1")),
        lambda d: UniformSmoothing.calibrate(d_in=d, loss=Approximate(0, 0)),
        lambda d: SignOfGaussian.calibrate(loss=Zcdp(rho=0)),
        lambda d: TwoCoinResponse.calibrate(loss=Pure(0)),
        lambda d: CategoricalResponse.calibrate(loss=Pure(0)),
    ],
)
def test_no_noise_fits_a_loss_of_zero(attempt):
    with pytest.raises(InvalidArgument):
        attempt(Contribution(l0=1, linf=1))


@pytest.mark.parametrize(
    "attempt",
    [
        lambda d: DiscreteLaplace.calibrate(d_in=d, loss=Pure(1)),
        lambda d: DiscreteGaussian.calibrate(d_in=d, loss=Zcdp(rho=1)),
        lambda d: DiscreteGaussian.calibrate(d_in=d, loss=Approximate(1, "1e-6")),
        lambda d: LinfExponential.calibrate(d_in=d, loss=Pure(1), dimension=2),
        lambda d: TruncatedGeometric.calibrate(d_in=d, loss=Approximate(1, "1e-6")),
    ],
)
def test_no_noise_fits_what_moves_nothing(attempt):
    with pytest.raises(InvalidArgument):
        attempt(Contribution(l1=0))


def test_gaussian_refuses_other_measures():
    with pytest.raises(Unsupported):
        DiscreteGaussian.calibrate(d_in=Contribution(l1=1), loss=Pure(1))  # type: ignore[arg-type]
    with pytest.raises(Unsupported):
        DiscreteLaplace(scale=1).loss(Contribution(linf=1))
