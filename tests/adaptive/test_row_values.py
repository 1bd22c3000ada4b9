"""What a question says of each row: odd shapes and values, exact sums, and rows that stay."""

from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from discreet.adaptive.guarantee import STEPS
from discreet.adaptive.holdout import Holdout
from discreet.adaptive.question_mix import QuestionMix
from discreet.adaptive.row_values import DeclaredRange, batch_total, batch_values, row_values
from discreet.core.errors import InvalidArgument

WITHIN = DeclaredRange(0, 1)
ROWS = np.linspace(0, 1, 5)


@pytest.mark.parametrize(
    ("function", "shares"),
    [
        (lambda x: [1, 2], [0.5] * 5),
        (lambda x: None, [0.5] * 5),
        (lambda x: x * 1j, [0.5] * 5),
        (lambda x: np.array(["none"] * len(x)), [0.5] * 5),
        (lambda x: 1, [1] * 5),
        (lambda x: x.mean(), [0, 0.25, 0.5, 0.75, 1]),
        (lambda x: x[:, None] >= 0.5, [0, 0, 1, 1, 1]),
        (lambda x: np.ma.masked_greater(x, 0.5), [0, 0.25, 0.5, 0.5, 0.5]),
        (lambda x: pd.Series(x, dtype="Float64").mask(x > 0.5), [0, 0.25, 0.5, 0.5, 0.5]),
        (lambda x: x.astype(object), [0, 0.25, 0.5, 0.75, 1]),
        (lambda x: np.where(x > 0.5, np.nan, -3 * x), [0, 0, 0, 0.5, 0.5]),
    ],
)
def test_a_wrong_shape_asks_each_row_alone_and_what_is_none_is_the_middle(function, shares):
    found = batch_values(function, ROWS, WITHIN)
    assert (found.steps / STEPS).tolist() == shares
    assert batch_total(function, ROWS, WITHIN) == found.total() == int(found.steps.sum())


def test_a_question_of_a_wrong_shape_is_counted():
    holdout = Holdout(np.arange(10_000.0), questions=3)
    answer = holdout.ask(lambda x: [1, 2], is_batch=True)
    assert answer.low <= Fraction(1, 2) <= answer.high
    holdout.ask_many([lambda x: x.max()], high=10_000)
    assert holdout.left == 1


EDGES = [np.nan, -np.nan, np.inf, -np.inf, -0.0, 1e308, -1e308, 5e-324, -5e-324, -(2.0**32)]


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-3, 7), ("1/3", "2/3"), (10**6, 10**6 + 1)])
def test_totals_are_exact_sums_of_steps_that_are_rounded_to_the_nearest(low, high):
    """Against fractions, with values at, near and far beyond the ends."""
    within = DeclaredRange(low, high)
    ends = [float(within.low), float(within.high)]
    near = [np.nextafter(end, way) for end in ends for way in (-np.inf, np.inf)]
    usual = np.random.default_rng(2).uniform(ends[0] - 1, ends[1] + 1, 70_000)
    values = np.concatenate([usual, EDGES, ends, near])
    found = batch_values(lambda x: x, values, within)
    for value, steps in zip(values[-500:], found.steps[-500:].tolist(), strict=True):
        share = Fraction(1, 2)
        if np.isinf(value):
            share = Fraction(int(value > 0))
        elif not np.isnan(value):
            share = min(1, max(0, (Fraction(float(value)) - within.low) / within.width))  # type: ignore[assignment]
        assert abs(steps - share * STEPS) <= Fraction(3, 4)
    assert batch_total(lambda x: x, values, within) == sum(found.steps.tolist())
    one_by_one = row_values(lambda row: row, values[-500:].tolist(), within)
    assert (one_by_one.steps == found.steps[-500:]).all()


def test_what_cannot_be_called_is_refused_and_not_counted():
    holdout = Holdout(np.arange(60_000.0), questions=QuestionMix(means=3, values=2, choices=1))
    wrongs: tuple[Any, ...] = (
        lambda: holdout.ask(5),  # type: ignore[arg-type]
        lambda: holdout.ask_value(5, sensitivity="1e-6"),  # type: ignore[arg-type]
        lambda: holdout.ask_best([1, 2]),  # type: ignore[list-item]
        lambda: holdout.ask_many(["x > 1"]),  # type: ignore[list-item]
        lambda: holdout.ask_many(lambda x: x),  # type: ignore[arg-type]
        lambda: holdout.ask_best(7),  # type: ignore[arg-type]
    )
    for wrong in wrongs:
        with pytest.raises(InvalidArgument, match="function"):
            wrong()
    assert holdout.left == 6


def _replace_column(frame: Any) -> Any:
    frame.replace_column(0, pl.Series("a", [0.0] * len(frame)))
    return np.full(len(frame), 0.5)


def _spoil_each(rows: Any) -> Any:
    for row in rows:
        row["a"] = 0.0
    return np.full(len(rows), 0.5)


@pytest.mark.parametrize(
    ("rows", "spoil", "mean"),
    [
        (pl.DataFrame({"a": [1.0] * 2_000}), _replace_column, lambda rows: rows["a"]),
        ([{"a": 1.0} for _ in range(2_000)], _spoil_each, lambda rows: [r["a"] for r in rows]),
        (
            np.array([{"a": 1.0} for _ in range(2_000)]),
            _spoil_each,
            lambda rows: [r["a"] for r in rows],
        ),
    ],
)
def test_a_question_changes_no_rows_for_those_after_it(rows, spoil, mean):
    holdout = Holdout(rows, questions=3)
    holdout.ask(spoil, is_batch=True)
    assert holdout.ask(mean, is_batch=True).value > 0.9
    spoil(rows)
    assert holdout.ask(mean, is_batch=True).value > 0.9, "nor does whoever gave them"
