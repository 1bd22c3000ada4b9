"""From pure to Gaussian privacy, and from Gaussian to mean-concentrated: true, and no larger."""

import math
from fractions import Fraction
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accounting.conversions.convert import convert
from discreet.accounting.conversions.from_gaussian import gaussian_log_delta
from discreet.core.errors import Unsupported
from discreet.core.loss import GaussianDp, MeanConcentrated, Measure, Pure


def mu_of(epsilon) -> float:
    found = convert(Pure(epsilon), to="gaussian").loss
    assert isinstance(found, GaussianDp)
    return math.sqrt(float(found.mu_squared))


@given(st.fractions(Fraction(1, 1000), 30, max_denominator=1000))
def test_the_kink_lies_on_both_curves(epsilon):
    kink = 1 / (1 + math.exp(float(epsilon)))
    mu = mu_of(epsilon)
    assert mu == pytest.approx(-2 * NormalDist().inv_cdf(kink), rel=1e-9)


@pytest.mark.parametrize("epsilon", ["0.1", "1", "5", "40", "500"])
def test_the_gaussian_curve_is_above_that_of_the_response(epsilon: str):
    """At every ε' below ε the response loses less; with a hundredth less of μ it does not."""
    square = convert(Pure(epsilon), to=Measure.GAUSSIAN).loss
    assert isinstance(square, GaussianDp)
    e, total = float(Fraction(epsilon)), Fraction(epsilon)
    for share in (0, Fraction(1, 3), Fraction(9, 10)):
        log_delta = math.log(-math.expm1(float(share * total) - e)) - math.log1p(math.exp(-e))
        assert log_delta <= float(gaussian_log_delta(square.mu_squared, share * total)[1]) + 1e-12
    at_zero = math.log(math.tanh(e / 2)) if e < 30 else None
    if at_zero is not None:
        assert float(gaussian_log_delta(square.mu_squared * Fraction("0.99"), Fraction(0))[1]) < (
            at_zero
        )


def test_from_gaussian_to_mean_concentrated_goes_through_zcdp():
    found = convert(GaussianDp(mu_squared="1/4"), to="mean_concentrated").loss
    assert isinstance(found, MeanConcentrated)
    assert found.mu == Fraction(1, 8)
    assert float(found.tau_squared) == pytest.approx(4 * math.expm1(0.25), rel=1e-9)


def test_nothing_and_too_much():
    assert mu_of(0) == 0
    with pytest.raises(Unsupported):
        mu_of(1000)


@pytest.mark.parametrize("epsilon", ["1e-6", "9e-7", "1e-15", "1e-16", "1e-40", "1e-300"])
def test_tiny_losses_convert_too_and_tightly(epsilon: str):
    """Near 0 the square is ε² π/2, from above; where floats saw no kink, it was sought for ever."""
    square = convert(Pure(epsilon), to=Measure.GAUSSIAN).loss
    assert isinstance(square, GaussianDp)
    ratio = square.mu_squared / Fraction(epsilon) ** 2
    assert 1 - 1e-12 <= float(ratio) / (math.pi / 2) <= 1 + 1e-8
