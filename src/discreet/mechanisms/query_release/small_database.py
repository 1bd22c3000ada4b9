"""SmallDB: one data set of a few rows that answers all queries nearly like the true one."""

from fractions import Fraction
from typing import Self

import numpy as np
from attrs import field, frozen

from discreet.accounting.accountants.pure import pure_loss
from discreet.core import check
from discreet.core.contribution import Contribution
from discreet.core.loss import Pure, Zcdp
from discreet.core.mechanism_event import ExponentialSelectionEvent
from discreet.core.numbers import Number, exact
from discreet.core.protocols import IntArray, Rng
from discreet.mechanisms.query_release.drawn_scales import require_drawable
from discreet.mechanisms.query_release.linear_queries import (
    LinearQueries,
    histogram_of,
    rows_of,
)
from discreet.mechanisms.query_release.small_databases import (
    least_size,
    nearest_error,
    number_of_databases,
    require_enumerable,
    small_databases,
)
from discreet.mechanisms.selection.scores import bounded_range_scale, exponential_error
from discreet.randomness.argmax import gumbel_argmax

_CHUNK = 1 << 16


@frozen(kw_only=True)
class SmallDatabase:
    r"""Choose one of all data sets of ``size`` rows, the likelier the nearer all its answers are.

    A data set :math:`y` of :math:`m` rows is off by :math:`\max_j |q_j(x) - n\,q_j(y)/m|` rows,
    where the true data :math:`x` has :math:`n`. It is chosen with a weight of
    :math:`e^{-off/scale}` [BLR13; Das22, Algorithm 8].

    Guarantee:
        If one unit moves the histogram by at most :math:`l_1`, and the coefficients of each query
        lie in an interval of width :math:`R`, the choice is ε-DP with
        :math:`\varepsilon = 2Rl_1/scale`, and :math:`\varepsilon^2/8`-zCDP.

        Proof. One row more in cell :math:`i` moves :math:`q_j(x) - n\,q_j(y)/m` by
        :math:`q_{ji} - q_j(y)/m`. Both terms lie in the interval of query :math:`j`, the second as
        a mean, so that is at most :math:`R`. The largest size over all queries moves no further,
        and a unit is :math:`l_1` such steps. The rest is the exponential mechanism, whose scores
        here are integers: :math:`-\max_j |m\,q_j(x) - n\,q_j(y)|`, at :math:`m` times the scale.

        As printed, the score is in *shares*, :math:`q(x)/n`, with the sensitivity
        :math:`1/\|x\|_1` [Das22, Theorem 6.9]. Where units come and go, that is a private number
        which differs between neighbours, and no sensitivity: with one row, a share moves by a half.
        If each table's own number stands in both places, it cancels, and the weights are those
        here; if a declared number stands in one of them, a small table and its neighbour are told
        apart.

    Assumes:
        A public universe that is small enough for all data sets of ``size`` rows to be listed, and
        public queries; the caller proved ``d_in.l1``; ``rng`` is unpredictable to the reader.

    Utility:
        ``error_quantile``, in rows. The number of rows is not told: what is released are shares.

    Example:
        >>> queries = LinearQueries(np.tril(np.ones((6, 6), dtype=np.int64)))
        >>> one = Contribution(l1=1)
        >>> small = SmallDatabase.calibrate(
        ...     queries=queries, accuracy="1/10", d_in=one, loss=Pure(1)
        ... )
        >>> small.size, small.loss(one)
        (15, Pure(ε = 1))
        >>> 1025 < small.error_quantile("0.05", rows=10_000) < 1026
        True
        >>> from discreet import SystemRng
        >>> int(small.release(np.array([500, 0, 0, 200, 300, 0]), SystemRng()).sum())
        15
    """

    queries: LinearQueries
    size: int = field(converter=check.whole, validator=check.positive)
    scale: Fraction = field(converter=exact, validator=check.positive)

    def __attrs_post_init__(self) -> None:
        """Refuse a universe that is too large, or noise that cannot be drawn."""
        require_enumerable(self.queries.cells, self.size)
        require_drawable([self.size * self.scale])

    @classmethod
    def calibrate(
        cls, *, queries: LinearQueries, accuracy: Number, d_in: Contribution, loss: Pure | Zcdp
    ) -> Self:
        """Return the mechanism that spends ``loss``, on data sets of the least size that is enough.

        ``accuracy`` is how far the best small data set may be off, as a share of all rows.
        """
        size = least_size(accuracy, cells=queries.cells, queries=queries.count, width=queries.width)
        spread = 2 * queries.width * d_in.bound("l1")
        return cls(queries=queries, size=size, scale=bounded_range_scale([spread], loss))

    def event(self, d_in: Contribution) -> ExponentialSelectionEvent:
        """Describe one use for the accountants; ``d_in`` is how one unit moves the histogram."""
        spread = 2 * self.queries.width * d_in.bound("l1")
        return ExponentialSelectionEvent(scale=self.scale, spread=spread, metric=d_in.metric)

    def loss(self, d_in: Contribution) -> Pure:
        """Return the pure loss of one use."""
        return pure_loss([self.event(d_in)])

    def release(self, histogram: IntArray, rng: Rng) -> IntArray:
        """Return the histogram of the chosen data set. The gate already holds the loss."""
        largest = 2 * self.size * max(1, self.queries.largest)
        rows = histogram_of(histogram, cells=self.queries.cells, largest=largest)
        databases = small_databases(self.queries.cells, self.size)
        exact_answers = self.size * (self.queries.table @ rows)
        scores = np.empty(len(databases), dtype=np.int64)
        step = max(1, _CHUNK // self.queries.count)
        for start in range(0, len(databases), step):
            answers = rows_of(rows) * (databases[start : start + step] @ self.queries.table.T)
            scores[start : start + step] = -np.abs(answers - exact_answers).max(axis=1)
        chosen: IntArray = databases[gumbel_argmax(scores, self.size * self.scale, rng)]
        return chosen.copy()

    def error_quantile(self, beta: Number, *, rows: int) -> Fraction:
        r"""Return how many rows any answer may be off, but for ``beta``, if there are ``rows``.

        Some data set is off by ``nearest_error`` of all rows at most, and the chosen one is worse
        by the error of a choice among :math:`\binom{N + m - 1}{m}` candidates. This is never more
        than [Das22, Theorem 6.11].
        """
        candidates = number_of_databases(self.queries.cells, self.size)
        nearest = nearest_error(
            cells=self.queries.cells,
            size=self.size,
            queries=self.queries.count,
            width=self.queries.width,
        )
        choice = exponential_error(self.size * self.scale, beta, candidates=candidates)
        return check.whole(rows) * nearest + Fraction(choice, self.size)
