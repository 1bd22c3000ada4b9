"""Online interior point: left or right of the data, until a point inside it is found."""

from fractions import Fraction
from typing import Any, Self

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.core import check
from discreet.core.contribution import Contribution
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.loss import Approximate
from discreet.core.mechanism_event import BetweenThresholdsEvent
from discreet.core.numbers import Number, exact
from discreet.core.protocols import IntArray, Rng
from discreet.core.search import smallest
from discreet.mechanisms.noise.integers import integers
from discreet.mechanisms.thresholds.between_thresholds import BetweenThresholds, Side
from discreet.mechanisms.thresholds.interactive import Queries, one_integer

ONE = Contribution(linf=1)
"""One unit is one value, and moves the number of values up to a point by at most 1."""


@frozen(kw_only=True)
class InteriorPoint:
    r"""Answer points with *left* or *right* of the data; between its ends either will do.

    A :class:`BetweenThresholds` compares the number of values up to a point with a third and two
    thirds of ``size``, a public number. When it ends, that point is inside the data: it is
    answered with *right*, and from then on points are compared with it, at no cost.

    Guarantee:
        That of the inner machine at sensitivity 1, whether a value is added, removed or changed:
        the rest is post-processing [Ste16, Proposition 7.5.15]. The data may have any size; only
        accuracy needs at least ``size`` values.

    Assumes:
        One unit owns one value; ``rng`` is unpredictable to the reader.

    Utility:
        With ``size`` from ``calibrate`` and at least that many values, with probability
        :math:`1 - \beta` every one of the ``queries`` is answered rightly: left if it is below all
        values, right if no value is above it.

    Example:
        >>> InteriorPoint.calibrate(loss=Approximate(1, "1e-6"), queries=1000, beta="0.05").size
        213
    """

    threshold_scale: Fraction = field(converter=exact, validator=check.positive)
    query_scale: Fraction = field(converter=exact, validator=check.positive)
    size: int = field(converter=check.whole, validator=check.positive)
    epsilon: Fraction = field(converter=exact, validator=check.positive)

    @classmethod
    def calibrate(cls, *, loss: Approximate, queries: int, beta: Number) -> Self:
        r"""Return the machine with the smallest ``size`` that keeps ``loss`` and :math:`\beta`.

        [Ste16, Proposition 7.5.15] asks for
        :math:`(36/\varepsilon)(\ln(k+1) + \ln(1/\beta) + \ln(10/\varepsilon) + \ln(1/\delta) + 1)`;
        here the gap and the errors are the smallest that are certified.
        """
        if loss.epsilon <= 0 or loss.delta <= 0:
            raise InvalidArgument("No size fits", must="have an ε and a δ above 0", got=str(loss))
        inner = BetweenThresholds.calibrate(d_in=ONE, loss=loss, centre=0)
        gap = inner.upper - inner.lower
        error = inner.error_quantile(check.level(beta), queries=queries)

        def suffices(size: int) -> bool:
            lower, upper = _thirds(size)
            return upper - lower >= gap and min(lower, size - upper) > error

        return cls(
            threshold_scale=inner.threshold_scale,
            query_scale=inner.query_scale,
            size=smallest(suffices, start=3),
            epsilon=loss.epsilon,
        )

    def comparisons(self) -> BetweenThresholds:
        """Return the inner machine."""
        lower, upper = _thirds(self.size)
        return BetweenThresholds(
            threshold_scale=self.threshold_scale,
            query_scale=self.query_scale,
            lower=lower,
            upper=upper,
        )

    def event(self, d_in: Contribution) -> BetweenThresholdsEvent:
        """Describe the whole life of one machine; ``d_in`` tells the neighbours."""
        require_one(d_in)
        return self.comparisons().event(d_in, epsilon=self.epsilon)

    def open(self, values: IntArray, *, d_in: Contribution, rng: Rng) -> "InteriorPointRun":
        """Return a machine on the values. The gate already holds the loss of its event."""
        return InteriorPointRun(self, values=values, d_in=d_in, rng=rng)

    def error_quantile(self, beta: Number, *, queries: int) -> Fraction:
        """Return how far the inner machine's counts are off at most; see its own."""
        return self.comparisons().error_quantile(beta, queries=queries)


class InteriorPointRun:
    """One life of an :class:`InteriorPoint`; it answers for ever, and pays until it has found."""

    def __init__(
        self, mechanism: InteriorPoint, *, values: IntArray, d_in: Contribution, rng: Rng
    ) -> None:
        require_one(d_in)
        self._values = np.sort(integers(np.asarray(values)).reshape(-1))
        self._inner = mechanism.comparisons().open(d_in=d_in, epsilon=mechanism.epsilon, rng=rng)
        self._point: int | None = None

    @property
    def point(self) -> int | None:
        """The point inside the data, if one was found. It is public: later answers tell it."""
        return self._point

    def event(self) -> BetweenThresholdsEvent:
        """Describe the whole life of the machine."""
        return self._inner.event()

    def ask(self, query: int) -> bool:
        """Tell whether the point is to the right."""
        return bool(self.ask_many(np.array([one_integer(query, "The point")]))[0])

    def ask_many(self, points: Any) -> NDArray[np.bool_]:
        """Tell of each point whether it is to the right."""
        asked = Queries.of(points, [0]).values
        start = 0
        first = np.zeros(0, dtype=np.bool_)
        if self._point is None:
            counts = np.searchsorted(self._values, asked, side="right").astype(np.int64)
            sides = self._inner.ask_many(counts)
            start, first = sides.size, sides != Side.BELOW
            if self._inner.ended:
                self._point = int(asked[start - 1])
        if self._point is None:
            return first
        return np.concatenate([first, asked[start:] >= self._point])


def require_one(d_in: Contribution) -> None:
    """Refuse units with more than one value."""
    if d_in.bound("linf") != 1:
        raise Unsupported(
            "This machine is for units with one value each",
            must="have linf = 1",
            got=repr(d_in),
            next="Keep one value of each unit",
        )


def _thirds(size: int) -> tuple[int, int]:
    return size // 3, -(-2 * size // 3)
