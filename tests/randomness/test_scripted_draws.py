"""Each way that a draw can go, with odd offsets and every width, judged by exact arithmetic."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from discreet.randomness.gamma_integer import _digit_law
from discreet.randomness.tables import draw as draw_module
from discreet.randomness.tables.blocks import OPEN, Blocks, BlockTable, cut, table_of
from discreet.randomness.tables.draw import fill
from discreet.randomness.tables.law import NoiseLaw
from tests.randomness.high_precision import binary_digits, shares
from tests.randomness.judge import RecordingRng, first_word, judged
from tests.randomness.references import WIDTHS
from tests.randomness.scripted_rng import ScriptedRng
from tests.support.house.mutant import mutant

FEW = 64
"""Blocks a side: as far as one scale, so that tails are everyday."""

RECTANGLES = {"looked up", "settled"}
WEDGES = {"wedge kept", "wedge thrown"}
OLD_SUM = (
    ("np.add(part, offset, out=part)", 'np.add(part, offset, out=part, casting="unsafe")'),
    ("(words & np.uint64(width - 1)).view(np.int64)", "words & np.uint64(width - 1)"),
)


def laws() -> dict[str, NoiseLaw]:
    found = {}
    for scale in [Fraction(7, 2), *(scale for scale in WIDTHS if scale >= 1)]:
        found[f"laplace {scale}"] = NoiseLaw(Fraction(0), 1 / scale)
        found[f"gaussian {scale}"] = NoiseLaw(1 / (2 * scale**2), Fraction(0))
    found["geometric"] = NoiseLaw(Fraction(0), Fraction(1, 2**50), two_sided=False)
    found["digits"] = _digit_law(Fraction(2**50), 1)
    found["short digits"] = NoiseLaw(Fraction(0), Fraction(1, 2**24), two_sided=False, length=2**20)
    return found


LAWS = laws()


def few_blocks(law: NoiseLaw) -> Blocks:
    blocks = cut(law)
    return Blocks(law, blocks.width, min(FEW, -(-blocks.per_side // 4)))


def ways(blocks: Blocks) -> set[str]:
    expected = set(RECTANGLES)
    expected |= WEDGES if blocks.width > 1 else set()
    if blocks.has_tail:
        expected |= {"tail kept"}
        expected |= {"tail thrown"} if blocks.law.quadratic or blocks.law.length else set()
    return expected


def odd_offsets(width: int) -> list[int]:
    return sorted({1, width // 3 | 1, width // 2 + 1 | 1, width - 1}) if width > 1 else [0] * 8


def words_of_pieces(blocks: Blocks) -> list[int]:
    """Words just inside both ends and in the middle of pieces of every kind and side."""
    edges = [0, *(binary_digits(share, 64) for share in shares(blocks)), 2**64]
    count = blocks.per_side * blocks.sides
    pieces = {0, 1, count // 2, count - 1}
    if blocks.width > 1:
        pieces |= {count + piece for piece in pieces}
    pieces |= {len(edges) - 2, len(edges) - 3}
    found: list[int] = []
    for low, high in sorted(list(pairwise(edges))[piece] for piece in pieces - {len(edges) - 1}):
        found += [low + 3, (low + high) // 2, high - 3] if high - low > 6 else []
    return found


def scripts(blocks: Blocks) -> list[list[int]]:
    """For every piece and odd offset a first word, 48 digits more, and a high or low point."""
    found = []
    for i, word in enumerate(words_of_pieces(blocks)):
        for offset in odd_offsets(blocks.width):
            first = first_word(blocks, word >> 48, offset)
            found.append([first, (word << 16 | 0x5A5A) % 2**64, (2**64 - 2**50, 2**50 + 7)[i % 2]])
    return found


def drawn(table: BlockTable, script: list[int], rng, fill=fill) -> tuple[int, list[int]]:
    recording = RecordingRng(ScriptedRng(script, then=rng))
    value = np.empty(1, dtype=np.int64)
    fill(table, value, recording)
    return int(value[0]), recording.taken


@pytest.mark.parametrize("name", LAWS)
def test_every_way(name, rng):
    blocks = few_blocks(LAWS[name])
    table = table_of(blocks)
    open_prefixes = np.flatnonzero(table.guide == OPEN).tolist()
    seen: set[str] = set()
    for script in scripts(blocks):
        value, words = drawn(table, script, rng)
        judge = judged(blocks, open_prefixes, words)
        assert value == judge.value()
        assert not judge.has_words_left()
        seen |= set(judge.seen)
    assert seen == ways(blocks)


def mistakes(blocks: Blocks, fill, rng) -> int:
    """How many scripts another way to fill gets wrong: a wrong value or the wrong words."""
    table = table_of(blocks)
    open_prefixes = np.flatnonzero(table.guide == OPEN).tolist()
    wrong = 0
    for script in scripts(blocks):
        value, words = drawn(table, script, rng, fill)
        judge = judged(blocks, open_prefixes, words)
        try:
            wrong += value != judge.value() or judge.has_words_left()
        except (AssertionError, StopIteration):
            wrong += 1
    return wrong


@pytest.mark.parametrize("name", [f"laplace {scale}" for scale in (2**22, 2**23, 10**9, 2**50)])
def test_a_sum_in_floats_would_be_noticed(name, rng):
    blocks = few_blocks(LAWS[name])
    broken = mutant(draw_module, *OLD_SUM)
    assert (mistakes(blocks, broken.fill, rng) > 0) == (blocks.width > 2**16)
