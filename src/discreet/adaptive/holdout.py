"""A holdout that may be asked again and again, and still tells the truth about the population."""

import os
import threading
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, NoReturn, Protocol

import numpy as np
from attrs import field, frozen

from discreet.adaptive.guarantee import (
    STEPS,
    PopulationGuarantee,
    expected_guarantee,
    guarantees,
)
from discreet.adaptive.row_values import (
    DeclaredRange,
    RowFunction,
    RowValues,
    batch_values,
    row_values,
)
from discreet.adaptive.rows_needed import least_rows
from discreet.core import check
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.numbers import Number, exact, written
from discreet.core.protocols import Rng
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.randomness.rng import SystemRng

Steps = np.ndarray[Any, np.dtype[np.int64]]
"""The value of each row, in steps of the range."""


@frozen
class PopulationAnswer:
    """An answer about the population, with what holds for all answers together.

    Attributes:
        value: The answer, in the declared range.
        low: The lower end of the interval for the population; that of the range, if the promise
            is one on average.
        high: The upper end.
        number: How many questions were asked up to this one.
    """

    value: Fraction
    low: Fraction
    high: Fraction
    number: int

    def __str__(self) -> str:
        return f"{float(self.value):.4g} [{float(self.low):.4g} to {float(self.high):.4g}]"


class AnsweringMode(Protocol):
    """How questions are answered: from the values of rows to a share of their range."""

    def share(self, steps: Steps, number: int) -> Fraction:
        """Return the answer to question ``number``, counted from 0, as a share of the range."""


@frozen
class NoisyMode:
    """Every answer has noise of its own; all rows are used."""

    noise: DiscreteGaussian
    rng: Rng = field(repr=False)

    def share(self, steps: Steps, number: int) -> Fraction:
        """Return the noisy mean, cut to the range."""
        total = np.array([int(steps.sum())], dtype=np.int64)
        noisy = int(self.noise.release(total, self.rng)[0])
        return min(Fraction(1), max(Fraction(0), Fraction(noisy, STEPS * len(steps))))


@frozen
class FreshMode:
    """Every answer is exact of rows that no answer before it has used."""

    order: np.ndarray[Any, np.dtype[np.int64]] = field(repr=False)
    each: int

    def share(self, steps: Steps, number: int) -> Fraction:
        """Return the mean over the part of the rows that is this question's."""
        part = self.order[number * self.each : (number + 1) * self.each]
        return Fraction(int(steps[part].sum()), STEPS * self.each)


