"""Learnt scores: what they find in vectors, what they leave alone, and that they accuse nobody."""

from fractions import Fraction

import numpy as np
import pytest

from discreet.audit.learn_score import MOST_LEARNT, learn_score
from discreet.audit.outputs import LearnedScore, Missing
from discreet.audit.sampling import audit_outputs
from discreet.core.loss import Pure
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from tests.support.statistics.exact_tests import alpha

WIDE = 24


def rows(noise: DiscreteLaplace, centre: int, count: int, rng) -> list[tuple[int, ...]]:
    found = noise.release(np.full((count, WIDE), centre, dtype=np.int64), rng)
    return [tuple(row) for row in found.tolist()]


def test_many_small_moves_add_up(rng):
    first, second = (rows(DiscreteLaplace(scale=5), centre, 1000, rng) for centre in (1, 0))
    score = learn_score(first, second)
    assert score is not None
    # Of 500 rows one weight in 80 has the wrong sign, of 1,000 one in 1,000: never five of 24.
    assert np.median(score.scores(first)) > np.median(score.scores(second))
    assert np.mean(np.array(score.weights) > 0) > 0.8


def test_a_wide_mechanism_that_pays_for_every_cell_is_not_accused(rng):
    """One unit moves all cells: scale 24 at ε = 1. The score sees much, and no more than that."""
    sure = 1 - Fraction(alpha("audit/learnt score"))
    samples = [rows(DiscreteLaplace(scale=WIDE), centre, 3000, rng) for centre in (0, 1)]
    found = audit_outputs(*samples, confidence=sure)
    assert not found.refutes(Pure(1)), str(found)
    assert found.epsilon_lower <= 1


def test_noise_that_two_cells_share_is_seen_through():
    first = [(i, 7 * i % 5, i) for i in range(40)]
    second = [(i + 1, 7 * i % 5, i) for i in range(40)]
    score = learn_score(first, second)
    assert score is not None
    assert score.scores(first).max() < score.scores(second).min() or (
        score.scores(first).min() > score.scores(second).max()
    )


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([1] * 20, [2] * 20),
        ([(1,)] * 20, [(2,)] * 20),
        ([(1, 2)] * 3, [(2, 2)] * 3),
        ([(1, 2)] * 20, [(1, 2)] * 20),
        ([("a", "b")] * 20, [("c", "d")] * 20),
        ([(1, 2)] * 20, [(1, 2, 3)] * 20),
        ([(0,) * (MOST_LEARNT + 1)] * 20, [(1,) * (MOST_LEARNT + 1)] * 20),
        ([(1e308, 0.0), (-1e308, 1.0)] * 10, [(1e308, 1.0), (-1e308, 0.0)] * 10),
        ([], []),
    ],
)
def test_where_nothing_can_be_learnt_there_is_no_score(first, second):
    assert learn_score(first, second) is None


def test_rows_of_another_form_have_no_score():
    score = LearnedScore((1.0, -1.0))
    assert score.of((5, 3)) == 2.0
    for odd in (7, "text", (1,), (1, "a"), (10**400, 1)):
        assert score.of(odd) is Missing.MISSING
    assert "2 entries" in str(score)
