"""Tables of columns that were never asked for together, from answers about random halves."""

import hashlib
import math
from collections.abc import Iterable, Sequence
from typing import Self

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.core import check
from discreet.core.contribution import Contribution
from discreet.core.errors import InvalidArgument
from discreet.core.event import Event
from discreet.core.loss import Pure, Zcdp
from discreet.core.numbers import Number, exact
from discreet.core.protocols import IntArray, Rng
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.synthesis.contingency.column_sets import ColumnSet, require_columns, sizes_of
from discreet.synthesis.contingency.table_noise import TableNoise, noise_for, variance
from discreet.synthesis.counted.counted_rows import CountedRows, Integers
from discreet.synthesis.one_way_marginals.one_way_sums import require_measured, rows_of_unit

MOST_HALVES = 1 << 20
KEY_WORDS = 4
MOST_IN_CELL = 1 << 28
"""A cell with more rows is counted as so many: a coin for each row must fit in memory."""

Reals = NDArray[np.float64]


def _columns(values: Iterable[int]) -> ColumnSet:
    return tuple(sorted(set(map(check.whole, values))))


@frozen(kw_only=True)
class HalvedTables:
    """What was measured: on each random half of the rows, a table of either set of columns."""

    left: IntArray = field(repr=False)
    """A row for each half, a column for each cell of the first set's table."""
    right: IntArray = field(repr=False)


@frozen(kw_only=True)
class JoinedTable:
    """The table of both sets of columns, and the standard error of each cell."""

    counts: Reals = field(repr=False)
    standard_error: Reals = field(repr=False)


