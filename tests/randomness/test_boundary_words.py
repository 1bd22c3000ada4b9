"""Words on a boundary never come by chance: here a script brings them, and arithmetic judges."""

from fractions import Fraction

import numpy as np
import pytest

from discreet.randomness.argmax import gumbel_argmax
from discreet.randomness.gamma_integer import _settle_carry, gamma_integer
from discreet.randomness.samplers import (
    bernoulli,
    bernoulli_exp,
    bernoulli_exp_each,
    uniform_integers,
)
from discreet.randomness.tables import draw as draw_module
from discreet.randomness.tables.blocks import block_table
from discreet.randomness.tables.boundary import is_below, locate
from discreet.randomness.tables.decay import Decay
from discreet.randomness.tables.draw import draw, draw_beyond, under_weight
from discreet.randomness.tables.law import NoiseLaw
from tests.randomness.high_precision import (
    binary_digits,
    decimal_of,
    exp_minus,
    next_word,
    share_of,
    shares,
    wedge_share,
)
from tests.randomness.judge import first_word
from tests.randomness.scripted_rng import ScriptedRng

LAPLACE = NoiseLaw(Fraction(0), Fraction(2, 7))
GAUSSIAN = NoiseLaw(Fraction(1, 98), Fraction(0))
WIDE = NoiseLaw(Fraction(0), Fraction(1, 1000))
WIDER = NoiseLaw(Fraction(0), Fraction(1, 10**12))
ROUND = NoiseLaw(Fraction(1, 2 * 10**12), Fraction(0))
WIDEST = NoiseLaw(Fraction(0), Fraction(1, 2**50))
ROUNDEST = NoiseLaw(Fraction(1, 2**101), Fraction(0))


def continuations(share, known=64):
    """Digits that follow those of ``share``, and whether ``U`` is then below it."""
    second, third = next_word(share, known), next_word(share, known + 64)
    yield [second - 1], True
    yield [second + 1], False
    yield [second, third - 1], True
    yield [second, third + 1], False


LAWS = [LAPLACE, GAUSSIAN, WIDE, WIDER, ROUND, WIDEST, ROUNDEST]


@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize("piece", [0, 1, 2, 7, 20])
def test_piece_on_a_threshold(law, piece):
    table = block_table(law)
    blocks = table.blocks
    offset = blocks.width * 2 // 3 | 1 if blocks.width > 1 else 0
    share = shares(blocks)[piece]
    word = binary_digits(share, 64)
    for more, is_lower in continuations(share):
        start = first_word(blocks, word >> 48, offset)
        rng = ScriptedRng([start, (word & (2**48 - 1)) << 16, *more])
        (value,) = draw(law, 1, rng).tolist()
        assert value == table.bases[piece if is_lower else piece + 1] + offset
        assert not rng.script


@pytest.mark.parametrize(
    ("law", "block", "steps"),
    [
        (WIDE, 0, 3),
        (WIDE, 3, 1),
        (WIDER, 5, 10**6),
        (ROUND, 41, 77),
        (WIDEST, 2175, 2**43 + 1),
        (ROUNDEST, 747, 2**43 + 1),
    ],
)
def test_wedge_on_its_edge(law, block, steps):
    blocks = block_table(law).blocks
    near = blocks.near(block)
    share = wedge_share(law.rise(near, steps), law.rise(near, blocks.width - 1))
    value = (near + steps) * (-1) ** (block % 2)
    for more, is_lower in continuations(share):
        rng = ScriptedRng([binary_digits(share, 64), *more])
        kept = under_weight(blocks, np.array([block]), np.array([value]), rng)
        assert kept.tolist() == [not is_lower]
        assert not rng.script


@pytest.mark.parametrize("off", [2**12, 2**30, 2**55])
@pytest.mark.parametrize(
    ("law", "block", "steps"),
    [(WIDE, 2, 3), (ROUND, 100, 4000), (WIDEST, 2174, 2**43 + 5), (ROUNDEST, 746, 2**43 + 3)],
)
def test_wedge_beside_its_edge(law, block, steps, off):
    blocks = block_table(law).blocks
    near = blocks.near(block)
    share = wedge_share(law.rise(near, steps), law.rise(near, blocks.width - 1))
    edge, values = binary_digits(share, 64), np.array([near + steps] * 2)
    rng = ScriptedRng([edge - off, edge + off])
    assert under_weight(blocks, np.array([block] * 2), values, rng).tolist() == [False, True]


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_far_values_come_from_the_tail(law, monkeypatch, rng):
    """What the tail rejects is drawn anew from anywhere, so here the tail is asked until it keeps.

    A Gaussian's rejects one proposal in fifty.
    """

    def beyond(*asked):
        while (distance := draw_beyond(*asked)) is None:
            pass
        return distance

    monkeypatch.setattr(draw_module, "draw_beyond", beyond)
    blocks = block_table(law).blocks
    signs = set()
    for word in (2**64 - 1, 2**64 - 2**30):
        values = draw(law, 1, ScriptedRng([first_word(blocks, 2**16 - 1, 0), word], then=rng))
        signs.add(bool(values[0] > 0))
        assert abs(int(values[0])) >= blocks.per_side * blocks.width
    assert False in signs


