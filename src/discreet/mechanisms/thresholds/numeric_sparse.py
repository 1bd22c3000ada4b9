"""NumericSparse: which queries are above a threshold, and by how much."""

from fractions import Fraction

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from discreet.accounting.calibration import calibrate
from discreet.core import check
from discreet.core.contribution import Contribution
from discreet.core.errors import InvalidArgument
from discreet.core.event import ComposedEvent, Event
from discreet.core.loss import Approximate, Pure
from discreet.core.numbers import Number
from discreet.core.protocols import IntArray, Rng
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.noise.integers import integers
from discreet.mechanisms.thresholds.interactive import one_integer, sensitivity
from discreet.mechanisms.thresholds.sparse import with_scale
from discreet.mechanisms.thresholds.sparse_vector import SparseVector, SparseVectorRun

VALUE_RATIO = 4
"""How many times the threshold's scale the values carry; the ratio of the pure budgets 8/9, 1/9."""


@frozen(kw_only=True)
class NumericSparse:
    r"""Sparse, and for each query above its value with fresh discrete Laplace noise.

    Guarantee:
        The loss of ``vector``, composed with ``most_above`` uses of ``value_noise`` at the
        sensitivity of one query. For a pure loss :math:`8\varepsilon/9` is for the comparisons and
        :math:`\varepsilon/9` for the values: scales :math:`9c/4\varepsilon`,
        :math:`9c/2\varepsilon` and :math:`9c/\varepsilon` [Das22, Theorem 6.6]. Its Algorithm 7
        prints :math:`\varepsilon_2 = 29\varepsilon` for :math:`2\varepsilon/9` (the values alone
        would cost :math:`14.5\varepsilon`), an :math:`\varepsilon_2` without :math:`\varepsilon`
        for :math:`\delta > 0`, :math:`\ln(1/\delta)` for :math:`\ln(2/\delta)` and
        :math:`\sqrt{513}` for :math:`\sqrt{512} + 1`. For :math:`\delta > 0` we take the least
        scale that the accountant certifies for all parts together.

    Assumes:
        As :class:`~discreet.mechanisms.thresholds.sparse_vector.SparseVector`.

    Utility:
        ``error_quantile`` covers comparisons and values. The bound of [Das22, Theorem 6.8] for
        :math:`\delta > 0` forgets that the values carry the larger noise: at :math:`k = c = 5` and
        :math:`\beta = 0.05` it fails 30 times in a hundred.

    Example:
        >>> found = NumericSparse.calibrate(d_in=Contribution(linf=1), loss=Pure(1), most_above=4)
        >>> found.vector.query_noise.scale, found.value_noise.scale
        (Fraction(18, 1), Fraction(36, 1))
    """

    vector: SparseVector
    value_noise: DiscreteLaplace

    @staticmethod
    def calibrate(
        *, d_in: Contribution, loss: Pure | Approximate, most_above: int
    ) -> "NumericSparse":
        """Return the machine with the least noise whose whole life stays within ``loss``."""
        count = check.whole(most_above)
        if loss.epsilon <= 0 or count < 1:
            raise InvalidArgument(
                "No scale fits",
                must="have an ε above 0 and at least one query above",
                got=f"ε = {loss.epsilon} and most_above = {most_above}",
            )

        def make(scale: Fraction) -> NumericSparse:
            noise = DiscreteLaplace(scale=VALUE_RATIO * scale)
            return NumericSparse(vector=with_scale(scale, count), value_noise=noise)

        if isinstance(loss, Pure) or loss.delta == 0:
            distance = sensitivity(d_in).bound("linf")
            return make((2 + Fraction(1, VALUE_RATIO)) * count * distance / loss.epsilon)
        return make(calibrate(lambda scale: make(scale).event(d_in), target=loss).scale)

    def event(self, d_in: Contribution) -> Event:
        """Describe the whole life of one machine."""
        value = self.value_noise.event(sensitivity(d_in))
        return ComposedEvent.of([self.vector.event(d_in), value * self.vector.most_above])

    def open(self, *, threshold: int, d_in: Contribution, rng: Rng) -> "NumericSparseRun":
        """Return a machine in its first state. The gate already holds the loss of its event."""
        return NumericSparseRun(self, threshold=threshold, d_in=d_in, rng=rng)

    def error_quantile(self, beta: Number, *, queries: int) -> Fraction:
        r"""Return an :math:`\alpha` that comparisons and values keep, but for :math:`\beta`.

        Half of :math:`\beta` is for the comparisons, half for the ``most_above`` values.
        """
        half = check.level(beta) / 2
        value = self.value_noise.error_quantile(half / self.vector.most_above)
        return max(self.vector.error_quantile(half, queries=queries), value)


class NumericSparseRun:
    """One life of a :class:`NumericSparse`; see there for what it promises."""

    def __init__(
        self, mechanism: NumericSparse, *, threshold: int, d_in: Contribution, rng: Rng
    ) -> None:
        self._comparisons: SparseVectorRun = mechanism.vector.open(
            threshold=threshold, d_in=d_in, rng=rng
        )
        self._value_noise = mechanism.value_noise
        self._event = mechanism.event(d_in)
        self._rng = rng

    @property
    def ended(self) -> bool:
        """Whether the machine has given its last answer."""
        return self._comparisons.ended

    def event(self) -> Event:
        """Describe the whole life of the machine."""
        return self._event

    def ask(self, query: int, *, threshold: int | None = None) -> int | None:
        """Return the query's noisy value if it is above its threshold, otherwise ``None``."""
        value = np.array([one_integer(query, "The query")])
        against = None if threshold is None else [one_integer(threshold, "The threshold")]
        above, noisy = self.ask_many(value, thresholds=against)
        return int(noisy[0]) if above[0] else None

    def ask_many(
        self, values: IntArray, *, thresholds: IntArray | list[int] | None = None
    ) -> tuple[NDArray[np.bool_], IntArray]:
        """Answer the queries in turn until the machine ends; return which are above, and those."""
        exact_values = integers(np.asarray(values)).reshape(-1)
        above = self._comparisons.ask_many(exact_values, thresholds=thresholds)
        return above, self._value_noise.release(exact_values[: above.size][above], self._rng)
