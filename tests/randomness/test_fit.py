"""Every integer sampler has the law that it claims; a wrong scale or a doubled zero is caught."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from discreet.core.protocols import IntArray
from discreet.randomness.gamma_integer import gamma_integer
from discreet.randomness.samplers import (
    clamped_discrete_laplace,
    discrete_gaussian,
    discrete_laplace,
    geometric,
    uniform_integers,
)
from tests.randomness import oracles
from tests.randomness.fit import Reference, double_zero, fit_p_value, zero_again
from tests.randomness.references import (
    SCALES,
    WRONG,
    ClampedLaplace,
    Gamma,
    Gaussian,
    Geometric,
    Laplace,
)
from tests.randomness.scripted_rng import FastNumberedRng
from tests.support.statistics.exact_tests import alpha, binomial_p_value, cells_p_value, dkw_p_value

N = 100_000
N_ORACLE = 10_000
ZERO_IS_RARE = Fraction(10**6)

SAMPLERS: dict[str, tuple[Callable[..., IntArray], Callable[[Fraction], Reference]]] = {
    "discrete_laplace": (discrete_laplace, Laplace),
    "geometric": (geometric, Geometric),
    "discrete_gaussian": (
        lambda scale, size, rng: discrete_gaussian(scale**2, size, rng),
        lambda scale: Gaussian(scale**2),
    ),
    "clamped_discrete_laplace": (
        lambda scale, size, rng: clamped_discrete_laplace(scale, int(2 * scale) + 1, size, rng),
        lambda scale: ClampedLaplace(scale, int(2 * scale) + 1),
    ),
    "gamma_integer": (
        lambda scale, size, rng: gamma_integer(3, scale, size, rng),
        lambda scale: Gamma(3, scale),
    ),
}
ORACLES = {
    "discrete_laplace": oracles.discrete_laplace,
    "geometric": oracles.geometric,
    "discrete_gaussian": lambda scale, bits: oracles.discrete_gaussian(scale**2, bits),
    "gamma_integer": lambda scale, bits: oracles.gamma(3, scale, bits),
}
CASES = len(SAMPLERS) * len(SCALES)


@pytest.mark.parametrize("scale", SCALES, ids=str)
@pytest.mark.parametrize("name", SAMPLERS)
def test_fits_and_would_notice(name, scale, rng):
    sample_of, law_of = SAMPLERS[name]
    sample, share = sample_of(scale, N, rng), alpha("randomness/fit", parts=CASES)
    assert sample.dtype == np.int64
    assert fit_p_value(sample, law_of(scale)) > share
    for factor in WRONG:
        assert fit_p_value(sample, _stretched(law_of, scale, factor)) < share
    if scale != ZERO_IS_RARE and name != "gamma_integer":
        zero = law_of(scale).pmf(0)
        assert fit_p_value(double_zero(sample, zero, rng), law_of(scale)) < share


def _stretched(law_of, scale, factor):
    law = law_of(scale * factor)
    return ClampedLaplace(law.scale, int(2 * scale) + 1) if hasattr(law, "bound") else law


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("discrete_laplace", 400),
        ("discrete_gaussian", 500),
        ("geometric", 200),
    ],
)
def test_zero_is_not_doubled_where_it_is_rare(name, size, soak, pytestconfig):
    """At a scale of 50,000, and with ``--soak`` of a million; ``size`` is in units of the scale."""
    sample_of, law_of = SAMPLERS[name]
    rng = FastNumberedRng(pytestconfig.getoption("--run-number"), name)
    scale = ZERO_IS_RARE if soak.active else ZERO_IS_RARE / 20
    size = int(size * scale)
    zero = law_of(scale).pmf(0)
    zeros = doubled = 0
    chunk = 1_000_000
    for _ in range(size // chunk):
        is_zero = sample_of(scale, chunk, rng) == 0
        zeros += int(np.count_nonzero(is_zero))
        doubled += int(np.count_nonzero(is_zero | zero_again(chunk, zero, rng)))
    share = alpha("randomness/zero at a million", parts=3)
    assert binomial_p_value(zeros, size, zero) > share
    assert binomial_p_value(doubled, size, zero) < share


@pytest.mark.parametrize("scale", SCALES, ids=str)
@pytest.mark.parametrize("name", ORACLES)
def test_oracle_agrees(name, scale, rng):
    """A second way to the same law, so that a slip in the closed formulas cannot hide."""
    bits = oracles.Bits(rng)
    size = N_ORACLE // 10 if name == "gamma_integer" else N_ORACLE
    sample = np.array([ORACLES[name](scale, bits) for _ in range(size)])
    share = alpha("randomness/oracle", parts=len(ORACLES) * len(SCALES))
    assert fit_p_value(sample, SAMPLERS[name][1](scale)) > share


@pytest.mark.parametrize("shape", [1, 2, 40, 3000])
def test_gamma_of_any_shape(shape, rng):
    sample = gamma_integer(shape, "7/2", 4_000_000 // (shape + 100), rng)
    share = alpha("gamma_integer/shape", parts=4)
    assert dkw_p_value(sample, Gamma(shape, Fraction(7, 2)).cdf) > share
    assert dkw_p_value(sample, Gamma(shape, Fraction(77, 20)).cdf) < share
    assert dkw_p_value(sample, Gamma(shape, Fraction(63, 20)).cdf) < share


def test_gamma_of_shape_one_is_geometric(rng):
    share = alpha("gamma_integer/one")
    assert fit_p_value(gamma_integer(1, 5, N, rng), Geometric(Fraction(5))) > share


def test_clamped_is_the_clamped_sample(pytestconfig):
    number = pytestconfig.getoption("--run-number")
    ours = clamped_discrete_laplace(10**6, 10**6, 1000, FastNumberedRng(number, "clamp"))
    free = discrete_laplace(10**6, 1000, FastNumberedRng(number, "clamp"))
    assert (ours == np.clip(free, -(10**6), 10**6)).all()
    assert (ours != free).any()


@pytest.mark.parametrize("upper", [1, 2, 3, 10, 2**32 + 1, 3 * 2**61, 2**63 - 1, 2**63])
def test_uniform_integers(upper, rng):
    sample = uniform_integers(upper, N, rng)
    share = alpha("uniform_integers/fit", parts=8)
    assert sample.min() >= 0
    assert int(sample.max()) < upper
    assert dkw_p_value(sample, lambda z: Fraction(min(max(z + 1, 0), upper), upper)) > share
    if upper <= 10:
        assert cells_p_value(sample, {z: Fraction(1, upper) for z in range(upper)}) > share
    if upper > 1:
        wrong = max(upper + 1, upper * 11 // 10)
        assert dkw_p_value(sample, lambda z: Fraction(max(z + 1, 0), wrong)) < share
