"""Stable releases: thresholds, arg-max and MAP, against enumeration, and who knows too much."""

import math
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from discreet.core.errors import InvalidArgument
from discreet.noiseless.certifiable import PrivacyTarget, Way
from discreet.noiseless.stable.map_bounds import (
    chernoff_instability,
    growth_from,
    likeliest,
    pure_growth,
    source_instability,
    uniform,
)
from discreet.noiseless.stable.map_release import MapRelease
from discreet.noiseless.stable.most_common import MostCommonRelease, most_common
from discreet.noiseless.stable.row_enumeration import enumerated_deltas
from discreet.noiseless.stable.row_families import affinity_up, finite_family, truncated_normals
from discreet.noiseless.stable.sampled_instability import sampled_instability
from discreet.noiseless.stable.stable_release import StableRelease, stable_delta
from discreet.noiseless.stable.threshold_release import ThresholdRelease
from tests.support.statistics.exact_tests import alpha

COINS = finite_family({"a": ["0.4", "0.6"], "b": ["0.6", "0.4"]})
DICE = finite_family(
    {"a": ["0.2", "0.3", "0.5"], "b": ["0.5", "0.3", "0.2"], "c": ["1/3", "1/3", "1/3"]}
)


def divergence(first, second, epsilon):
    growth = math.exp(epsilon)
    keys = set(first) | set(second)
    return sum(max(0, first.get(t, 0) - growth * second.get(t, 0)) for t in keys)


def by_rows(law, decide, others, known, epsilon):
    """Return the worst flips and divergence, by listing hidden rows one after another."""
    values, worst, flips = range(len(law)), 0.0, 0.0
    for seen in product(values, repeat=known):
        for row in values:
            with_row: dict[Any, Any] = {}
            without: dict[Any, Any] = {}
            changed = 0.0
            for hidden in product(values, repeat=others - known):
                chance = float(math.prod((law[v] for v in hidden), start=Fraction(1)))
                rows = [*seen, *hidden]
                counts = tuple(rows.count(v) for v in values)
                more = tuple(c + (v == row) for v, c in enumerate(counts))
                first, second = decide(more), decide(counts)
                with_row[first] = with_row.get(first, 0) + chance
                without[second] = without.get(second, 0) + chance
                changed += chance * (first != second)
            flips = max(flips, changed)
            worst = max(
                worst,
                divergence(with_row, without, epsilon),
                divergence(without, with_row, epsilon),
            )
    return flips, worst


# ---------------------------------------------------------------- theorems 6.1 and 6.2


def test_the_tighter_epsilon_is_where_delta_ends():
    least, flips = 0.2, 0.01
    tight, printed = math.log(least / (least - flips)), math.log((least + flips) / (least - flips))
    assert tight < 0.52 * printed

    def delta(epsilon):
        return stable_delta(epsilon, instability="0.01", least_probability="0.2")

    assert delta(0) == Fraction(1, 100)
    assert delta(round(tight, 6) + 1e-6) == 0
    assert delta(round(tight, 6) - 1e-6) > 0


def test_no_pair_of_laws_with_that_stability_is_worse():
    """All laws of three outcomes on a grid, at least c each, at most μ apart."""
    c, mu = Fraction(3, 20), Fraction(1, 20)
    grid = [Fraction(k, 20) for k in range(21)]
    laws = [(a, b, 1 - a - b) for a in grid for b in grid if a + b <= 1]
    pairs = [
        (dict(enumerate(first)), dict(enumerate(second)))
        for first in laws
        if min(first) >= c
        for second in laws
        if sum(abs(a - b) for a, b in zip(first, second, strict=True)) <= 2 * mu
    ]
    for epsilon in (0, 0.1, 0.3, 0.5):
        worst = max(max(divergence(p, q, epsilon), divergence(q, p, epsilon)) for p, q in pairs)
        bound = float(stable_delta(epsilon, instability=mu, least_probability=c))
        assert worst <= bound + 1e-12
        assert bound == pytest.approx(worst, abs=1e-9)


