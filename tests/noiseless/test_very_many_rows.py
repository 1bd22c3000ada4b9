"""Sums of very many rows: where a line of integration ends, and blocks of wide binomial laws."""

import math
from fractions import Fraction
from itertools import pairwise

import mpmath
import pytest
from scipy.stats import binom

from discreet.noiseless.laws.hidden import Hidden
from discreet.noiseless.sums import binomial_weights
from discreet.noiseless.sums.binomial_weights import binomial_blocks
from discreet.noiseless.sums.mixture import mixture_delta
from discreet.noiseless.sums.shift_divergence import shift_delta
from discreet.noiseless.sums.uniform_sums import UniformSum, contour_for


@pytest.mark.parametrize(("count", "points"), [(64, 2), (80, 3), (100, 11), (90, 101)])
@pytest.mark.parametrize("share", [0.06, 0.2, 0.35, 0.5])
def test_a_line_on_a_grid_encloses_what_is_counted_exactly(count, points, share):
    y = int(share * count * (points - 1))
    sign = [(-1) ** k * math.comb(count, k) for k in range(y // points + 1)]
    ways = sum(one * math.comb(y - points * k + count - 1, count - 1) for k, one in enumerate(sign))
    below = sum(one * math.comb(y - points * k + count, count) for k, one in enumerate(sign))
    law = UniformSum(count, points)
    found = contour_for(law, Fraction(y)).at(Fraction(y))
    whole = points**count
    assert found.density.low <= Fraction(ways, whole) <= found.density.high
    assert found.below.low <= Fraction(below, whole) <= found.below.high
    assert found.below.width < 1e-20


def test_a_line_of_a_million_million_rounded_rows_is_short_and_true():
    count, points = 10**12, 101
    law = UniformSum(count, points)
    y = Fraction(law.largest // 2 - 3 * int(law.deviation))
    line = contour_for(law, y)
    assert len(line.terms) < 2_000
    with mpmath.workdps(60):
        # Of so many rows the law is normal, but for terms of the order of one in a million million.
        z = (mpmath.mpf(int(y)) + 0.5 - mpmath.mpf(law.largest) / 2) / mpmath.sqrt(
            mpmath.mpf(count) * (points**2 - 1) / 12
        )
        assert abs(mpmath.ncdf(z) / mpmath.mpf(float(line.at(y).below.high)) - 1) < 1e-9


def test_the_ratio_of_moments_falls_up_to_the_edge_and_is_bounded_beyond():
    for points, tilt in ((2, 0.01), (7, 0.3), (101, 0.001), (101, 0.08)):
        steps = [(k + 1) * math.pi / 800 for k in range(800)]
        ratios = []
        for t in steps:
            terms = [math.e ** (complex(-tilt, t) * x) for x in range(points)]
            ratios.append(abs(sum(terms)) / sum(math.exp(-tilt * x) for x in range(points)))
        edge = math.pi / (points - 1)
        near = [one for t, one in zip(steps, ratios, strict=True) if t <= edge]
        assert all(a >= b - 1e-12 for a, b in pairwise(near))
        coth = 1 / math.tanh(points * tilt / 2)
        for t, one in zip(steps, ratios, strict=True):
            low = math.sinh(tilt / 2) ** 2
            assert one**2 <= coth**2 * low / (low + math.sin(t / 2) ** 2) + 1e-12


@pytest.mark.parametrize("chance", ["0.001", "0.3", "0.97"])
def test_blocks_of_a_wide_law_are_never_above_it(chance, monkeypatch):
    trials, share = 10**7, Fraction(chance)
    monkeypatch.setattr(binomial_weights, "_WIDE", 0)
    blocks = binomial_blocks.__wrapped__(trials, share, 48)
    assert sum(one.chance for one in blocks) == 1
    assert all(one.chance >= 0 for one in blocks)
    firsts = [one.first for one in blocks]
    assert firsts == sorted(set(firsts))
    before = Fraction(0)
    for one, after in pairwise(blocks):
        before += one.chance
        assert float(before) >= binom.cdf(after.first - 1, trials, float(share)) * (1 - 1e-9)


def test_a_wide_mixture_is_above_the_listed_one_and_near_it(monkeypatch):
    half, epsilon, share = Fraction(1, 2), Fraction("0.004"), Fraction("0.3")
    hidden = Hidden(share, (None,), (half,))

    def delta_of(count):
        return shift_delta(UniformSum(count), half, epsilon)

    wide = mixture_delta(3 * 10**7, hidden, delta_of)
    monkeypatch.setattr(binomial_weights, "_WIDE", 10**30)
    binomial_blocks.cache_clear()
    listed = mixture_delta(3 * 10**7, hidden, delta_of)
    binomial_blocks.cache_clear()
    assert 0 < listed <= wide <= listed * Fraction(21, 20)
