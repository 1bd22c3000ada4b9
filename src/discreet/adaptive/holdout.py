"""A holdout that may be asked again and again, and still tells the truth about the population."""

import os
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, NoReturn

from discreet.adaptive.answering_modes import AnsweringMode, GivenShare, NoisyMode, answering_mode
from discreet.adaptive.guarantee import PopulationGuarantee
from discreet.adaptive.holdout_promise import (
    HoldoutRows,
    as_rows,
    as_training,
    corrected,
    counts_of,
    mixed,
    promised,
    refuse_without_training,
    universal,
)
from discreet.adaptive.mixed_modes import (
    chosen,
    noisy_value,
    require_a_width,
    require_choices,
    value_share,
)
from discreet.adaptive.population_answers import PopulationAnswer, PopulationChoice
from discreet.adaptive.question_mix import MixedGuarantee, QuestionMix
from discreet.adaptive.row_values import (
    CHECKED_OF_MANY,
    DeclaredRange,
    RowFunction,
    RowValues,
    batch_total,
    batch_values,
    require_a_function,
    require_functions,
    row_values,
)
from discreet.adaptive.sparse_answers import SparseGuarantee
from discreet.core.counted import counted
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.numbers import Number, exact
from discreet.core.protocols import IntArray, Rng
from discreet.randomness.rng import SystemRng


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
        >>> import numpy as np
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
        questions: int | QuestionMix,
        beta: Number = Fraction(1, 20),
        alpha: Number | None = None,
        method: str | None = None,
        training: Any = None,
        overfits: int | None = None,
        tolerance: Number | None = None,
        universe: Any = None,
    ) -> None:
        """Hold rows for so many questions; ``method`` is one that ``guarantees`` names.

        Args:
            rows: The rows that are kept apart.
            questions: How many may be asked; or a mix of several kinds, with how many of each.
            beta: The chance that some answer is farther off than promised.
            alpha: How far answers may be off. It is refused if no method promises that, with the
                number of rows that would.
            method: How to answer; the best way, if not given.
            training: Other rows, which answer first: then the holdout only corrects answers that
                overfit [DFH15]. See ``sparse_guarantee``.
            overfits: How many answers it may correct.
            tolerance: How far a training answer may be off without a correction.
            universe: All elements that a row can be, if they are few and public. Then questions
                are put to the elements, and answered exactly or by weights over them.
        """
        self._rows = as_rows(rows)
        self._training = None if training is None else as_training(training, rows, self._rows)
        self._elements = self._rows
        self._histogram: IntArray | None = None
        size = len(self._rows)
        self.guarantee: PopulationGuarantee
        if self._training is not None:
            limit = Fraction(1, 2) if alpha is None else exact(alpha)
            self.guarantee = corrected(
                (size, len(self._training)), questions, overfits, beta, limit, tolerance
            )
        else:
            refuse_without_training(overfits, tolerance)
            if universe is not None:
                self._elements = as_rows(universe)
                self._histogram = counts_of(self._rows.each, self._elements.each)
                self.guarantee = universal(size, questions, len(self._elements), beta, alpha)
            elif isinstance(questions, QuestionMix):
                self.guarantee = mixed(size, questions, beta, alpha, method)
            else:
                self.guarantee = promised(size, questions, beta, alpha, method)
        self._rng: Rng = SystemRng()
        self._mode: AnsweringMode | None = None
        self._asked: list[PopulationAnswer | PopulationChoice] = []
        self._kinds: Counter[str] = Counter()
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
    def left_by_kind(self) -> dict[str, int]:
        """How many questions of each kind may still be asked."""
        if isinstance(self.guarantee, MixedGuarantee):
            kinds = self.guarantee.answers.mix.by_kind
            return {kind: count - self._kinds[kind] for kind, count in kinds.items()}
        return {"means": self.left}

    @property
    def transcript(self) -> tuple[PopulationAnswer | PopulationChoice, ...]:
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
        self._require_a_question("means")
        values = _values(function, self._elements, within, is_batch)
        training = self._training
        trained = None if training is None else _values(function, training, within, is_batch)
        return self._answer(values, within, trained)

    def ask_many(
        self, functions: Sequence[RowFunction], *, low: Number = 0, high: Number = 1
    ) -> tuple[PopulationAnswer, ...]:
        """Return the means of several functions of all rows at once, as ``ask`` would one by one.

        Each is a question. Where every answer has noise of its own, all noise is drawn together.
        If too few questions are left, none is asked.

        Example:
            >>> import numpy as np
            >>> holdout = Holdout(np.linspace(0, 1, 20_000), questions=9)
            >>> answers = holdout.ask_many([lambda x, c=c: x > c for c in (0.2, 0.4, 0.6)])
            >>> len(answers), holdout.left
            (3, 6)
        """
        within = DeclaredRange(low, high)
        require_functions(functions)
        self._require_a_question("means", len(functions))
        with self._lock:
            mode = self._answering()
        if not isinstance(mode, NoisyMode):
            return tuple(self.ask(one, low=low, high=high, is_batch=True) for one in functions)
        rows = self._rows.together
        totals = [batch_total(one, rows, within, checked=CHECKED_OF_MANY) for one in functions]
        with self._lock:
            self._require_a_question("means", len(functions))
            given = mode.shares(totals, len(self._rows))
            return tuple(self._said("means", within, one) for one in given)

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
        within = DeclaredRange(low, high)
        self._require_a_question("means")
        values = _values(function, self._elements, within, is_batch).outside()
        training = self._training
        trained = None if training is None else _values(function, training, within, is_batch)
        return self._answer(
            values, DeclaredRange(0, 1), None if trained is None else trained.outside()
        )

    def _answer(
        self, values: RowValues, within: DeclaredRange, trained: RowValues | None
    ) -> PopulationAnswer:
        with self._lock:
            self._require_a_question("means")
            given = self._answering().share(values, len(self._asked), trained)
            return self._said("means", within, given)

    def ask_value(
        self,
        function: Callable[[Any], Any],
        *,
        sensitivity: Number | None = None,
        low: Number = 0,
        high: Number = 1,
    ) -> PopulationAnswer:
        """Return a value of all rows at once, with an interval for its mean over samples.

        The interval is for what the function gives on average over samples of as many rows.

        Args:
            function: Of all rows. A value outside of the range is put to the nearer end, one that
                is none or an error to the middle.
            sensitivity: By how much the replacement of one row moves the value at most, whatever
                the rows are. It is declared, and not checked: you must be able to prove it.
            low: The lower end of its declared range.
            high: The upper end.
        """
        within = DeclaredRange(low, high)
        require_a_function(function, "all rows")
        mix = self._require_a_mix().answers.mix
        self._require_a_question("values")
        require_a_width(sensitivity, within, len(self._rows), mix)
        share = value_share(function, self._rows.together, within)
        with self._lock:
            self._require_a_question("values")
            given = noisy_value(share, self._require_a_mix().answers, self._rng)
            return self._said("values", within, given)

    def ask_best(
        self,
        losses: Sequence[RowFunction],
        *,
        low: Number = 0,
        high: Number = 1,
        is_batch: bool = False,
    ) -> PopulationChoice:
        """Return which of some losses has the least mean, nearly, over the population.

        Args:
            losses: One function of a row for each choice, as for ``ask``.
            low: The lower end of the losses' range.
            high: The upper end.
            is_batch: Whether they take all rows at once.
        """
        within = DeclaredRange(low, high)
        require_functions(losses)
        promise = self._require_a_mix()
        self._require_a_question("choices")
        require_choices(len(losses), promise.answers.mix)
        values = [_values(one, self._rows, within, is_batch) for one in losses]
        with self._lock:
            self._require_a_question("choices")
            answer = PopulationChoice(
                place=chosen(values, promise.answers, self._rng),
                excess=promise.alphas["choices"] * within.width,
                number=len(self._asked) + 1,
            )
            self._keep("choices", answer)
        return answer

    def _said(self, kind: str, within: DeclaredRange, given: GivenShare) -> PopulationAnswer:
        """Return an answer with its interval, and keep it."""
        share, reach = given.value, self.guarantee.alpha
        if isinstance(self.guarantee, MixedGuarantee):
            reach = self.guarantee.alphas[kind]
        if self.guarantee.beta is None:
            # A promise on average is none about this answer: then all of the range is possible.
            reach = Fraction(1)
        answer = PopulationAnswer(
            value=within.at(share),
            low=within.at(max(Fraction(0), share - reach)),
            high=within.at(min(Fraction(1), share + reach)),
            number=len(self._asked) + 1,
            is_from_training=given.is_from_training,
        )
        self._keep(kind, answer)
        return answer

    def _keep(self, kind: str, answer: PopulationAnswer | PopulationChoice) -> None:
        self._asked.append(answer)
        self._kinds[kind] += 1

    def _require_a_mix(self) -> MixedGuarantee:
        if not isinstance(self.guarantee, MixedGuarantee):
            raise InvalidArgument(
                "This holdout was made for means alone",
                must="know beforehand how many values and choices are asked",
                next="Nothing changed. Make it with questions=QuestionMix(means=..., values=...)",
            )
        return self.guarantee

    def _corrected(self) -> int:
        return sum(
            isinstance(one, PopulationAnswer) and not one.is_from_training for one in self._asked
        )

    def _answering(self) -> AnsweringMode:
        if self._mode is None:
            self._mode = answering_mode(self.guarantee, self._rng, self._histogram)
        return self._mode

    def _require_a_question(self, kind: str, count: int = 1) -> None:
        if os.getpid() != self._process:
            raise Unsupported(
                "A holdout cannot be used in a second process",
                must="be asked where it was made: copies would repeat noise and lose count",
                next="Run with one process (n_jobs=1), or with threads",
            )
        if self._mode is not None and self._mode.ended:
            raise InvalidArgument(
                "All corrections were made",
                must="overfit, or surprise the weights, no more often than was declared",
                next="Nothing changed. Take fresh rows for a new holdout, or train with less",
            )
        left = self.left_by_kind.get(kind, 0)
        if left < count:
            none_left = (
                "All questions were asked" if self._kinds[kind] else f"No {kind} were declared"
            )
            raise InvalidArgument(
                f"Only {left:,} questions are left" if left > 0 else none_left,
                must=f"be at most {self._kinds[kind] + max(0, left):,} {kind}",
                next="Nothing changed. Take fresh rows for a new holdout",
            )

    def __reduce__(self) -> NoReturn:
        raise Unsupported(
            "A holdout cannot be copied or pickled",
            must="stay one object: a copy would repeat noise and lose count of questions",
        )

    def __repr__(self) -> str:
        return f"Holdout({self.guarantee}; {counted(self.left, 'question')} left)"


def _values(
    function: RowFunction, rows: HoldoutRows, within: DeclaredRange, is_batch: bool
) -> RowValues:
    """Ask rows one by one, or all at once."""
    require_a_function(function)
    if is_batch:
        return batch_values(function, rows.together, within)
    return row_values(function, rows.each, within)
