"""A small universe: exact answers for all questions at once, or weights that learn."""

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.adaptive.answering_modes import answering_mode
from discreet.adaptive.holdout import Holdout
from discreet.adaptive.row_values import DeclaredRange, row_values
from discreet.adaptive.weights_answers import uniform_guarantee, weights_guarantee
from discreet.core.errors import InvalidArgument


def test_exact_answers_against_floats_and_every_set():
    found: Any = uniform_guarantee(rows=5_000, cells=8, beta="0.05")
    wanted = math.sqrt((math.log(40) + 8 * math.log(2)) / 10_000)
    assert float(found.alpha) == pytest.approx(wanted, rel=1e-4)
    shares = np.bincount(np.random.default_rng(1).integers(0, 8, 5_000), minlength=8) / 5_000
    worst = max(
        abs(sum(shares[list(chosen)]) - size / 8)
        for size in range(9)
        for chosen in itertools.combinations(range(8), size)
    )
    assert worst < float(found.alpha)
    assert uniform_guarantee(rows=3, cells=8, beta="0.05") is None


def test_weights_are_what_their_loss_and_error_say():
    found: Any = weights_guarantee(rows=10**6, questions=10**6, cells=64, beta="0.05")
    answers = found.answers
    error = answers.machine.error_quantile(answers.sample_beta, queries=10**6, rows=10**6)
    wanted = float(error) / (4096 * 10**6) + 1 / 8192
    wanted += math.tanh(float(answers.epsilon) / 4) + float(answers.sample_beta) / 0.05
    assert float(found.alpha) == pytest.approx(wanted, rel=1e-5)
    assert "64 elements" in str(found)
    more: Any = weights_guarantee(rows=10**6, questions=10**12, cells=64, beta="0.05")
    assert found.alpha < more.alpha < Fraction(6, 5) * found.alpha


def test_weights_answer_within_their_promise(rng):
    found: Any = weights_guarantee(rows=300_000, questions=1_000, cells=16, beta="0.05")
    counts = np.full(16, 1_000)
    counts[3] = 300_000 - 15_000
    mode = answering_mode(found, rng, counts)
    elements = list(range(16))
    for number, wanted in enumerate((3, 5, 3)):
        values = row_values(lambda one: one == wanted, elements, DeclaredRange(0, 1))  # noqa: B023
        share = mode.share(values, number, None).value
        assert abs(share - Fraction(int(counts[wanted]), 300_000)) <= found.alpha


def test_a_holdout_takes_the_better_one():
    rows = [number % 6 for number in range(20_000)]
    holdout = Holdout(rows, universe=range(6), questions=100)
    assert holdout.guarantee.method == "universe/exact"
    answer = holdout.ask(lambda one: one < 3)
    assert answer.value == Fraction(sum(row < 3 for row in rows), 20_000)
    assert holdout.left == 99
    many = Holdout([0] * 400_000, universe=range(600_000), questions=100, alpha="0.9")
    assert many.guarantee.method == "weights/posterior"


def test_what_is_refused():
    wrongs: tuple[dict[str, Any], ...] = (
        {"universe": [0, 1]},
        {"universe": [0, 1, 2, 2]},
        {"universe": []},
        {"universe": [[0], [1]]},
    )
    for wrong in wrongs:
        with pytest.raises(InvalidArgument):
            Holdout([0, 1, 2] * 1_000, questions=5, **wrong)
    with pytest.raises(InvalidArgument, match="too few"):
        Holdout([0, 1] * 10, universe=range(50), questions=5)
