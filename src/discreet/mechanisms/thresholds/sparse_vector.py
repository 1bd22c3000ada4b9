"""The sparse vector technique: pay for the queries above a threshold, not for those below."""

from enum import Enum
from fractions import Fraction

import numpy as np
from attrs import Attribute, evolve, field, frozen
from numpy.typing import NDArray

from discreet.core import check
from discreet.core.contribution import Contribution
from discreet.core.event import Event
from discreet.core.mechanism_event import SparseVectorEvent
from discreet.core.numbers import Number
from discreet.core.protocols import IntArray, Rng
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.thresholds.interactive import (
    Machine,
    Queries,
    doubled,
    one_integer,
    sensitivity,
)

ThresholdNoise = DiscreteLaplace | DiscreteGaussian


class Redraw(Enum):
    """When the threshold's noise is drawn again."""

    NEVER = "never"
    AFTER_ABOVE = "after_above"


def redraw_of(value: Redraw | str) -> Redraw:
    """Return the rule that is meant, also by its name; refuse any other."""
    return check.chosen(Redraw, value, noun="rule of redrawing")


@frozen(kw_only=True)
class SparseVector:
    r"""Compare each query with a noisy threshold; end after ``most_above`` were above it.

    A query is *above* if :math:`q + \nu \ge T + \rho` (ties count as above), with fresh noise
    :math:`\nu` for each query and :math:`\rho` drawn once, or again after each query above. The
    threshold may differ from query to query. This is the generalised algorithm of
    [Das22, Algorithm 9] in integers, with any pair of our noises.

    Guarantee:
        Write :math:`\varepsilon_\rho(\alpha)` for the loss of the threshold's noise when it moves
        by the sensitivity :math:`\Delta`, :math:`\varepsilon_\nu(\alpha)` for that of the queries'
        noise when it moves by :math:`2\Delta`, at Rényi order :math:`\alpha` (∞ is pure), ``c`` for
        ``most_above``, ``r`` for how often the threshold is drawn (1 or ``c``), ``k`` for
        ``most_queries``. However the queries are chosen,

        * *pure*: :math:`r\varepsilon_\rho(\infty) + c\,\varepsilon_\nu(\infty)`
          [DR14, Theorem 3.23 for c = 1; Das22, Theorem 6.1];
        * *hybrid*, if :math:`\varepsilon_\nu(\infty)` is finite:
          :math:`D_\alpha \le r\varepsilon_\rho(\alpha) + c\,\varepsilon_\nu(\infty)`. The source
          prints the condition on :math:`\varepsilon_\rho(\infty)` [Das22, Theorem 9.9];
        * *bounded length*: :math:`D_\alpha \le r\varepsilon_\rho(\alpha)
          + c\,\varepsilon_\nu(\alpha) + \ln\bigl(\sum_{j \le c} \binom{k}{j}\bigr)
          / (\alpha - 1)` [Das22, Theorems 9.9, 9.12].

        Proof. Move the threshold's noise by :math:`\Delta` on the neighbour. A query that was
        below stays below; one that was above needs its own noise to move by at most
        :math:`2\Delta`. So along each transcript the probabilities given :math:`\rho = z` and
        :math:`z + \Delta` differ by one change of :math:`\rho` for each draw and at most ``c``
        changes of :math:`\nu`. For discrete Laplace noise this is all that the pure proof needs:
        :math:`P(z + \Delta) \ge e^{-\Delta/s} P(z)`. Without an end after the ``c``-th query above
        there is no bound. The Rényi forms are on :doc:`/proofs/thresholds`.

    Assumes:
        The caller proved that one unit moves each query by at most ``d_in.linf``; ``rng`` is
        unpredictable to the reader. The whole event is charged when the machine is opened.

    Utility:
        ``error_quantile``: with probability :math:`1 - \beta` no answer among the first ``queries``
        is wrong by more than that, in either direction.

    Example:
        >>> from discreet import account
        >>> machine = SparseVector(
        ...     threshold_noise=DiscreteGaussian(sigma_squared=400),
        ...     query_noise=DiscreteLaplace(scale=40),
        ... )
        >>> print(account(machine.event(Contribution(linf=1)), delta="1e-6"))
        ε = 0.256, δ = 0.000001 (zcdp: CKS20, Corollary 13)
    """

    threshold_noise: ThresholdNoise
    query_noise: ThresholdNoise
    most_above: int = field(default=1, converter=check.whole, validator=check.positive)
    most_queries: int | None = field(default=None, converter=check.optional_whole)
    redraw: Redraw = field(default=Redraw.NEVER, converter=redraw_of)

    @most_queries.validator
    def _some(self, attribute: "Attribute[int | None]", value: int | None) -> None:
        if value is not None:
            check.positive(self, attribute, value)

    @property
    def draws(self) -> int:
        """How often the threshold's noise is drawn at most."""
        return self.most_above if self.redraw is Redraw.AFTER_ABOVE else 1

    def with_most_above(self, count: int) -> "SparseVector":
        """Return the same machine with another number of queries above."""
        return evolve(self, most_above=count)

    def event(self, d_in: Contribution) -> Event:
        """Describe the whole life of one machine, for queries that one unit moves by ``d_in``.

        Where the threshold is redrawn and no transcripts are counted, it is that many machines
        with one query above each, of which composition theorems make better use.
        """
        one = sensitivity(d_in)
        noises = self.threshold_noise.event(one), self.query_noise.event(doubled(one))
        is_counted = self.most_queries is not None and isinstance(
            self.query_noise, DiscreteGaussian
        )
        is_composed = self.redraw is Redraw.AFTER_ABOVE and not is_counted
        event = SparseVectorEvent(
            threshold_noise=noises[0],
            query_noise=noises[1],
            above=1 if is_composed else self.most_above,
            draws=1 if is_composed else self.draws,
            queries=self.most_queries if is_counted else None,
            metric=d_in.metric,
        )
        return event * self.most_above if is_composed else event

    def open(self, *, threshold: int, d_in: Contribution, rng: Rng) -> "SparseVectorRun":
        """Return a machine in its first state. The gate already holds the loss of its event."""
        return SparseVectorRun(self, threshold=threshold, event=self.event(d_in), rng=rng)

    def error_quantile(self, beta: Number, *, queries: int) -> Fraction:
        r"""Return an :math:`\alpha` that holds for all of the first ``queries`` answers.

        With probability at least :math:`1 - \beta`: a query above has a value of at least
        :math:`T - \alpha`, one below has at most :math:`T + \alpha`, and while the values are below
        :math:`T - \alpha` the machine goes on. Half of :math:`\beta` is for the draws of the
        threshold, half for the queries [Das22, Theorems 6.3 and 6.5].
        """
        half = check.level(beta) / 2
        per_query = half / check.whole(queries)
        draws = self.threshold_noise.error_quantile(half / self.draws)
        return draws + self.query_noise.error_quantile(per_query)


