"""A reusable holdout: what it promises, and that overfitting analysts do not fool it."""

import copy
import math
import multiprocessing
import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from discreet.adaptive.guarantee import (
    STEPS,
    GaussianAnswers,
    expected_guarantee,
    fixed_guarantee,
    gaussian_guarantee,
    guarantees,
    splitting_guarantee,
)
from discreet.adaptive.holdout import Holdout
from discreet.adaptive.rows_needed import least_rows
from discreet.adaptive.transfer import PosteriorTransfer
from discreet.core.errors import InvalidArgument, Unsupported


def overfit(ask, questions, size, random):
    """Ask random questions, then the one that agrees with all that deviates from a half.

    Rows are places 0 to ``size``; the population is uniform, so the truth of each is a half.
    Returns the last answer [Ste16, section 1.2.1].
    """
    votes = np.zeros(size)
    for _ in range(questions - 1):
        coin = random.integers(0, 2, size).astype(float)
        votes += np.sign(float(ask(coin)) - 0.5) * (coin - 0.5)
    return float(ask((votes > 0).astype(float)))


def test_the_naive_holdout_is_fooled_by_the_predicted_amount():
    """Each row is a place of its own, as with real people: the law is Φ(√(2k/πn)) - 1/2."""
    random, rows, found = np.random.default_rng(3), 1_001, []
    for _ in range(60):
        coins = random.integers(0, 2, (1_000, rows)).astype(np.float32)
        votes = np.sign(coins.mean(axis=1) - 0.5) @ (coins - 0.5)
        found.append((votes > 0).mean() - 0.5)
    predicted = 0.5 * math.erf(math.sqrt(2 * 1_000 / (math.pi * rows)) / math.sqrt(2))
    # The deviation of one is about 0.016, so 0.01 is five of the mean's.
    assert np.mean(found) == pytest.approx(predicted, abs=0.01)


@pytest.mark.parametrize("method", ["gaussian/posterior", "splitting", "gaussian/overfitting"])
def test_the_same_analyst_is_inside_of_every_interval(method, rng):
    random, questions = np.random.default_rng(4), 60
    rows = 60_000
    holdout = Holdout(np.arange(rows), questions=questions, method=method, alpha="0.999")
    holdout._rng = rng

    def ask(coin):
        answer = holdout.ask(lambda places: coin[places], is_batch=True)
        assert answer.low <= 0.5 <= answer.high
        return answer.value

    overfit(ask, questions, rows, random)
    assert holdout.left == 0


def test_what_is_promised_is_what_the_theorem_says():
    """From the noise alone, with another split of β: never less than the theorem at best."""
    found: Any = gaussian_guarantee(rows=50_000, questions=300, beta="0.05")
    answers = GaussianAnswers(50_000, 300, found.noise)
    deviation = math.sqrt(float(found.noise.sigma_squared)) / (STEPS * 50_000)
    assert float(answers.loss.rho) == pytest.approx(300 / (2 * (50_000 * deviation) ** 2))
    others: Any = [
        PosteriorTransfer().alpha(
            answers.sample_accuracy(Fraction(part)),
            answers.stability(Fraction(delta)),
            beta=Fraction(1, 20),
            rows=50_000,
        )
        for part in ("1e-6", "1e-4", "1e-3")
        for delta in ("1e-9", "1e-6", "1e-4")
    ]
    assert found.alpha <= min(others) * Fraction(101, 100)
    assert found.alpha > 4 * deviation, "noise alone is as large"


def test_oracles_of_the_specification():
    """Splitting: k ln(2k/β)/(2α²). In expectation: 2√(2k ln 2k)/α². Each to three digits."""
    for questions, rows in ((10**3, 5.3e5), (10**4, 6.45e6), (10**5, 7.6e7)):
        found = least_rows(alpha="0.1", questions=questions, beta="0.05", method="splitting")
        assert found.rows == pytest.approx(rows, rel=0.01)
    for questions in (10**2, 10**4):
        found = least_rows(
            alpha="0.1", questions=questions, beta="0.05", method="gaussian/expectation"
        )
        predicted = 2 * math.sqrt(2 * questions * math.log(2 * questions)) / 0.01
        assert found.rows == pytest.approx(predicted, rel=0.02)
    assert expected_guarantee(rows=10**6, questions=10**5).alpha == pytest.approx(0.056, abs=1e-3)


