"""Counts on several levels: the nearest whole numbers, agreement, declared counts, and the loss."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from discreet.audit.finding import FindingKind, replay_audit
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Pure, Zcdp
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.synthesis.counted.integer_noise import table_contribution
from discreet.synthesis.hierarchy.hierarchical_counts import DeclaredCount, HierarchicalCounts
from discreet.synthesis.hierarchy.hierarchy import Hierarchy, consistent
from discreet.synthesis.hierarchy.nearest_counts import nearest_counts
from tests.support.statistics.numbered_rng import NumberedRng

NATION = Hierarchy.of(
    [("north", "n1"), ("south", "s1"), ("north", "n2"), ("south", "s2"), ("south", "s3")]
)
COUNTS = np.array([120, 0, 3, 0, 1])

# ---------------------------------------------------------------- the nearest whole numbers


def brute_force(targets, total, variances, least, most) -> float:
    """The least cost of all whole numbers with the sum, one after the other."""
    costs = [
        sum((t - r) ** 2 / v for t, r, v in zip(some, targets, variances, strict=True))
        for some in product(*(range(a, b + 1) for a, b in zip(least, most, strict=True)))
        if sum(some) == total
    ]
    return min(costs, default=np.inf)


numbers = st.integers(-24, 48).map(lambda n: n / 4)


@given(st.data(), st.integers(1, 4))
def test_nearest_counts_are_the_nearest_of_all(data, size):
    targets = data.draw(st.lists(numbers, min_size=size, max_size=size))
    variances = data.draw(st.lists(st.sampled_from([0.5, 1.0, 3.0]), min_size=size, max_size=size))
    least = data.draw(st.lists(st.integers(0, 2), min_size=size, max_size=size))
    most = [low + data.draw(st.integers(0, 5)) for low in least]
    total = data.draw(st.integers(sum(least), sum(most)))
    found = nearest_counts(
        np.array(targets),
        total,
        variances=np.array(variances),
        least=np.array(least),
        most=np.array(most),
    )
    cost = sum((t - r) ** 2 / v for t, r, v in zip(found, targets, variances, strict=True))
    assert found.sum() == total
    assert (found >= least).all()
    assert (found <= most).all()
    assert cost == pytest.approx(brute_force(targets, total, variances, least, most))


def test_what_has_no_nearest_counts_is_refused():
    for targets, total in (([np.nan], 1), ([1.0], -1), ([], 1)):
        with pytest.raises(InvalidArgument):
            nearest_counts(np.array(targets), total)
    with pytest.raises(InvalidArgument, match="No counts have this sum"):
        nearest_counts(np.array([1.0, 2.0]), 9, most=np.array([4, 4]))
    with pytest.raises(InvalidArgument, match="variance"):
        nearest_counts(np.array([1.0, 2.0]), 2, variances=np.array([0.0, 1.0]))


def test_extra_ones_are_scattered():
    """Of a million equal cells every tenth has one: no half of them has all."""
    found = nearest_counts(np.zeros(100_000), 10_000)
    assert found.sum() == 10_000
    assert abs(int(found[:50_000].sum()) - 5_000) < 100


# ---------------------------------------------------------------- levels that agree


def matrix(tree: Hierarchy) -> np.ndarray:
    """Which lowest places are in each place, level by level."""
    lowest = np.eye(tree.sizes[-1], dtype=np.int64)
    return np.array([np.concatenate(tree.sums(place)) for place in lowest]).T


def test_the_estimate_is_that_of_generalised_least_squares(rng):
    words = rng.words(400).astype(np.float64) / 2**64
    for tree in (NATION, Hierarchy.uniform(11, 3)):
        incidence = matrix(tree)
        noisy = incidence @ words[: tree.sizes[-1]] * 50 + words[50 : 50 + len(incidence)] * 9
        spread = 0.5 + words[200 : 200 + len(incidence)]
        root = np.sqrt(spread)
        expected, *_ = np.linalg.lstsq(incidence / root[:, None], noisy / root, rcond=None)
        cuts = np.cumsum(tree.sizes)[:-1]
        found = consistent(tree, np.split(noisy, cuts), np.split(spread, cuts))
        assert np.concatenate(found) == pytest.approx(incidence @ expected)


def agree(tree: Hierarchy, levels) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(levels, tree.sums(levels[-1]), strict=True))


@pytest.mark.parametrize("loss", [Pure("1/3"), Zcdp(rho="1/20")], ids=str)
def test_counts_are_whole_not_negative_and_agree(loss, soak):
    for number in range(soak.cases(20)):
        shares = [(1, 1, 1), (0, 2, 1), (1, 0, 1), (0, 0, 1)][number % 4]
        method = HierarchicalCounts.calibrate(NATION, loss=loss, rows_per_unit=2, shares=shares)
        levels = method.estimate(method.measure(COUNTS, NumberedRng(number)))
        assert agree(NATION, levels)
        assert all(level.dtype == np.int64 and level.min() >= 0 for level in levels)


def test_declared_counts_are_kept(soak):
    declared = (DeclaredCount(1, 0, 123), DeclaredCount(2, 3, 4), DeclaredCount(2, 1, 0))
    method = HierarchicalCounts.calibrate(
        NATION, loss=Pure("1/5"), rows_per_unit=1, declared=declared
    )
    for number in range(soak.cases(20)):
        top, regions, districts = method.estimate(method.measure(COUNTS, NumberedRng(number)))
        assert agree(NATION, (top, regions, districts))
        assert (regions[0], districts[3], districts[1]) == (123, 4, 0)
        assert regions[1] >= 4


@pytest.mark.parametrize(
    "declared",
    [
        [DeclaredCount(0, 0, 5), DeclaredCount(2, 0, 6)],
        [DeclaredCount(1, 0, 5), DeclaredCount(2, 0, 1), DeclaredCount(2, 2, 1)],
        [DeclaredCount(1, 0, 5), DeclaredCount(1, 0, 6)],
        [DeclaredCount(3, 0, 5)],
        [DeclaredCount(1, 2, 5)],
    ],
)
def test_impossible_declarations_are_refused_before_anything_is_measured(declared):
    with pytest.raises(InvalidArgument):
        HierarchicalCounts.calibrate(NATION, loss=Pure(1), rows_per_unit=1, declared=declared)


def test_bad_hierarchies_and_measurements_are_refused():
    for paths in ([], [()], [("a",), ("a", "b")], [("a", "b"), ("a", "b")]):
        with pytest.raises(InvalidArgument):
            Hierarchy.of(paths)
    with pytest.raises(InvalidArgument):
        Hierarchy((np.array([0, 0]), np.array([0, 0])))
    method = HierarchicalCounts.calibrate(NATION, loss=Pure(1), rows_per_unit=1)
    with pytest.raises(InvalidArgument):
        method.measure(np.array([1, 2]), NumberedRng(0))
    with pytest.raises(InvalidArgument):
        method.estimate([np.array([1]), None, COUNTS])
    with pytest.raises(InvalidArgument):
        evolve(method, noises=(*method.noises[:2], None))


# ---------------------------------------------------------------- the loss


@pytest.mark.parametrize("rows", [1, 3])
def test_the_loss_is_the_sum_over_levels(rows):
    laplace = HierarchicalCounts(
        hierarchy=NATION, noises=(DiscreteLaplace(scale=4), None, DiscreteLaplace(scale=6))
    )
    assert laplace.loss(rows_per_unit=rows) == Pure(Fraction(rows, 4) + Fraction(rows, 6))
    gauss = HierarchicalCounts(hierarchy=NATION, noises=(DiscreteGaussian(sigma_squared=8),) * 3)
    assert gauss.loss(rows_per_unit=rows) == Zcdp(rho=Fraction(3 * rows**2, 16))


def watched(method, recorder, rows):
    sizes = method.hierarchy.sizes
    noises = tuple(
        recorder.watch(noise, d_in=table_contribution(size, rows))
        for noise, size in zip(method.noises, sizes, strict=True)
    )
    return evolve(method, noises=noises)


def neighbours(rows: int):
    """A unit with that many rows, all in one place or in several."""
    for places in ([0] * rows, [place % 5 for place in range(rows)]):
        yield COUNTS + np.bincount(places, minlength=5)


@pytest.mark.parametrize("rows", [1, 3])
def test_measured_numbers_move_as_the_event_says(rows):
    """Replay: with a unit of many rows, and not with the sensitivity of one row (broken twin)."""
    method = HierarchicalCounts.calibrate(NATION, loss=Pure(1), rows_per_unit=rows)

    def run(limit):
        def measured(counts, recorder):
            return watched(method, recorder, limit).measure(counts, recorder.rng)

        return measured

    for neighbour in neighbours(rows):
        assert replay_audit(run(rows), COUNTS, neighbour, NumberedRng(1)) == ()
    if rows > 1:
        found = replay_audit(run(1), COUNTS, COUNTS + np.array([rows, 0, 0, 0, 0]), NumberedRng(1))
        assert {one.kind for one in found} == {FindingKind.CONTRIBUTION}


def test_replay_catches_an_invariant_that_is_read_from_the_rows():
    """Twin: the top is declared to be what the rows add up to."""
    method = HierarchicalCounts.calibrate(NATION, loss=Pure(1), rows_per_unit=1)

    def twin(counts, recorder):
        held = evolve(method, declared=(DeclaredCount(0, 0, int(counts.sum())),))
        return held.estimate(watched(method, recorder, 1).measure(counts, recorder.rng))

    found = replay_audit(twin, COUNTS, COUNTS + np.array([0, 0, 1, 0, 0]), NumberedRng(2))
    assert FindingKind.RESULT in {one.kind for one in found}
