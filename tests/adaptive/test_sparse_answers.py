"""Thresholdout: its constants, its budget, and analysts that overfit the training rows."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from attrs import evolve

from discreet.adaptive.answering_modes import SparseMode
from discreet.adaptive.compared_modes import compared_guarantees, sparse_crossover
from discreet.adaptive.guarantee import STEPS, gaussian_guarantee
from discreet.adaptive.holdout import Holdout
from discreet.adaptive.sparse_answers import ONE_ROW, sparse_guarantee
from discreet.core.errors import InvalidArgument
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace


def promise(**changes) -> Any:
    kept: dict[str, Any] = {"rows": 100_000, "questions": 5_000, "overfits": 8, "beta": "0.05"}
    found = sparse_guarantee(**{**kept, **changes})
    assert found is not None
    return found


@pytest.mark.parametrize("overfits", [1, 8, 16])
def test_constants_against_floats(overfits):
    """The pure machine, from its three scales alone: loss, quantiles of Laplace noise, transfer."""
    found = promise(rows=10**6, overfits=overfits)
    vector, rows = found.answers.machine.vector, 10**6
    assert vector.draws == 1, "with few corrections the threshold is drawn once"
    first, second, third = (
        float(noise.scale) / STEPS
        for noise in (vector.threshold_noise, vector.query_noise, found.answers.machine.value_noise)
    )
    part = float(found.answers.sample_beta)
    epsilon = 1 / first + overfits * (2 / second + 1 / third)
    # Half of the chance is for comparisons, of which half is for the threshold.
    compared = first * math.log(4 / part) + second * math.log(4 * 5_000 / part)
    assert third * math.log(2 * overfits / part) < 2 * compared, "values would be the worse"
    alpha = float(found.answers.tolerance) + 2 * compared / rows
    alpha += math.tanh(epsilon / 4) + part / 0.05
    assert float(found.alpha) == pytest.approx(alpha, rel=1e-4)
    assert float(found.answers.stability(Fraction(0)).epsilon) == pytest.approx(epsilon, rel=1e-6)


def test_noise_is_near_the_best():
    """No other scale at the same ratios promises clearly more."""
    found = promise()
    theorem_alpha = found.alpha
    for factor in (Fraction(1, 2), Fraction(4, 5), Fraction(5, 4), Fraction(2)):
        machine = found.answers.machine
        vector = evolve(
            machine.vector,
            threshold_noise=DiscreteLaplace(scale=machine.vector.threshold_noise.scale * factor),
            query_noise=DiscreteLaplace(scale=machine.vector.query_noise.scale * factor),
        )
        value = DiscreteLaplace(scale=machine.value_noise.scale * factor)
        other = evolve(found.answers, machine=evolve(machine, vector=vector, value_noise=value))
        epsilon = other.stability(Fraction(0)).epsilon
        alpha = float(other.sample_accuracy.alpha) + math.tanh(float(epsilon) / 4)
        alpha += float(other.sample_beta) * 20
        assert float(theorem_alpha) <= alpha * 1.01


def test_it_pays_for_corrections_and_not_for_questions():
    few, many = promise(questions=100), promise(questions=10**7)
    # The tolerance grows with the logarithm of their number, and so does the error.
    assert many.alpha < 2 * few.alpha
    assert promise(overfits=16).alpha > promise(overfits=8).alpha
    assert promise(overfits=400).answers.machine.vector.draws == 400
    assert promise(tolerance="0").alpha < promise(tolerance="0.05").alpha
    # More corrections than questions cannot be made.
    assert promise(questions=3, overfits=100).alpha == promise(questions=3, overfits=3).alpha
    assert sparse_guarantee(rows=50, questions=10, overfits=1, beta="0.05") is None


def test_the_crossover_is_one():
    at = sparse_crossover(rows=100_000, overfits=4, beta="0.05")
    assert at is not None
    for questions, is_better in ((at // 2, False), (2 * at, True)):
        gaussian = gaussian_guarantee(rows=100_000, questions=questions, beta="0.05")
        sparse = promise(questions=questions, overfits=4)
        assert gaussian is not None
        assert (sparse.alpha < gaussian.alpha) is is_better
    assert sparse_crossover(rows=100, overfits=4, beta="0.05") is None
    best = compared_guarantees(rows=100_000, questions=2 * at, beta="0.05", overfits=4)[0]
    assert best.method == "sparse/posterior"


def held(rng, **changes):
    kept: dict[str, Any] = {"questions": 300, "overfits": 3, "alpha": "0.9", "tolerance": "0.05"}
    places = np.arange(40_000)
    holdout = Holdout(
        places[:30_000].copy(), training=places[30_000:].copy(), **{**kept, **changes}
    )
    holdout._rng = rng
    return holdout


def test_answers_come_from_training_rows_until_they_overfit(rng):
    holdout = held(rng)
    assert holdout.overfits_left == 3
    honest = holdout.ask(lambda row: row % 2)
    assert honest.is_from_training
    assert abs(honest.value - Fraction(1, 2)) < Fraction(1, 10**5)
    learnt = holdout.ask(lambda row: row >= 30_000)
    assert not learnt.is_from_training, "all training rows, none of the holdout"
    assert learnt.value < Fraction(1, 10)
    assert (holdout.overfits_left, holdout.left) == (2, 298)
    for _ in range(2):
        holdout.ask(lambda row: row >= 30_000)
    assert (holdout.overfits_left, holdout.left) == (0, 0)
    before = holdout.transcript
    with pytest.raises(InvalidArgument, match="All corrections"):
        holdout.ask(lambda row: row % 2)
    assert holdout.transcript == before


def sign_attack(holdout, random):
    """Ask random questions of the holdout's rows, then the one that agrees with all answers.

    Training rows answer a half for each of the questions, and for the last; the truth is a half.
    """
    votes = np.zeros(40_000)
    coin = votes
    for _ in range(holdout.left - 1):
        coin = random.integers(0, 2, 40_000).astype(float)
        coin[30_000::2], coin[30_001::2] = 0.0, 1.0
        answer = holdout.ask(lambda rows: coin[rows], is_batch=True)  # noqa: B023
        votes += (1 if answer.value >= 0.5 else -1) * (coin - 0.5)
    last = (votes > 0).astype(float)
    last[30_000::2], last[30_001::2] = 0.0, 1.0
    return holdout.ask(lambda rows: last[rows], is_batch=True)


def test_the_overfitting_analyst_is_inside_and_beats_the_machine_without_noise(rng):
    honest = sign_attack(held(rng), np.random.default_rng(5))
    assert honest.low <= Fraction(1, 2) <= honest.high
    # The broken twin compares and answers exactly, and corrects as often as it is asked.
    twin = held(rng, overfits=300, questions=300, alpha="0.9999", tolerance="0")
    answers, none = twin.guarantee.answers, DiscreteLaplace(scale=Fraction(1, 100))
    vector = evolve(answers.machine.vector, threshold_noise=none, query_noise=none)
    machine = evolve(answers.machine, vector=vector, value_noise=none)
    run = vector.open(threshold=1, d_in=ONE_ROW, rng=rng)
    twin._mode = SparseMode(evolve(answers, machine=machine), run, rng)
    fooled = sign_attack(twin, np.random.default_rng(5))
    predicted = 0.5 * math.erf(math.sqrt(2 * 299 / (math.pi * 30_000)) / math.sqrt(2))
    # The deviation of a mean over 30,000 rows is 0.003.
    assert float(fooled.value) - 0.5 == pytest.approx(predicted, abs=0.01)
    assert predicted > 0.03


def test_what_is_refused():
    rows = np.arange(10_000)
    wrongs: tuple[tuple[dict[str, Any], str], ...] = (
        ({"training": rows, "overfits": 3}, "those of the holdout"),
        ({"training": rows[5:], "overfits": 3}, "those of the holdout"),
        ({"training": range(5)}, "how often"),
        ({"overfits": 3}, "Only answers of training rows"),
        ({"tolerance": "0.1"}, "Only answers of training rows"),
        ({"training": range(5), "overfits": 0}, "overfits"),
        ({"training": range(5), "overfits": 3, "tolerance": "-0.1"}, "tolerance"),
        ({"training": range(5), "overfits": 3, "tolerance": "1"}, "tolerance"),
        ({"training": [], "overfits": 3}, "needs rows"),
        ({"training": range(20_000, 25_000), "overfits": 3_000}, "too few to correct"),
    )
    for wrong, said in wrongs:
        with pytest.raises(InvalidArgument, match=said):
            Holdout(rows, questions=100, **wrong)


def test_it_says_what_it_does():
    said = str(promise())
    assert "until 8 answers from training rows were off" in said
    assert "[DFH15]" in said
