"""A holdout that may be asked again and again, and still tells the truth about the population."""

import os
import threading
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np
from attrs import frozen

from discreet.adaptive.answering_modes import AnsweringMode, answering_mode
from discreet.adaptive.guarantee import (
    PopulationGuarantee,
    expected_guarantee,
    guarantees,
)
from discreet.adaptive.row_values import (
    DeclaredRange,
    RowFunction,
    batch_values,
    row_values,
)
from discreet.adaptive.rows_needed import least_rows
from discreet.adaptive.sparse_answers import SparseGuarantee, sparse_guarantee
from discreet.core import check
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.numbers import Number, exact, written
from discreet.core.protocols import Rng
from discreet.randomness.rng import SystemRng


@frozen
class PopulationAnswer:
    """An answer about the population, with what holds for all answers together.

    Attributes:
        value: The answer, in the declared range.
        low: The lower end of the interval for the population; that of the range, if the promise
            is one on average.
        high: The upper end.
        number: How many questions were asked up to this one.
        clipped: How many rows had a value outside of the declared range.
        failed: How many rows had no value.
        is_from_training: Whether it is the answer of the training rows, which the holdout let be.
    """

    value: Fraction
    low: Fraction
    high: Fraction
    number: int
    clipped: int
    failed: int
    is_from_training: bool = False

    def __str__(self) -> str:
        said = f"{float(self.value):.4g} [{float(self.low):.4g} to {float(self.high):.4g}]"
        if self.clipped or self.failed:
            said += f" ({self.clipped:,} values were clipped, {self.failed:,} were none)"
        return said


class Holdout:
    r"""Rows that are kept apart to check findings, and may be asked many adaptive questions.

    Guarantee:
        ``guarantee``: all answers are within ``guarantee.alpha`` (of the width of their range) of
        the population, but for a chance of ``guarantee.beta``, whichever questions are asked, and
        however they depend on earlier answers. Its proof stands with the theorem that it names.

    Assumes:
        The rows are independent draws from the population, one for each person, and nothing else
        was ever computed from them: the training rows are others. This promises that findings are
        *true*, and not that rows stay *private*: whoever has the object has the rows.

    Example:
        >>> random = np.random.default_rng(1)
        >>> holdout = Holdout(random.random(20_000), questions=200)
        >>> answer = holdout.ask(lambda x: x > 0.25)
        >>> bool(answer.low < 0.75 < answer.high), holdout.left
        (True, 199)
    """

    def __init__(
        self,
        rows: Any,
        *,
        questions: int,
        beta: Number = Fraction(1, 20),
        alpha: Number | None = None,
        method: str | None = None,
        training: Any = None,
        overfits: int | None = None,
        tolerance: Number | None = None,
    ) -> None:
        """Hold rows for so many questions; ``method`` is one that ``guarantees`` names.

        Args:
            rows: The rows that are kept apart.
            questions: How many may be asked.
            beta: The chance that some answer is farther off than promised.
            alpha: How far answers may be off. It is refused if no method promises that, with the
                number of rows that would.
            method: How to answer; the best way, if not given.
            training: Other rows, which answer first: then the holdout only corrects answers that
                overfit [DFH15]. See ``sparse_guarantee``.
            overfits: How many answers it may correct.
            tolerance: How far a training answer may be off without a correction.
        """
        self._rows = _as_rows(rows)
        self._training = None if training is None else _as_training(training, rows)
        if self._training is None:
            _refuse_without_training(overfits, tolerance)
            self.guarantee = _promised(len(self._rows), questions, beta, alpha, method)
        else:
            limit = Fraction(1, 2) if alpha is None else exact(alpha)
            self.guarantee = _corrected(
                (len(self._rows), len(self._training)), questions, overfits, beta, limit, tolerance
            )
        self._rng: Rng = SystemRng()
        self._mode: AnsweringMode | None = None
        self._asked: list[PopulationAnswer] = []
        self._lock = threading.Lock()
        self._process = os.getpid()

    @property
    def left(self) -> int:
        """How many questions may still be asked; 0 if all corrections were made."""
        if self._mode is not None and self._mode.ended:
            return 0
        return self.guarantee.questions - len(self._asked)

    @property
    def overfits_left(self) -> int | None:
        """How many training answers may still be corrected; None without training rows."""
        if not isinstance(self.guarantee, SparseGuarantee):
            return None
        return self.guarantee.answers.overfits - self._corrected()

    @property
    def transcript(self) -> tuple[PopulationAnswer, ...]:
        """All answers so far, of all who ask."""
        return tuple(self._asked)

    def ask(
        self,
        function: RowFunction,
        *,
        low: Number = 0,
        high: Number = 1,
        is_batch: bool = False,
    ) -> PopulationAnswer:
        """Return the mean of a function of one row, with an interval for the population.

        Args:
            function: Of one row, with values from ``low`` to ``high``. A value outside is put to
                the nearer end, one that is none or an error to the middle; both are counted.
            low: The lower end of its declared range.
            high: The upper end.
            is_batch: Whether it takes all rows at once, as an array, and gives a value for each.
        """
        within = DeclaredRange(low, high)
        self._require_a_question()
        ask_rows = batch_values if is_batch else row_values
        values = ask_rows(function, self._rows, within)
        training = self._training
        trained = None if training is None else ask_rows(function, training, within)
        with self._lock:
            self._require_a_question()
            number = len(self._asked)
            given = self._answering().share(values, number, trained)
            share = given.value
            # A promise on average is none about this answer: then all of the range is possible.
            reach = Fraction(1) if self.guarantee.beta is None else self.guarantee.alpha
            answer = PopulationAnswer(
                value=within.at(share),
                low=within.at(max(Fraction(0), share - reach)),
                high=within.at(min(Fraction(1), share + reach)),
                number=number + 1,
                clipped=values.clipped,
                failed=values.failed,
                is_from_training=given.is_from_training,
            )
            self._asked.append(answer)
        return answer

    def _corrected(self) -> int:
        return sum(not one.is_from_training for one in self._asked)

    def _answering(self) -> AnsweringMode:
        if self._mode is None:
            self._mode = answering_mode(self.guarantee, self._rng)
        return self._mode

    def _require_a_question(self) -> None:
        if os.getpid() != self._process:
            raise Unsupported(
                "A holdout cannot be used in a second process",
                must="be asked where it was made: copies would repeat noise and lose count",
                next="Run with one process (n_jobs=1), or with threads",
            )
        if self._mode is not None and self._mode.ended:
            raise InvalidArgument(
                "All corrections of training answers were made",
                must=f"overfit at most {self._corrected():,} times",
                next="Nothing changed. Take fresh rows for a new holdout, or train with less",
            )
        if self.left <= 0:
            raise InvalidArgument(
                "All questions were asked",
                must=f"be at most {self.guarantee.questions:,}",
                next="Nothing changed. Take fresh rows for a new holdout",
            )

    def __reduce__(self) -> NoReturn:
        raise Unsupported(
            "A holdout cannot be copied or pickled",
            must="stay one object: a copy would repeat noise and lose count of questions",
        )

    def __repr__(self) -> str:
        return f"Holdout({self.guarantee}; {self.left:,} questions left)"


