"""Intervals and boxes: searches, trees, prefix sums; their loss, their errors, and their twins."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from attrs import evolve

from discreet.accounting.accountants.pure import pure_loss
from discreet.audit.finding import FindingKind, replay_audit
from discreet.audit.law_pair import LawPair
from discreet.audit.laws import discrete_laplace_law, push_forward
from discreet.audit.verdict import VerdictAnswer, verify
from discreet.core.contribution import Contribution
from discreet.core.errors import InvalidArgument, UndeclaredBound, Unsupported
from discreet.core.loss import Approximate, Pure, Zcdp
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.synthesis.counted.counted_rows import CountedRows
from discreet.synthesis.counted.integer_noise import table_contribution
from discreet.synthesis.intervals.axis import Axis
from discreet.synthesis.intervals.box_counts import BoxCounts
from discreet.synthesis.intervals.box_search import BoxSearch
from discreet.synthesis.intervals.interval_search import (
    IntervalSearch,
    declared_target,
    paper_rows,
)
from discreet.synthesis.intervals.prefix_sums import PrefixSums, measured_column
from discreet.synthesis.intervals.tree_counts import TreeCounts
from tests.support.statistics.exact_tests import alpha, binomial_p_value
from tests.support.statistics.numbered_rng import NumberedRng

QUIET = DiscreteLaplace(scale="1/8")
"""Noise that is next to none: what a search does without it."""


def counted(points, *sizes: int) -> CountedRows:
    """Rows at some points, a tuple each."""
    codes, counts = np.unique(np.array(points).reshape(-1, len(sizes)), axis=0, return_counts=True)
    return CountedRows(sizes, codes.astype(np.int64), counts.astype(np.int64))


def truth(points, first, last) -> int:
    array = np.array(points).reshape(len(points), -1)
    return int(((array >= first) & (array <= last)).all(axis=1).sum())


# ---------------------------------------------------------------- the axis


def test_an_undiscretised_column_is_refused_by_name_of_the_theorem():
    for given in ({}, {"lower": 0, "upper": 1}, {"step": 1}):
        with pytest.raises(UndeclaredBound, match="theorem of Blum, Ligett and Roth") as caught:
            Axis.of(**given)
        assert "step" in str(caught.value)
    for bounds in ((0, 0, 1), (0, 1, 0), (1, 0, 1), (0, 1, -1), (0, 1, "1/9223372036854775807")):
        with pytest.raises(UndeclaredBound):
            Axis.of(lower=bounds[0], upper=bounds[1], step=bounds[2])


def test_cells_of_an_axis():
    axis = Axis.of(lower="-1", upper="0.95", step="0.1")
    assert axis.cells == 20
    assert [axis.cell(value) for value in (-5, -1, "-0.9", "0.94", 7)] == [0, 0, 1, 19, 19]
    assert axis.run("-0.9", "-0.7") == (1, 2)


# ---------------------------------------------------------------- search for intervals


def heavy(rng) -> list[int]:
    """600 rows over 256 cells, and 900 more at cell 77."""
    return [*(rng.words(600) % np.uint64(256)).tolist(), *[77] * 900]


def search(noise=QUIET, **given) -> IntervalSearch:
    return IntervalSearch(**({"cells": 256, "target": 100, "most_pieces": 20} | given), noise=noise)


def test_a_heavy_atom_has_a_run_of_its_own(rng):
    points = heavy(rng)
    method = search()
    measured = method.measure(counted(points, 256), rng)
    runs = method.estimate(measured)
    assert measured[0, 0] == 0
    assert measured[-1, 1] == 255
    assert np.array_equal(measured[1:, 0], measured[:-1, 1] + 1)  # they cover all cells, once
    atom = measured[measured[:, 0] == 77][0]
    assert atom[1] == 77
    assert abs(int(atom[2]) - truth(points, 77, 77)) <= 2
    bodies = measured[measured[:, 1] > measured[:, 0]]
    assert bodies[:, 2].max() <= 102
    for first, last in ((0, 255), (76, 78), (77, 77), (78, 200)):
        assert abs(runs.count([first], [last]) - truth(points, first, last)) <= 210
    assert abs(runs.count([77], [77]) - truth(points, 77, 77)) <= 2


def test_every_interval_keeps_the_bound_on_every_draw():
    """Utility theorem: where all noises are within τ, all intervals are within the bound."""
    share = alpha("synthesis/interval_search/useful")
    rows, beta = 1_500, Fraction(share)
    method = IntervalSearch.calibrate(
        cells=256, target=200, most_pieces=12, loss=Pure(600), rows_per_unit=1
    )
    promise = method.usefulness(rows=rows, beta=beta)
    rng = NumberedRng(4, label="intervals")
    points = heavy(rng)
    runs = method.estimate(method.measure(counted(points, 256), rng))
    for first in range(0, 256, 5):
        for last in range(first, 256, 7):
            off = abs(runs.count([first], [last]) - truth(points, first, last))
            assert off <= promise.error * rows
    assert promise.error < 1
    with pytest.raises(InvalidArgument, match="Nothing is promised"):
        method.usefulness(rows=10**6, beta="0.05")


def test_the_sample_size_is_that_of_the_printed_parameters():
    """N makes (4b/ε) exp(-α' n ε²/8) equal to δ, with α' = εα/(4b)."""
    for bits, error, failure, loss in ((10, 0.1, 0.05, 1), (32, 0.02, 1e-6, 0.5)):
        asked = paper_rows(bits=bits, error=error, failure=failure, epsilon=loss)
        each = error * loss / (4 * bits)
        fails = 4 * bits / error * math.exp(-each * float(asked) * error**2 / 8)
        assert fails == pytest.approx(failure)
    # With its two counts a piece instead of none, ours promises as much for four times the rows.
    rows = 4 * math.ceil(paper_rows(bits=10, error="0.1", failure="0.05", epsilon=1))
    target, pieces = declared_target(rows=rows, error="0.1")
    method = IntervalSearch.calibrate(
        cells=1024, target=target, most_pieces=pieces, loss=Pure(1), rows_per_unit=1
    )
    assert method.usefulness(rows=rows, beta="0.05").error <= Fraction("0.1")
    for wrong in (0, 1):
        with pytest.raises(InvalidArgument):
            declared_target(rows=10, error=wrong)


def test_a_search_asks_no_more_than_is_paid(rng):
    for pieces in (1, 2, 50):
        for cells in (1, 2, 100):
            calls: list[int] = []

            class Counting:
                def release(self, values, rng, calls=calls):
                    calls.append(values.size)
                    return values

            method = search(noise=Counting(), cells=cells, most_pieces=pieces, target=3)
            method.measure(counted([0] * 10, cells), rng)
            assert 0 < sum(calls) <= method.questions


@pytest.mark.parametrize("rows", [1, 3])
def test_losses_are_spent_exactly(rows):
    for loss in (Pure("1/3"), Zcdp(rho="1/8")):
        methods: list[Any] = [
            IntervalSearch.calibrate(
                cells=100, target=5, most_pieces=9, loss=loss, rows_per_unit=rows
            ),
            BoxSearch.calibrate(sizes=(16, 9), depth=3, loss=loss, rows_per_unit=rows),
            TreeCounts.calibrate(cells=50, loss=loss, rows_per_unit=rows),
        ]
        assert all(method.loss(rows_per_unit=rows) == loss for method in methods)
    sums = PrefixSums.calibrate(cells=50, loss=Zcdp(rho="1/8"), rows_per_unit=rows)
    assert sums.loss(rows_per_unit=rows) == Zcdp(rho="1/8")
    one = search(noise=DiscreteLaplace(scale=90))
    assert one.questions == 19 * 10 + 1
    assert one.loss(rows_per_unit=rows) == Pure(Fraction(191 * rows, 90))
    box = BoxSearch(sizes=(16, 9), depth=3, search_noise=QUIET, count_noise=QUIET)
    assert (box.steps, box.loss(rows_per_unit=rows)) == (12, Pure(8 * 13 * rows))
    with pytest.raises(Unsupported):
        TreeCounts.calibrate(cells=50, loss=Approximate(1, "0.1"), rows_per_unit=1)


# ---------------------------------------------------------------- boxes


def test_boxes_cover_everything_once_and_find_atoms(rng):
    points = [(int(a), int(b)) for a, b in (rng.words(800) % np.uint64(32)).reshape(-1, 2)]
    points += [(7, 9)] * 2000
    method = BoxSearch(sizes=(32, 32), depth=10, search_noise=QUIET, count_noise=QUIET)
    measured = method.measure(counted(points, 32, 32), rng)
    cells = np.zeros((32, 32), dtype=int)
    for left, low, right, high, _ in measured:
        cells[left : right + 1, low : high + 1] += 1
    assert (cells == 1).all()
    boxes = method.estimate(measured)
    assert abs(boxes.total - len(points)) < 40
    assert abs(boxes.count([7, 9], [7, 9]) - truth(points, (7, 9), (7, 9))) < 20
    for first, last in (((0, 0), (31, 31)), ((3, 4), (20, 30)), ((8, 0), (31, 8))):
        bound = boxes.error(first, last, "1e-9")
        assert abs(boxes.count(first, last) - truth(points, first, last)) <= bound
    rows = boxes.points()
    assert len(rows) == np.maximum(boxes.counts, 0).sum()
    assert rows.min() >= 0
    assert rows.max() <= 31


def test_errors_of_boxes_are_kept(soak):
    """One query, 95 %: misses are at most as many as the level allows (exact binomial)."""
    share, trials = alpha("synthesis/box_counts/error"), soak.cases(12)
    points = [(i * i) % 61 for i in range(500)]
    method = BoxSearch.calibrate(sizes=(61,), depth=3, loss=Pure(2), rows_per_unit=1)
    missed = 0
    for number in range(trials):
        boxes = method.estimate(method.measure(counted(points, 61), NumberedRng(number)))
        off = abs(boxes.count([10], [42]) - truth(points, 10, 42))
        missed += off > boxes.error([10], [42], "0.05")
    assert missed <= 0.05 * trials or binomial_p_value(missed, trials, 0.05) > share


def test_axes_of_all_lengths_and_tables_of_no_rows(rng):
    """The longest axes fit into 64 bits, and a table without rows has pieces like any other."""
    far = 2**62
    none = CountedRows((far,), np.zeros((0, 1), dtype=np.int64), np.zeros(0, dtype=np.int64))
    last = CountedRows((far,), np.array([[far - 1]]), np.array([10**6]))
    search = IntervalSearch.calibrate(
        cells=far, target=10**5, most_pieces=4, loss=Pure(100), rows_per_unit=1
    )
    boxes = BoxSearch.calibrate(sizes=[far], depth=5, loss=Pure(100), rows_per_unit=1)
    for rows in (none, last):
        for method in (search, boxes):
            measured = method.measure(rows, rng)
            assert measured[:, 1].max() == far - 1
            found = method.estimate(measured)
            total = int(rows.counts.sum())
            assert abs(found.count([far - 2], [far + 5]) - total) <= found.error(
                [far - 2], [far + 5], "1e-9"
            )
    with pytest.raises(InvalidArgument):
        BoxSearch.calibrate(sizes=(2**63,), depth=5, loss=Pure(1), rows_per_unit=1)
    with pytest.raises(InvalidArgument):
        boxes.estimate(boxes.measure(none, rng)).count([0.5], [3])  # type: ignore[list-item]


def test_bad_boxes_and_queries_are_refused():
    for measured in (np.zeros((0, 3), int), np.zeros((1, 2), int), np.array([[3, 1, 5]])):
        with pytest.raises(InvalidArgument):
            BoxCounts(measured, QUIET)
    with pytest.raises(InvalidArgument, match="on each axis"):
        BoxCounts(np.array([[0, 1, 5]]), QUIET).count([0, 0], [1, 1])
    usual: dict[str, Any] = {"sizes": (4,), "depth": 2, "loss": Pure(1), "rows_per_unit": 1}
    for wrong in ({"depth": 0}, {"depth": 40}, {"sizes": ()}, {"search_share": 1}):
        with pytest.raises(InvalidArgument):
            BoxSearch.calibrate(**(usual | wrong))
    with pytest.raises(InvalidArgument, match="not of this axis"):
        search().measure(counted([1], 9), NumberedRng(0))
    with pytest.raises(InvalidArgument, match="not of these axes"):
        BoxSearch(sizes=(4,), depth=1, search_noise=QUIET, count_noise=QUIET).measure(
            counted([1], 9), NumberedRng(0)
        )


# ---------------------------------------------------------------- trees and prefix sums


def test_trees_and_prefix_sums_are_unbiased_with_their_deviation():
    """Without noise both give the counts back; the deviations are those of dense matrices."""
    counts = np.array([5, 0, 7, 1, 1, 9, 30])
    sums = PrefixSums.calibrate(cells=7, loss=Zcdp(rho="1/2"), rows_per_unit=1)
    column = measured_column(7)
    matrix = np.array([[column[i - j] if i >= j else 0 for j in range(7)] for i in range(7)])
    assert np.array_equal(sums.combined(counts), matrix @ counts)
    assert sums.contribution(1).l2_squared == int((matrix[:, 0] ** 2).sum())
    found = sums.estimate(matrix @ counts)
    assert found.up_to[1:] == pytest.approx(np.cumsum(counts))
    answers = np.tril(np.ones((7, 7))) @ np.linalg.inv(matrix)
    row = answers[4] - answers[1]
    assert sums.deviation(2, 4) == pytest.approx(
        math.sqrt(float(sums.noise.sigma_squared) * (row @ row))
    )
    tree = TreeCounts.calibrate(cells=7, loss=Zcdp(rho="1/2"), rows_per_unit=1, branching=2)
    levels = tree.levels.hierarchy.sums(counts)
    exact = (None, *levels[1:])
    assert tree.estimate(exact).up_to[1:] == pytest.approx(np.cumsum(counts))
    incidence = np.concatenate(
        [
            [tree.levels.hierarchy.sums(place)[k] for place in np.eye(7, dtype=np.int64)]
            for k in range(1, len(levels))
        ],
        axis=1,
    ).T
    noise = tree.levels.noises[-1]
    assert isinstance(noise, DiscreteGaussian)
    spread = float(noise.sigma_squared) * np.linalg.inv(incidence.T @ incidence)
    assert tree.deviation(2, 4) == pytest.approx(math.sqrt(spread[2:5, 2:5].sum()))


def typical(method, cells: int) -> float:
    ends = (np.arange(1, 41) * 0.6180339887 % 1 * cells).astype(int).reshape(-1, 2)
    runs = [sorted(pair) for pair in ends.tolist()]
    return math.sqrt(np.mean([method.deviation(*run) ** 2 for run in runs]))


def test_what_a_user_would_pick():
    """Under zCDP prefix sums beat every tree, and both beat cells; under ε-DP the tree is best."""
    cells, rho = 1024, Zcdp(rho="1/2")
    sums = typical(PrefixSums.calibrate(cells=cells, loss=rho, rows_per_unit=1), cells)
    trees = [
        typical(TreeCounts.calibrate(cells=cells, loss=rho, rows_per_unit=1, branching=k), cells)
        for k in (2, 4, 16)
    ]
    flat = math.sqrt(cells / 3)  # a third of the cells are in a run, with variance 1
    assert sums < 0.95 * min(trees)
    assert max(trees) < flat / 2
    pure = TreeCounts.calibrate(cells=cells, loss=Pure(1), rows_per_unit=1)
    assert typical(pure, cells) < math.sqrt(2) * flat


def test_whole_counts_are_not_negative_and_keep_the_sum():
    tree = TreeCounts.calibrate(cells=40, loss=Pure(1), rows_per_unit=1, branching=3)
    found = tree.estimate(tree.measure(np.zeros(40, dtype=np.int64), NumberedRng(8)))
    whole = found.whole_counts()
    assert whole.min() >= 0
    assert whole.sum() == max(0, round(found.up_to[-1]))
    for run in ((3, 2), (-1, 4), (0, 40)):
        with pytest.raises(InvalidArgument, match="no such run"):
            found.count(*run)
        with pytest.raises(InvalidArgument, match="no such run"):
            tree.deviation(*run)


def test_bad_trees_and_sums_are_refused():
    with pytest.raises(Unsupported, match="TreeCounts"):
        PrefixSums.calibrate(cells=9, loss=Pure(1), rows_per_unit=1)  # type: ignore[arg-type]
    for tiny in (Pure("1e-40"), Pure(10**12), Pure(0)):
        with pytest.raises(InvalidArgument):
            TreeCounts.calibrate(cells=9, loss=tiny, rows_per_unit=1)
    for cells in (1, 2**23):
        with pytest.raises(InvalidArgument):
            TreeCounts.calibrate(cells=cells, loss=Pure(1), rows_per_unit=1)
    with pytest.raises(InvalidArgument, match="cells"):
        PrefixSums.calibrate(cells=2**15, loss=Zcdp(rho=1), rows_per_unit=1)
    sums = PrefixSums.calibrate(cells=3, loss=Zcdp(rho=1), rows_per_unit=1)
    for counts in (np.array([1, 2]), np.array([0.5, 1, 1]), np.array([2**51, 0, 0])):
        with pytest.raises(InvalidArgument):
            sums.measure(counts, NumberedRng(0))


# ---------------------------------------------------------------- neighbours

PLACES = [*range(0, 60, 2), *[9] * 25]


def unit(rows: int, place: int) -> list[int]:
    return [(place + 17 * row) % 64 for row in range(rows)]


def interval_run(limit: int):
    method = search(noise=DiscreteLaplace(scale=3), cells=64, target=9, most_pieces=8)

    def run(points, recorder):
        noise = recorder.watch(method.noise, d_in=Contribution(l0=1, linf=limit))
        return evolve(method, noise=noise).measure(counted(points, 64), recorder.rng)

    return run


def box_run(limit: int):
    method = BoxSearch.calibrate(sizes=(64,), depth=3, loss=Pure(1), rows_per_unit=3)

    def run(points, recorder):
        d_in = table_contribution(8, limit)
        held = evolve(
            method,
            search_noise=recorder.watch(method.search_noise, d_in=d_in),
            count_noise=recorder.watch(method.count_noise, d_in=d_in),
        )
        return held.measure(counted(points, 64), recorder.rng)

    return run


def sums_run(limit: int):
    method = PrefixSums.calibrate(cells=64, loss=Zcdp(rho=1), rows_per_unit=3)

    def run(points, recorder):
        noise = recorder.watch(method.noise, d_in=method.contribution(limit))
        held = evolve(method, noise=noise)
        return held.measure(counted(points, 64).table([0]), recorder.rng)

    return run


@pytest.mark.parametrize("run", [interval_run, box_run, sums_run])
def test_measured_numbers_move_as_the_event_says(run):
    """Replay with a unit of three rows; a limit of one row is not what it moves (broken twin)."""
    found = set()
    for number, rows in enumerate((unit(3, 0), unit(3, 30), [9] * 3, [63] * 3)):
        rng = NumberedRng(number)
        assert replay_audit(run(3), PLACES, PLACES + rows, rng) == ()
        found |= {one.kind for one in replay_audit(run(1), PLACES, PLACES + rows, rng)}
    assert found == {FindingKind.CONTRIBUTION}


def test_replay_catches_a_target_that_is_a_share_of_the_true_rows():
    """Twin: pieces of a tenth of n, as printed, with the n of the rows themselves."""

    def twin(points, recorder):
        method = search(cells=64, target=len(points) // 10, most_pieces=8)
        noise = recorder.watch(DiscreteLaplace(scale=3), d_in=Contribution(l0=1, linf=1))
        return evolve(method, noise=noise).measure(counted(points, 64), recorder.rng).tolist()

    points = [*PLACES, *range(44)]
    assert len(points) == 99
    found = set()
    for number in range(5):
        found |= {one.kind for one in replay_audit(twin, points, [*points, 3], NumberedRng(number))}
    assert found & {FindingKind.CONTROL_FLOW, FindingKind.RESULT, FindingKind.WORDS}


def test_enumeration_catches_a_share_of_the_true_rows():
    """Twin: (count + noise)/n, with the private n: each n has fractions that no other has."""

    def shares(count: int, rows: int):
        law = discrete_laplace_law(2, centre=count, window=(-6, 14))
        return push_forward(law, lambda value: Fraction(value, rows))

    pair = LawPair(first=shares(4, 7), second=shares(5, 8))
    assert verify(pair, Pure(1000)).answer is VerdictAnswer.BROKEN
    laws = [discrete_laplace_law(2, centre=c, window=(-6, 14)) for c in (4, 5)]
    sound = LawPair(first=laws[0], second=laws[1])
    assert verify(sound, Pure("1/2")).answer is VerdictAnswer.HOLDS


def test_accountant_catches_questions_that_are_not_paid():
    """Twin: a charge for the boundaries that were kept, and not for those that were tried."""
    method = search(noise=DiscreteLaplace(scale=200))
    kept = method.noise.event(Contribution(l0=1, linf=1)) * method.most_pieces
    assert pure_loss([kept]) == Pure(Fraction(method.most_pieces, 200))
    assert not pure_loss([method.event(1)]) <= pure_loss([kept])