def test_a_stable_release_says_how_unstable_it_may_be():
    release = StableRelease(
        name="winner", instability="0.01", least_probability="0.2", reason="Proved."
    )
    target = PrivacyTarget(Fraction("0.03"), Fraction("0.005"))
    (point,) = release.breaking_points(target)
    assert stable_delta(
        target.epsilon, instability=point.limit or 0, least_probability="0.2"
    ) <= target.delta * Fraction(1001, 1000)
    assert release.noise_instead(target) is None
    assert release.to_json()["instability"] == "1/100"
    assert "Proved." in release.assumptions


# ---------------------------------------------------------------- thresholds and arg-max


@pytest.mark.parametrize(
    ("rows", "threshold", "share", "known", "epsilon"),
    [
        (11, None, "0.4", 0, "0.3"),
        (12, None, "0.4", 3, "0.3"),
        (10, 5, "0.5", 4, "0.1"),
        (10, 3, "0.5", 0, "1"),
        (1, None, "0.5", 0, "0"),
        (2, 1, "0.3", 1, "0.2"),
        (6, 9, "0.3", 2, "0"),
        (6, 0, "0.3", 2, "0"),
        (6, None, "0", 2, "0"),
        (6, None, "1", 0, "0"),
    ],
)
def test_thresholds_are_what_enumeration_says(rows, threshold, share, known, epsilon):
    law = [1 - Fraction(share), Fraction(share)]

    def decide(counts):
        limit = sum(counts) // 2 + 1 if threshold is None else threshold
        return int(counts[1] >= limit)

    flips, delta = by_rows(law, decide, rows - 1, known, float(epsilon))
    release = ThresholdRelease(rows=rows, threshold=threshold, low=share, known=known)
    found = release.deltas(Fraction(epsilon))
    assert float(found[Way.SOURCE]) == pytest.approx(flips, abs=1e-12)
    assert float(found[Way.TIGHT]) == pytest.approx(delta, abs=1e-12)


def rows_of_two_kinds(high, low, ends):
    """Return the law of the yeses of so many rows at the upper and at the lower end."""
    law = [Fraction(1)]
    for share in [ends[1]] * high + [ends[0]] * low:
        none = Fraction(0)
        stay, step = [*law, none], [none, *law]
        law = [no * (1 - share) + yes * share for no, yes in zip(stay, step, strict=True)]
    return law


