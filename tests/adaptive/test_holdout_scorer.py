"""A holdout as a score of scikit-learn: every fold counts, and no copy is made."""

import copy
import pickle
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score

from discreet.adaptive.holdout_scorer import HoldoutScorer
from discreet.core.errors import InvalidArgument, Unsupported


def people(random, size):
    features = random.normal(size=(size, 2))
    return features, features[:, 0] > 0


@pytest.fixture
def scorer():
    features, labels = people(np.random.default_rng(3), 30_000)
    return HoldoutScorer(features, labels, questions=30)


def test_cross_validation_asks_once_for_each_fold(scorer):
    features, labels = people(np.random.default_rng(4), 500)
    found = cross_val_score(LogisticRegression(), features, labels, scoring=scorer, cv=5)
    assert scorer.left == 25
    # The models are nearly perfect; the noise of the scores is below 0.02 by far.
    assert (found > 0.9).all()
    assert len(set(found.tolist())) > 1, "each score has noise of its own"


def test_grid_search_stops_when_questions_are_used_up(scorer):
    features, labels = people(np.random.default_rng(4), 500)
    grid = {"C": [1e-3, 1.0, 10.0]}
    search = GridSearchCV(LogisticRegression(), grid, scoring=scorer, cv=5, error_score="raise")
    search.fit(features, labels)
    assert scorer.left == 15
    assert search.best_score_ > 0.9
    bigger = GridSearchCV(
        LogisticRegression(), {"C": [1, 2, 3, 4]}, scoring=scorer, cv=5, error_score="raise"
    )
    with pytest.raises(InvalidArgument, match="All questions were asked"):
        bigger.fit(features, labels)
    assert scorer.left == 0


def test_the_best_of_many_scores_is_within_the_promise():
    """One model that always says the same, scored sixty times: the truth is a half."""
    random = np.random.default_rng(6)
    features = random.normal(size=(20_000, 1))
    labels = random.integers(0, 2, 20_000)
    scorer = HoldoutScorer(features, labels, questions=60)
    model = DummyClassifier(strategy="most_frequent").fit(features[:9].copy(), labels[:9])
    scores = [scorer(model) for _ in range(60)]
    assert max(scores) - 0.5 <= float(scorer.guarantee.alpha)


def test_threads_share_one_count_and_processes_are_refused(scorer):
    features, labels = people(np.random.default_rng(4), 500)
    with joblib.parallel_backend("threading", n_jobs=2):
        cross_val_score(LogisticRegression(), features, labels, scoring=scorer, cv=5)
    assert scorer.left == 25
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(Unsupported, match="copied or pickled"):
            copied(scorer)
    with pytest.raises((Unsupported, pickle.PicklingError)):
        cross_val_score(LogisticRegression(), features, labels, scoring=scorer, cv=5, n_jobs=2)
    assert scorer.left == 25


def test_frames_are_rows_too():
    features, labels = people(np.random.default_rng(3), 30_000)
    frame = pd.DataFrame(features, columns=["a", "b"])
    scorer = HoldoutScorer(frame, labels, questions=5)
    other = pd.DataFrame(people(np.random.default_rng(4), 500)[0], columns=["a", "b"])
    model = LogisticRegression().fit(other, other["a"] > 0)
    assert scorer(model, other, other["a"] > 0) > 0.9


def test_what_is_refused():
    features, labels = people(np.random.default_rng(3), 30_000)
    scorer = HoldoutScorer(features, labels, questions=5)
    model: Any = LogisticRegression()
    with pytest.raises(InvalidArgument, match="rows of the holdout"):
        scorer(model, features[:10], labels[:10])
    with pytest.raises(NotFittedError):
        scorer(model, features[:10].copy(), labels[:10])
    assert scorer.left == 5
    for wrong in (labels[:9], np.zeros((30_000, 2)), 3):
        with pytest.raises(InvalidArgument, match="do not fit"):
            HoldoutScorer(features, wrong, questions=5)
    with pytest.raises(InvalidArgument, match="too few"):
        HoldoutScorer(features[:50], labels[:50], questions=500)

    class Together:
        """Compares each row with the largest of those that come with it."""

        def predict(self, rows):
            return rows[:, 0] > 0.9 * rows[:, 0].max()

    with pytest.raises(InvalidArgument, match="more than one row"):
        scorer(Together())
    assert scorer.left == 5
    assert "5 scores left" in repr(scorer)


def test_measurements_have_a_score_of_their_own():
    random = np.random.default_rng(5)
    features = random.normal(size=(20_000, 1))
    labels = features[:, 0] + random.normal(size=20_000)
    with pytest.raises(InvalidArgument, match="measurements"):
        HoldoutScorer(features, labels, questions=5)
    scorer = HoldoutScorer(
        features, labels, questions=5, score=lambda truth, said: -abs(truth - said), low=-5, high=0
    )

    class Line:
        """Predicts in a column, as some libraries do."""

        def predict(self, rows):
            return rows[:, :1]

    # The mean of |N(0, 1)| is √(2/π); the noise of a score is below 0.02 of 5 by far.
    assert scorer(Line()) == pytest.approx(-((2 / np.pi) ** 0.5), abs=0.15)
    assert scorer.left == 4


@pytest.mark.parametrize("name", ["roc_auc", "r2", "f1", None])
def test_what_is_no_mean_over_rows_is_refused(name):
    with pytest.raises(InvalidArgument, match="no mean over rows") as caught:
        HoldoutScorer(np.zeros((20_000, 1)), np.zeros(20_000), questions=5, score=name)
    assert "declared sensitivity" in str(caught.value)


def test_rows_that_the_caller_changes_later_are_scored_as_they_were():
    features, labels = people(np.random.default_rng(3), 20_000)
    scorer = HoldoutScorer(features, labels, questions=5)

    class Sign:
        """Is right of every row."""

        def predict(self, rows):
            return rows[:, 0] > 0

    features[:], labels[:] = 0, True
    assert scorer(Sign()) > 0.9
