"""Coins in packed words: every digit string is judged, and lanes are as likely as is said."""

from fractions import Fraction

import numpy as np
import pytest

from discreet.core.errors import InvalidArgument
from discreet.randomness import packed_bernoulli as module
from discreet.randomness.packed_bernoulli import packed_bernoulli
from tests.randomness.scripted_rng import ScriptedRng, SilentRng
from tests.support.house.mutant import mutant
from tests.support.statistics.exact_tests import alpha, binomial_p_value, cells_p_value

LANES = 64
DIGITS = 6


def every_lane() -> list[int]:
    """Words whose lane i has the six digits of i, the most significant in the first word."""
    return [
        sum((lane >> (DIGITS - 1 - digit) & 1) << lane for lane in range(LANES))
        for digit in range(DIGITS)
    ]


def lanes_below(threshold: int) -> int:
    return sum(1 << lane for lane in range(threshold))


@pytest.mark.parametrize("first", [1, 2, 7])
def test_a_lane_is_true_if_its_uniform_number_is_below(first: int, monkeypatch):
    """Exactly: lane i is the number i/64, and all thresholds are tried."""
    monkeypatch.setattr(module, "_FIRST_DIGITS", first)
    for threshold in range(LANES + 1):
        rng = ScriptedRng(every_lane(), then=None)
        (word,) = packed_bernoulli(Fraction(threshold, LANES), 1, rng)
        assert int(word) == lanes_below(threshold), threshold


@pytest.mark.parametrize(
    "change",
    [
        ("coins |= lanes & ~drawn", "coins |= lanes & drawn"),
        ("            lanes &= drawn\n", "            lanes &= ~drawn\n"),
        ("coins[left] |= _settle", "coins[left] = _settle"),
    ],
    ids=["digits reversed", "wrong lanes go on", "what was settled is forgotten"],
)
def test_broken_twins_are_seen(change: tuple[str, str], monkeypatch):
    broken = mutant(module, change)
    monkeypatch.setattr(broken, "_FIRST_DIGITS", 1)
    found = []
    for threshold in range(LANES):
        rng = ScriptedRng(every_lane() * 2, then=None)
        (word,) = broken.packed_bernoulli(Fraction(threshold, LANES), 1, rng)
        found.append(int(word) == lanes_below(threshold))
    assert not all(found)


@pytest.mark.parametrize("p", [Fraction(1, 3), Fraction(1211291623481121, 2**52), "0.9999"])
def test_coins_are_as_likely_as_is_said(p, rng):
    """Over several chunks, where words drop out once their lanes are settled.

    Six million coins are 13 deviations from the wrong share; the check asks for 6.3 of them.
    """
    level = alpha("packed_bernoulli/share", parts=3)
    words = packed_bernoulli(p, 6 * module._CHUNK + 5, rng)
    heads = int(np.unpackbits(words.view(np.uint8)).sum())
    assert binomial_p_value(heads, LANES * words.size, Fraction(p)) > level
    wrong = Fraction(p) - Fraction(1, 400)
    assert binomial_p_value(heads, LANES * words.size, wrong) < level


def test_lanes_are_independent(rng):
    """The pairs of neighbouring lanes have the product law, in one word and across words."""
    level = alpha("packed_bernoulli/pairs")
    p = Fraction(1, 3)
    bits = np.unpackbits(packed_bernoulli(p, 4000, rng).view(np.uint8)).astype(np.int64)
    pairs = (2 * bits[0::2] + bits[1::2]).tolist()
    law = {0: (1 - p) ** 2, 1: (1 - p) * p, 2: p * (1 - p), 3: p**2}
    assert cells_p_value(pairs, law) > level
    assert cells_p_value((bits[0::2] * 3).tolist(), law) < level


def test_sure_coins_draw_nothing():
    assert not packed_bernoulli(0, 3, SilentRng()).any()
    assert packed_bernoulli(1, 0, SilentRng()).size == 0


@pytest.mark.parametrize(("p", "words"), [("-0.1", 1), ("1.1", 1), ("0.5", -1)])
def test_bad_parameters_are_refused(p, words, rng):
    with pytest.raises(InvalidArgument):
        packed_bernoulli(p, words, rng)
