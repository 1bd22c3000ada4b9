"""Exponential sums: exact arithmetic, and comparisons that are decided even at equality."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.audit.exponential_sum import (
    ExponentialSum,
    as_sum,
    exp,
    exp_bounds_relative,
    total,
)
from discreet.core.rounding import dyadic_down, dyadic_up

small = st.fractions(min_value=-3, max_value=3, max_denominator=12)
sums = st.dictionaries(small, small, max_size=4).map(ExponentialSum)


def near(value: ExponentialSum) -> float:
    return sum(float(factor) * math.exp(exponent) for exponent, factor in value.terms.items())


@given(sums, sums, sums)
def test_it_is_a_ring(a, b, c):
    assert a + b == b + a
    assert a * b == b * a
    assert a * (b + c) == a * b + a * c
    assert a - a == 0
    assert total([a, b, c]) == a + b + c


@given(sums)
def test_bounds_enclose_and_are_narrow(a):
    low, high = a.bounds(64)
    assert low <= high
    assert (high - low) * 2**64 <= max(abs(low), abs(high))
    assert float(low) == pytest.approx(near(a), abs=1e-9)
    assert a.sign() == (low > 0) - (high < 0)


@given(sums)
def test_rough_bounds_hold_the_fine_ones(a):
    fine_low, fine_high = a.bounds(200)
    for bits in (1, 8):
        low, high = a.bounds(bits)
        assert low <= fine_low <= fine_high <= high


@given(st.dictionaries(small, small, min_size=1, max_size=4).map(ExponentialSum))
def test_every_step_of_the_search_is_an_enclosure(a):
    if a.terms:
        fine_low, fine_high = a._scaled_bounds(300)
        for bits in (2, 5, 20):
            low, high = a._scaled_bounds(bits)
            assert low <= fine_low <= fine_high <= high


@given(sums, sums)
def test_order_agrees_with_floats_where_floats_can_tell(a, b):
    if abs(near(a) - near(b)) > 1e-9:
        assert (a < b) == (near(a) < near(b))
        assert (a >= b) == (near(a) >= near(b))


def test_equality_is_decided_where_no_interval_could():
    assert exp("1/3") * exp("2/3") == exp(1)
    assert exp(1) * exp(-1) == 1
    assert not exp("1/3") * exp("2/3") > exp(1)
    assert exp(1) * exp(-1) >= 1


def test_close_numbers_are_told_apart():
    tiny = Fraction(1, 10**60)
    assert exp(1) + tiny > exp(1)
    assert (exp(tiny) - 1).sign() == 1
    assert exp(-1000) > 0
    assert exp(300) * tiny - exp(300) < 0


def test_it_mixes_with_fractions_only():
    assert 1 + exp(0) == 2
    assert 2 - exp(0) == 1
    assert 3 * as_sum(2) == 6
    assert exp(0) != "1"
    assert repr(as_sum(0)) == "0"
    assert len({exp(0), as_sum(1)}) == 1


@given(st.fractions(min_value=-200, max_value=200, max_denominator=9))
def test_relative_bounds(exponent):
    low, high = exp_bounds_relative(exponent, 40)
    assert 0 < low <= high
    assert (high - low) * 2**40 <= high
    assert float(low) == pytest.approx(math.exp(exponent))


@given(st.fractions(), st.integers(min_value=2, max_value=80))
def test_dyadic_rounding_is_directed_and_close(value, bits):
    down, up = dyadic_down(value, bits), dyadic_up(value, bits)
    assert down <= value <= up
    assert (up - down) * 2 ** (bits - 2) <= abs(value)
    assert down.denominator & (down.denominator - 1) == 0