@pytest.mark.parametrize(
    ("rows", "threshold", "known", "is_apart"),
    [
        (13, None, 2, False),
        (13, 3, 5, False),
        (30, None, 8, False),
        (3, 2, 0, False),
        (13, 12, 1, True),
        (31, 5, 0, True),
        (30, 28, 4, True),
        (1, None, 0, False),
        (2, None, 0, True),
    ],
)
def test_a_threshold_holds_for_rows_of_any_probabilities_between_the_ends(
    rows, threshold, known, is_apart
):
    """A count is as likely as a linear function of each row says: rows at the ends are worst."""
    ends = Fraction(3, 10), Fraction(3, 5)
    wide = ThresholdRelease(rows=rows, threshold=threshold, low="0.3", high="0.6", known=known)
    now, before = (rows // 2 + 1, (rows - 1) // 2 + 1) if threshold is None else (threshold,) * 2
    hidden, worst = rows - 1 - known, Fraction(0)
    for high in range(hidden + 1):
        law = rows_of_two_kinds(high, hidden - high, ends)
        for x, yes in product((0, 1), range(known + 1)):
            chances = (
                chance
                for b, chance in enumerate(law)
                if (x + yes + b >= now) != (yes + b >= before)
            )
            worst = max(worst, sum(chances, Fraction(0)))
    bound = wide.deltas(Fraction(0))[Way.SOURCE]
    assert worst <= bound
    assert (bound < worst * Fraction(101, 100)) if is_apart else bound == 1


def test_rows_of_two_kinds_can_make_a_close_count_certain():
    """One row that always says yes and one that never does: the third decides, always."""
    wide = ThresholdRelease(rows=3, threshold=2, low=0, high=1)
    assert wide.deltas(Fraction(0))[Way.SOURCE] == 1
    same = [ThresholdRelease(rows=3, threshold=2, low=Fraction(p, 100)) for p in range(101)]
    assert max(one.deltas(Fraction(0))[Way.SOURCE] for one in same) < Fraction(51, 100)
    assert "each with its own" in " ".join(wide.assumptions)


def test_a_majority_names_how_many_rows_may_be_known_and_beyond_it_falls():
    target = PrivacyTarget(Fraction(0), Fraction("1e-6"))
    vote = ThresholdRelease(rows=1001, low="0.6")
    (point,) = vote.breaking_points(target)
    limit = int(point.limit or 0)
    for known, holds in ((limit, True), (limit + 1, False), (200, False)):
        beside = ThresholdRelease(rows=1001, low="0.6", known=known)
        assert (beside.deltas(Fraction(0))[Way.SOURCE] <= target.delta) is holds
    noise: Any = vote.noise_instead(PrivacyTarget(Fraction(1, 2), target.delta))
    assert noise.scale == 2
    assert "more than half" in vote.statistic
    huge = ThresholdRelease(rows=10**9, threshold=10**8, low="0.5")
    assert huge.deltas(Fraction(1))[Way.SOURCE] < Fraction(1, 10**300)


@pytest.mark.parametrize(("others", "known"), [(6, 0), (6, 2), (7, 1)])
def test_the_most_common_category_is_enumerated_exactly(others, known):
    shares = (Fraction(1, 2), Fraction(3, 10), Fraction(1, 5))
    flips, delta = by_rows(shares, most_common, others, known, 0.3)
    exact = enumerated_deltas([shares], most_common, others, known, Fraction(3, 10))
    assert float(exact[0]) == pytest.approx(flips)
    assert float(exact[1]) == pytest.approx(delta)
    found = MostCommonRelease(shares=shares, rows=others + 1, known=known).deltas(Fraction(3, 10))
    assert found[Way.TIGHT] <= found[Way.SOURCE]


@pytest.mark.parametrize(
    ("shares", "rows", "known"), [(["0.7", "0.2", "0.1"], 60, 3), (["0.8", "0.2", "0"], 40, 2)]
)
def test_the_bound_for_the_most_common_is_above_enumeration(shares, rows, known):
    release = MostCommonRelease(shares=shares, rows=rows, known=known)
    laws = [release.shares]
    flips, _ = enumerated_deltas(laws, most_common, rows - 1, known, Fraction(0))
    assert flips <= release.deltas(Fraction(0))[Way.SOURCE] < 1
    names = {
        point.what
        for point in release.breaking_points(PrivacyTarget(Fraction(0), Fraction("1e-3")))
    }
    assert names == {"rows that the adversary knows", "the number of rows"}


# ---------------------------------------------------------------- MAP


@pytest.mark.parametrize(
    ("others", "printed", "exact"),
    [(100, 0.325, 0.0103), (500, 9.24e-5, 1.32e-6), (1000, 3.42e-9, 3.45e-11)],
)
def test_map_of_two_coins(others, printed, exact):
    source = source_instability(COINS, others)
    assert float(source) == pytest.approx(printed, rel=2e-3)
    flips, delta = enumerated_deltas(
        COINS.masses, likeliest(COINS, uniform(COINS)), others, 0, Fraction(0)
    )
    assert float(flips) == pytest.approx(exact, rel=5e-3)
    best = chernoff_instability(COINS, others, 0, uniform(COINS))
    assert flips <= delta <= flips * Fraction(1000001, 1000000)
    assert delta <= best <= source


@pytest.mark.parametrize(("others", "epsilon"), [(200, 0.329), (500, 8.3e-4), (1000, 3.1e-8)])
def test_map_with_every_law_possible_is_purely_private(others, epsilon):
    beta = COINS.ratio * source_instability(COINS, others) / (COINS.ratio + 1)
    printed = math.log(growth_from(beta, COINS, 0, Fraction(1, 10)) or 0)
    assert printed == pytest.approx(epsilon, rel=0.01)
    assert math.log(pure_growth(COINS, others, 0, uniform(COINS), Fraction(1, 10)) or 0) <= printed


def test_pure_privacy_of_map_holds_for_every_mixture():
    """The law of the outcome given the row, for mixtures with at least λ: exact odds."""
    others, least = 60, Fraction(1, 10)
    growth: Any = pure_growth(COINS, others, 0, uniform(COINS), least)
    decide = likeliest(COINS, uniform(COINS))
    for step in range(1, 10):
        prior = [Fraction(step, 10), 1 - Fraction(step, 10)]
        for row in (0, 1):
            posterior = [p * law[row] for p, law in zip(prior, COINS.masses, strict=True)]
            with_row, without = [Fraction(0)] * 2, [Fraction(0)] * 2
            for law, weight in zip(COINS.masses, posterior, strict=True):
                for ones in range(others + 1):
                    counts = (others - ones, ones)
                    chance = weight * math.comb(others, ones)
                    chance *= law[0] ** counts[0] * law[1] ** counts[1]
                    without[decide(counts)] += chance
                    with_row[decide((counts[0] + (row == 0), ones + (row == 1)))] += chance
            odds = [a / b for a, b in zip(with_row, without, strict=True)]
            assert max(*odds, *(1 / one for one in odds)) <= growth


@pytest.mark.parametrize(("others", "known"), [(5, 0), (6, 2)])
def test_map_is_enumerated_exactly_with_known_rows_and_weights(others, known):
    weights = (Fraction(1, 2), Fraction(1, 3), Fraction(1, 6))
    decide = likeliest(DICE, weights)
    every = [by_rows(law, decide, others, known, 0.2) for law in DICE.masses]
    flips, delta = enumerated_deltas(DICE.masses, decide, others, known, Fraction(1, 5))
    assert float(flips) == pytest.approx(max(one[0] for one in every))
    assert float(delta) == pytest.approx(max(one[1] for one in every))


@pytest.mark.parametrize(("others", "known"), [(500, 50), (500, 100), (1000, 100)])
def test_known_rows_push_the_choice_and_the_printed_corollary_is_false(others, known):
    """The broken twin takes known rows from n alone; the best adversary exceeds it."""
    twin = source_instability(COINS, others - known)
    decide = likeliest(COINS, uniform(COINS))
    law, pushed = COINS.masses[1], known  # zeros are rarer by this law; all known rows are zeros
    hidden = others - known
    flips = Fraction(0)
    for zeros in range(hidden + 1):
        counts = (zeros + pushed, hidden - zeros)
        if decide(counts) != decide((counts[0], counts[1] + 1)):
            flips += math.comb(hidden, zeros) * law[0] ** zeros * law[1] ** (hidden - zeros)
    other = COINS.masses[0]
    flips_of_other = Fraction(0)
    for zeros in range(hidden + 1):
        counts = (zeros + pushed, hidden - zeros)
        if decide(counts) != decide((counts[0] + 1, counts[1])):
            flips_of_other += (
                math.comb(hidden, zeros) * other[0] ** zeros * other[1] ** (hidden - zeros)
            )
    worst = max(flips, flips_of_other)
    assert worst > 20 * twin
    assert worst <= chernoff_instability(COINS, others, known, uniform(COINS))


def test_the_bound_with_known_rows_is_above_enumeration():
    for others, known in ((60, 1), (60, 3), (110, 5)):
        flips, _ = enumerated_deltas(
            COINS.masses, likeliest(COINS, uniform(COINS)), others, known, Fraction(0)
        )
        assert flips <= chernoff_instability(COINS, others, known, uniform(COINS))


def test_map_releases_state_their_limits_and_laws():
    release = MapRelease(family=COINS, rows=301, known=2, least_share="0.2")
    target = PrivacyTarget(Fraction(0), Fraction("5e-3"))
    points: dict[str, Any] = {
        point.what: int(point.limit or 0) for point in release.breaking_points(target)
    }
    known = points["rows that the adversary knows"]
    assert 2 < known < 30
    assert (
        min(MapRelease(family=COINS, rows=301, known=known).deltas(Fraction(0)).values())
        <= target.delta
    )
    assert points["the number of rows"] < 301
    assert min(release.deltas(Fraction(50)).values()) == 0
    assert any("at least 0.2" in one for one in release.assumptions)
    assert release.to_json()["law"]["ratio"] == "3/2"
    noise: Any = release.noise_instead(PrivacyTarget(Fraction(1), target.delta))
    assert noise.scale > Fraction("0.8")


def test_affinities_of_densities_are_above_quadrature_and_converge():
    """Against the closed form of normal laws that are hardly cut."""
    exact = math.exp(-((0.5) ** 2) / 2)
    bounds = [
        float(
            affinity_up(
                truncated_normals([0, 1], deviation=1, low=-8, high=9, cells=c),
                0,
                1,
                Fraction(1, 2),
            )
        )
        for c in (20, 40, 80)
    ]
    assert exact <= bounds[2] <= bounds[1] <= bounds[0]
    assert bounds[2] - exact < (bounds[0] - exact) / 10
    cut = truncated_normals([0, 1], deviation=1, low=-1, high=2, cells=60)
    release = MapRelease(family=cut, rows=400)
    assert float(release.deltas(Fraction(0))[Way.SOURCE]) < 1e-6
    assert Way.TIGHT not in release.deltas(Fraction(0))


@pytest.mark.parametrize(
    "laws",
    [
        {"a": ["1/2", "1/2"]},
        {"a": ["1/2", "1/2"], "b": ["1/2", "1/2"]},
        {"a": ["1/2", "1/2"], "b": ["1/2", "1/3"]},
        {"a": ["1/2", "1/2"], "b": ["0", "1"]},
        {"a": ["1/2", "1/2"], "b": ["1/3", "1/3", "1/3"]},
        {"a": [], "b": []},
    ],
)
def test_families_that_cannot_be_are_refused(laws):
    with pytest.raises(InvalidArgument):
        finite_family(laws)


@pytest.mark.parametrize(
    "make",
    [
        lambda: MapRelease(family=COINS, rows=0),
        lambda: MapRelease(family=COINS, rows=10, known=10),
        lambda: MapRelease(family=COINS, rows=10, weights=[1]),
        lambda: MapRelease(family=COINS, rows=10, weights=[1, 0]),
        lambda: MapRelease(family=COINS, rows=10, least_share="0.6"),
        lambda: MapRelease(family=COINS, rows=10).deltas(Fraction(-1)),
        lambda: ThresholdRelease(rows=10, low="0.5", high="0.4"),
        lambda: ThresholdRelease(rows=10, low="0.5", known=10),
        lambda: ThresholdRelease(rows=10, low="2"),
        lambda: MostCommonRelease(shares=["0.5", "0.4"], rows=10),
        lambda: MostCommonRelease(shares=["0.5", "0.5"], rows=10, known=10),
        lambda: StableRelease(name="x", instability=2, reason="so"),
        lambda: StableRelease(name="x", instability=0, reason=""),
        lambda: stable_delta(-1, instability=0),
        lambda: truncated_normals([0, 0], deviation=1, low=0, high=1),
        lambda: truncated_normals([0, 1], deviation=0, low=0, high=1),
        lambda: truncated_normals([0, 1], deviation=1, low=1, high=1),
    ],
)
def test_what_cannot_be_is_refused(make):
    with pytest.raises(InvalidArgument):
        make()


# ---------------------------------------------------------------- sampling


def ones_of(rng, count, share):
    limit = int(share * 2**64)
    return [int(int(word) < limit) for word in rng.words(count)]


def test_sampled_instability_covers_the_true_one(rng):
    level = alpha("noiseless/instability")
    found = sampled_instability(
        lambda rows: 2 * sum(rows) > len(rows),
        lambda stream: ones_of(stream, 20, 0.6),
        [0, 1],
        rng,
        name="the majority",
        trials=3000,
        failure=str(level),
    )
    exact = ThresholdRelease(rows=21, low="0.6").deltas(Fraction(0))[Way.SOURCE]
    assert exact <= found.instability < exact + Fraction(1, 10)
    assert "3000 draws" in " ".join(found.assumptions)


@pytest.mark.parametrize("more", [{"trials": 0}, {"failure": 0}, {"failure": 1}])
def test_sampling_that_shows_nothing_is_refused(more, rng):
    with pytest.raises(InvalidArgument):
        sampled_instability(max, lambda stream: [1], [0], rng, name="x", **more)
    with pytest.raises(InvalidArgument):
        sampled_instability(max, lambda stream: [1], [], rng, name="x")
