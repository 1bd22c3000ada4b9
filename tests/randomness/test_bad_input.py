"""What is out of range is refused before a word is drawn; an empty size is an empty answer."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from discreet.core.errors import InvalidArgument
from discreet.randomness.gamma_integer import gamma_integer
from discreet.randomness.samplers import (
    bernoulli,
    bernoulli_exp,
    bernoulli_exp_each,
    clamped_discrete_laplace,
    discrete_gaussian,
    discrete_laplace,
    geometric,
    uniform_integers,
)
from tests.randomness.scripted_rng import SilentRng

BY_SCALE = {
    "discrete_laplace": discrete_laplace,
    "geometric": geometric,
    "discrete_gaussian": discrete_gaussian,
    "clamped_discrete_laplace": lambda scale, size, rng: clamped_discrete_laplace(
        scale, 5, size, rng
    ),
    "gamma_integer": lambda scale, size, rng: gamma_integer(3, scale, size, rng),
}
BY_OTHER = {
    "bernoulli": bernoulli,
    "bernoulli_exp": bernoulli_exp,
    "uniform_integers": uniform_integers,
}
NOT_NUMBERS = [math.nan, math.inf, -math.inf, Decimal("NaN"), "two", "", None, True, [1], 1j]


@pytest.mark.parametrize("sampler", [*BY_SCALE.values(), *BY_OTHER.values()])
@pytest.mark.parametrize("value", [*NOT_NUMBERS, -1, Fraction(-1, 2)], ids=repr)
def test_bad_parameters(sampler, value):
    with pytest.raises(InvalidArgument):
        sampler(value, 3, SilentRng())


@pytest.mark.parametrize("name", BY_SCALE)
@pytest.mark.parametrize("beyond", [0, 1e-30, 1e31])
def test_scales_out_of_range(name, beyond):
    with pytest.raises(InvalidArgument, match="out of range"):
        BY_SCALE[name](beyond, 3, SilentRng())


@pytest.mark.parametrize(
    ("sampler", "value"),
    [
        (bernoulli, "1.0000001"),
        (uniform_integers, 0),
        (uniform_integers, 2**63 + 1),
        (uniform_integers, 1.5),
        (discrete_laplace, Fraction(999, 10**6)),
        (discrete_laplace, 2**50 + 1),
        (discrete_gaussian, Fraction(999, 10**9)),
        (discrete_gaussian, 2**100 + 1),
    ],
)
def test_just_out_of_range(sampler, value):
    with pytest.raises(InvalidArgument):
        sampler(value, 3, SilentRng())


@pytest.mark.parametrize("bound", [-1, 2**62 + 1, 0.5, math.nan])
def test_bad_bounds(bound):
    with pytest.raises(InvalidArgument):
        clamped_discrete_laplace(1, bound, 3, SilentRng())


@pytest.mark.parametrize("shape", [0, -1, 10**6 + 1, 1.5, math.inf])
def test_bad_shapes(shape):
    with pytest.raises(InvalidArgument):
        gamma_integer(shape, 1, 3, SilentRng())


@pytest.mark.parametrize(("shape", "scale"), [(1025, 2**50), (10**6, 2**41), (3, 2**50 + 1)])
def test_gamma_beyond_64_bits(shape, scale):
    with pytest.raises(InvalidArgument, match="out of range"):
        gamma_integer(shape, scale, 3, SilentRng())


@pytest.mark.parametrize(("shape", "scale"), [(1024, 2**50), (10**6, 2**40)])
def test_gamma_of_the_largest_mean(shape, scale, rng):
    """Nobody sees a deviation of 20 %: it is six deviations of a thousand terms, or 200."""
    values = gamma_integer(shape, scale, 3, rng)
    assert all(0.8 * shape * scale < value < 1.2 * shape * scale for value in values.tolist())


@pytest.mark.parametrize("sampler", [*BY_SCALE.values(), *BY_OTHER.values()])
@pytest.mark.parametrize(
    "size", [-1, 1.5, "3", None, True, (2, -1), (2, 1.0), [3], (2**30, 2**30), (0, 2**62)]
)
def test_bad_sizes(sampler, size):
    with pytest.raises(InvalidArgument):
        sampler(1, size, SilentRng())


@pytest.mark.parametrize("sampler", [*BY_SCALE.values(), *BY_OTHER.values()])
@pytest.mark.parametrize("size", [0, (0,), (3, 0), (0, 2**40)])
def test_empty_answers(sampler, size, rng):
    values = sampler(1, size, rng)
    assert values.size == 0
    assert values.shape == (size if isinstance(size, tuple) else (size,))


@pytest.mark.parametrize("sampler", [*BY_SCALE.values(), *BY_OTHER.values()])
@pytest.mark.parametrize("size", [(), 1, (2, 3), np.int64(4), (np.int32(2), 2)])
def test_sizes(sampler, size, rng):
    expected = size if isinstance(size, tuple) else (size,)
    assert sampler(1, size, rng).shape == expected


@pytest.mark.parametrize(
    "distances", [np.array([-1]), np.array([1.0]), np.array([1], dtype=np.int32), np.array([True])]
)
def test_bad_distances(distances):
    with pytest.raises(InvalidArgument):
        bernoulli_exp_each(distances, 1, SilentRng())


def test_errors_quote_no_distance():
    with pytest.raises(InvalidArgument) as caught:
        bernoulli_exp_each(np.array([5, -123_457]), 1, SilentRng())
    assert "123" not in str(caught.value)


@pytest.mark.parametrize("scale", [Fraction(1, 1000), 2**50])
@pytest.mark.parametrize("name", BY_SCALE)
def test_ends_of_the_range(name, scale, rng):
    values = BY_SCALE[name](scale, 1000, rng)
    assert int(np.abs(values).max()) <= 100 * scale


def test_a_float_means_the_decimal_that_was_typed(rng):
    assert discrete_laplace(0.1, 5, rng).shape == (5,)
