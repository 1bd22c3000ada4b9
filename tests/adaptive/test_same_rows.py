"""Training rows and folds that are the holdout's own are refused; those of others are not."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.tree import DecisionTreeClassifier

from discreet.adaptive.holdout import Holdout
from discreet.adaptive.holdout_scorer import HoldoutScorer
from discreet.adaptive.same_rows import MarkedRows
from discreet.core.errors import InvalidArgument


def test_cross_validation_on_the_rows_of_the_holdout_is_refused():
    """Coins are predicted in 9 of 10 cases by a tree that was trained on 4 of 5 of them."""
    random = np.random.default_rng(0)
    features, labels = random.normal(size=(4_000, 3)), random.integers(0, 2, 4_000)
    scorer = HoldoutScorer(features, labels, questions=10)
    with pytest.raises(InvalidArgument, match="rows of the holdout"):
        cross_val_score(
            DecisionTreeClassifier(), features, labels, scoring=scorer, cv=5, error_score="raise"
        )
    assert scorer.left == 10
    others = random.normal(size=(500, 3))
    found = cross_val_score(
        DecisionTreeClassifier(), others, labels[:500], scoring=scorer, cv=5, error_score="raise"
    )
    assert found.max() < 0.6 + float(scorer.guarantee.alpha)


def test_rows_of_every_kind_are_known_again():
    random = np.random.default_rng(1)
    numbers = random.normal(size=(3_000, 4))
    frame = pd.DataFrame(numbers, columns=list("abcd"))
    words = frame.assign(word=["x", "y", "z"] * 1_000)
    for rows, same, others in (
        (numbers, numbers[::7].copy(), numbers + 1),
        (frame, frame.sample(200, random_state=3), frame - 1),
        (words, words.sample(200, random_state=3), words.assign(a=0)),
        (frame, numbers[:100], numbers[:100, ::-1]),
        ([(int(n), "x") for n in range(999)], [(7 * n, "x") for n in range(99)], [(-1, "x")] * 99),
    ):
        known = MarkedRows.of(rows)
        assert known.are_met_by(same)
        assert not known.are_met_by(others)
    assert not MarkedRows.of([{}, {}]).are_met_by([{}]), "what cannot be compared is let be"


@pytest.mark.parametrize("size", [2, 100, 3_000, 100_000])
def test_independent_rows_of_few_values_are_no_mistake(size):
    """The largest chance to meet one row alone is 0.37, where as many values are as rows."""
    random = np.random.default_rng(size)
    for _ in range(20):
        rows, fold = random.integers(0, size, 3_000), random.integers(0, size, 500)
        assert not MarkedRows.of(rows).are_met_by(fold)


def test_training_rows_that_were_copied_from_the_holdout_are_refused():
    numbers = np.random.default_rng(2).normal(size=20_000)
    for training in (numbers[:500].copy(), numbers[:500].tolist(), pd.Series(numbers[:500])):
        with pytest.raises(InvalidArgument, match="those of the holdout"):
            Holdout(numbers, training=training, questions=50, overfits=2)
    assert Holdout(numbers[500:], training=numbers[:500].copy(), questions=50, overfits=2).left
