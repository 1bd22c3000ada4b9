"""Exact numbers, and enclosures that must contain the truth."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.core.errors import InvalidArgument
from discreet.core.numbers import exact, exp_bounds, float_down, float_up, log_bounds, sqrt_bounds

fractions = st.fractions(min_value=-50, max_value=50, max_denominator=10**9)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.1, Fraction(1, 10)),
        ("0.1", Fraction(1, 10)),
        (Decimal("0.1"), Fraction(1, 10)),
        (np.float64(0.1), Fraction(1, 10)),
        (np.float32(0.1), Fraction(1, 10)),
        (np.int64(3), Fraction(3)),
        ("1/3", Fraction(1, 3)),
        (1e-12, Fraction(1, 10**12)),
        (-7, Fraction(-7)),
    ],
)
def test_a_float_means_the_decimal_that_was_typed(value, expected):
    assert exact(value) == expected


@pytest.mark.parametrize(
    "value",
    [
        math.nan,
        math.inf,
        -math.inf,
        np.float64("nan"),
        Decimal("NaN"),
        "1/0",
        "two",
        "",
        "1e999999999",
        "9" * 3000,
        "1e1_0_0_0_0_0_0",
        "1_000",
        "1e²",
        "١",
        "1/٣",
        "1e9999",
        Decimal("1e999999999"),
        True,
        None,
        [1],
        np.array([1.0, 2.0]),
    ],
)
def test_what_is_not_a_number_is_refused(value):
    with pytest.raises(InvalidArgument, match="not a number"):
        exact(value)


@given(st.fractions())
def test_directed_rounding_brackets(value):
    assert Fraction(float_down(value)) <= value <= Fraction(float_up(value))
    assert math.nextafter(float_up(value), -math.inf) <= float_down(value)


def test_directed_rounding_at_the_edges():
    huge = Fraction(10) ** 400
    assert float_up(huge) == math.inf
    assert float_down(huge) == math.nextafter(math.inf, 0)
    assert float_up(-huge) == -math.nextafter(math.inf, 0)
    assert float_up(1 / huge) > 0


def _partial_sum(x: Fraction, terms: int) -> Fraction:
    term = total = Fraction(1)
    for index in range(1, terms):
        term = term * x / index
        total += term
    return total


@given(st.fractions(min_value=0, max_value=4, max_denominator=1000))
def test_exp_lies_between_its_bounds(x):
    low, high = exp_bounds(x, bits=80)
    below = _partial_sum(x, 60)
    # For x <= 4 the terms after the sixtieth sum to less than twice the sixtieth.
    above = below + 2 * x**60 / math.factorial(60)
    assert low <= above
    assert below <= high
    assert high - low <= max(Fraction(1), low) / 2**80


@given(fractions, fractions)
def test_exp_is_multiplicative_within_its_bounds(x, y):
    low_x, high_x = exp_bounds(x, 90)
    low_y, high_y = exp_bounds(y, 90)
    low, high = exp_bounds(x + y, 90)
    assert low_x * low_y <= high
    assert low <= high_x * high_y


@given(st.fractions(min_value="1/1000000", max_value=10**6, max_denominator=10**6))
def test_log_undoes_exp(x):
    low, high = log_bounds(x, bits=70)
    assert high - low <= Fraction(1, 2**70)
    assert exp_bounds(low, 90)[0] <= x <= exp_bounds(high, 90)[1]


@given(st.fractions(min_value=0, max_value=10**12, max_denominator=10**6))
def test_square_root_bounds(x):
    low, high = sqrt_bounds(x, bits=60)
    assert low * low <= x <= high * high
    assert high - low <= Fraction(1, 2**60)


def test_exponents_far_out():
    assert exp_bounds(Fraction(-(10**9)), 64) == (Fraction(0), Fraction(1, 2**64))
    low, high = exp_bounds(Fraction(5000), 64)
    assert math.isclose(math.log(low.numerator) - math.log(low.denominator), 5000)
    assert (high - low) / low <= Fraction(1, 2**64)
    with pytest.raises(InvalidArgument, match="too large"):
        exp_bounds(Fraction(10**6))


@pytest.mark.parametrize("x", [Fraction(0), Fraction(-1)])
def test_log_needs_a_positive_number(x):
    with pytest.raises(InvalidArgument):
        log_bounds(x)
    if x < 0:
        with pytest.raises(InvalidArgument):
            sqrt_bounds(x)