@pytest.mark.parametrize("distance", [2**62, 2**62 + 1, 2**70])
def test_values_that_do_not_fit_are_moved_to_the_end(distance, monkeypatch, rng):
    monkeypatch.setattr(draw_module, "draw_beyond", lambda *_: distance)
    (value,) = draw(LAPLACE, 1, ScriptedRng([2**16 - 1, 2**64 - 1], then=rng)).tolist()
    assert value == -(2**62)


@pytest.mark.parametrize("p", [Fraction(1, 3), Fraction(2, 7), Fraction(10**20, 10**21 + 7)])
def test_coin_of_rational_probability(p):
    share = decimal_of(p)
    for more, is_lower in continuations(share):
        rng = ScriptedRng([binary_digits(share, 64), *more])
        assert bernoulli(p, 1, rng).tolist() == [is_lower]
        assert not rng.script


def test_coins_at_the_ends_of_the_words():
    ends = [0, 1, 2**63 - 1, 2**63, 2**64 - 2, 2**64 - 1]
    assert bernoulli(0, 6, ScriptedRng(ends)).tolist() == [False] * 6
    assert bernoulli(1, 6, ScriptedRng(ends)).tolist() == [True] * 6
    assert bernoulli("1/2", 6, ScriptedRng(ends)).tolist() == [True] * 3 + [False] * 3
    assert bernoulli_exp(0, 6, ScriptedRng(ends)).tolist() == [True] * 6
    tiny = Fraction(1, 2**64)
    assert bernoulli(tiny, 6, ScriptedRng(ends)).tolist() == [True] + [False] * 5


@pytest.mark.parametrize("x", [Fraction(1, 10**9), Fraction(1, 3), Fraction(1), Fraction(40)])
def test_coin_of_a_power_of_e(x):
    share = exp_minus(x)
    for more, is_lower in continuations(share):
        rng = ScriptedRng([binary_digits(share, 64), *more])
        assert bernoulli_exp(x, 1, rng).tolist() == [is_lower]
        assert not rng.script


@pytest.mark.parametrize("off", [-(2**17), -1, 0, 1, 2**17])
@pytest.mark.parametrize("distance", [1, 300, 70_000, 2**24])
def test_each_coin_near_its_limit(distance, off):
    """Inside the tolerance of the floats every answer is settled, off the boundary too."""
    share = exp_minus(Fraction(distance, 10**6))
    for more, is_lower in continuations(share):
        script = [binary_digits(share, 64) + off, *(more if off == 0 else [])]
        rng = ScriptedRng(script)
        coins = bernoulli_exp_each(np.array([distance]), 10**6, rng)
        assert coins.tolist() == [is_lower if off == 0 else off < 0]
        assert not rng.script


def test_coin_that_is_almost_never_true(rng):
    """e**-1000 has 1443 zeros first: the answer must not come before 23 words."""
    assert bernoulli_exp(1000, 1, ScriptedRng([0, 1])).tolist() == [False]
    assert bernoulli_exp(1000, 1, ScriptedRng([0] * 40)).tolist() == [True]
    assert bernoulli_exp_each(np.array([1000]), 1, ScriptedRng([0] * 40)).tolist() == [True]
    with pytest.raises(AssertionError, match="short"):
        bernoulli_exp(1000, 1, ScriptedRng([0] * 22))


@pytest.mark.parametrize("piece", [0, 1, 2])
def test_choice_on_a_boundary(piece):
    scores = np.array([3, 0, 7, 5])
    weights = [exp_minus(Fraction(7 - s, 4)) for s in scores.tolist()]
    share = share_of(weights[: piece + 1], weights)
    for more, is_lower in continuations(share):
        rng = ScriptedRng([binary_digits(share, 64), *more])
        assert gumbel_argmax(scores, 4, rng) == (piece if is_lower else piece + 1)
        assert not rng.script


