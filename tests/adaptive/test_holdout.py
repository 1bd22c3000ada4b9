"""A reusable holdout: what it promises, and that overfitting analysts do not fool it."""

import copy
import math
import multiprocessing
import pickle
from fractions import Fraction
from typing import Any

import attrs
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from discreet.adaptive.guarantee import (
    ROUNDING,
    STEPS,
    GaussianAnswers,
    expected_guarantee,
    fixed_guarantee,
    gaussian_guarantee,
    guarantees,
    splitting_guarantee,
)
from discreet.adaptive.holdout import Holdout
from discreet.adaptive.row_values import DeclaredRange, batch_values, row_values
from discreet.adaptive.rows_needed import least_rows
from discreet.adaptive.transfer import PosteriorTransfer
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.numbers import exact
from tests.support.statistics.exact_tests import alpha


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
    """The rows are the whole population, so the promise of a part is Hoeffding's: β is the rate.

    The other methods differ from the truth by noise alone, whose deviation is a tenth of what is
    promised. The last question's truth is less than a half: an answer of a half is no vote.
    """
    random, questions = np.random.default_rng(4), 60
    rows, beta = 60_000, Fraction(1, 20)
    if method == "splitting":
        beta = exact(repr(alpha("adaptive/same analyst")))
    holdout = Holdout(np.arange(rows), questions=questions, method=method, alpha="0.999", beta=beta)
    holdout._rng = rng

    def ask(coin):
        answer = holdout.ask(lambda places: coin[places], is_batch=True)
        assert answer.low <= coin.mean() <= answer.high
        assert answer.high - answer.low < 0.6, "it says something"
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
    wrong: Any = "x > 3"
    with pytest.raises(InvalidArgument, match="is a function of a row"):
        holdout.ask(wrong)
    with pytest.raises(InvalidArgument, match="more than one row"):
        Holdout(np.arange(10_000.0), questions=3).ask(lambda x: x / x.sum() * 9e3, is_batch=True)
    assert holdout.left == 3
    holdout.ask(lambda row: 5 if row < 10 else 1 / (row - 10))
    holdout.ask(lambda row: float("inf"), low=-3, high=7)
    holdout.ask(lambda row: 0)
    before = holdout.transcript
    with pytest.raises(InvalidArgument, match="All questions were asked"):
        holdout.ask(lambda row: 0)
    assert holdout.transcript == before


def test_an_answer_tells_nothing_exact_of_the_sample():
    """A question that is clipped where something is so would count it without noise."""
    first = Holdout(np.arange(10_000), questions=500).ask(lambda row: 2 if row < 10 else "none")
    other = Holdout(np.arange(10_000), questions=500).ask(lambda row: 2 if row < 20 else "none")
    told = [attrs.asdict(one) for one in (first, other)]
    assert set(told[0]) == {"value", "low", "high", "number", "is_from_training"}
    assert told[0]["number"] == told[1]["number"]


def test_how_many_values_are_outside_is_a_question_with_noise():
    holdout = Holdout(np.arange(10_000), questions=200)
    answer = holdout.ask_outside(lambda row: 5 if row < 2_500 else 1 / (row % 2))
    assert answer.low <= Fraction(5, 8) <= answer.high
    assert answer.value != Fraction(5, 8)
    assert holdout.left == 199


def test_one_row_that_fails_spoils_no_others():
    def ages(rows):
        if 7 in rows:
            raise ValueError
        return rows >= 5_000

    values = batch_values(ages, np.arange(10_000), DeclaredRange(0, 1))
    assert values.steps.sum() == 5_000 * STEPS + STEPS // 2
    assert values.is_outside.sum() == 1


@pytest.mark.parametrize(
    ("low", "high"),
    [(0, "1e400"), (-1e308, 1e308), (0, "1e-400"), (10**18, 10**18 + 1), (0, 5e-324)],
)
def test_ranges_in_which_floats_are_not_told_apart_are_refused(low, high):
    holdout = Holdout(list(range(10_000)), questions=3)
    with pytest.raises(InvalidArgument, match="too wide, too narrow, or too far"):
        holdout.ask(lambda row: low, low=low, high=high)
    assert holdout.left == 3


@pytest.mark.parametrize(
    ("low", "width"), [(0, 1), (10**6, 1), (2**29, 1), (-(10**9), 3), ("1/3", "1/7")]
)
def test_rounding_is_within_what_is_counted(low, width):
    within = DeclaredRange(low, exact(low) + exact(width))
    for share in (Fraction(place, 37) for place in range(38)):
        found = row_values(lambda row: row, [within.at(share)], within)
        assert abs(Fraction(int(found.steps[0]), STEPS) - share) <= ROUNDING