def _as_rows(rows: Any) -> Sequence[Any]:
    """Return rows as something that can be counted and asked by place."""
    if hasattr(rows, "itertuples"):  # a pandas frame: rows as named tuples
        rows = list(rows.itertuples(index=False))
    elif hasattr(rows, "to_pylist"):  # an Arrow table: rows as dictionaries
        rows = rows.to_pylist()
    try:
        count = len(rows)
        if count:
            rows[0]
    except (TypeError, KeyError, IndexError):
        raise InvalidArgument(
            "A holdout needs rows", must="be an array, a list, a data frame or an Arrow table"
        ) from None
    if count == 0:
        raise InvalidArgument("A holdout needs rows", must="have at least one", got="0")
    return rows  # type: ignore[no-any-return]


def _promised(
    rows: int, questions: int, beta: Number, alpha: Number | None, method: str | None
) -> PopulationGuarantee:
    """Return the promise of the wanted method, or of the best; refuse what cannot be promised."""
    count = check.at_least_one(questions, "questions")
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
    raise InvalidArgument(
        f"{rows:,} rows are too few for {count:,} adaptive questions",
        must=f"be at least {least.rows:,} for an error of {written(wanted)}",
        got=f"{rows:,}",
        next="Ask fewer questions, allow a larger error, or take more rows",
    )


def _as_training(training: Any, rows: Any) -> Sequence[Any]:
    """Return training rows; refuse those that are the holdout itself."""
    is_shared = training is rows or (
        isinstance(training, np.ndarray)
        and isinstance(rows, np.ndarray)
        and np.shares_memory(training, rows)
    )
    if is_shared:
        raise InvalidArgument(
            "The training rows are those of the holdout",
            must="be other people: nothing may be computed from the holdout beforehand",
            next="Split the rows at random first, and copy both parts",
        )
    return _as_rows(training)


def _refuse_without_training(overfits: int | None, tolerance: Number | None) -> None:
    if overfits is not None or tolerance is not None:
        raise InvalidArgument(
            "Only answers of training rows are corrected",
            must="exist where overfits or tolerance is given",
            got="no training rows",
            next="Give training=rows, or leave out overfits and tolerance",
        )


def _corrected(
    rows: tuple[int, int],
    questions: int,
    overfits: int | None,
    beta: Number,
    limit: Fraction,
    tolerance: Number | None,
) -> SparseGuarantee:
    """Return the promise of a holdout that corrects; refuse what cannot be promised."""
    if overfits is None:
        raise InvalidArgument(
            "A holdout with training rows must know how often it may correct them",
            must="have overfits=, for instance 10",
        )
    found = sparse_guarantee(
        rows=rows[0],
        questions=questions,
        overfits=overfits,
        beta=beta,
        tolerance=tolerance,
        training=rows[1],
    )
    if found is not None and found.alpha <= limit:
        return found
    raise InvalidArgument(
        f"{rows[0]:,} rows are too few to correct {overfits:,} answers",
        must=f"promise an error of {written(limit)}",
        got="more than 1" if found is None else f"{float(found.alpha):.3g}",
        next="Correct fewer answers, take more rows, allow a larger alpha, or leave out training",
    )
