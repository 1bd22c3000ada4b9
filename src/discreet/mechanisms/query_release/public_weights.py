"""Multiplicative weights: a public guess at a histogram that learns from noisy answers."""

from fractions import Fraction

import numpy as np

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.protocols import IntArray
from discreet.core.rounding import log_up
from discreet.mechanisms.query_release.linear_queries import (
    LARGEST_ANSWER,
    LinearQueries,
    RealArray,
)


class PublicWeights:
    r"""A guess at a histogram: it begins uniform, and moves towards each noisy answer it is told.

    Guarantee:
        It sees public numbers alone, so whatever it computes is free, and floats will do.

        *Learning.* Let :math:`p` be the true shares of the cells and :math:`a` the guessed ones,
        and let query :math:`q` have coefficients in an interval of width :math:`R` at most. After
        ``learn(q, v)`` with :math:`v = n(q(p) + e)`, where :math:`n` is the guess's total, the
        relative entropy :math:`\sum p \ln(p/a)` is smaller by at least
        :math:`\frac{2}{R^2}(d^2 - e^2)`, where :math:`d = q(p) - q(a)`.

        Proof. The new weights are :math:`a_i e^{\eta q_i}/Z`, so the entropy falls by
        :math:`\eta q(p) - \ln Z`. By Hoeffding's lemma
        :math:`\ln Z \le \eta q(a) + \eta^2 R^2/8`, for every :math:`\eta` [Hoe63]. With
        :math:`\eta = 4(d + e)/R^2` that leaves
        :math:`\frac{4}{R^2}\bigl((d + e)d - (d + e)^2/2\bigr)`, which is the claim. A noisy value
        outside what any data could have is first moved to the nearest that some could: it only
        comes nearer to the truth. The usual proof [HLM12] has
        :math:`e^z \le 1 + z + z^2` in place of the lemma, and half of this for :math:`R = 2`.

        The entropy begins at :math:`\ln N` at most, for ``N`` cells, and is never below 0.

    Example:
        >>> guess = PublicWeights(cells=4, total=100)
        >>> guess.answer(np.array([1, 1, 0, 0]))
        50
        >>> guess.learn(np.array([1, 1, 0, 0]), 80)
        >>> 60 < guess.answer(np.array([1, 1, 0, 0])) < 90
        True
    """

    def __init__(self, *, cells: int, total: int, width: int = 1) -> None:
        if check.whole(cells) < 1 or check.whole(total) < 1 or check.whole(width) < 0:
            raise InvalidArgument(
                "A guess is out of range",
                must="have at least one cell, a total of at least 1 and a width of at least 0",
                got=f"cells = {cells}, total = {total} and width = {width}",
            )
        self._total = float(total)
        self._width = float(max(1, width))
        self._logs = np.zeros(check.whole(cells), dtype=np.float64)

    @property
    def shares(self) -> RealArray:
        """The guessed share of each cell; they add up to 1."""
        weights = np.exp(self._logs - self._logs.max())
        shares: RealArray = weights / weights.sum()
        return shares

    @property
    def histogram(self) -> RealArray:
        """The guessed count of each cell; they add up to the total."""
        return self.shares * self._total

    def answer(self, query: IntArray) -> int:
        """Return the guessed answer to a query, as a whole number."""
        guess = round(self._share(query) * self._total)
        return min(max(guess, -LARGEST_ANSWER), LARGEST_ANSWER)

    def answers(self, queries: LinearQueries) -> IntArray:
        """Return the guessed answers to many queries, as whole numbers."""
        return whole_answers(queries, self.histogram)

    def learn(self, query: IntArray, value: int) -> None:
        """Move towards a noisy answer to a query."""
        told = min(max(value / self._total, float(query.min())), float(query.max()))
        width = max(self._width, float(query.max() - query.min()))
        step = 4.0 * (told - self._share(query)) / width**2
        self._logs = self._logs + step * _coefficients(query)

    def _share(self, query: IntArray) -> float:
        return float((self.shares * _coefficients(query)).sum())


def first_entropy(cells: int) -> Fraction:
    r"""Return what a guess has to learn at most: :math:`\ln N`, and a millionth for its floats.

    Example:
        >>> float(first_entropy(1024))
        6.931...
    """
    return log_up(Fraction(cells)) + Fraction(1, 10**6)


def whole_answers(queries: LinearQueries, histogram: RealArray) -> IntArray:
    """Return what a public histogram answers, in whole numbers."""
    limit = float(1 << 60)
    answers: IntArray = np.rint((queries.coefficients @ histogram).clip(-limit, limit)).astype(
        np.int64
    )
    return answers


def _coefficients(query: IntArray) -> RealArray:
    return query.astype(np.float64)
