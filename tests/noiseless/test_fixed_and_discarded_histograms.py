"""Histograms of a fixed number of rows, and rows that are thrown away to make it uncertain."""

import math
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from discreet.core.errors import InvalidArgument
from discreet.noiseless.certifiable import PrivacyTarget, Way
from discreet.noiseless.histograms.cell_enumeration import cell_sides, share_of_rows
from discreet.noiseless.histograms.random_discarding import RandomDiscarding
from discreet.noiseless.histograms.resampled_cells import (
    FixedHistogram,
    histograms,
    resampled_exactly,
    resampled_sides,
    share_deviation,
)
from discreet.noiseless.histograms.sized_histogram import SizedHistogram
from discreet.noiseless.histograms.spread_cells import spread_sides
from tests.support.statistics.exact_tests import alpha, binomial_p_value

THREE = (Fraction(1, 2), Fraction(3, 10), Fraction(1, 5))


def divergence(first, second, epsilon):
    growth = math.exp(epsilon)
    return float(sum(max(0, p - growth * second.get(t, 0)) for t, p in first.items()))


def fixed_laws(rows, shares, cell):
    """Return the histogram with the person in a cell, and the simulator's, by listing all rows."""
    released: dict[Any, Any] = {}
    simulated: dict[Any, Any] = {}
    for others in product(range(len(shares)), repeat=rows - 1):
        chance = math.prod((shares[one] for one in others), start=Fraction(1))
        counts = [others.count(one) for one in range(len(shares))]
        for added, times in [(cell, None), *((one, counts[one]) for one in range(len(shares)))]:
            seen = tuple(c + (one == added) for one, c in enumerate(counts))
            if times is None:
                released[seen] = released.get(seen, 0) + chance
            else:
                part = chance * Fraction(times, rows - 1)
                simulated[seen] = simulated.get(seen, 0) + part
    return released, simulated


def test_three_cells_of_two_hundred_rows():
    found = resampled_exactly(Fraction(1, 2), 200, THREE)
    for sides, delta in zip(found, (4e-8, 1.3e-5, 1.9e-4), strict=True):
        assert float(sides.worst) == pytest.approx(delta, rel=0.06)
        assert sides.worst <= resampled_sides(Fraction(1, 2), 200, Fraction(1, 5)).worst


@pytest.mark.parametrize("cell", [0, 1, 2])
@pytest.mark.parametrize("epsilon", [0, 0.4, 1.5])
def test_enumeration_of_histograms_is_enumeration_of_rows(cell, epsilon):
    released, simulated = fixed_laws(6, THREE, cell)
    sides = resampled_exactly(Fraction(str(epsilon)), 6, THREE)[cell]
    assert divergence(released, simulated, epsilon) == pytest.approx(float(sides.present))
    assert divergence(simulated, released, epsilon) == pytest.approx(float(sides.absent))


@pytest.mark.parametrize("shares", [THREE, (Fraction(1, 4), Fraction(3, 4)), (Fraction(1, 2),) * 2])
@pytest.mark.parametrize("rows", [12, 40])
def test_the_bound_is_above_enumeration(shares, rows):
    for epsilon in (Fraction(0), Fraction(1, 2), Fraction(1), Fraction(2)):
        bound = resampled_sides(epsilon, rows, min(shares))
        for sides in resampled_exactly(epsilon, rows, shares):
            assert sides.present <= bound.present
            assert sides.absent <= bound.absent


def test_the_simulator_that_leaves_one_row_out_is_seen_at_once():
    """The broken twin: with a fixed number of rows, one row too few is a certain difference."""
    released, _ = fixed_laws(6, THREE, 0)
    without = {(t[0] - 1, *t[1:]): chance for t, chance in released.items()}
    assert divergence(released, without, 5) == pytest.approx(1)


def test_shares_stray_less_the_larger_they_are():
    for side in ("present", "absent"):
        row = [
            getattr(share_deviation(Fraction(1, 4), 80, Fraction(s, 10)), side)
            for s in range(1, 10)
        ]
        assert row == sorted(row, reverse=True)
    law = [math.comb(80, m) * 0.1**m * 0.9 ** (80 - m) for m in range(81)]
    ahead = sum(p * max(0, m / 8 - math.exp(0.25)) for m, p in enumerate(law))
    assert float(share_deviation(Fraction(1, 4), 80, Fraction(1, 10)).present) == pytest.approx(
        ahead
    )


