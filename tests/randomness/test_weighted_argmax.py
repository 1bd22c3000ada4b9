"""The choice among candidates that count several times has its law, also on a boundary."""

from decimal import localcontext
from fractions import Fraction

import numpy as np
import pytest

from discreet.core.errors import InvalidArgument
from discreet.randomness.argmax import gumbel_argmax, weighted_argmax
from discreet.randomness.tables.decay import Decay
from tests.randomness.high_precision import DIGITS, binary_digits, exp_minus, next_word, share_of
from tests.randomness.scripted_rng import ScriptedRng, SilentRng
from tests.support.statistics.exact_tests import alpha, cells_p_value

SCORES, COUNTS = [3, 9, 0, 7, 5], [2, 0, 10**6, 1, 3]
TEMPERATURE = 4
with localcontext(prec=DIGITS):
    WEIGHTS = [
        count * exp_minus(Fraction(max(0, 7 - score), TEMPERATURE))
        for score, count in zip(SCORES, COUNTS, strict=True)
    ]


def chosen(rng, temperature=TEMPERATURE) -> int:
    return weighted_argmax(np.array(SCORES), np.array(COUNTS), temperature, rng)


def test_sample_fits_and_would_notice(rng):
    scores, counts = np.array([0, 8, 8, 4]), np.array([40, 1, 0, 6])
    sample = np.array([weighted_argmax(scores, counts, 2, rng) for _ in range(20_000)])
    share = alpha("weighted_argmax/fit")

    def p_value(temperature: float) -> float:
        weights = counts * np.exp(scores / temperature)
        return cells_p_value(sample, dict(enumerate((weights / weights.sum()).tolist())))

    assert p_value(2.0) > share
    assert p_value(1.8) < share
    assert p_value(2.2) < share


@pytest.mark.parametrize("piece", [0, 2, 3])
def test_boundary_is_settled(piece: int):
    share = share_of(WEIGHTS[: piece + 1], WEIGHTS)
    after = piece + 1 if piece else 2  # candidate 1 is not there
    second = next_word(share, 64)
    for more, found in ((second - 1, piece), (second + 1, after)):
        rng = ScriptedRng([binary_digits(share, 64), more])
        assert chosen(rng) == found
        assert not rng.script


@pytest.mark.parametrize("slip", [1 - 2.0**-49, 1 + 2.0**-49])
@pytest.mark.parametrize("off", [-(2**18), -(2**8), 2**8, 2**18])
def test_right_however_the_floats_err_within_their_bound(off: int, slip: float, monkeypatch):
    share = share_of(WEIGHTS[:1], WEIGHTS)
    true = Decay.weights
    slips = np.array([slip] + [1 / slip] * 4)
    monkeypatch.setattr(Decay, "weights", lambda self, gaps: true(self, gaps) * slips)
    rng = ScriptedRng([binary_digits(share, 64) + off])
    assert chosen(rng) == (0 if off < 0 else 2)


@pytest.mark.parametrize("size", [1, 5, 16_384, 40_000])
def test_counts_are_the_list_written_out(size: int, rng):
    scores = rng.words(size).astype(np.int64) % 50
    counts = rng.words(size).astype(np.int64) % 4
    counts[0] = 1
    places = np.repeat(np.arange(size), counts)
    for word in rng.words(20).tolist():
        written = gumbel_argmax(scores[places], 10, ScriptedRng([word]))
        assert weighted_argmax(scores, counts, 10, ScriptedRng([word])) == places[written]


def test_extremes(rng):
    low, high = -(2**63), 2**63 - 1
    for scores, counts, expected in (
        ([low, high], [2**62, 1], 1),
        ([high, low], [0, 1], 1),
        ([0, -43], [1, 2**62], None),
    ):
        found = weighted_argmax(np.array(scores), np.array(counts), 1, rng)
        assert expected is None or found == expected


def test_words_do_not_depend_on_scores():
    for scores in ([0] * 50, [0, *[-(2**63)] * 49], list(range(50))):
        rng = ScriptedRng([2**62 + 7, 1, 2])
        weighted_argmax(np.array(scores), np.arange(1, 51), 3, rng)
        assert len(rng.script) == 2


@pytest.mark.parametrize(
    ("scores", "counts", "temperature"),
    [
        ([], [], 1),
        ([1], [0], 1),
        ([1, 2], [1, -1], 1),
        ([1, 2], [1], 1),
        ([0.5], [1], 1),
        ([1], [0.5], 1),
        ([1], [1], 0),
    ],
)
def test_bad_input_is_refused(scores, counts, temperature):
    first, second = (np.array(x, dtype=None if x else np.int64) for x in (scores, counts))
    with pytest.raises(InvalidArgument):
        weighted_argmax(first, second, temperature, SilentRng())