class SparseVectorRun(Machine):
    """One life of a :class:`SparseVector`; see there for what it promises."""

    def __init__(self, mechanism: SparseVector, *, threshold: int, event: Event, rng: Rng) -> None:
        super().__init__()
        self._mechanism = mechanism
        self._event = event
        self._threshold = one_integer(threshold, "The threshold")
        self._rng = rng
        self._above_left = mechanism.most_above
        self._queries_left = mechanism.most_queries
        self._shift = self._draw()

    def event(self) -> Event:
        """Describe the whole life of the machine."""
        return self._event

    def ask(self, query: int, *, threshold: int | None = None) -> bool:
        """Tell whether the query is above its threshold."""
        value = one_integer(query, "The query")
        against = None if threshold is None else [one_integer(threshold, "The threshold")]
        return bool(self.ask_many(np.array([value]), thresholds=against)[0])

    def ask_many(
        self, values: IntArray, *, thresholds: IntArray | list[int] | None = None
    ) -> NDArray[np.bool_]:
        """Answer the queries in turn until the machine ends: there may be fewer answers.

        Queries after the end are not answered, and nothing about them is told.
        """
        self._require_open()
        asked = Queries.of(values, [self._threshold] if thresholds is None else thresholds)
        count = asked.values.size
        if self._queries_left is not None:
            count = min(count, self._queries_left)
        noisy = self._mechanism.query_noise.release(asked.values[:count], self._rng)
        answers = self._compare(noisy, asked.thresholds[:count])
        if self._queries_left is not None:
            self._queries_left -= answers.size
            if not self._queries_left:
                self._end()
        return answers

    def _compare(self, noisy: IntArray, thresholds: IntArray) -> NDArray[np.bool_]:
        answers = np.zeros(noisy.size, dtype=np.bool_)
        start = 0
        while start < noisy.size:
            above = noisy[start:] >= thresholds[start:] + self._shift
            found = int(above.argmax())
            if not above[found]:
                break
            start += found + 1
            answers[start - 1] = True
            self._above_left -= 1
            if not self._above_left:
                self._end()
                return answers[:start]
            if self._mechanism.redraw is Redraw.AFTER_ABOVE:
                self._shift = self._draw()
        return answers

    def _draw(self) -> int:
        zero = np.zeros(1, dtype=np.int64)
        return int(self._mechanism.threshold_noise.release(zero, self._rng)[0])
