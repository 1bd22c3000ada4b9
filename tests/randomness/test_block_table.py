"""The tables hold what they claim, by arithmetic that shares nothing with them."""

from decimal import localcontext
from fractions import Fraction
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from discreet.core.errors import InvalidArgument
from discreet.randomness.gamma_integer import _digit_law
from discreet.randomness.tables.blocks import (
    OPEN,
    Blocks,
    _guide,
    block_table,
    cut,
    running_totals,
    table_of,
)
from discreet.randomness.tables.draw import fill
from discreet.randomness.tables.law import NoiseLaw
from tests.randomness.fit import fit_p_value
from tests.randomness.high_precision import DIGITS, binary_digits, pieces, shares
from tests.randomness.references import LARGEST, SCALES, Gaussian, Geometric, Laplace
from tests.support.statistics.exact_tests import alpha

EXTREMES = [Fraction(1, 1000), Fraction(128), Fraction(10**12), LARGEST]


def laplace(scale: Fraction) -> NoiseLaw:
    return NoiseLaw(Fraction(0), 1 / scale)


def geometric(scale: Fraction) -> NoiseLaw:
    return NoiseLaw(Fraction(0), 1 / scale, two_sided=False)


def gaussian(scale: Fraction) -> NoiseLaw:
    return NoiseLaw(1 / (2 * scale**2), Fraction(0))


LAWS = [make(scale) for scale in SCALES + EXTREMES for make in (laplace, geometric, gaussian)]
LAWS += [_digit_law(scale, place) for scale in SCALES + EXTREMES for place in (1, 2)]


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_thresholds_bracket_the_true_shares(law):
    table = block_table(law)
    true = [binary_digits(share, 64) for share in shares(table.blocks)]
    found = table.thresholds.tolist()
    assert len(found) == len(true)
    assert all(exact - t in (0, 1) for t, exact in zip(found, true, strict=True))


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_blocks_cover_the_support_once(law):
    table = block_table(law)
    blocks, bases = table.blocks, np.sort(table.bases)
    assert (np.diff(bases) == blocks.width).all()
    assert bases[0] == (-blocks.per_side * blocks.width if law.two_sided else 0)
    assert bases[-1] == (blocks.per_side - 1) * blocks.width
    assert blocks.width & (blocks.width - 1) == 0
    if law.length is not None:
        assert blocks.per_side * blocks.width <= law.length


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_guide_agrees_with_the_thresholds(law):
    """Where 16 digits decide, they decide as the first and the last word of their interval do."""
    table = block_table(law)
    decided = np.flatnonzero(table.guide != OPEN)
    first = decided.astype(np.uint64) << np.uint64(48)
    last = first + np.uint64(2**48 - 1)
    for words in (first, last):
        piece = np.searchsorted(table.thresholds, words, side="right")
        assert (table.bases[piece] == table.guide[decided]).all()
    for doubtful in (0, 1):
        words = table.thresholds[table.thresholds < 2**64 - 1] + np.uint64(doubtful)
        assert (table.guide[words >> np.uint64(48)] == OPEN).all()


@pytest.mark.parametrize("bits", [40, 64, 161])
@pytest.mark.parametrize(
    "law", [gaussian(Fraction(7, 2)), laplace(Fraction(100)), laplace(Fraction(1000)), LAWS[-1]]
)
def test_running_totals_are_enclosed_at_any_precision(law, bits):
    """With few bits a single rounding the wrong way would show."""
    blocks = cut(law)
    with localcontext(prec=DIGITS):
        true = [total * (1 << bits) for total in accumulate(pieces(blocks))]
        found = running_totals(blocks, bits)
        assert all(low <= t <= high for (low, high), t in zip(found, true, strict=True))