def test_fixed_histograms_name_their_limits():
    histogram = FixedHistogram(rows=4000, least_share="0.1")
    target = PrivacyTarget(Fraction(1), Fraction("1e-6"))
    points: dict[str, Any] = {
        point.what: point.limit for point in histogram.breaking_points(target)
    }
    rows, share = points["the number of rows"], points["the probability of the rarest cell"]
    assert resampled_sides(target.epsilon, int(rows), Fraction(1, 10)).worst <= target.delta
    assert resampled_sides(target.epsilon, int(rows) - 1, Fraction(1, 10)).worst > target.delta
    assert resampled_sides(target.epsilon, 4000, share).worst <= target.delta
    assert points["rows that the adversary knows"] == 4000 - rows
    assert points["the probability of the rarest cell"] < Fraction(1, 10)
    noise: Any = histogram.noise_instead(target)
    assert noise.scale == 2
    assert "counted twice" in histogram.simulator
    assert histogram.to_json()["law"]["least_share"] == "1/10"
    found = FixedHistogram(rows=40, shares=THREE).deltas(Fraction(1))
    assert found[Way.TIGHT] <= found[Way.MIXTURE]


def worst_beside_known(hidden, known, shares, epsilon):
    """Return the larger divergence if the simulator may count a known row twice, of any cell."""
    rows, worst = hidden + sum(known), 0.0
    unknown = {
        counts: math.factorial(hidden - 1)
        * math.prod(float(p) ** c / math.factorial(c) for c, p in zip(counts, shares, strict=True))
        for counts in histograms(hidden - 1, 3)
    }
    for cell in range(3):
        released: dict[Any, float] = {}
        simulated: dict[Any, float] = {}
        for counts, chance in unknown.items():
            for added in range(3):
                seen = tuple(c + (one == added) for one, c in enumerate(counts))
                twice = (counts[added] + known[added]) / (rows - 1)
                simulated[seen] = simulated.get(seen, 0.0) + chance * twice
                released[seen] = released.get(seen, 0.0) + chance * (added == cell)
        for one, other in ((released, simulated), (simulated, released)):
            worst = max(worst, divergence(one, other, epsilon))
    return worst


@pytest.mark.parametrize("known", [(8, 0, 0), (0, 8, 0), (3, 3, 2), (0, 0, 60)])
@pytest.mark.parametrize("shares", [THREE, (Fraction(1, 3),) * 3])
@pytest.mark.parametrize("epsilon", [1, 2.5])
def test_known_rows_that_count_twice_tell_no_more_than_is_certified(known, shares, epsilon):
    """The simulator cannot tell which rows are known."""
    histogram = FixedHistogram(rows=30 + sum(known), known=sum(known), least_share=min(shares))
    found = histogram.deltas(Fraction(epsilon))
    assert list(found) == [Way.MIXTURE]
    assert 0 < worst_beside_known(30, known, shares, epsilon) <= found[Way.MIXTURE]


def test_known_rows_are_not_rows_that_are_not_there():
    """The twin leaves known rows out: its enumeration is exceeded where they are in one cell."""
    twin = FixedHistogram(rows=30, shares=THREE).deltas(Fraction(1))[Way.TIGHT]
    found = FixedHistogram(rows=90, known=60, shares=THREE).deltas(Fraction(1))
    assert twin < worst_beside_known(30, (0, 60, 0), THREE, 1) <= found[Way.MIXTURE]
    assert list(found) == [Way.MIXTURE]


def test_who_knows_the_other_rows_knows_the_last():
    """The certificate is for rows that nobody knows: with all of them known, one count tells."""
    others = [0] * 50 + [1] * 30 + [2] * 20
    guesses = []
    for truth in range(3):
        counts = [others.count(cell) + (cell == truth) for cell in range(3)]
        guesses.append([c - others.count(cell) for cell, c in enumerate(counts)].index(1))
    assert guesses == [0, 1, 2]


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"shares": ["0.5", "0.6"]},
        {"shares": ["1"]},
        {"shares": ["1", "0"]},
        {"least_share": 0},
        {"least_share": 1},
        {"least_share": "0.51"},
        {"least_share": "0.1", "known": 100},
        {"least_share": "0.1", "shares": ["0.5", "0.5"]},
    ],
)
def test_laws_of_cells_that_cannot_be_are_refused(more):
    with pytest.raises(InvalidArgument):
        FixedHistogram(rows=100, **more)


def test_a_cell_that_is_too_rare_or_too_few_rows_hide_nothing():
    assert resampled_sides(Fraction(5), 3, Fraction(1, 2)).worst == 1
    assert resampled_sides(Fraction(5), 100, Fraction(1, 100)).worst == 1


