"""Laws of sizes and populations: the oracles, brute force, and what the source's theorem lacks."""

import math
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from discreet.core.errors import InvalidArgument
from discreet.noiseless.certifiable import PrivacyTarget, Way
from discreet.noiseless.histograms.cell_enumeration import (
    any_simulator_delta,
    cell_sides,
    part_of_population,
    share_of_rows,
)
from discreet.noiseless.histograms.size_laws import (
    poisson_sizes,
    size_law,
    two_sided_geometric,
    unsmooth_mass,
)
from discreet.noiseless.histograms.sized_histogram import PopulationHistogram, SizedHistogram
from discreet.noiseless.histograms.spread_cells import quotient_up, spread_sides

LEVEL = Fraction(3, 5)
SMALL = size_law({4: "1/8", 5: "3/8", 6: "3/8", 7: "1/8"})


def one_sided(top, epsilon, sizes=200):
    """Return N = top - Geometric, cut far out, as fractions that add up to 1."""
    weights = {top - step: Fraction(math.exp(-epsilon * step)) for step in range(min(sizes, top))}
    total = sum(weights.values())
    return size_law({size: weight / total for size, weight in weights.items()})


@pytest.mark.parametrize(
    ("population", "cell", "rows", "delta"),
    [
        (20000, 200, 19900, 0.368),
        (20000, 2000, 19900, 0.0174),
        (20000, 10000, 19900, 1.4e-5),
        (40000, 4000, 2000, 1.5e-9),
    ],
)
def test_what_the_unsampled_part_of_a_cell_hides(population, cell, rows, delta):
    sizes = two_sided_geometric(rows, "0.2", largest=population)
    sides = cell_sides(LEVEL, 2, sizes, part_of_population(population, cell))
    assert float(sides.worst) == pytest.approx(delta, rel=0.03)


@pytest.mark.parametrize(
    ("population", "cell", "rows", "least"),
    [(20000, 200, 19900, 0.130), (4000, 40, 3950, 0.2169), (20000, 2000, 19900, 4.9e-4)],
)
def test_no_simulator_does_better_where_the_population_is_used_up(population, cell, rows, least):
    sizes = two_sided_geometric(rows, "0.2", largest=population)
    bound = any_simulator_delta(LEVEL, sizes, population=population, cell=cell)
    assert least <= float(bound) < 1.05 * least
    exact = cell_sides(LEVEL, 2, sizes, part_of_population(population, cell)).worst
    assert bound <= exact


def test_one_sided_uncertainty_shows_who_makes_the_number_full():
    """Its sizes are smooth as the source asks, looking down; looking up they are not."""
    sizes = one_sided(400, 0.2)
    law = part_of_population(4000, 1000)
    delta = float(cell_sides(LEVEL, 2, sizes, law).worst)
    assert delta == pytest.approx(1 - math.exp(-0.2), abs=2e-3)
    assert unsmooth_mass(sizes, "0.2001", both=False) < Fraction(1, 10**9)
    assert float(unsmooth_mass(sizes, "0.2001")) > 0.18
    assert float(spread_sides(LEVEL, 60, sizes).worst) > 0.18


@pytest.mark.parametrize(("mean", "epsilon", "true"), [(100, "0.3", 4.5e-3), (1000, "0.1", 1.6e-3)])
def test_the_printed_lemma_on_poisson_sizes_is_too_small(mean, epsilon, true):
    """The twin exp(-λε²) is thirty times too small."""
    found = float(unsmooth_mass(poisson_sizes(mean), epsilon, both=False))
    assert found == pytest.approx(true, rel=0.02)
    printed = math.exp(-mean * float(epsilon) ** 2)
    assert found > 30 * printed


def histogram_laws(sizes, shares, k):
    """Return the truncated histogram with a person in cell 0, and without."""
    present: dict[Any, Any] = {}
    absent: dict[Any, Any] = {}
    for place, weight in enumerate(sizes.real):
        others = sizes.first + place
        for rows in product(range(len(shares)), repeat=others):
            chance = weight * math.prod((shares[cell] for cell in rows), start=Fraction(1))
            counts = [rows.count(cell) for cell in range(len(shares))]
            seen = tuple(c if c >= k else 0 for c in counts)
            absent[seen] = absent.get(seen, 0) + chance
            counts[0] += 1
            seen = tuple(c if c >= k else 0 for c in counts)
            present[seen] = present.get(seen, 0) + chance
    return present, absent