def test_better_accounting_needs_fewer_rows_than_the_literal_theorems():
    """1.98e6 and 1.29e7 rows by zCDP: here losses are those of Gaussian noise, and no more."""
    repaired = least_rows(alpha="0.1", questions=10**3, beta="0.05", method="gaussian/overfitting")
    assert 1e6 < repaired.rows < 1.98e6
    literal = least_rows(alpha="0.1", questions=10**3, beta="0.05", method="gaussian/monitor")
    assert 6e6 < literal.rows < 1.29e7
    best = least_rows(alpha="0.1", questions=10**3, beta="0.05")
    assert best.rows < 6e4
    assert best.method == "gaussian/posterior"


@pytest.mark.parametrize("questions", [1, 10, 1_000])
def test_more_rows_promise_more_and_more_questions_less(questions):
    for promise in (gaussian_guarantee, splitting_guarantee, fixed_guarantee):
        found: Any = [
            promise(rows=n, questions=questions, beta="0.05") for n in (10**5, 10**6, 10**7)
        ]
        assert found[0].alpha > found[1].alpha > found[2].alpha
        more: Any = promise(rows=10**6, questions=2 * questions, beta="0.05")
        assert more.alpha > found[1].alpha


def test_it_is_never_better_than_questions_that_were_fixed_beforehand():
    for rows, questions in ((10**4, 20), (10**6, 1_000), (10**7, 10**5)):
        fixed = fixed_guarantee(rows=rows, questions=questions, beta="0.05")
        assert all(
            one.alpha >= fixed.alpha
            for one in guarantees(rows=rows, questions=questions, beta="0.05")
        )


def test_rows_of_any_kind():
    frame = pd.DataFrame({"age": range(4_000), "sex": ["f", "m"] * 2_000})
    for rows, ask in (
        (frame, lambda row: row.sex == "f"),
        (pa.Table.from_pandas(frame), lambda row: row["sex"] == "f"),
        ([("f",), ("m",)] * 2_000, lambda row: row[0] == "f"),
    ):
        holdout = Holdout(rows, questions=5)
        answer = holdout.ask(ask)
        assert answer.low <= Fraction(1, 2) <= answer.high
        assert abs(answer.value - Fraction(1, 2)) < Fraction(1, 10)


def test_bad_questions_change_nothing_or_are_counted():
    holdout = Holdout(list(range(10_000)), questions=3)
    with pytest.raises(InvalidArgument, match="range is empty"):
        holdout.ask(lambda row: 1, low=1, high=1)
    with pytest.raises(InvalidArgument, match="more than one row"):
        Holdout(np.arange(10_000.0), questions=3).ask(lambda x: x / x.sum() * 9e3, is_batch=True)
    assert holdout.left == 3
    answer = holdout.ask(lambda row: 5 if row < 10 else 1 / (row - 10))
    assert (answer.clipped, answer.failed) == (10, 1)
    assert "were clipped" in str(answer)
    answer = Holdout(np.arange(10_000), questions=3).ask(lambda x: [1, 2], is_batch=True)
    assert answer.failed == 10_000
    holdout.ask(lambda row: float("inf"), low=-3, high=7)
    holdout.ask(lambda row: 0)
    before = holdout.transcript
    with pytest.raises(InvalidArgument, match="All questions were asked"):
        holdout.ask(lambda row: 0)
    assert holdout.transcript == before


def test_too_few_rows_are_told_how_many_would_do():
    with pytest.raises(InvalidArgument, match="too few") as caught:
        Holdout(range(100), questions=1_000, alpha="0.1")
    assert "53,900" in str(caught.value)
    with pytest.raises(InvalidArgument, match="needs rows"):
        Holdout([], questions=3)
    with pytest.raises(InvalidArgument, match="needs rows"):
        Holdout(3, questions=3)
    wrongs: Any = (0, -1, 1.5)
    for wrong in wrongs:
        with pytest.raises(InvalidArgument):
            Holdout(range(100), questions=wrong)


def test_it_is_one_object():
    holdout = Holdout(list(range(10_000)), questions=3)
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(Unsupported, match="copied or pickled"):
            copied(holdout)
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.apply(_refused, (id(holdout),)) == "Unsupported"
    assert holdout.left == 3


def _refused(number):
    holdout = Holdout(list(range(10_000)), questions=3)
    holdout._process -= 1  # as if it had been made before the fork
    try:
        holdout.ask(lambda row: 0)
    except Unsupported as error:
        return type(error).__name__
    return "asked"


def test_on_average_is_no_interval():
    holdout = Holdout(np.arange(10_000), questions=50, method="gaussian/expectation")
    answer = holdout.ask(lambda row: row < 5_000)
    assert answer.low == 0
    assert answer.high == 1
    assert "on average" in str(holdout.guarantee)
