"""A score for model selection that cannot be overfitted: a door for scikit-learn."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np

from discreet.adaptive.guarantee import PopulationGuarantee
from discreet.adaptive.holdout import Holdout
from discreet.adaptive.row_values import DeclaredRange
from discreet.adaptive.same_rows import MarkedRows
from discreet.core.counted import counted
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.numbers import Number

RowScore = Callable[[Any, Any], Any]
"""Of labels and predictions, with a value for each row."""

ACCURACY = "accuracy"


class HoldoutScorer:
    """The score of a model on a holdout, for ``scoring=`` in cross-validation and grid search.

    Each call is one question to the holdout: a grid of 20 models with 5 folds asks 100. The rows
    of the fold are not used for the score; the model was trained on the others, and the holdout
    tells how good it is for the population.

    Guarantee:
        That of :class:`~discreet.adaptive.holdout.Holdout`: all scores are within
        ``guarantee.alpha`` (of the width of the range) of the models' scores on the population, but
        for a chance of ``guarantee.beta``, also that of the model which the search has chosen.

    Assumes:
        No row of the holdout is among those that models are trained on: folds that meet the
        holdout row by row are refused, which finds mistakes and no tricks. A prediction depends on
        one row alone. Some predictions are asked again by themselves, and a model that looks at
        other rows is refused.

    Example:
        >>> class Threshold:
        ...     def predict(self, features):
        ...         return features[:, 0] > 0.5
        >>> features = np.linspace(0, 1, 20_000).reshape(-1, 1)
        >>> scorer = HoldoutScorer(features, features[:, 0] > 0.25, questions=50)
        >>> abs(scorer(Threshold()) - 0.75) < 0.1, scorer.left
        (True, 49)
    """

    def __init__(
        self,
        features: Any,
        labels: Any,
        *,
        questions: int,
        beta: Number = Fraction(1, 20),
        alpha: Number | None = None,
        method: str | None = None,
        score: RowScore | str = ACCURACY,
        low: Number = 0,
        high: Number = 1,
    ) -> None:
        """Hold features and labels for so many scores.

        Args:
            features: An array or a data frame, with one row for each person.
            labels: What is to be predicted, one for each row.
            questions: How many models may be scored: candidates times folds.
            beta: The chance that some score is farther off than promised.
            alpha: How far scores may be off; it is refused if that cannot be promised.
            method: How the holdout answers.
            score: What a prediction is worth: 1 if it is right and 0 if it is not, or a function of
                labels and predictions that gives a number for each row, the more the better, such
                as ``lambda truth, said: -abs(truth - said)``. Its mean is asked for, so an AUC, an
                R² or an F1 is none.
            low: The lower end of its declared range.
            high: The upper end.
        """
        is_frame = hasattr(features, "iloc")
        self._given = features
        self._features = features.copy() if is_frame else np.array(features)
        self._labels = np.array(labels)
        if self._labels.shape != (len(self._features),):
            raise InvalidArgument(
                "Features and labels do not fit",
                must="have one label for each row",
                got=f"{len(self._features):,} rows and labels of the shape {self._labels.shape}",
            )
        self._score, self._within = _row_score(score, self._labels), DeclaredRange(low, high)
        self._known = MarkedRows.of(self._features)
        places = np.arange(len(self._labels))
        self._holdout = Holdout(places, questions=questions, beta=beta, alpha=alpha, method=method)

    @property
    def guarantee(self) -> PopulationGuarantee:
        """What all scores are within, of the population."""
        return self._holdout.guarantee

    @property
    def left(self) -> int:
        """How many models may still be scored."""
        return self._holdout.left

    def __call__(self, estimator: Any, X: Any = None, y: Any = None) -> float:  # noqa: N803
        """Return the score of a model for the population, nearly.

        ``X`` and ``y`` are the rows of a fold, as scikit-learn gives them. They are other people
        than those of the holdout.
        """
        self._require_others(X)
        if X is not None:
            # A model that was never fitted says so here, of rows that are no secret.
            estimator.predict(X[:1])

        def worth(places: Any) -> Any:
            # One prediction for each row: a column of them would be compared with all labels.
            said = np.asarray(estimator.predict(self._at(places))).reshape(len(places))
            return self._score(self._labels[places], said)

        low, high = self._within.low, self._within.high
        return float(self._holdout.ask(worth, low=low, high=high, is_batch=True).value)

    def _at(self, places: Any) -> Any:
        if hasattr(self._features, "iloc"):
            return self._features.iloc[places]
        return self._features[places]

    def _require_others(self, fold: Any) -> None:
        if fold is None:
            return
        is_same = fold is self._given or (
            isinstance(fold, np.ndarray)
            and isinstance(self._given, np.ndarray)
            and np.shares_memory(fold, self._given)
        )
        if is_same or self._known.are_met_by(fold):
            raise InvalidArgument(
                "Models are trained on the rows of the holdout",
                must="be trained and searched for on other rows",
                next="Nothing was asked. Split the rows at random first",
            )

    def __reduce__(self) -> NoReturn:
        raise Unsupported(
            "A scorer with a holdout cannot be copied or pickled",
            must="stay one object: a copy would repeat noise and lose count of questions",
            next="Search with n_jobs=1, or with joblib's threads",
        )

    def __repr__(self) -> str:
        return f"HoldoutScorer({self.guarantee}; {counted(self.left, 'score')} left)"


def _row_score(score: RowScore | str, labels: Any) -> RowScore:
    """Return what a prediction is worth; refuse what is no mean over rows."""
    if callable(score):
        return score
    if score != ACCURACY:
        raise InvalidArgument(
            "A score is no mean over rows",
            must=f"be {ACCURACY}, or a function of labels and predictions for each row",
            got=str(score),
            next="AUC, R² and F1 need a declared sensitivity: ask a Holdout for a value",
        )
    if labels.dtype.kind == "f" and not (labels == np.floor(labels)).all():
        raise InvalidArgument(
            "Labels are measurements, which no prediction meets exactly",
            must="be classes, or have a score of their own",
            next="Give score=lambda truth, said: -abs(truth - said), with low= and high=",
        )
    return _is_right


def _is_right(truth: Any, said: Any) -> Any:
    return said == truth
