"""Gaussian sparse vector without a limit on the queries, for queries that are never negative."""

from fractions import Fraction

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import NDArray

from discreet.core import check
from discreet.core.contribution import Contribution
from discreet.core.errors import InvalidArgument
from discreet.core.event import Event
from discreet.core.mechanism_event import HaltingSparseVectorEvent
from discreet.core.numbers import Number
from discreet.core.protocols import IntArray, Rng
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.integers import integers
from discreet.mechanisms.thresholds.interactive import one_integer, sensitivity
from discreet.mechanisms.thresholds.sparse_vector import Redraw, SparseVector, SparseVectorRun


@frozen(kw_only=True)
class HaltingSparseVector:
    r"""Sparse vector with discrete Gaussian noise; negative values count as 0.

    Guarantee:
        A machine that compares values of at least 0 with thresholds of at most ``ceiling`` is
        ended by noise alone before long, however many queries are asked, and so it has a Rényi
        curve (:class:`~discreet.accounting.curves.halting.HaltingPiece`) where Gaussian noise
        without a limit has none in general [Das22, Theorems 9.9, 9.11]. The threshold is drawn
        again after each query above, so ``most_above`` such machines compose
        [Das22, Theorem 9.14].

    Assumes:
        As :class:`~discreet.mechanisms.thresholds.sparse_vector.SparseVector`. Values below 0 are
        taken as 0, which moves no two values further apart, so nothing is told by a refusal.

    Utility:
        As ``SparseVector``. A threshold of :math:`\sqrt{2(\sigma_1^2 + \sigma_2^2)\ln(1/p)}` lets a
        query whose value is 0 be above with probability about :math:`p` at most.

    Example:
        >>> from discreet import account
        >>> machine = HaltingSparseVector(
        ...     threshold_noise=DiscreteGaussian(sigma_squared=400),
        ...     query_noise=DiscreteGaussian(sigma_squared=1200),
        ...     ceiling=100,
        ... )
        >>> found = account(machine.event(Contribution(linf=1)), delta="1e-6").loss
        >>> 0.63 < found.epsilon < 0.65
        True
    """

    threshold_noise: DiscreteGaussian
    query_noise: DiscreteGaussian
    ceiling: int = field(converter=check.whole, validator=check.non_negative)
    most_above: int = field(default=1, converter=check.whole, validator=check.positive)

    def with_most_above(self, count: int) -> "HaltingSparseVector":
        """Return the same machine with another number of queries above."""
        return evolve(self, most_above=count)

    def event(self, d_in: Contribution) -> Event:
        """Describe the whole life of one machine."""
        event = HaltingSparseVectorEvent(
            threshold_variance=self.threshold_noise.sigma_squared,
            query_variance=self.query_noise.sigma_squared,
            distance=sensitivity(d_in).bound("linf"),
            ceiling=self.ceiling,
            metric=d_in.metric,
        )
        return event * self.most_above

    def open(self, *, threshold: int, d_in: Contribution, rng: Rng) -> "HaltingSparseVectorRun":
        """Return a machine in its first state. The gate already holds the loss of its event."""
        return HaltingSparseVectorRun(self, threshold=threshold, event=self.event(d_in), rng=rng)

    def error_quantile(self, beta: Number, *, queries: int) -> Fraction:
        """Return a bound on all errors, as for ``SparseVector``; values below 0 count as 0."""
        return self.comparisons().error_quantile(beta, queries=queries)

    def comparisons(self) -> SparseVector:
        """Return the machine that compares, without its own account."""
        return SparseVector(
            threshold_noise=self.threshold_noise,
            query_noise=self.query_noise,
            most_above=self.most_above,
            redraw=Redraw.AFTER_ABOVE,
        )


class HaltingSparseVectorRun(SparseVectorRun):
    """One life of a :class:`HaltingSparseVector`; see there for what it promises."""

    def __init__(
        self, mechanism: HaltingSparseVector, *, threshold: int, event: Event, rng: Rng
    ) -> None:
        self._ceiling = mechanism.ceiling
        _require_below(self._ceiling, one_integer(threshold, "The threshold"))
        super().__init__(mechanism.comparisons(), threshold=threshold, event=event, rng=rng)

    def ask_many(
        self, values: IntArray, *, thresholds: IntArray | list[int] | None = None
    ) -> NDArray[np.bool_]:
        """Answer the queries in turn until the machine ends: there may be fewer answers."""
        if thresholds is not None and len(thresholds):
            _require_below(self._ceiling, int(np.max(thresholds)))
        clamped = np.maximum(integers(np.asarray(values)), 0)
        return super().ask_many(clamped, thresholds=thresholds)


def _require_below(ceiling: int, threshold: int) -> None:
    if threshold > ceiling:
        raise InvalidArgument(
            "The threshold is too high", must=f"be at most the ceiling, {ceiling}"
        )
