"""The private choice of limits: its exact law for all small histograms of units and neighbours.

The choice weighs candidates by powers of a base, which is taken to be rational here: then every
probability is an exact fraction, and so is the largest ratio between neighbours.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

from discreet.accounting.accountants.pure import pure_loss
from discreet.core.loss import Pure
from discreet.core.protocols import IntArray
from discreet.curator.limits.private_limits import TriedLimits
from discreet.curator.price.fewest_cut import ONE_UNIT, FewestCut, handicaps
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.selection.exponential_mechanism import ExponentialMechanism
from discreet.mechanisms.selection.scores import Scores
from discreet.tables.catalog import Limits

BASE = Fraction(5, 4)
"""What e to the loss of the choice stands for: one unit of score less."""

NOISE_BASE = Fraction(3, 2)
"""The same for the count of units."""

SHAPE, MOST_UNITS = (2, 2), 2
ROWS, GROUPS = (1, 2, 7), (1, 2, 4)
"""Limits of 1 and 2 of each kind, and what a unit beyond them has."""

Score = Callable[[FewestCut, IntArray], IntArray]


def mechanism(places: tuple[int, ...] = (0, 1, 2, 3)) -> FewestCut:
    widths = [width for i, width in enumerate((1, 2, 2, 4)) if i in places]
    return FewestCut(
        shape=SHAPE,
        places=places,
        handicaps=handicaps(widths, 1, Fraction(2)),
        choice=ExponentialMechanism(scale=4, scores=Scores.MONOTONE),
        noise=DiscreteLaplace(scale=3),
    )


def histograms(cells: int, units: int) -> Iterator[IntArray]:
    """Return every way in which at most so many units fall into cells."""
    for many in range(units + 1):
        for where in combinations_with_replacement(range(cells), many):
            yield np.bincount(np.array(where, dtype=np.int64), minlength=cells).astype(np.int64)


def neighbours(units: int = MOST_UNITS) -> Iterator[tuple[IntArray, IntArray]]:
    """Return every small histogram beside itself with one unit more, wherever it falls."""
    cells = (SHAPE[0] + 1) * (SHAPE[1] + 1)
    for fewer in histograms(cells, units):
        for cell in range(cells):
            more = fewer.copy()
            more[cell] += 1
            yield fewer, more


def law(scores: IntArray) -> list[Fraction]:
    """Return the probability of each candidate."""
    weights = [BASE ** int(score) for score in scores]
    return [weight / sum(weights) for weight in weights]


def units_cut(units: IntArray, rows: int, groups: int) -> int:
    """Count the units beyond limits of 1 or 2, one cell after another."""
    cells = product(range(len(ROWS)), range(len(GROUPS)))
    beyond = [ROWS[i] > rows or GROUPS[j] > groups for i, j in cells]
    return sum(int(count) for count, is_cut in zip(units, beyond, strict=True) if is_cut)


def worst_ratio(score: Score) -> Fraction:
    """Return the largest ratio of the probabilities of a candidate between neighbours."""
    found = mechanism()
    ratios = []
    for pair in neighbours():
        fewer, more = (law(score(found, units)) for units in pair)
        ratios += [max(p / q, q / p) for p, q in zip(fewer, more, strict=True)]
    return max(ratios)


def test_scores_count_the_units_that_are_cut():
    found = mechanism()
    for units in histograms(9, 2):
        expected = [
            -units_cut(units, rows, groups) - handicap
            for (rows, groups), handicap in zip(
                product((1, 2), (1, 2)), found.handicaps, strict=True
            )
        ]
        assert found.scores(units).tolist() == expected


def test_the_choice_tells_no_more_than_is_paid_for_and_all_of_it():
    # One unit of score is the base: the bound is nearly reached, where few others are in the way.
    assert BASE ** Fraction(3, 4) < worst_ratio(FewestCut.scores) <= BASE


def joint_ratios(pair: tuple[IntArray, IntArray]) -> Iterator[Fraction]:
    """Yield the ratios of the laws of the choice and the noisy count together, at all outcomes.

    Beyond both centres the ratio does not change any more.
    """
    found = mechanism()
    laws = [law(found.scores(units)) for units in pair]
    for place, limits in enumerate(product((1, 2), (1, 2))):
        centres = [units_cut(units, *limits) for units in pair]
        for outcome in range(min(centres) - 1, max(centres) + 2):
            first, second = (
                laws[i][place] / NOISE_BASE ** abs(outcome - centres[i]) for i in range(2)
            )
            yield max(first / second, second / first)


def test_the_choice_and_the_count_tell_no_more_than_both_are_paid_for():
    worst = max(ratio for pair in neighbours() for ratio in joint_ratios(pair))
    assert worst <= BASE * NOISE_BASE
    # Who forgets the choice when charging, or the count, is caught.
    assert worst > max(BASE, NOISE_BASE)


def test_the_loss_is_the_sum_of_both():
    found = mechanism()
    assert pure_loss([found.event(ONE_UNIT)]) == Pure(Fraction(1, 4) + Fraction(1, 3))


# ---- Broken twins.


def least_error(found: FewestCut, units: IntArray) -> IntArray:
    """Return what comes to mind first: the rows that a candidate cuts, of which a unit has many."""
    cells = [ROWS[i] * GROUPS[j] for i, j in product(range(3), range(3))]
    kept = [
        [min(ROWS[i], rows) * min(GROUPS[j], groups) for i, j in product(range(3), range(3))]
        for rows, groups in product((1, 2), (1, 2))
    ]
    lost = [[all_of - part for all_of, part in zip(cells, some, strict=True)] for some in kept]
    return -np.array([int(np.dot(units, some)) for some in lost], dtype=np.int64)


def rows_for_units(found: FewestCut, units: IntArray) -> IntArray:
    """Return scores of a histogram of rows instead of units."""
    rows = [ROWS[i] for i, _ in product(range(3), range(3))]
    return found.scores(units * np.array(rows, dtype=np.int64))


def nearest_to_a_number(found: FewestCut, units: IntArray) -> IntArray:
    """Return scores that rise for some and fall for others, charged as if all would fall."""
    cut = -found.scores(units) - np.array(found.handicaps)
    return -abs(cut - 1)


@pytest.mark.parametrize("twin", [least_error, rows_for_units, nearest_to_a_number])
def test_a_score_that_one_unit_moves_further_is_caught(twin):
    assert worst_ratio(twin) > BASE


# ---- Limits over all groups, beside those in groups.

TRIED = TriedLimits((1, 2), (1, 2), (3,))
IN_ALL = (3, 9)
CELLS = tuple(product(ROWS, GROUPS, IN_ALL))


def with_open_ends() -> FewestCut:
    places = TRIED.places()
    return FewestCut(
        shape=TRIED.shape(),
        places=tuple(places.values()),
        handicaps=(0,) * len(places),
        choice=ExponentialMechanism(scale=4, scores=Scores.MONOTONE),
        noise=DiscreteLaplace(scale=3),
        has_open_ends=True,
    )


def are_cut(limits: Limits) -> list[bool]:
    """Tell of each cell whether its units are beyond limits."""
    if limits.rows_per_unit is not None:
        return [every > limits.rows_per_unit for _, _, every in CELLS]
    return [r > limits.rows_per_group or g > limits.groups_per_unit for r, g, _ in CELLS]


def worst_of(scores: Callable[[IntArray], IntArray], units: int = 1) -> Fraction:
    """Return the largest ratio between all small histograms and those with one unit more."""
    found = Fraction(0)
    for fewer in histograms(len(CELLS), units):
        first = law(scores(fewer))
        for one in np.eye(len(CELLS), dtype=np.int64):
            pairs = zip(first, law(scores(fewer + one)), strict=True)
            found = max(found, *(max(p / q, q / p) for p, q in pairs))
    return found


def test_scores_count_the_units_beyond_limits_of_either_kind():
    found, places = with_open_ends(), TRIED.places()
    assert [limits.rows_per_unit for limits in places] == [None] * 4 + [3]
    for units in histograms(len(CELLS), 2):
        expected = [-int(units[are_cut(limits)].sum()) for limits in places]
        assert found.scores(units).tolist() == expected


def test_a_limit_over_all_groups_is_chosen_for_no_more_than_is_paid():
    """All histograms of up to two units; the twin counts the rows beyond such a limit."""
    found = with_open_ends()
    assert BASE ** Fraction(3, 4) < worst_of(found.scores) <= BASE
    rows = np.array([max(every - 3, 0) for _, _, every in CELLS])

    def rows_beyond(units: IntArray) -> IntArray:
        scores = found.scores(units)
        scores[-1] = -int(rows @ units)
        return scores

    assert worst_of(rows_beyond) > BASE


# ---- What it draws.


def test_it_chooses_what_cuts_nobody_and_is_narrow(rng):
    sure = FewestCut(
        shape=(3,),
        places=(0, 1, 2),
        handicaps=(0, 100, 200),
        choice=ExponentialMechanism(scale=1, scores=Scores.MONOTONE),
        noise=DiscreteLaplace(scale=Fraction(1, 50)),
    )
    # All have at most the second limit: the first would cut too many, and the third has noise.
    units = np.array([5, 1000, 0, 0], dtype=np.int64)
    assert sure.release(units, rng).tolist() == [1, 0]
    assert sure.release(np.array([5, 0, 0, 1000], dtype=np.int64), rng).tolist() == [0, 1000]


def test_a_candidate_that_was_taken_out_is_never_chosen(rng):
    found = mechanism((1, 3))
    chosen = {found.release(np.zeros(9, dtype=np.int64), rng)[0] for _ in range(100)}
    assert chosen <= {0, 1}
    beyond = np.array([0, 0, 0, 0, 0, 0, 0, 0, 6], dtype=np.int64)
    assert found.scores(beyond).tolist() == [-6 - handicap for handicap in found.handicaps]


def test_its_error_is_that_of_its_noise():
    found = mechanism()
    beta = Fraction(1, 20)
    assert found.error_quantile(beta) == found.noise.error_quantile(beta)