@pytest.mark.parametrize("slip", [1 - 2.0**-49, 1 + 2.0**-49])
@pytest.mark.parametrize("off", [-(2**18), -(2**8), 2**8, 2**18])
@pytest.mark.parametrize("piece", [0, 1, 2])
def test_choice_is_right_however_the_floats_err_within_their_bound(piece, off, slip, monkeypatch):
    scores = np.array([3, 0, 7, 5])
    weights = [exp_minus(Fraction(7 - s, 4)) for s in scores.tolist()]
    share = share_of(weights[: piece + 1], weights)
    true = Decay.weights
    slips = np.array([slip] * (piece + 1) + [1 / slip] * (3 - piece))
    monkeypatch.setattr(Decay, "weights", lambda self, gaps: true(self, gaps) * slips)
    rng = ScriptedRng([binary_digits(share, 64) + off])
    assert gumbel_argmax(scores, 4, rng) == (piece if off < 0 else piece + 1)


def test_loose_enclosures_are_refined_and_not_believed():
    """The first enclosure of 1/2 leaves the first word open, on either side."""
    half = Fraction(1, 2)

    def bounds(bits):
        slack = Fraction(1, 8) if bits <= 128 else Fraction(1, 2**bits)
        return half - slack, half + slack

    def totals(bits):
        slack = 1 << bits - 3 if bits <= 192 else 1
        whole = 1 << bits
        return [(whole // 2 - slack, whole // 2 + slack), (whole - 1, whole + 1)]

    for word, is_lower in [(0x7000, True), (0x9000, False)]:
        rng = ScriptedRng([5])
        assert is_below(word << 48, bounds, rng) == is_lower
        assert not rng.script
        rng = ScriptedRng([5])
        assert locate(word << 48, totals, rng) == (0 if is_lower else 1)
        assert not rng.script


def test_uniform_throws_away_the_last_words():
    upper = 3 * 2**61
    rng = ScriptedRng([2 * upper - 1, 2 * upper, 2**64 - 1, 5])
    assert uniform_integers(upper, 2, rng).tolist() == [upper - 1, 5]
    assert not rng.script


@pytest.mark.parametrize(("second", "carry"), [(0, 1), (2**32 - 1, 2)])
def test_gamma_draws_more_digits_when_the_carry_is_open(second, carry, monkeypatch, rng):
    """Digits that sum to 2 * 2**32 - 1 leave the carry of three fractions open."""
    calls = []

    def digits(law, size, rng):
        calls.append(law)
        return np.full(size, second)

    monkeypatch.setattr("discreet.randomness.gamma_integer.draw", digits)
    assert _settle_carry(3, Fraction(7, 2), 2 * 2**32 - 1, rng) == carry
    assert [law.linear for law in calls] == [Fraction(2, 7) / 2**64]


def test_gamma_asks_for_the_carry_only_where_it_is_open(monkeypatch, rng):
    rows = np.array([[2**32 - 1, 0, 0], [2**32 - 3, 0, 0], [2**32 - 2, 0, 0], [2**31] * 3])
    monkeypatch.setattr("discreet.randomness.gamma_integer.draw", lambda *_: rows)
    monkeypatch.setattr("discreet.randomness.gamma_integer.geometric", lambda *_: 0 * rows)
    monkeypatch.setattr("discreet.randomness.gamma_integer._settle_carry", lambda *_: 77)
    assert gamma_integer(3, 1, 4, rng).tolist() == [77, 0, 77, 1]


def test_gamma_that_does_not_fit_is_moved_to_the_end(monkeypatch, rng):
    rows = [
        [2**62, 2**62, 2**62],
        [2**61, 2**61, 2**61],
        [2**62, 0, 0],
        [2**62 - 9, 0, 0],
        [2**61, 0, 5],
    ]
    far = np.array(rows)
    monkeypatch.setattr("discreet.randomness.gamma_integer.geometric", lambda *_: far)
    monkeypatch.setattr("discreet.randomness.gamma_integer.draw", lambda *_: 0 * far + 2**31)
    values = gamma_integer(3, 1, 5, rng).tolist()
    assert values == [2**62, 2**62, 2**62, 2**62 - 8, 2**61 + 6]


@pytest.mark.parametrize("extra", [-1, 0, 1, 2**31])
@pytest.mark.parametrize("wholes", [1 << 62, 3 << 62, 1 << 63, 1 << 64, (1 << 64) + (1 << 61)])
def test_gamma_sums_of_a_million_do_not_wrap_around(wholes, extra, monkeypatch, rng):
    """The sum is exact or 2**62, also where 64 bits would bring it back into the range."""
    each, rest = divmod(wholes + extra, 1000)
    row = np.array([[each + rest, *[each] * 999]])
    monkeypatch.setattr("discreet.randomness.gamma_integer.geometric", lambda *_: row)
    monkeypatch.setattr("discreet.randomness.gamma_integer.draw", lambda *_: 0 * row)
    assert gamma_integer(1000, 1, 1, rng).tolist() == [min(wholes + extra, 2**62)]
