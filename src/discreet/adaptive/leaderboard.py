"""A leaderboard that cannot be climbed by its own answers: the Ladder."""

import math
import os
import threading
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np
from attrs import frozen

from discreet.adaptive.rows_needed import fewest_rows
from discreet.core import check
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.loss import short
from discreet.core.numbers import Number, exact, written
from discreet.core.rounding import log_up, short_up, sqrt_up

MOST_STEPS = 200
"""Finer boards than in steps of half a per cent are not looked for."""

USEFUL = Fraction(1, 2)
"""The error for which rows are asked, where a board promises nothing."""


@frozen
class BoardStanding:
    """The best loss so far, as a leaderboard shows it.

    Attributes:
        loss: The share of wrong predictions of the best submission, in steps of the board.
        error: How far that is from the least loss over the population, of all submissions so far.
        number: How many submissions there were.
        is_new_best: Whether this submission has improved it.
    """

    loss: Fraction
    error: Fraction
    number: int
    is_new_best: bool

    def __str__(self) -> str:
        said = "a new best" if self.is_new_best else "no clear improvement"
        return f"{said}: best loss {_with_error(self.loss, self.error)}"


class Leaderboard:
    r"""Shows the best loss so far, and moves only for a clear improvement.

    Guarantee:
        Let the board have :math:`J` steps of :math:`\eta = 1/J`, and start at 1. A submission with
        the loss :math:`r` on the holdout moves it to the multiple of :math:`\eta` nearest to
        :math:`r` if :math:`r` is below it by more than :math:`\eta`, else it stays [BH15]. Then
        what is shown after any of :math:`k` submissions is within

        .. math:: \eta + \sqrt{\frac{1}{2n}\ln\frac{2}{\beta}\binom{k + J}{J + 1}}

        of the least loss over the population of all submissions so far, for all of them together,
        but for a chance of :math:`\beta`.

        Proof. *Few transcripts.* Each move is down by a step or more, so the values that are shown
        are a decreasing path over :math:`J` values: of :math:`t` answers there are
        :math:`\sum_j \binom tj\binom Jj = \binom{t + J}{J}` sequences at most. Fix the coins of
        those who submit. Then submission :math:`t + 1` is a function of the first :math:`t`
        answers, so there are :math:`\sum_{t < k}\binom{t + J}{J} = \binom{k + J}{J + 1}` functions
        in all that could ever be submitted, and they do not depend on the holdout. By Hoeffding's
        inequality the losses of all of them on the holdout are within the root of the population's.

        *Small steps.* Let :math:`m` be the least loss on the holdout so far, and :math:`R` what is
        shown. :math:`R` is 1 or within :math:`\eta/2` of one of the losses, so
        :math:`R \ge m - \eta/2`. And for each submission either it did not move the board, so that
        :math:`r \ge R' - \eta \ge R - \eta` for what was shown before, or it did, and
        :math:`R \le r + \eta/2`; so :math:`R \le m + \eta`. The constants are our own; those of the
        source are hidden in a rate of :math:`(\ln(kn)/n)^{1/3}`.

    Assumes:
        The rows are independent draws from the population. Nobody who submits has the labels.

    Example:
        >>> truth = np.arange(100_000) % 2
        >>> board = Leaderboard(truth, submissions=1_000)
        >>> print(board.submit(np.zeros(100_000)))
        a new best: best loss 0.5067 ± 0.05047
        >>> print(board.submit(1 - truth))
        no clear improvement: best loss 0.5067 ± 0.05047
    """

    def __init__(self, labels: Any, *, submissions: int, beta: Number = Fraction(1, 20)) -> None:
        """Hold the labels for so many submissions, with the steps that promise most."""
        self._labels = np.array(labels)
        if self._labels.ndim != 1 or not len(self._labels):
            raise InvalidArgument("A leaderboard needs labels", must="be one list of them")
        self.submissions = check.at_least_one(submissions, "submissions")
        self.error, self.steps = ladder_error(
            rows=len(self._labels), submissions=self.submissions, beta=beta
        )
        if self.error >= 1:
            raise _too_few(len(self._labels), self.submissions, beta)
        self._shown = Fraction(1)
        self._number = 0
        self._lock = threading.Lock()
        self._process = os.getpid()

    @property
    def left(self) -> int:
        """How many submissions there may still be."""
        return self.submissions - self._number

    def submit(self, predictions: Any) -> BoardStanding:
        """Return the standing of the board after a submission."""
        if os.getpid() != self._process:
            raise Unsupported(
                "A leaderboard cannot be used in a second process",
                must="be asked where it was made: a copy would lose count of submissions",
                next="Run with one process, or with threads",
            )
        found = np.asarray(predictions)
        if found.shape != self._labels.shape:
            raise InvalidArgument(
                "A submission has the wrong length",
                must=f"have {len(self._labels):,} predictions",
                got=f"the shape {found.shape}",
                next="Nothing was submitted",
            )
        wrong = Fraction(int((found != self._labels).sum()), len(self._labels))
        with self._lock:
            return self._moved(wrong)

    def _moved(self, wrong: Fraction) -> BoardStanding:
        """Count a submission, and move the board if it is a clear improvement."""
        if self.left < 1:
            raise InvalidArgument(
                "All submissions were made",
                must=f"be at most {self.submissions:,}",
                next="Nothing changed. Take fresh rows for a new leaderboard",
            )
        is_new = wrong < self._shown - Fraction(1, self.steps)
        if is_new:
            self._shown = Fraction(round(wrong * self.steps), self.steps)
        self._number += 1
        return BoardStanding(self._shown, self.error, self._number, is_new)

    def __reduce__(self) -> NoReturn:
        raise Unsupported(
            "A leaderboard cannot be copied or pickled",
            must="stay one object: a copy would lose count of submissions",
        )

    def __repr__(self) -> str:
        return f"Leaderboard(best loss {_with_error(self._shown, self.error)})"