def divergence(first, second, growth):
    return sum(max(0, p - growth * second.get(t, 0)) for t, p in first.items())


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("epsilon", ["0", "0.3", "1"])
def test_enumeration_is_the_divergence_of_whole_histograms(k, epsilon):
    """With two cells of which the other one is always shown it is exact; truncated it is above."""
    shares = (Fraction(1, 3), Fraction(2, 3))
    growth = Fraction(math.exp(float(epsilon)))
    sides = cell_sides(Fraction(epsilon), k, SMALL, share_of_rows(shares[0]))
    present, absent = histogram_laws(SMALL, shares, k)
    assert float(divergence(present, absent, growth)) <= float(sides.present) + 1e-12
    assert float(divergence(absent, present, growth)) <= float(sides.absent) + 1e-12
    if k == 1:
        assert float(divergence(present, absent, growth)) == pytest.approx(float(sides.present))
        assert float(divergence(absent, present, growth)) == pytest.approx(float(sides.absent))


def population_laws(sizes, population, cell):
    """Return (count here, count elsewhere), by listing which others are drawn."""
    present: dict[Any, Any] = {}
    absent: dict[Any, Any] = {}
    for place, weight in enumerate(sizes.real):
        others = sizes.first + place
        for here in range(min(cell - 1, others) + 1):
            ways = math.comb(cell - 1, here) * math.comb(population - cell, others - here)
            chance = weight * Fraction(ways, math.comb(population - 1, others))
            if chance:
                present[here + 1, others - here] = chance
                absent[here, others - here] = chance
    return present, absent


@pytest.mark.parametrize(("population", "cell"), [(7, 3), (9, 8), (12, 4), (30, 1)])
def test_a_person_in_the_sample_is_taken_out_of_the_population(population, cell):
    present, absent = population_laws(SMALL, population, cell)
    sides = cell_sides(Fraction(1, 2), 1, SMALL, part_of_population(population, cell))
    growth = Fraction(math.exp(0.5))
    assert float(divergence(present, absent, growth)) == pytest.approx(float(sides.present))
    assert float(divergence(absent, present, growth)) == pytest.approx(float(sides.absent))


def test_a_twin_that_leaves_the_person_in_the_population_has_other_odds():
    present, absent = population_laws(SMALL, 12, 4)
    true = float(divergence(present, absent, Fraction(math.exp(0.5))))
    wrong = cell_sides(Fraction(1, 2), 1, SMALL, part_of_population(13, 5))
    assert float(wrong.present) < 0.99 * true


def test_the_printed_ratio_of_hypergeometric_counts_is_not_the_ratio():
    """Printed: (n/m) p (|P| - m/p)/(|P| - n). It is n (p|P| - m + 1) / (m (|P| - n + 1))."""
    people, cell, n, m = 60, 20, 45, 20
    share = Fraction(cell, people)

    def chance(count, drawn):
        ways = math.comb(cell, count) * math.comb(people - cell, drawn - count)
        return Fraction(ways, math.comb(people, drawn))

    true = chance(m, n) / chance(m - 1, n - 1)
    assert true == Fraction(n * (cell - m + 1), m * (people - n + 1))
    printed = Fraction(n, m) * share * (people - m / share) / (people - n)
    assert true > Fraction(1, 10)
    assert printed == 0


@pytest.mark.parametrize(
    ("sizes", "k", "epsilon"),
    [
        (two_sided_geometric(300, "0.2"), 12, Fraction(1)),
        (two_sided_geometric(200, "0.5"), 8, Fraction(3, 2)),
        (poisson_sizes(120), 8, Fraction(1)),
        (one_sided(150, 0.3), 9, Fraction(3, 2)),
        (size_law({100: 1}), 6, Fraction(1)),
    ],
)
def test_the_bound_for_every_share_is_above_each_share(sizes, k, epsilon):
    bound = spread_sides(epsilon, k, sizes)
    middle = sizes.first + len(sizes.real) // 2
    for times in (0.3, 0.8, 1.2, 1.8, 5):
        share = min(Fraction(9, 10), Fraction(str(round(k * times / middle, 5))))
        sides = cell_sides(epsilon, k, sizes, share_of_rows(share))
        assert sides.present <= bound.present
        assert sides.absent <= bound.absent


@pytest.mark.parametrize("epsilon", [12, 30, 100])
def test_a_large_epsilon_has_an_end(epsilon):
    """Means at which the second factor is above 0 are then so large that nothing is left there."""
    sizes, at = poisson_sizes(30), Fraction(epsilon)
    found, smaller = spread_sides(at, 12, sizes), spread_sides(Fraction(3), 12, sizes)
    assert found.present <= smaller.present
    for share in (Fraction(1, 20), Fraction(1, 2), Fraction(9, 10)):
        sides = cell_sides(at, 12, sizes, share_of_rows(share))
        # Both have what of the law of sizes is not listed, rounded in ways of their own.
        assert sides.present <= found.present + 2 * sizes.beyond
        assert sides.absent <= found.absent


