"""AdaptiveThresholds: the distribution function on demand, at a price that forgets the domain."""

from fractions import Fraction
from typing import Any, Self

import numpy as np
from attrs import field, frozen

from discreet.accounting.accountants.approximate import approximate
from discreet.core import check
from discreet.core.contribution import Contribution, Metric
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Approximate
from discreet.core.mechanism_event import AdaptiveThresholdsEvent
from discreet.core.numbers import Number, exact
from discreet.core.protocols import IntArray, Rng
from discreet.core.rounding import exp_up, short_down
from discreet.mechanisms.noise.integers import integers
from discreet.mechanisms.thresholds.interactive import one_integer
from discreet.mechanisms.thresholds.interior_point import InteriorPoint, require_one
from discreet.mechanisms.thresholds.partition import cut_error, noisy_cuts


@frozen(kw_only=True)
class AdaptiveThresholds:
    r"""Answer "what share of the values is at most y?" for any number of adaptive points y.

    The sorted values are cut at noisy ranks into :math:`2^{depth}` chunks
    (:func:`~discreet.mechanisms.thresholds.partition.noisy_cuts`); each has an
    :class:`InteriorPoint` machine of its own, and the answer is the share of machines that say
    *right*.

    Guarantee:
        Let the chunks' machine be :math:`(\varepsilon, \delta)`-DP and
        :math:`\varepsilon_0 = depth / cut\_scale`. If a unit is added or removed, the whole is
        :math:`(\varepsilon_0 + 2\varepsilon, (1 + e^\varepsilon)\delta)`-DP; if it is changed,
        :math:`(2\varepsilon_0 + 3\varepsilon, (1 + e^\varepsilon + e^{2\varepsilon})\delta)`-DP.

        Proof. By the map of ``noisy_cuts`` the noise of the cuts costs :math:`\varepsilon_0` (or
        twice that), and then two (three) changes are left, each of one chunk whose counts move by
        at most 1. Change them one after the other: whoever asks, and all the other chunks, together
        are one adversary of the chunk that changes. So each step multiplies by
        :math:`e^\varepsilon` and adds :math:`\delta`. [Ste16, Theorem 7.5.16] has
        :math:`(4\varepsilon, (1 + e^\varepsilon)\delta)` for a change, from a bijection that does
        not exist.

    Assumes:
        One unit owns one value; ``rng`` is unpredictable to the reader; ``size`` is public.

    Utility:
        If there are ``size`` values, at least ``least_size``, all answers are within
        ``error_quantile`` with probability :math:`1 - \beta`
        [Ste16, Theorem 7.5.16, with logarithms to base 2].

    Example:
        >>> machine = AdaptiveThresholds.calibrate(
        ...     d_in=Contribution(linf=1), loss=Approximate(1, "1e-6"), alpha="0.1", beta="0.05",
        ...     queries=1000,
        ... )
        >>> machine.depth, machine.least_size("0.05", queries=1000) < 60_000
        (5, True)
        >>> machine.loss(Contribution(linf=1)).epsilon
        Fraction(1, 1)
    """

    depth: int = field(converter=check.whole, validator=check.positive)
    cut_scale: Fraction = field(converter=exact, validator=check.positive)
    chunk: InteriorPoint

    @classmethod
    def calibrate(
        cls, *, d_in: Contribution, loss: Approximate, alpha: Number, beta: Number, queries: int
    ) -> Self:
        r"""Return a machine within ``loss`` whose error is below ``alpha`` on enough values.

        There are :math:`2^{\lceil\log_2(2/\alpha)\rceil}` chunks; the cuts and each change of a
        chunk get equal shares of :math:`\varepsilon`.
        """
        target, steps = exact(alpha), _steps(d_in.metric)
        if not 0 < target < 1 or loss.epsilon <= 0 or loss.delta <= 0:
            raise InvalidArgument(
                "No machine fits",
                must="have alpha between 0 and 1, and an ε and a δ above 0",
                got=f"alpha = {target}, {loss}",
            )
        depth = (-(-2 * target.denominator // target.numerator) - 1).bit_length()
        share = loss.epsilon / (2 * steps - 1)
        growth = sum(exp_up(step * share) for step in range(steps))
        chunk = InteriorPoint.calibrate(
            loss=Approximate(share, short_down(loss.delta / growth * (1 - _SLACK))),
            queries=queries,
            beta=check.level(beta) / (2 << depth),
        )
        return cls(depth=depth, cut_scale=depth / share, chunk=chunk)

    @property
    def chunks(self) -> int:
        """How many chunks there are; answers are multiples of one over this."""
        return 1 << self.depth

    def event(self, d_in: Contribution) -> AdaptiveThresholdsEvent:
        """Describe the whole life of one machine."""
        require_one(d_in)
        return AdaptiveThresholdsEvent(
            depth=self.depth,
            cut_scale=self.cut_scale,
            chunk=self.chunk.event(d_in),
            metric=d_in.metric,
        )

    def loss(self, d_in: Contribution) -> Approximate:
        """Return the loss of one machine."""
        return approximate(self.event(d_in))

    def open(
        self, values: IntArray, *, size: int, d_in: Contribution, rng: Rng
    ) -> "AdaptiveThresholdsRun":
        """Return a machine on the values. The gate already holds the loss of its event."""
        return AdaptiveThresholdsRun(self, values=values, size=size, d_in=d_in, rng=rng)

    def least_size(self, beta: Number, *, queries: int) -> int:
        """Return how many values are enough for ``error_quantile`` to hold.

        Every chunk must keep enough values for its machine after both of its cuts have erred.
        """
        error = self.chunk.error_quantile(check.level(beta) / (2 * self.chunks), queries=queries)
        lower = self.chunk.comparisons().lower
        if error >= lower:
            raise InvalidArgument(
                "The chunks' machine is too small for so many queries",
                must="be calibrated for them",
                got=f"queries = {queries}",
            )
        cuts = cut_error(check.level(beta) / 2, depth=self.depth, scale=self.cut_scale)
        return self.chunks * (self.chunk.size + 2 * cuts)

    def error_quantile(self, beta: Number, *, queries: int, size: int) -> Fraction:
        r"""Return a bound on the error of all of the first ``queries`` answers.

        If every cut is within :math:`D` of its place and every chunk's machine is right, the
        machines before the point's chunk say right and those after it left, so the answer is off
        by at most :math:`1/chunks + D/size`.
        """
        if size < self.least_size(beta, queries=queries):
            raise InvalidArgument(
                "There are too few values for a bound",
                must=f"be at least {self.least_size(beta, queries=queries)}",
                got=f"size = {size}",
            )
        cuts = cut_error(check.level(beta) / 2, depth=self.depth, scale=self.cut_scale)
        return Fraction(1, self.chunks) + Fraction(cuts, size)


class AdaptiveThresholdsRun:
    """One life of an :class:`AdaptiveThresholds`; it answers for ever, for one charge."""

    def __init__(
        self,
        mechanism: AdaptiveThresholds,
        *,
        values: IntArray,
        size: int,
        d_in: Contribution,
        rng: Rng,
    ) -> None:
        self._event = mechanism.event(d_in)
        self._chunks = mechanism.chunks
        ordered = np.sort(integers(np.asarray(values)).reshape(-1))
        cuts = noisy_cuts(
            one_integer(size, "The size"),
            depth=mechanism.depth,
            scale=mechanism.cut_scale,
            rng=rng,
        )
        self._machines = [
            mechanism.chunk.open(part, d_in=d_in, rng=rng) for part in np.split(ordered, cuts)
        ]

    def event(self) -> AdaptiveThresholdsEvent:
        """Describe the whole life of the machine."""
        return self._event

    def ask(self, query: int) -> Fraction:
        """Return about the share of values that are at most the point."""
        counts = self.ask_many(np.array([one_integer(query, "The point")]))
        return Fraction(int(counts[0]), self._chunks)

    def ask_many(self, points: Any) -> IntArray:
        """Return the answers in units of one over the number of chunks."""
        total = np.zeros(np.size(points), dtype=np.int64)
        for machine in self._machines:
            total += machine.ask_many(points)
        return total


_SLACK = Fraction(1, 1 << 40)
"""The accountant rounds each factor up; so much less δ makes sure that the target is kept."""


def _steps(metric: Metric) -> int:
    return 2 if metric is Metric.ADD_REMOVE else 3
