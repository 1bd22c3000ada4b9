"""BetweenThresholds: below, above, or, once and at the end, between two thresholds."""

from enum import IntEnum
from fractions import Fraction
from typing import Self

import numpy as np
from attrs import evolve, field, frozen

from discreet.accounting.accountants.approximate import approximate
from discreet.accounting.accountants.between_thresholds import between_delta
from discreet.core import check
from discreet.core.contribution import Contribution
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.loss import Approximate
from discreet.core.mechanism_event import BetweenThresholdsEvent
from discreet.core.numbers import Number, exact
from discreet.core.protocols import IntArray, Rng
from discreet.core.search import smallest
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.thresholds.interactive import Machine, Queries, one_integer, sensitivity
from discreet.randomness.samplers import discrete_laplace


class Side(IntEnum):
    """Where a query is."""

    BELOW = -1
    BETWEEN = 0
    ABOVE = 1


@frozen(kw_only=True)
class BetweenThresholds:
    r"""Tell of each query whether it is below ``lower`` or above ``upper``; halt if it is between.

    With :math:`\mu` drawn once and :math:`\nu` for each query, a query is *below* if
    :math:`q + \nu < lower + \mu`, otherwise *above* if :math:`q + \nu > upper - \mu`, otherwise
    *between* (ends included), and then the machine ends. The thresholds move towards each other or
    apart; where they cross, *below* comes first.

    Guarantee:
        :math:`(\varepsilon, \delta)`-DP at every :math:`\varepsilon` above
        :math:`\Delta/s + 2\Delta/r`, with the :math:`\delta` of
        :func:`~discreet.accounting.accountants.between_thresholds.between_delta`, for any number of
        adaptive queries; the proof is there. [Ste16, Lemma 7.5.9] in integers, with a smaller gap.
        Where the gap is too small there is no such :math:`\delta`, and many queries tell
        everything.

    Assumes:
        The caller proved that one unit moves each query by at most ``d_in.linf``, a whole number;
        ``rng`` is unpredictable to the reader.

    Utility:
        ``error_quantile(beta, queries=k)`` is an :math:`\alpha` with: below implies
        :math:`q \le lower + \alpha`, above implies :math:`q \ge upper - \alpha`, between implies
        both :math:`q \ge lower - \alpha` and :math:`q \le upper + \alpha`
        [Ste16, Lemma 7.5.10].

    Example:
        >>> machine = BetweenThresholds.calibrate(
        ...     d_in=Contribution(linf=1), loss=Approximate(1, "1e-6"), centre=1000
        ... )
        >>> machine.lower, machine.upper
        (971, 1030)
        >>> machine.loss(Contribution(linf=1), epsilon=1).delta <= Fraction(1, 10**6)
        True
    """

    threshold_scale: Fraction = field(converter=exact, validator=check.positive)
    query_scale: Fraction = field(converter=exact, validator=check.positive)
    lower: int = field(converter=check.whole)
    upper: int = field(converter=check.whole)

    @upper.validator
    def _ordered(self, _: object, upper: int) -> None:
        for threshold in (self.lower, upper):
            one_integer(threshold, "The threshold")
        if upper < self.lower:
            raise InvalidArgument(
                "The thresholds are out of order",
                must="have lower at most upper",
                got=f"{self.lower} and {upper}",
            )

    @classmethod
    def calibrate(cls, *, d_in: Contribution, loss: Approximate, centre: int) -> Self:
        r"""Return the machine around ``centre`` with the smallest gap that ``loss`` allows.

        The scales are :math:`2\Delta/\varepsilon` and :math:`6\Delta/\varepsilon`
        [Ste16, Figure 7.7].
        """
        distance = sensitivity(d_in).bound("linf")
        if loss.epsilon <= 0 or loss.delta <= 0:
            raise InvalidArgument("No gap fits", must="have an ε and a δ above 0", got=str(loss))
        scale = 2 * distance / loss.epsilon
        middle = one_integer(centre, "The centre")
        machine = cls(threshold_scale=scale, query_scale=3 * scale, lower=middle, upper=middle)

        def suffices(gap: int) -> bool:
            wider = evolve(machine, upper=middle + gap)
            return between_delta(wider.event(d_in, epsilon=loss.epsilon)) <= loss.delta

        gap = smallest(suffices)
        lower = middle - gap // 2
        return evolve(machine, lower=lower, upper=lower + gap)

    def event(self, d_in: Contribution, *, epsilon: Number) -> BetweenThresholdsEvent:
        """Describe the whole life of one machine; δ is stated at ``epsilon``."""
        return BetweenThresholdsEvent(
            threshold_scale=self.threshold_scale,
            query_scale=self.query_scale,
            distance=_whole(sensitivity(d_in).bound("linf")),
            gap=self.upper - self.lower,
            epsilon=exact(epsilon),
            metric=d_in.metric,
        )

    def loss(self, d_in: Contribution, *, epsilon: Number) -> Approximate:
        """Return the loss of one machine at ``epsilon``."""
        return approximate(self.event(d_in, epsilon=epsilon))

    def open(self, *, d_in: Contribution, epsilon: Number, rng: Rng) -> "BetweenThresholdsRun":
        """Return a machine in its first state. The gate already holds the loss of its event."""
        event = self.event(d_in, epsilon=epsilon)
        approximate(event)  # refuses thresholds that are too near for any promise
        return BetweenThresholdsRun(self, event=event, rng=rng)

    def error_quantile(self, beta: Number, *, queries: int) -> Fraction:
        r"""Return an :math:`\alpha` that all of the first ``queries`` answers keep.

        A fourth of :math:`\beta` is for the thresholds' noise, the rest for the queries'.
        """
        value = check.level(beta)
        threshold = DiscreteLaplace(scale=self.threshold_scale).error_quantile(value / 4)
        query = DiscreteLaplace(scale=self.query_scale)
        return threshold + query.error_quantile(3 * value / (4 * check.whole(queries)))


class BetweenThresholdsRun(Machine):
    """One life of a :class:`BetweenThresholds`; see there for what it promises."""

    def __init__(
        self, mechanism: BetweenThresholds, *, event: BetweenThresholdsEvent, rng: Rng
    ) -> None:
        super().__init__()
        self._mechanism = mechanism
        self._event = event
        self._rng = rng
        shift = int(discrete_laplace(mechanism.threshold_scale, 1, rng)[0])
        self._lower = mechanism.lower + shift
        self._upper = mechanism.upper - shift

    def event(self) -> BetweenThresholdsEvent:
        """Describe the whole life of the machine."""
        return self._event

    def ask(self, query: int) -> Side:
        """Tell where the query is."""
        return Side(int(self.ask_many(np.array([one_integer(query, "The query")]))[0]))

    def ask_many(self, values: IntArray) -> IntArray:
        """Answer the queries in turn, as values of :class:`Side`, until one is between."""
        self._require_open()
        asked = Queries.of(values, [0]).values
        noisy = asked + discrete_laplace(self._mechanism.query_scale, asked.shape, self._rng)
        below = noisy < self._lower
        sides = np.where(below, Side.BELOW, np.where(noisy > self._upper, Side.ABOVE, Side.BETWEEN))
        between = np.flatnonzero(sides == Side.BETWEEN)
        if between.size:
            self._end()
            sides = sides[: between[0] + 1]
        return sides.astype(np.int64)


def _whole(distance: Fraction) -> int:
    if distance.denominator != 1:
        raise Unsupported(
            "The values are integers", must="move by a whole number", got=str(distance)
        )
    return int(distance)
