"""Directed rounding rounds the way it says, and stays close."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from discreet.core.numbers import exp_bounds
from discreet.core.rounding import (
    exp_down,
    exp_up,
    log_down,
    log_up,
    short_down,
    short_up,
    sqrt_down,
    sqrt_up,
)

CLOSE = Fraction(1, 2**80)
numbers = st.fractions(min_value=-(10**40), max_value=10**40)
positive = st.fractions(min_value=Fraction(1, 10**60), max_value=10**40)


@given(numbers, st.integers(2, 100))
def test_short_numbers(value, bits):
    low, high = short_down(value, bits), short_up(value, bits)
    assert low <= value <= high
    assert high - low <= abs(value) * Fraction(8, 2**bits)


@given(st.fractions(min_value=-300, max_value=300, max_denominator=1000))
def test_exponentials_agree_with_the_slow_way(x):
    low, high = exp_down(x), exp_up(x)
    slow = exp_bounds(x, 600)
    assert low <= slow[1]
    assert slow[0] <= high
    assert high - low <= high * CLOSE


def test_exponentials_far_out():
    assert exp_down(Fraction(-(10**9))) == 0
    assert 0 < exp_up(Fraction(-(10**9))) == exp_up(Fraction(-100_000))
    product = exp_up(Fraction(-5000)) * exp_up(Fraction(5000))
    assert 1 <= product <= 1 + CLOSE


@given(positive)
def test_roots_and_logarithms(x):
    assert sqrt_down(x) ** 2 <= x <= sqrt_up(x) ** 2
    assert sqrt_up(x) - sqrt_down(x) <= sqrt_up(x) * CLOSE
    assert log_down(x) <= log_up(x) <= log_down(x) + CLOSE
    assert exp_down(log_down(x)) <= x <= exp_up(log_up(x))