def test_guide_opens_the_next_interval_too():
    """If ``t`` is the last word of an interval, the doubtful ``t + 1`` is the first of the next."""
    thresholds = np.array([(5 << 48) - 1, 9 << 48], dtype=np.uint64)
    guide = _guide(thresholds, np.array([10, 20, 30]))
    assert np.flatnonzero(guide == OPEN).tolist() == [4, 5, 9]
    assert guide[[0, 3, 6, 8, 10, 65_535]].tolist() == [10, 10, 20, 20, 30, 30]


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(1), Fraction(7, 2)], ids=str)
def test_table_of_the_laplace_law_has_its_closed_form(scale):
    table = block_table(laplace(scale))
    parts = np.diff(np.array([0, *table.thresholds.tolist()], dtype=object))
    law = Laplace(scale)
    for value, part in zip(table.bases.tolist(), parts.tolist(), strict=False):
        assert part == pytest.approx(law.pmf(value) * 2**64, rel=1e-12, abs=4)


@given(st.fractions(Fraction(1, 1000), LARGEST, max_denominator=10**6), st.booleans())
@example(LARGEST, False)
@example(LARGEST, True)
def test_any_scale_is_cut_so_that_wedges_are_flat(scale, is_gaussian):
    """The nested series of the wedges is proved for rises up to 1/4."""
    blocks = cut(gaussian(scale) if is_gaussian else laplace(scale))
    last = blocks.per_side * blocks.sides - 1
    assert blocks.law.rise(blocks.near(last), blocks.width - 1) <= Fraction(1, 4)
    assert blocks.width <= 2**44
    assert blocks.per_side * blocks.width < 2**55


@pytest.mark.parametrize(("width", "per_side"), [(2**49, 1), (2**48, 2**14), (2**40, 2**22)])
def test_tables_that_64_bits_do_not_hold_are_refused(width, per_side):
    with pytest.raises(InvalidArgument, match="too wide"):
        table_of(Blocks(laplace(Fraction(2**56)), width, per_side))


CUTS = [
    (laplace(Fraction(20)), Laplace(Fraction(20)), 4, 1),
    (laplace(Fraction(20)), Laplace(Fraction(20)), 1, 2),
    (laplace(Fraction(300)), Laplace(Fraction(300)), 64, 5),
    (geometric(Fraction(20)), Geometric(Fraction(20)), 4, 3),
    (gaussian(Fraction(20)), Gaussian(Fraction(400)), 4, 3),
    (gaussian(Fraction(20)), Gaussian(Fraction(400)), 1, 10),
    (gaussian(Fraction(2)), Gaussian(Fraction(4)), 1, 1),
]


@pytest.mark.parametrize(("law", "reference", "width", "per_side"), CUTS)
def test_any_cut_gives_the_same_law(law, reference, width, per_side, rng):
    """Few and wide blocks: here wedges, rejections and tails, elsewhere rare, are everyday."""
    table = table_of(Blocks(law, width, per_side))
    sample = np.empty(8_000, dtype=np.int64)
    fill(table, sample, rng)
    reach = per_side * width
    assert np.count_nonzero(np.abs(sample) > reach) > 100
    share = alpha("randomness/any cut", parts=len(CUTS))
    assert fit_p_value(sample, reference) > share


def test_a_finite_law_stays_inside(rng):
    law = NoiseLaw(Fraction(0), Fraction(1, 20), two_sided=False, length=32)
    for width, per_side in [(1, 32), (4, 8), (4, 2)]:
        sample = np.empty(6_000, dtype=np.int64)
        fill(table_of(Blocks(law, width, per_side)), sample, rng)
        assert sample.min() >= 0
        assert sample.max() == 31
        share = alpha("randomness/finite law", parts=3)
        assert fit_p_value(sample, _Finite()) > share


class _Finite:
    """The geometric law of scale 20, given that it is below 32."""

    free = Geometric(Fraction(20))

    def pmf(self, z: int) -> float:
        return self.free.pmf(z) / self.free.cdf(31)

    def cdf(self, z: int) -> float:
        return self.free.cdf(min(z, 31)) / self.free.cdf(31)