class Holdout:
    r"""Rows that are kept apart to check findings, and may be asked many adaptive questions.

    Guarantee:
        ``guarantee``: all answers are within ``guarantee.alpha`` (of the width of their range) of
        the population, but for a chance of ``guarantee.beta``, whichever questions are asked, and
        however they depend on earlier answers. Its proof stands with the theorem that it names.

    Assumes:
        The rows are independent draws from the population, one for each person, and nothing else
        was ever computed from them: the training rows are others. A function of all rows at once
        treats each by itself; some are looked at, which finds mistakes, and no tricks. This
        promises that findings are *true*, and not that rows stay *private*: whoever has the object
        has the rows.

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
    ) -> None:
        """Hold rows for so many questions; ``method`` is one that ``guarantees`` names.

        With ``alpha`` it is refused if no method promises that, with the number of rows that would.
        """
        self._rows, self._together = _as_rows(rows)
        self.guarantee = _promised(len(self._rows), questions, beta, alpha, method)
        self._rng: Rng = SystemRng()
        self._mode: AnsweringMode | None = None
        self._asked: list[PopulationAnswer] = []
        self._lock = threading.Lock()
        self._process = os.getpid()

    @property
    def left(self) -> int:
        """How many questions may still be asked."""
        return self.guarantee.questions - len(self._asked)

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
                the nearer end, one that is none or an error to the middle. How many there were is
                not told: exact counts would be answers without noise. ``ask_outside`` asks for it.
            low: The lower end of its declared range.
            high: The upper end.
            is_batch: Whether it takes all rows at once, as an array or a data frame, and gives a
                value for each.
        """
        within = DeclaredRange(low, high)
        return self._answer(self._values(function, within, is_batch).steps, within)

    def ask_outside(
        self,
        function: RowFunction,
        *,
        low: Number = 0,
        high: Number = 1,
        is_batch: bool = False,
    ) -> PopulationAnswer:
        """Return for which share of rows a function has no value in its range. It is a question.

        Example:
            >>> holdout = Holdout(list(range(10_000)), questions=5)
            >>> answer = holdout.ask_outside(lambda row: 1 / (row % 2))
            >>> bool(answer.low < 0.5 < answer.high), holdout.left
            (True, 4)
        """
        found = self._values(function, DeclaredRange(low, high), is_batch)
        return self._answer(found.is_outside.astype(np.int64) * STEPS, DeclaredRange(0, 1))

    def _values(self, function: RowFunction, within: DeclaredRange, is_batch: bool) -> RowValues:
        self._require_a_question()
        if not callable(function):
            raise InvalidArgument("A question is a function of a row", must="be one")
        if is_batch:
            return batch_values(function, self._together, within)
        return row_values(function, self._rows, within)

    def _answer(self, steps: Steps, within: DeclaredRange) -> PopulationAnswer:
        with self._lock:
            self._require_a_question()
            number = len(self._asked)
            share = self._answering().share(steps, number)
            # A promise on average is none about this answer: then all of the range is possible.
            reach = Fraction(1) if self.guarantee.beta is None else self.guarantee.alpha
            answer = PopulationAnswer(
                value=within.at(share),
                low=within.at(max(Fraction(0), share - reach)),
                high=within.at(min(Fraction(1), share + reach)),
                number=number + 1,
            )
            self._asked.append(answer)
        return answer

    def _answering(self) -> AnsweringMode:
        if self._mode is None:
            self._mode = _mode(self.guarantee, self._rng)
        return self._mode

    def _require_a_question(self) -> None:
        if os.getpid() != self._process:
            raise Unsupported(
                "A holdout cannot be used in a second process",
                must="be asked where it was made: copies would repeat noise and lose count",
                next="Run with one process (n_jobs=1), or with threads",
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


def _as_rows(rows: Any) -> tuple[Sequence[Any], Any]:
    """Return rows as something that is asked one by one, and as what is asked all at once."""
    together = rows
    if hasattr(rows, "itertuples"):  # a pandas frame: rows as named tuples
        together = rows.reset_index(drop=True)
        rows = list(rows.itertuples(index=False))
    elif hasattr(rows, "iter_rows"):  # a Polars frame, which would be asked column by column
        rows = list(rows.iter_rows(named=True))
    elif hasattr(rows, "to_pylist"):  # an Arrow table: rows as dictionaries
        rows = rows.to_pylist()
    elif hasattr(rows, "iloc"):  # a pandas series, whose places may have other names
        rows = together = rows.to_numpy()
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
    return rows, together


def _promised(
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
    raise InvalidArgument(
        f"{rows:,} rows are too few for {count:,} adaptive questions",
        must=f"be at least {least.rows:,} for an error of {written(wanted)}",
        got=f"{rows:,}",
        next="Ask fewer questions, allow a larger error, or take more rows",
    )


def _mode(guarantee: PopulationGuarantee, rng: Rng) -> AnsweringMode:
    if guarantee.noise is not None:
        return NoisyMode(guarantee.noise, rng)
    # A random order, so that rows which lie in some order are fresh draws all the same.
    keys = np.frombuffer(rng.words(guarantee.rows).tobytes(), dtype=np.uint64)
    each = guarantee.rows // guarantee.questions
    return FreshMode(np.argsort(keys, kind="stable").astype(np.int64), each)
