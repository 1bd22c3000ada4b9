"""Which promise a holdout can make of its rows; what cannot be promised is refused."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from attrs import evolve, field, frozen

from discreet.adaptive.guarantee import (
    PopulationGuarantee,
    expected_guarantee,
    guarantees,
)
from discreet.adaptive.question_mix import MixedGuarantee, QuestionMix, mixed_guarantee
from discreet.adaptive.rows_needed import Promise, error_of, fewest_rows, least_rows
from discreet.adaptive.same_rows import MarkedRows
from discreet.adaptive.sparse_answers import SparseGuarantee, sparse_guarantee
from discreet.adaptive.weights_answers import uniform_guarantee, weights_guarantee
from discreet.core import check
from discreet.core.counted import counted
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact, written
from discreet.core.protocols import IntArray


@frozen(eq=False)
class HoldoutRows:
    """Rows in two forms, which no question can change: a later one would be about other rows.

    Attributes:
        each: What is asked one by one.
        held: What is asked all at once: the array, frame or table as it was given.
    """

    each: Sequence[Any] = field(repr=False)
    held: Any = field(repr=False)

    @property
    def together(self) -> Any:
        """What a question is given of all rows at once."""
        if hasattr(self.held, "itertuples"):
            return self.held.copy(deep=False)  # pandas copies what is written to
        if hasattr(self.held, "iter_rows"):
            return self.held.clone()  # of a Polars frame columns can be replaced
        return _apart(self.held)

    def __len__(self) -> int:
        return len(self.each)


def _apart(rows: Any) -> Any:
    """Return rows which are lists or dictionaries as copies; others are as they are."""
    if isinstance(rows, list):
        return [row.copy() if isinstance(row, dict | list) else row for row in rows]
    if isinstance(rows, np.ndarray) and rows.dtype == object and rows.ndim == 1:
        found = np.empty(len(rows), dtype=object)
        found[:] = _apart(rows.tolist())
        return found
    return rows


def as_rows(rows: Any) -> HoldoutRows:
    """Return rows as something that is asked one by one, and as what is asked all at once."""
    together = rows
    if hasattr(rows, "itertuples"):  # a pandas frame: rows as named tuples
        together = rows.reset_index(drop=True)
        rows = list(rows.itertuples(index=False))
    elif hasattr(rows, "iter_rows"):  # a Polars frame, which would be asked column by column
        together = rows.clone()
        rows = list(rows.iter_rows(named=True))
    elif hasattr(rows, "to_pylist"):  # an Arrow table: rows as dictionaries
        rows = rows.to_pylist()
    elif hasattr(rows, "iloc"):  # a pandas series, whose places may have other names
        rows = rows.to_numpy()
    if isinstance(rows, np.ndarray):
        rows = together = _apart(np.array(rows, subok=True))
        rows.flags.writeable = False
    elif isinstance(together, list):
        rows = together = _apart(rows)
    try:
        count = len(rows)
        if count:
            rows[0]
    except (TypeError, KeyError, IndexError):
        count = -1
    if count < 0 or isinstance(rows, Mapping):
        raise InvalidArgument(
            "A holdout needs rows", must="be an array, a list, a data frame or an Arrow table"
        )
    if count == 0:
        raise InvalidArgument("A holdout needs rows", must="have at least one", got="0")
    return HoldoutRows(rows, together)


def promised(
    rows: int, questions: int, beta: Number, alpha: Number | None, method: str | None
) -> PopulationGuarantee:
    """Return the promise of the wanted method, or of the best; refuse what cannot be promised."""
    count = check.at_least_one(questions, "questions")
    if method == "fixed beforehand":
        raise InvalidArgument(
            "A holdout answers adaptive questions",
            must="have a method that promises something of them",
            got=method,
        )
    if method == "gaussian/expectation":
        found = [expected_guarantee(rows=rows, questions=count)]
    else:
        found = [
            one
            for one in guarantees(rows=rows, questions=count, beta=beta)
            if method in (None, one.method)
        ]
    wanted = Fraction(1, 2) if alpha is None else exact(alpha)
    if found and found[0].alpha <= wanted:
        return found[0]
    least = least_rows(alpha=wanted, questions=count, beta=beta, method=method)
    verb = "is" if rows == 1 else "are"
    raise InvalidArgument(
        f"{counted(rows, 'row')} {verb} too few for {counted(count, 'adaptive question')}",
        must=f"be at least {least.rows:,} for an error of {written(wanted)}",
        got=f"{rows:,}",
        next="Ask fewer questions, allow a larger error, or take more rows",
    )


def as_training(training: Any, given: Any, rows: HoldoutRows) -> HoldoutRows:
    """Return training rows; refuse those that are the holdout itself, as it was given or held."""
    is_shared = training is given or (
        isinstance(training, np.ndarray)
        and isinstance(given, np.ndarray)
        and np.shares_memory(training, given)
    )
    others = as_rows(training)
    if is_shared or MarkedRows.of(_comparable(rows)).are_met_by(_comparable(others)):
        raise InvalidArgument(
            "The training rows are those of the holdout",
            must="be other rows: nothing may be computed from the holdout beforehand",
            next="Split the rows at random first, and copy both parts",
        )
    return others


def _comparable(rows: HoldoutRows) -> Any:
    """Return rows as numbers where they are, else one by one."""
    return rows.held if hasattr(rows.held, "iloc") else rows.each


def refuse_without_training(overfits: int | None, tolerance: Number | None) -> None:
    """Refuse what is about training rows where there are none."""
    if overfits is not None or tolerance is not None:
        raise InvalidArgument(
            "Only answers of training rows are corrected",
            must="exist where overfits or tolerance is given",
            got="no training rows",
            next="Give training=rows, or leave out overfits and tolerance",
        )


def corrected(
    rows: tuple[int, int],
    questions: int | QuestionMix,
    overfits: int | None,
    beta: Number,
    limit: Fraction,
    tolerance: Number | None,
) -> SparseGuarantee:
    """Return the promise of a holdout that corrects; refuse what cannot be promised."""
    if isinstance(questions, QuestionMix):
        raise InvalidArgument(
            "Training rows answer means alone",
            must="be given with a number of questions",
            got=str(questions),
        )
    if overfits is None:
        raise InvalidArgument(
            "A holdout with training rows must know how often it may correct them",
            must="have overfits=, for instance 10",
        )
    count, most = questions, overfits

    def promise(size: int) -> SparseGuarantee | None:
        return sparse_guarantee(
            rows=size,
            questions=count,
            overfits=most,
            beta=beta,
            tolerance=tolerance,
            training=rows[1],
        )

    found = promise(rows[0])
    if found is not None and found.alpha <= limit:
        return found
    raise _too_few(
        f"{rows[0]:,} rows are too few to correct {overfits:,} answers",
        promise,
        limit,
        "Correct fewer answers, allow a larger alpha, take more training rows, or leave them out",
    )


def mixed(
    rows: int, mix: QuestionMix, beta: Number, alpha: Number | None, method: str | None
) -> MixedGuarantee:
    """Return the promise for several kinds of questions; refuse what cannot be promised."""
    limit = Fraction(1, 2) if alpha is None else exact(alpha)
    if method not in (None, "mixed/posterior"):
        raise InvalidArgument(
            "A mix of questions has one method", must="be mixed/posterior", got=str(method)
        )
    found = mixed_guarantee(rows=rows, mix=mix, beta=beta)
    if found is not None and found.alpha <= limit:
        return found
    raise _too_few(
        f"{rows:,} rows are too few for {mix}",
        lambda size: mixed_guarantee(rows=size, mix=mix, beta=beta),
        limit,
        "Ask fewer questions, allow a larger alpha, or take more rows",
    )


def universal(
    rows: int, questions: int | QuestionMix, cells: int, beta: Number, alpha: Number | None
) -> PopulationGuarantee:
    """Return the better promise for a universe of few elements; refuse what cannot be promised."""
    if isinstance(questions, QuestionMix):
        raise InvalidArgument(
            "A universe has means alone", must="be given with a number of questions"
        )
    count, limit = (
        check.at_least_one(questions, "questions"),
        Fraction(1, 2) if alpha is None else exact(alpha),
    )
    found = [
        uniform_guarantee(rows=rows, cells=cells, beta=beta),
        weights_guarantee(rows=rows, questions=count, cells=cells, beta=beta),
    ]
    best = min((one for one in found if one is not None), key=lambda one: one.alpha, default=None)
    if best is not None and best.alpha <= limit:
        return evolve(best, questions=count)
    # Weights may need fewer rows for very many elements; to look for that takes many seconds.
    raise _too_few(
        f"{rows:,} rows are too few for a universe of {cells:,} elements",
        lambda size: uniform_guarantee(rows=size, cells=cells, beta=beta),
        limit,
        "Leave out the universe, allow a larger alpha, or take more rows",
    )


def _too_few(what: str, promise: Promise, limit: Fraction, otherwise: str) -> InvalidArgument:
    """Return the refusal of so few rows, with the least number that would do."""
    least = fewest_rows(error_of(promise), limit)
    if least is None:
        must = f"promise an error of {written(limit)}, which no number of rows does"
        return InvalidArgument(what, must=must, next=otherwise)
    return InvalidArgument(
        what, must=f"be {least:,} or more for an error of {written(limit)}", next=otherwise
    )


def counts_of(rows: Sequence[Any], universe: Sequence[Any]) -> IntArray:
    """Return how many rows there are of each element; refuse rows that are none of them."""
    try:
        places = {element: place for place, element in enumerate(universe)}
        found = [places[row] for row in rows]
    except (KeyError, TypeError):
        raise InvalidArgument(
            "A row is not in the universe",
            must="be one of its elements, which can be compared: numbers, words or tuples",
        ) from None
    if len(places) != len(universe):
        raise InvalidArgument("A universe has an element twice", must="have each one once")
    return np.bincount(found, minlength=len(universe)).astype(np.int64)