def test_whole_numbers_beyond_floats_are_at_the_nearer_end():
    within = DeclaredRange(0, 1)
    found = row_values(lambda row: row, [10**400, -(10**400), None], within)
    assert found.steps.tolist() == [STEPS, 0, STEPS // 2]
    assert found.is_outside.all()


def test_frames_are_asked_row_by_row_and_all_at_once():
    frame = pd.DataFrame({"age": range(4_000)}, index=np.arange(4_000)[::-1] + 0.5)
    polar = pl.DataFrame({"age": range(4_000), "other": [0] * 4_000})
    for rows, one, all_rows in (
        (frame, lambda row: row.age < 1_000, lambda rows: rows.age < 1_000),
        (frame.age, lambda row: row < 1_000, lambda rows: rows < 1_000),
        (polar, lambda row: row["age"] < 1_000, lambda rows: rows["age"] < 1_000),
        (
            pa.Table.from_pandas(frame),
            lambda row: row["age"] < 1_000,
            lambda rows: rows["age"].to_numpy() < 1_000,
        ),
    ):
        holdout = Holdout(rows, questions=3)
        for answer in (holdout.ask(one), holdout.ask(all_rows, is_batch=True)):
            assert abs(answer.value - Fraction(1, 4)) < Fraction(1, 10)
    with pytest.raises(InvalidArgument, match="needs rows"):
        Holdout({0: 1, 1: 2}, questions=1)


def test_what_one_method_cannot_another_may():
    found = least_rows(alpha="0.5", questions=1, beta="1e-300")
    assert found.method == "splitting"
    with pytest.raises(InvalidArgument, match="answers adaptive questions"):
        Holdout(range(10_000), questions=1, method="fixed beforehand")
    wrong: Any = 7
    with pytest.raises(InvalidArgument, match="A method is unknown"):
        Holdout(range(10_000), questions=1, method=wrong)


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


def test_many_questions_at_once_are_as_many_questions(rng):
    """One by one and together: the same answers but for noise; all or none of them."""
    rows = np.linspace(0, 1, 30_000)
    holdout = Holdout(rows, questions=40)
    holdout._rng = rng
    cuts = [0.1, 0.5, 0.9]
    asked: list[Any] = [lambda x, cut=cut: x > cut for cut in cuts]
    found = holdout.ask_many(asked)
    for answer, cut in zip(found, cuts, strict=True):
        assert answer.low <= 1 - cut <= answer.high
    assert [one.number for one in found] == [1, 2, 3]
    assert holdout.ask_many([lambda x: 3 * x], low=0, high=3)[0].high < 2
    assert holdout.left == 36
    with pytest.raises(InvalidArgument, match="Only 36 questions are left"):
        holdout.ask_many([lambda x: x > 0.5] * 37)
    with pytest.raises(InvalidArgument, match="more than one row"):
        holdout.ask_many([lambda x: x > 0.5, lambda x: x / x.max()])
    assert holdout.left == 36
    split = Holdout(rows, questions=2, method="splitting")
    assert len(split.ask_many([lambda x: x > 0.5, lambda x: x < 0.5])) == 2


def test_yes_and_no_are_counted_as_numbers_are():
    """A condition is summed without steps, and is the same sum."""
    rows, within = np.arange(1_000), DeclaredRange(0, 1)
    says = batch_values(lambda x: x % 3 == 0, rows, within)
    numbers = batch_values(lambda x: (x % 3 == 0).astype(float), rows, within)
    assert says.total() == numbers.total() == STEPS * 334
    assert (says.steps == numbers.steps).all()
    assert not says.is_outside.any()
    assert says.outside().total() == 0
    wide = batch_values(lambda x: x % 3 == 0, rows, DeclaredRange(-1, 3))
    assert wide.total() == STEPS * 334 // 2 + STEPS * 666 // 4


def _spoil(row: Any) -> float:
    row[0] = 0
    return 0.5


def _spoil_dictionary(row: Any) -> float:
    row["a"] = 0
    return 0.5


def _spoil_all(rows: Any) -> Any:
    rows[:] = 0
    return np.full(len(rows), 0.5)


def _spoil_frame(frame: Any) -> Any:
    frame["a"] = 0
    frame.loc[:, "b"] = 0
    return np.full(len(frame), 0.5)


@pytest.mark.parametrize(
    ("rows", "spoil", "is_batch", "mean"),
    [
        (np.ones((2_000, 2)), _spoil, False, lambda row: row[0]),
        (np.ones(2_000), _spoil_all, True, lambda row: row),
        ([[1.0] for _ in range(2_000)], _spoil, False, lambda row: row[0]),
        ([{"a": 1.0} for _ in range(2_000)], _spoil_dictionary, False, lambda row: row["a"]),
        (pa.table({"a": np.ones(2_000)}), _spoil_dictionary, False, lambda row: row["a"]),
        (pd.DataFrame({"a": [1.0] * 2_000, "b": 1.0}), _spoil_frame, True, lambda row: row.b),
    ],
    ids=["array", "whole array", "lists", "dictionaries", "Arrow table", "frame"],
)
def test_no_question_changes_what_the_next_one_is_asked_of(rows, spoil, is_batch, mean):
    """And the rows of the caller stay as they were."""
    before = copy.deepcopy(rows)
    holdout = Holdout(rows, questions=2)
    holdout.ask(spoil, is_batch=is_batch)
    assert holdout.ask(mean, is_batch=is_batch).value > 0.9
    assert str(rows) == str(before)


def test_rows_that_the_caller_changes_later_are_held_as_they_were():
    for rows in (np.ones(2_000), [1.0] * 2_000):
        holdout = Holdout(rows, questions=1)
        rows[:] = [0.0] * 2_000
        assert holdout.ask(lambda row: row).value > 0.9