@frozen(kw_only=True)
class HeavySets:
    r"""Measure the tables of two sets of ℓ columns on random halves of the rows.

    Where A happens to be more frequent than usual in a half (a *heavy* one), B is too, by as much
    as the two occur together: so tables of 2ℓ columns follow from answers about ℓ [DN04].

    Guarantee:
        Each row is in a half or not by a coin that has nothing to do with any data. For given coins
        a unit of ``m`` rows moves each table by at most ``m``, so :math:`2h` tables on ``h`` halves
        by at most :math:`2hm` in :math:`\ell_1` and :math:`2hm^2` in the square of :math:`\ell_2`;
        and what holds for all coins holds on average over them (they might even be published).
        *Coins.* The ``i``-th of the rows with equal values has the ``i``-th bit of a stream that is
        fixed by a key, the half and the values; one row more reads one bit more. The key is drawn
        first, so no random word depends on data.

    Assumes:
        The stream (SHAKE-256 of a fresh key) is as good as independent coins; only accuracy rests
        on that.

    Utility:
        With :math:`a` and :math:`b` the noisy counts of A and B in a half,
        :math:`Cov(a, b) = n_{AB}/4`, so :math:`4\,Cov` is unbiased, with a standard error of about
        :math:`4\sqrt{((n_A/4 + \sigma^2)(n_B/4 + \sigma^2) + (n_{AB}/4)^2)/h}`. At the best ``h``
        that is about :math:`4m\sqrt{n_A/\rho}`, some :math:`4\sqrt{2n_A}` times the error of
        asking for A and B together. **So ask for the table of all columns where you can**
        (:class:`~discreet.synthesis.contingency.noisy_tables.NoisyTables`); this is for when only
        answers about ℓ columns were ever released.

    Example:
        >>> sets = HeavySets.calibrate(
        ...     [2] * 4, [0, 1], [2, 3], halves=500, loss=Zcdp(rho=1), rows_per_unit=1
        ... )
        >>> round(sets.standard_error(rows=100_000, left="1/4", right="1/4", both="1/16"))
        1241
        >>> round(sets.direct_error(), 2)
        0.71
    """

    sizes: tuple[int, ...] = field(converter=sizes_of)
    left: ColumnSet = field(converter=_columns)
    right: ColumnSet = field(converter=_columns)
    halves: int = field(converter=check.whole)
    noise: TableNoise

    def __attrs_post_init__(self) -> None:
        """Refuse sets that share a column, and too few or too many halves."""
        require_columns([self.left, self.right], self.sizes)
        if not self.left or not self.right or set(self.left) & set(self.right):
            raise InvalidArgument(
                "Both sets need columns of their own",
                must="have no column in common",
                got=f"{list(self.left)} and {list(self.right)}",
            )
        if not 2 <= self.halves <= MOST_HALVES:
            raise InvalidArgument(
                "halves is out of range",
                must=f"lie between 2 and {MOST_HALVES:,}",
                got=str(self.halves),
            )

    @classmethod
    def calibrate(
        cls,
        sizes: Sequence[int],
        left: Iterable[int],
        right: Iterable[int],
        *,
        halves: int,
        loss: Pure | Zcdp,
        rows_per_unit: Number = 1,
    ) -> Self:
        """Return the method that spends exactly ``loss``."""
        noise = noise_for(_moved(check.whole(halves), rows_per_unit), loss)
        return cls(sizes=sizes, left=left, right=right, halves=halves, noise=noise)

    def event(self, rows_per_unit: Number) -> Event:
        """Describe one use, where a unit has at most so many rows."""
        return self.noise.event(_moved(self.halves, rows_per_unit))

    def measure(self, rows: CountedRows, rng: Rng) -> HalvedTables:
        """Return noisy tables on random halves: public. The gate already holds the loss."""
        if rows.sizes != self.sizes:
            raise InvalidArgument("These rows have other columns", must="be those of the tables")
        key = rng.words(KEY_WORDS).astype("<u8").tobytes()
        left, right = self.exact(rows, key)
        return HalvedTables(
            left=self.noise.release(left, rng), right=self.noise.release(right, rng)
        )

    def exact(self, rows: CountedRows, key: bytes) -> tuple[Integers, Integers]:
        """Return the exact tables on the halves that a key fixes: **private**."""
        both = rows.table((*self.left, *self.right))
        wide = math.prod(self.sizes[column] for column in self.left)
        table = np.minimum(both, MOST_IN_CELL).reshape(wide, -1)
        left = np.zeros((self.halves, table.shape[0]), dtype=np.int64)
        right = np.zeros((self.halves, table.shape[1]), dtype=np.int64)
        for half in range(self.halves):
            kept = _half(table, key + half.to_bytes(8, "little"))
            left[half], right[half] = kept.sum(axis=1), kept.sum(axis=0)
        return left, right

    def estimate(self, measured: HalvedTables) -> JoinedTable:
        """Return the table of all columns of both sets, by regression over all halves.

        The halves that are heavy, and those that are light, all say the same; so all are used. The
        noise is independent on both sides, so that it takes nothing from the covariance.
        """
        self._require_measured(measured)
        left, right = (_centred(side) for side in (measured.left, measured.right))
        degrees = self.halves - 1
        covariance = left.T @ right / degrees
        spread = (left**2).sum(axis=0)[:, None] * (right**2).sum(axis=0)[None, :] / degrees**2
        error = 4 * np.sqrt((spread + covariance**2) / degrees)
        shape = [self.sizes[column] for column in (*self.left, *self.right)]
        return JoinedTable(
            counts=(4 * covariance).reshape(shape), standard_error=error.reshape(shape)
        )

    def given_heavy(self, measured: HalvedTables, left: int, right: int) -> float:
        r"""Return the share of B among A by the heavy halves alone, as it is described in [DN04].

        A half is heavy if A is at least a standard deviation more frequent in it than on average.
        The rise of B there over the rise of A is the share, but for the noise in A: it makes halves
        look heavy, and is taken out by the known variances.
        """
        self._require_measured(measured)
        a, b = _centred(measured.left)[:, left], _centred(measured.right)[:, right]
        seen = float((a**2).sum()) / (self.halves - 1)
        is_heavy = a >= math.sqrt(seen)
        without = seen - variance(self.noise)
        if not is_heavy.any() or without <= 0:
            raise InvalidArgument(
                "The noise hides which halves are heavy",
                must="have less noise than the number of rows makes halves differ by",
                next="Spend more, or measure fewer halves",
            )
        return float(b[is_heavy].mean() / a[is_heavy].mean()) * seen / without

    def _require_measured(self, measured: HalvedTables) -> None:
        wide, high = (
            math.prod(self.sizes[column] for column in side) for side in (self.left, self.right)
        )
        shapes = [(self.halves, wide), (self.halves, high)]
        require_measured([measured.left, measured.right], shapes)

    def standard_error(self, *, rows: int, left: Number, right: Number, both: Number) -> float:
        """Return what error to expect of a cell with these shares of so many rows."""
        a, b, ab = (rows * float(exact(share)) / 4 for share in (left, right, both))
        noise = variance(self.noise)
        return 4 * math.sqrt(((a + noise) * (b + noise) + ab**2) / (self.halves - 1))

    def direct_error(self) -> float:
        """Return the deviation of a cell if the whole table were asked for, at the same price."""
        noise = variance(self.noise)
        tables = 2 * self.halves
        is_pure = isinstance(self.noise, DiscreteLaplace)
        return math.sqrt(noise / (tables**2 if is_pure else tables))


def best_halves(*, rows: int, rho: Number, rows_per_unit: Number = 1) -> int:
    r"""Return the number of halves with the smallest error for A and B in half of the rows each.

    The noise has a variance of :math:`hm^2/\rho`, and a half differs by :math:`n_A/4`: best where
    they are equal.

    Example:
        >>> best_halves(rows=100_000, rho=1)
        12500
    """
    found = float(exact(rho)) * rows / (8 * rows_of_unit(rows_per_unit) ** 2)
    return min(MOST_HALVES, max(2, round(found)))


def _moved(halves: int, rows_per_unit: Number) -> Contribution:
    rows = rows_of_unit(rows_per_unit)
    return Contribution(linf=rows, l1=2 * halves * rows, l2_squared=2 * halves * rows**2)


def _centred(side: IntArray) -> Reals:
    values = np.asarray(side, dtype=np.float64)
    centred: Reals = values - values.mean(axis=0)
    return centred


def _half(table: Integers, stream: bytes) -> Integers:
    """Return how many rows of each cell are in the half: the first bits of the cell's stream."""
    kept = np.zeros(table.shape, dtype=np.int64)
    for place, count in enumerate(table.ravel().tolist()):
        if count:
            digest = hashlib.shake_256(stream + place.to_bytes(8, "little"))
            bits = int.from_bytes(digest.digest((count + 7) // 8), "little")
            kept.ravel()[place] = (bits & ((1 << count) - 1)).bit_count()
    return kept
