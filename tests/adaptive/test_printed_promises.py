"""What is printed is not less than what is promised, and too few rows are told how many will do."""

import re
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.adaptive.guarantee import expected_guarantee, gaussian_guarantee, splitting_guarantee
from discreet.adaptive.holdout import Holdout
from discreet.adaptive.leaderboard import BoardStanding, Leaderboard, ladder_error
from discreet.adaptive.population_answers import PopulationAnswer, PopulationChoice
from discreet.adaptive.question_mix import QuestionMix, mixed_guarantee
from discreet.adaptive.rows_needed import least_rows
from discreet.adaptive.sparse_answers import sparse_guarantee
from discreet.adaptive.weights_answers import uniform_guarantee
from discreet.core.errors import InvalidArgument

MIX = QuestionMix(means=40, values=2, value_width=2, choices=3, candidates=7)
PROMISES: tuple[Any, ...] = (
    lambda n: gaussian_guarantee(rows=n, questions=37, beta="0.03"),
    lambda n: splitting_guarantee(rows=n, questions=7, beta="1/30"),
    lambda n: expected_guarantee(rows=n, questions=37),
    lambda n: uniform_guarantee(rows=n, cells=9, beta="1/30"),
    lambda n: sparse_guarantee(rows=n, questions=370, overfits=2, beta="0.03"),
)


def within(said: str) -> list[Fraction]:
    return [Fraction(one) for one in re.findall(r"within ([0-9.e-]+[0-9])", said)]


@given(st.integers(10**4, 10**8))
@settings(max_examples=15)
def test_no_printed_promise_is_smaller_than_the_promise(rows):
    for promise in PROMISES:
        found = promise(rows)
        if found is not None:
            assert found.alpha <= within(str(found))[0] <= found.alpha * Fraction(1002, 1000)
            if found.beta is not None:
                (said,) = re.findall(r"chance of ([0-9.e-]+[0-9])", str(found))
                assert Fraction(said) >= found.beta
    mixed: Any = mixed_guarantee(rows=10 * rows, mix=MIX, beta="1/30")
    for said, alpha in zip(within(str(mixed)), mixed.alphas.values(), strict=True):
        assert alpha <= said <= alpha * Fraction(1002, 1000)


SHARES = st.fractions(0, 1, max_denominator=10**9)


@given(SHARES, SHARES, SHARES)
def test_printed_intervals_hold_what_they_are_of(value, low, high):
    said = str(PopulationAnswer(value, low - 1, high, 1))
    first, last = re.findall(r"\[(-?[0-9.e-]+) to (-?[0-9.e-]+)\]", said)[0]
    assert Fraction(first) <= low - 1
    assert Fraction(last) >= high
    choice = str(PopulationChoice(3, high, 1))
    assert Fraction(re.findall(r"most ([0-9.e-]+) worse", choice)[0]) >= high


@given(st.integers(0, 200), st.integers(1, 200), SHARES)
def test_a_printed_standing_holds_what_the_exact_one_does(place, steps, error):
    standing = BoardStanding(Fraction(min(place, steps), steps), error, 1, True)
    loss, off = re.findall(r"loss ([0-9.e-]+) ± ([0-9.e-]+)", str(standing))[0]
    assert Fraction(loss) - Fraction(off) <= standing.loss - error
    assert Fraction(loss) + Fraction(off) >= standing.loss + error


# ---- Too few rows.


def said_number(wrong: Any) -> int:
    with pytest.raises(InvalidArgument, match=r"too few") as caught:
        wrong()
    found = re.search(r"must be ([0-9,]+) or more", str(caught.value))
    assert found is not None, str(caught.value)
    return int(found[1].replace(",", ""))


@pytest.mark.parametrize(
    "make",
    [
        lambda n: Holdout(range(n), questions=MIX),
        lambda n: Holdout(range(n), questions=50, overfits=3, training=range(10**6, 10**6 + 9_000)),
        lambda n: Holdout([0, 1] * (n // 2), universe=range(50), questions=5),
    ],
)
def test_every_kind_of_holdout_says_how_many_rows_would_do(make):
    """And so many do; a hundredth less do not."""
    least = said_number(lambda: make(60))
    assert make(2 * ((least + 1) // 2)).guarantee.alpha <= Fraction(1, 2)
    assert said_number(lambda: make(least * 98 // 100)) == least


def test_training_rows_may_be_too_few_for_any_holdout():
    with pytest.raises(InvalidArgument, match="which no number of rows does"):
        Holdout(range(500), questions=9, training=[-1], overfits=1)


def test_a_leaderboard_that_promises_nothing_is_refused():
    least = said_number(lambda: Leaderboard([0, 1, 1], submissions=1_000))
    assert ladder_error(rows=least, submissions=1_000, beta="0.05")[0] <= Fraction(1, 2)
    assert Leaderboard(np.zeros(least), submissions=1_000).error <= Fraction(1, 2)


def test_least_rows_of_a_mix_and_of_training_rows():
    mixed = least_rows(alpha="0.1", questions=MIX, beta="0.05")
    again: Any = mixed_guarantee(rows=mixed.rows, mix=MIX, beta="0.05")
    fewer: Any = mixed_guarantee(rows=mixed.rows * 99 // 100, mix=MIX, beta="0.05")
    assert again.alpha <= Fraction(1, 10) < fewer.alpha
    corrected = least_rows(alpha="0.1", questions=10**6, beta="0.05", overfits=10)
    assert corrected.method == "sparse/posterior"
    assert corrected.alpha <= Fraction(1, 10)
    for wrong in ({"questions": MIX}, {"questions": 5, "overfits": 2}):
        with pytest.raises(InvalidArgument, match="one method"):
            least_rows(alpha="0.1", beta="0.05", method="splitting", **wrong)


@pytest.mark.parametrize("beta", ["1e-12", "1e-40", "1e-200"])
def test_small_chances_have_promises_of_every_kind(beta):
    """A chance that was rounded to a multiple of 1e-12 was none."""
    found: tuple[Any, ...] = (
        mixed_guarantee(rows=10**6, mix=QuestionMix(means=5, values=2), beta=beta),
        sparse_guarantee(rows=10**6, questions=100, overfits=5, beta=beta),
        gaussian_guarantee(rows=10**6, questions=5, beta=beta),
    )
    assert all(one is not None and one.alpha < Fraction(1, 5) for one in found)


def test_one_of_something_is_told_as_one():
    """A person with few questions is who looks most closely."""
    assert "1 adaptive answer from 50 rows is within" in str(Holdout(np.arange(50), questions=1))
    assert "1 question left" in str(Holdout(np.arange(50), questions=1))
    with pytest.raises(InvalidArgument, match="1 row is too few for 1 adaptive question"):
        Holdout([1], questions=1)
    assert (
        str(QuestionMix(means=1, values=1, choices=1)) == "1 mean, 1 value (width 1), 1 choice of 2"
    )
