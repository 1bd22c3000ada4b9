"""The Ladder: its count of transcripts, its error, and those who climb a plain leaderboard."""

import copy
import itertools
import math
import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.adaptive.leaderboard import Leaderboard, ladder_error
from discreet.core.errors import InvalidArgument, Unsupported


@pytest.mark.parametrize(("answers", "steps"), [(1, 1), (3, 2), (3, 3), (2, 5)])
def test_transcripts_are_counted_by_enumeration(answers, steps):
    """All sequences of losses, on a grid that is finer than the board."""
    fine = 4 * steps

    board = Leaderboard(np.zeros(fine), submissions=answers)
    board.steps = steps

    def play(losses):
        board._shown, board._number = Fraction(1), 0
        return tuple(board.submit(np.arange(fine) < loss).loss for loss in losses)

    seen = {play(losses) for losses in itertools.product(range(fine + 1), repeat=answers)}
    assert len(seen) <= math.comb(answers + steps, steps)
    # The first move is by more than a step, so a few of those that were counted cannot occur.
    assert len(seen) >= math.comb(answers + steps - 1, steps - 1)


def test_what_is_shown_is_near_the_best_on_the_rows():
    random = np.random.default_rng(2)
    for _ in range(50):
        board = Leaderboard(np.zeros(1_000), submissions=40)
        best = Fraction(1)
        for _ in range(40):
            wrong = int(random.integers(0, 1_001))
            best = min(best, Fraction(wrong, 1_000))
            shown = board.submit(np.arange(1_000) < wrong).loss
            assert abs(shown - best) <= Fraction(1, board.steps)


def test_the_error_against_floats_and_the_best_steps():
    for rows, submissions in ((10_000, 100), (10**6, 10**4)):
        error, steps = ladder_error(rows=rows, submissions=submissions, beta="0.05")

        def at(count, rows=rows, submissions=submissions):
            pairs = math.log(math.comb(submissions + count, count + 1))
            return 1 / count + math.sqrt((math.log(40) + pairs) / (2 * rows))

        assert float(error) == pytest.approx(at(steps), rel=1e-6)
        assert all(at(other) >= at(steps) for other in range(1, 200))
    assert ladder_error(rows=1, submissions=10, beta="0.05")[0] == 1


def climb(losses_of, size, submissions, random):
    """Submit guesses, and last what agrees with those that looked better than the one before."""
    votes, before = np.zeros(size), 1.0
    for _ in range(submissions - 1):
        guess = random.integers(0, 2, size)
        shown = float(losses_of(guess))
        votes += (1 if shown < before else -1) * (guess - 0.5)
        before = shown
    return (votes > 0).astype(int)


def test_a_plain_leaderboard_is_climbed_and_the_ladder_is_not():
    random, size = np.random.default_rng(9), 4_000
    labels = random.integers(0, 2, size)
    last = climb(lambda guess: (guess != labels).mean(), size, 800, random)
    # Comparing with the answer before is as good as with a half, but for a constant.
    assert (last != labels).mean() < 0.5 - 0.05
    board = Leaderboard(labels, submissions=800)
    last = climb(lambda guess: board.submit(guess).loss, size, 800, random)
    # A guess has a deviation of 0.008: six of them.
    assert (last != labels).mean() > 0.5 - 0.05
    standing = board.submit(last)
    assert abs(standing.loss - Fraction(1, 2)) <= standing.error


def test_what_is_refused():
    board = Leaderboard([0, 1, 1], submissions=1)
    with pytest.raises(InvalidArgument, match="wrong length"):
        board.submit([0, 1])
    assert board.left == 1
    board.submit([0, 1, 1])
    with pytest.raises(InvalidArgument, match="All submissions"):
        board.submit([0, 1, 1])
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(Unsupported, match="copied or pickled"):
            copied(board)
    wrongs: Any = ([], [[1]], 3)
    for wrong in wrongs:
        with pytest.raises(InvalidArgument, match="needs labels"):
            Leaderboard(wrong, submissions=3)
    with pytest.raises(InvalidArgument):
        Leaderboard([1, 0], submissions=0)
    assert "best loss" in repr(board)
    forked = Leaderboard([0, 1, 1], submissions=1)
    forked._process -= 1  # as if it had been made before a fork
    with pytest.raises(Unsupported, match="second process"):
        forked.submit([0, 1, 1])
    assert forked.left == 1