def test_a_binomial_term_is_no_more_than_the_quotient_above_poisson():
    for n, j in [(10, 3), (40, 20), (100, 7), (100, 99)]:
        best = max(
            math.comb(n, j)
            * (p / 400) ** j
            * (1 - p / 400) ** (n - j)
            / (math.exp(-n * p / 400) * (n * p / 400) ** j / math.factorial(j))
            for p in range(1, 400)
        )
        assert best <= float(quotient_up(n, j)) * (1 + 1e-12) < best * 1.02


def test_a_fixed_size_hides_nothing_of_the_cell_that_is_left_out():
    assert spread_sides(Fraction(1), 50, size_law({1000: 1})).worst == 1


def test_population_histograms_name_what_must_be_left_unsampled():
    sizes = two_sided_geometric(3900, "0.4", largest=4000)
    target = PrivacyTarget(Fraction(3, 2), Fraction("5e-4"))
    histogram = PopulationHistogram(truncation=100, population=4000, cells=[400, 2000], sizes=sizes)
    assert float(histogram.deltas(target.epsilon)[Way.TIGHT]) > 5e-4
    left: dict[str, Any] = {point.what: point.limit for point in histogram.breaking_points(target)}
    assert left["members of a cell that are not in the sample, on average"] == 50
    assert left["the least count that is shown"] > 390
    assert left["rows of one cell that the adversary knows"] is None
    assert "4000 members" in " ".join(histogram.assumptions)
    assert histogram.to_json()["law"]["cells"] == [400, 2000]


def test_known_rows_of_a_population_leave_another_law_and_not_a_smaller_k():
    """Of 40 people in a cell 6 are known to be in the sample: 34 of 394 are left to be counted."""
    sizes = size_law({size: Fraction(1, 9) for size in range(96, 105)})
    unknown = size_law({size: Fraction(1, 9) for size in range(90, 99)})
    as_if = cell_sides(Fraction(1), 2, sizes, part_of_population(400, 40)).worst
    true = cell_sides(Fraction(1), 2, unknown, part_of_population(394, 34)).worst
    assert true > as_if
    with pytest.raises(InvalidArgument, match="no other row is known"):
        PopulationHistogram(truncation=8, known=6, population=400, cells=[40], sizes=sizes)
    histogram = PopulationHistogram(truncation=8, population=400, cells=[40], sizes=sizes)
    limits = {
        point.what: point.limit
        for point in histogram.breaking_points(PrivacyTarget(Fraction(1), Fraction(1, 2)))
    }
    assert limits["rows of one cell that the adversary knows"] == 0


def test_sized_histograms_state_their_law():
    histogram = SizedHistogram(truncation=20, sizes=two_sided_geometric(500, "0.5"))
    assert "two-sided geometric" in " ".join(histogram.assumptions)
    assert histogram.to_json()["law"]["kind"] == "sized"
    deltas = [histogram.deltas(Fraction(step, 2))[Way.MIXTURE] for step in range(3)]
    assert deltas == sorted(deltas, reverse=True)


@pytest.mark.parametrize(
    "sizes", [{}, {5: "1/2"}, {5: 2}, {-1: 1}, {0: 1}, {5: "-1", 6: 2}, {1.5: 1}]
)
def test_laws_of_sizes_that_cannot_be_true_are_refused(sizes):
    with pytest.raises(InvalidArgument):
        size_law(sizes)


def test_populations_that_cannot_be_are_refused():
    sizes = two_sided_geometric(50, "0.5")
    with pytest.raises(InvalidArgument, match="no size above"):
        PopulationHistogram(truncation=5, population=60, cells=[5], sizes=sizes)
    with pytest.raises(InvalidArgument):
        PopulationHistogram(truncation=5, population=10**6, cells=[10**6 + 1], sizes=sizes)
    with pytest.raises(InvalidArgument):
        PopulationHistogram(truncation=5, population=10**6, cells=[], sizes=sizes)
    with pytest.raises(InvalidArgument):
        part_of_population(5, 6)
    with pytest.raises(InvalidArgument):
        share_of_rows(Fraction(1))
    with pytest.raises(InvalidArgument):
        two_sided_geometric(50, "0")
    with pytest.raises(InvalidArgument):
        poisson_sizes(0)


def test_rows_that_are_known_elsewhere_are_not_counted_as_hiding_anybody():
    """If nearly all rows are known, in whichever cells, the few others hide nobody."""
    sizes = two_sided_geometric(500, "0.1")
    alone = SizedHistogram(truncation=40, sizes=sizes).deltas(Fraction(2))[Way.MIXTURE]
    told = SizedHistogram(truncation=440, known=400, sizes=sizes).deltas(Fraction(2))[Way.MIXTURE]
    most = SizedHistogram(truncation=500, known=460, sizes=sizes).deltas(Fraction(2))[Way.MIXTURE]
    assert alone <= told < Fraction(1, 10)
    assert most > Fraction(9, 10)
