"""The floats that decide most comparisons are as close to the truth as their proofs say."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.randomness.tables.blocks import cut
from discreet.randomness.tables.decay import decay, digit_weights, enclose
from discreet.randomness.tables.draw import _one_minus_exp, _rise, under_weight
from discreet.randomness.tables.law import NoiseLaw
from tests.randomness.high_precision import binary_digits, exp_minus, wedge_share
from tests.randomness.references import LARGEST, SCALES, WIDTHS
from tests.randomness.scripted_rng import ScriptedRng


def fraction(x: Decimal) -> Fraction:
    return Fraction(*x.as_integer_ratio())


@given(st.floats(2.0**-60, 0.25))
def test_one_minus_exp(t):
    true = 1 - fraction(exp_minus(Fraction(t)))
    found = Fraction(float(_one_minus_exp(np.array([t]))[0]))
    assert abs(found - true) <= true / 2**49


def scales() -> st.SearchStrategy[Fraction]:
    """Fractions from 200 to the largest scale, and as many near that."""
    return st.fractions(200, LARGEST) | st.fractions(LARGEST * 3 / 4, LARGEST) | st.just(LARGEST)


@given(scales(), st.booleans(), st.data())
def test_rise(scale, is_gaussian, data):
    """Also where the integers are above 2**53 and are rounded when they become floats."""
    law = (
        NoiseLaw(1 / (2 * scale**2), Fraction(0))
        if is_gaussian
        else NoiseLaw(Fraction(0), 1 / scale)
    )
    blocks = cut(law)
    last = blocks.per_side * blocks.sides - 1
    near = blocks.near(data.draw(st.integers(0, last) | st.integers(last // 2, last)))
    steps = data.draw(st.integers(0, blocks.width - 1))
    found = Fraction(float(_rise(law, np.array([near]), np.array([steps]))[0]))
    assert abs(found - law.rise(near, steps)) <= 6 * law.rise(near, steps) / 2**53


@given(st.booleans(), st.data())
def test_wedges_are_decided_as_far_from_their_edge_as_floats_may_err(is_gaussian, data):
    """At the largest scale a point 2**-43 of the wedge from its edge is on the right side."""
    law = (
        NoiseLaw(1 / (2 * LARGEST**2), Fraction(0))
        if is_gaussian
        else NoiseLaw(Fraction(0), 1 / LARGEST)
    )
    blocks = cut(law)
    block = data.draw(st.integers(0, blocks.per_side * blocks.sides - 1))
    near, steps = blocks.near(block), data.draw(st.integers(2**38, blocks.width - 2**38))
    share = wedge_share(law.rise(near, steps), law.rise(near, blocks.width - 1))
    edge = binary_digits(share, 64)
    words = [edge - 2**21, edge + 2**21]
    kept = under_weight(
        blocks, np.array([block] * 2), np.array([near + steps] * 2), ScriptedRng(words)
    )
    assert kept.tolist() == [False, True]


def test_wedges_too_low_for_floats_are_settled():
    """The digits of a digit, 31 places down: every float of such a wedge is 0 or wrong."""
    law = NoiseLaw(Fraction(0), Fraction(1, 2**1070), two_sided=False, length=2**32)
    blocks = cut(law)
    edge, steps = (3 * 2**30 << 64) // (2**32 - 1), np.array([3 * 2**30])
    for word, is_kept in ((edge - 1, False), (edge + 1, True)):
        rng = ScriptedRng([word], then=ScriptedRng([5] * 40))
        assert under_weight(blocks, np.array([0]), steps, rng).tolist() == [is_kept]


@given(st.integers(0, 2**64 - 1), st.sampled_from([*SCALES, *WIDTHS]))
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
