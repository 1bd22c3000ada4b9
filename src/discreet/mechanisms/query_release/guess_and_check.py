"""Guess and check: answer from a public guess while it is near the truth, and measure if not."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any, Generic, Protocol, Self, TypeVar
from weakref import finalize

import numpy as np
from attrs import field, frozen

from discreet.core import check
from discreet.core.contribution import Contribution
from discreet.core.errors import InvalidArgument
from discreet.core.event import ComposedEvent, Event
from discreet.core.loss import Approximate, Pure
from discreet.core.numbers import Number
from discreet.core.protocols import IntArray, Rng
from discreet.mechanisms.query_release.drawn_scales import require_drawable
from discreet.mechanisms.query_release.linear_queries import (
    LARGEST_ANSWER,
    LARGEST_COEFFICIENT,
    answer_contribution,
    histogram_of,
    query_of,
)
from discreet.mechanisms.query_release.row_total import CountNoise, RowTotal, public_total
from discreet.mechanisms.thresholds.halting_sparse_vector import HaltingSparseVector
from discreet.mechanisms.thresholds.interactive import Machine, one_integer
from discreet.mechanisms.thresholds.numeric_sparse import NumericSparse
from discreet.mechanisms.thresholds.sparse_vector import SparseVector


class PublicGuess(Protocol):
    """A guess at the data that is made of public numbers, and learns from public numbers."""

    def answer(self, query: IntArray) -> int:
        """Return the guessed answer to a query."""
        ...

    def learn(self, query: IntArray, value: int) -> None:
        """Take note of a noisy answer."""
        ...


T = TypeVar("T", bound=PublicGuess)


@frozen
class CheckedAnswer:
    """One answer, and whether it was measured; if not, it is the guess."""

    value: int
    is_measured: bool


@frozen(kw_only=True)
class GuessAndCheck:
    r"""Answer queries one by one: from a public guess if it is near, else with a fresh noisy count.

    A query is a row of coefficients between ``lower`` and ``upper``. How far the guess is off is
    compared with ``threshold`` by a sparse vector machine. If that is *below*, the guess is the
    answer, and nothing more is told. If it is *above*, the exact answer is measured with fresh
    noise, and the guess learns from it. After ``vector.most_above`` of these the machine ends.

    Guarantee:
        The loss of ``vector``, composed with ``most_above`` uses of ``value_noise``, both for
        values that one unit moves by :math:`\Delta = \max(|lower|, |upper|) \cdot l_1`. It holds
        however the queries are chosen, for any number of them.

        Proof. All earlier answers being fixed, so are the query and the guess, an integer
        :math:`g`; so :math:`|q(x) - g|` is an integer that moves by at most :math:`\Delta`, and is
        one more query to the machine, which allows for any choice in the light of earlier answers
        (:class:`~discreet.mechanisms.thresholds.sparse_vector.SparseVector`). The noise of a
        measurement is fresh, so the probability of a whole transcript is that of its comparisons
        times those of its measurements: the ratios multiply, and the factors are bounded one by
        one. This is NumericSparse [Das22, Theorem 6.6] that tells :math:`q(x)` in place of the
        distance to the guess.

    Assumes:
        The guess is public: it is given nothing but answers of this machine. The caller proved
        ``d_in.l1``; ``rng`` is unpredictable to the reader. The whole event is charged when the
        machine is opened.

    Utility:
        ``error_quantile``: until the machine ends, all answers are within it. How long that takes
        is a matter of the guess; multiplicative weights and the median have theorems.

    Example:
        >>> checks = GuessAndCheck.calibrate(
        ...     d_in=Contribution(l1=1), loss=Pure(1), most_above=4, threshold=500
        ... )
        >>> checks.error_quantile("0.05", queries=1000)
        Fraction(755, 1)
    """

    vector: SparseVector | HaltingSparseVector
    value_noise: CountNoise
    threshold: int = field(converter=check.whole, validator=check.positive)
    lower: int = field(default=0, converter=check.whole)
    upper: int = field(default=1, converter=check.whole)

    def __attrs_post_init__(self) -> None:
        """Refuse ranges that are empty or too wide, and what could not be drawn or compared."""
        vector = self.vector
        require_drawable([vector.threshold_noise, vector.query_noise, self.value_noise])
        if not -LARGEST_COEFFICIENT <= self.lower < self.upper <= LARGEST_COEFFICIENT:
            raise InvalidArgument(
                "The range of coefficients is out of range",
                must=f"have lower below upper, both at most {LARGEST_COEFFICIENT} in size",
                got=f"lower = {self.lower} and upper = {self.upper}",
            )
        if self.threshold > LARGEST_ANSWER:
            raise InvalidArgument("threshold is out of range", must="be below 2**61")
        if isinstance(self.vector, HaltingSparseVector) and self.threshold > self.vector.ceiling:
            raise InvalidArgument(
                "The threshold is too high",
                must=f"be at most the ceiling, {self.vector.ceiling}",
                got=str(self.threshold),
            )

    @classmethod
    def calibrate(
        cls,
        *,
        d_in: Contribution,
        loss: Pure | Approximate,
        most_above: int,
        threshold: int,
        lower: int = 0,
        upper: int = 1,
    ) -> Self:
        """Return the machine with the least Laplace noise whose whole life stays within ``loss``.

        Comparisons and values share the loss as in
        :class:`~discreet.mechanisms.thresholds.numeric_sparse.NumericSparse`.
        """
        one = answer_contribution(max(abs(check.whole(lower)), abs(check.whole(upper))), d_in)
        numeric = NumericSparse.calibrate(d_in=one, loss=loss, most_above=most_above)
        return cls(
            vector=numeric.vector,
            value_noise=numeric.value_noise,
            threshold=threshold,
            lower=lower,
            upper=upper,
        )

    @property
    def largest(self) -> int:
        """The largest coefficient in size."""
        return max(abs(self.lower), abs(self.upper))

    @property
    def width(self) -> int:
        """How far the coefficients of one query may be apart."""
        return self.upper - self.lower

    @property
    def most_above(self) -> int:
        """How many measurements there are at most."""
        return self.vector.most_above

    def event(self, d_in: Contribution) -> Event:
        """Describe the whole life of one machine; ``d_in`` is how one unit moves the histogram."""
        one = answer_contribution(self.largest, d_in)
        value = self.value_noise.event(one)
        return ComposedEvent.of([self.vector.event(one), value * self.most_above])

    def open(
        self,
        histogram: IntArray,
        *,
        guess: T,
        d_in: Contribution,
        rng: Rng,
        event: Event | None = None,
    ) -> "GuessAndCheckRun[T]":
        """Return a machine in its first state. The gate already holds the loss of its event.

        ``event`` is that of its whole life, if more than the checks belongs to it.
        """
        return GuessAndCheckRun(
            self, histogram=histogram, guess=guess, d_in=d_in, rng=rng, event=event
        )

    def error_quantile(self, beta: Number, *, queries: int) -> Fraction:
        r"""Return a bound on the errors of all answers among the first ``queries``.

        Half of :math:`\beta` is for the comparisons and half for the measurements.
        """
        half = check.level(beta) / 2
        return max(self.threshold + self.comparison_error(half, queries), self.value_error(half))

    def comparison_error(self, beta: Number, queries: int) -> Fraction:
        """Return how far a distance may be on the other side of the threshold."""
        return self.vector.error_quantile(beta, queries=queries)

    def value_error(self, beta: Number) -> Fraction:
        """Return how far any of the measurements may be from the truth."""
        return self.value_noise.error_quantile(check.level(beta) / self.most_above)


class GuessAndCheckRun(Machine, Generic[T]):
    """One life of a :class:`GuessAndCheck`; see there for what it promises.

    The exact counts are overwritten when it ends or is let go of. Whatever stops an answer half-way
    ends it too.
    """

    def __init__(
        self,
        mechanism: GuessAndCheck,
        *,
        histogram: IntArray,
        guess: T,
        d_in: Contribution,
        rng: Rng,
        event: Event | None = None,
    ) -> None:
        super().__init__()
        cells = int(np.size(histogram))
        self._rows = histogram_of(histogram, cells=cells, largest=mechanism.largest).copy()
        finalize(self, self._rows.fill, 0)  # also if nobody waits for its end
        self._mechanism = mechanism
        self._guess = guess
        self._event = mechanism.event(d_in) if event is None else event
        self._rng = rng
        self._comparisons = mechanism.vector.open(
            threshold=mechanism.threshold,
            d_in=answer_contribution(mechanism.largest, d_in),
            rng=rng,
        )

    @property
    def guess(self) -> T:
        """The guess as it is now. It is public, also after the end."""
        return self._guess

    def event(self) -> Event:
        """Describe the whole life of the machine."""
        return self._event

    def ask(self, query: Any) -> CheckedAnswer:
        """Return the answer to one query, guessed or measured."""
        self._require_open()
        found = self._checked(query)
        guess = one_integer(self._guess.answer(found), "The guess")
        guess = min(max(guess, -LARGEST_ANSWER), LARGEST_ANSWER)
        is_done = False
        try:
            value = self._compared(found, guess)
            is_done = True
        finally:
            if not is_done:  # noise was perhaps drawn and not told: no second draw for it
                self.end()
        if value is None:
            return CheckedAnswer(guess, is_measured=False)
        self._guess.learn(found, value)
        return CheckedAnswer(value, is_measured=True)

    def _compared(self, query: IntArray, guess: int) -> int | None:
        """Return a noisy answer where the guess seems far from the exact one."""
        exact = np.array([(query * self._rows).sum()], dtype=np.int64)
        is_far = self._comparisons.ask(abs(int(exact[0]) - guess))
        value = int(self._mechanism.value_noise.release(exact, self._rng)[0]) if is_far else None
        if self._comparisons.ended:
            self.end()
        return value

    def ask_many(self, queries: Any) -> list[CheckedAnswer]:
        """Answer the queries in turn until the machine ends: there may be fewer answers."""
        self._require_open()
        checked = [self._checked(query) for query in queries]
        # Asking may end the machine: the condition is looked at again before each query.
        return [self.ask(query) for query in checked if not self.ended]

    def end(self) -> None:
        """End the machine, and overwrite the exact counts that it holds."""
        self._end()
        self._rows.fill(0)

    def _checked(self, query: Any) -> IntArray:
        return query_of(
            query,
            cells=self._rows.size,
            lower=self._mechanism.lower,
            upper=self._mechanism.upper,
        )


def open_with_total(
    checks: GuessAndCheck,
    histogram: IntArray,
    guess: Callable[[int], T],
    *,
    cells: int,
    total: RowTotal,
    d_in: Contribution,
    event: Event,
    rng: Rng,
) -> GuessAndCheckRun[T]:
    """Return a machine in its first state, whose guess begins with the public total of rows.

    ``event`` is that of its whole life: of the total, if it is measured, and of the checks.
    """
    rows = histogram_of(histogram, cells=cells, largest=checks.largest)
    first = guess(public_total(total, rows, rng))
    return checks.open(rows, guess=first, d_in=d_in, rng=rng, event=event)