# ---------------------------------------------------------------- discarding


def discarding_laws(discarding, share, k):
    """Return the truncated count of cell 0 and of the rest, by the definition of discarding."""
    n, q = discarding.rows, math.exp(-1 / float(discarding.scale))
    kept: dict[Any, Any] = {}
    for noise in range(-300, 301):
        size = max(0, n - max(0, noise + discarding.shift))
        kept[size] = kept.get(size, 0) + (1 - q) / (1 + q) * q ** abs(noise)
    released: dict[Any, Any] = {}
    simulated: dict[Any, Any] = {}

    def add(law, others, more, weight):
        for here in range(others + 1):
            chance = math.comb(others, here) * share**here * (1 - share) ** (others - here)
            seen = (here + more if here + more >= k else 0, others - here)
            law[seen] = law.get(seen, 0) + weight * chance

    for size, weight in kept.items():
        if size:
            add(released, size - 1, 1, weight * size / n)
        if size < n:
            add(released, size, 0, weight * (1 - size / n))
        add(simulated, min(size, n - 1), 0, weight)
    return released, simulated


@pytest.mark.parametrize("share", [0.05, 0.3, 0.6])
@pytest.mark.parametrize("k", [1, 4])
def test_discarding_by_its_definition_is_within_what_is_certified(share, k):
    discarding = RandomDiscarding(rows=40, scale=3, shift=9)
    released, simulated = discarding_laws(discarding, share, k)
    sides = cell_sides(Fraction(1, 2), k, discarding.sizes(), share_of_rows(Fraction(str(share))))
    assert divergence(released, simulated, 0.5) <= float(sides.present) + 1e-9
    assert divergence(simulated, released, 0.5) <= float(sides.absent) + 1e-9
    bound = spread_sides(Fraction(1, 2), k, discarding.sizes())
    assert sides.present <= bound.present
    assert sides.absent <= bound.absent


def test_discarding_makes_a_known_number_publishable():
    discarding = RandomDiscarding.calibrate(rows=10_000, epsilon="0.2", delta="1e-7")
    certified = SizedHistogram(truncation=80, sizes=discarding.sizes())
    assert float(certified.deltas(Fraction(1))[Way.MIXTURE]) < 1e-5
    lazy = SizedHistogram(truncation=80, sizes=RandomDiscarding(rows=900, scale=5, shift=0).sizes())
    assert float(lazy.deltas(Fraction(1))[Way.MIXTURE]) > 0.5


def test_discarded_rows_are_distinct_places_drawn_evenly(rng):
    discarding = RandomDiscarding(rows=20, scale=1, shift=5)
    share = alpha("noiseless/discarding", parts=2)
    tries, first, full = 3000, 0, 0
    for _ in range(tries):
        places = discarding.discarded(rng).tolist()
        assert places == sorted(set(places))
        assert all(0 <= place < 20 for place in places)
        first += 0 in places
        full += len(places) == 5
    # By symmetry place 0 goes as often as any; the shift is exactly met with (1-q)/(1+q).
    q = math.exp(-1)
    weights: dict[Any, Any] = {}
    for noise in range(-60, 61):
        count = min(20, max(0, noise + 5))
        weights[count] = weights.get(count, 0) + (1 - q) / (1 + q) * q ** abs(noise)
    expected = sum(count * weight for count, weight in weights.items()) / 20
    assert binomial_p_value(first, tries, expected) > share
    assert binomial_p_value(full, tries, (1 - q) / (1 + q)) > share
    assert binomial_p_value(first, tries, 0.6 * expected) < share


@pytest.mark.parametrize("rows", [1, 3])
def test_all_rows_may_go(rows, rng):
    discarding = RandomDiscarding(rows=rows, scale="0.5", shift=50)
    assert discarding.discarded(rng).tolist() == list(range(rows))
    assert discarding.loss_quantile("0.01") == rows


@pytest.mark.parametrize(
    "more", [{"scale": 0}, {"scale": -1}, {"shift": -1}, {"rows": 0}, {"scale": float("nan")}]
)
def test_discarding_that_cannot_be_is_refused(more):
    with pytest.raises(InvalidArgument):
        RandomDiscarding(**{"rows": 100, "scale": 5, "shift": 20, **more})
    with pytest.raises(InvalidArgument):
        RandomDiscarding.calibrate(rows=100, epsilon=0, delta="1e-6")