def _too_few(rows: int, submissions: int, beta: Number) -> InvalidArgument:
    def error(size: int) -> Fraction:
        return ladder_error(rows=size, submissions=submissions, beta=beta)[0]

    least = fewest_rows(error, USEFUL)
    return InvalidArgument(
        f"{rows:,} labels are too few for a leaderboard of {submissions:,} submissions",
        must=f"be {least:,} or more for an error of {written(USEFUL)}",
        next="Allow fewer submissions, or take more rows",
    )


def _with_error(loss: Fraction, error: Fraction) -> str:
    """Return both in a few digits; what rounding does to the loss is added to its error."""
    shown = short(loss)
    return f"{shown} ± {short(error + abs(exact(shown) - loss))}"


def ladder_error(*, rows: int, submissions: int, beta: Number) -> tuple[Fraction, int]:
    """Return the least error that a leaderboard promises, and its number of steps.

    Example:
        >>> error, steps = ladder_error(rows=100_000, submissions=1_000, beta="0.05")
        >>> round(float(error), 3), steps
        (0.05, 75)
    """
    wanted, size = check.level(beta), check.at_least_one(rows, "rows")
    count = check.at_least_one(submissions, "submissions")

    def likely(steps: int) -> float:
        pairs = math.lgamma(count + steps + 1) - math.lgamma(steps + 2) - math.lgamma(count)
        return 1 / steps + math.sqrt(max(0.0, math.log(2 / wanted) + pairs) / (2 * size))

    steps = min(range(1, MOST_STEPS + 1), key=likely)
    functions = Fraction(math.comb(count + steps, steps + 1))
    spread = sqrt_up(short_up(log_up(2 * functions / wanted) / (2 * size)))
    return min(Fraction(1), short_up(Fraction(1, steps) + spread)), steps
