"""The floats that decide most comparisons are as close to the truth as their proofs say."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.randomness.blocks import cut
from discreet.randomness.decay import decay, digit_weights, enclose
from discreet.randomness.law import Law
from discreet.randomness.wedge import _one_minus_exp, _rise
from tests.randomness.high_precision import binary_digits, exp_minus
from tests.randomness.references import SCALES


def fraction(x: Decimal) -> Fraction:
    return Fraction(*x.as_integer_ratio())


@given(st.floats(2.0**-60, 0.25))
def test_one_minus_exp(t):
    true = 1 - fraction(exp_minus(Fraction(t)))
    found = Fraction(float(_one_minus_exp(np.array([t]))[0]))
    assert abs(found - true) <= true / 2**49


@given(st.fractions(200, 10**12), st.booleans(), st.integers(0, 300), st.data())
def test_rise(scale, is_gaussian, block, data):
    law = Law(1 / (2 * scale**2), Fraction(0)) if is_gaussian else Law(Fraction(0), 1 / scale)
    blocks = cut(law)
    near, steps = blocks.near(block), data.draw(st.integers(0, blocks.width - 1))
    found = Fraction(float(_rise(law, np.array([near]), np.array([steps]))[0]))
    assert abs(found - law.rise(near, steps)) <= law.rise(near, steps) / 2**50


@given(st.integers(0, 2**64 - 1), st.sampled_from([*SCALES, Fraction(10**12), Fraction(1, 1000)]))
def test_decay(exponent, scale):
    assert_decay_is_close(exponent, scale)


@given(st.integers(0, 3000), st.sampled_from(SCALES))
def test_decay_of_near_candidates(exponent, scale):
    assert_decay_is_close(exponent, scale)


def assert_decay_is_close(exponent: int, scale: Fraction) -> None:
    found = Fraction(float(decay(scale).weights(np.array([exponent], dtype=np.uint64))[0]))
    true = fraction(exp_minus(min(exponent / scale, Fraction(10**5))))
    assert abs(found - true) <= true / 2**48 + Fraction(1, 2**980)


@pytest.mark.parametrize("exponent", [0, 1, 255, 256, 65_536, 123_456_789])
def test_enclosures_of_decay(exponent):
    scale, bits = Fraction(10**7, 3), 200
    low, high = enclose(exponent, digit_weights(scale, bits), bits)
    true = binary_digits(exp_minus(exponent / scale), bits)
    assert low <= true <= high
    assert high - low < 2**20
