"""Tables of several columns at once: their counts, and rows that have them."""

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache, partial
from itertools import combinations, product
from typing import ClassVar

import numpy as np
from attrs import field, frozen

from discreet.core import check
from discreet.core.contribution import Contribution
from discreet.core.errors import InvalidArgument
from discreet.core.loss import PrivacyLoss, Pure, Zcdp
from discreet.core.numbers import exact
from discreet.core.rounding import log_up, short_down, short_up, sqrt_up
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.query_release.linear_queries import LinearQueries
from discreet.mechanisms.query_release.mwem import Mwem
from discreet.mechanisms.query_release.small_database import SmallDatabase
from discreet.planner.bounds.fingerprinting import Fingerprinting
from discreet.planner.bounds.packing import LOG_TWO, Packing
from discreet.planner.bounds.reconstruction import Reconstruction
from discreet.planner.bounds.wanted import LowerBound, Wanted
from discreet.planner.tasks.counts import PEOPLE, all_cells, cube
from discreet.planner.tasks.known_way import (
    MOST_DIMENSIONS,
    CountingNoise,
    KnownWay,
    affordable,
    noises,
    ordered,
    possible,
    sum_error,
)
from discreet.synthesis.contingency.fit_table import MOST_ENTRIES
from discreet.synthesis.contingency.noisy_cells import MOST_CELLS

MOST_ORDER = 16
_ONE = Contribution(l0=1, linf=1)


@frozen
class KWayTask:
    """All tables of ``order`` of the columns, each of two values.

    Example:
        >>> pairs = KWayTask(10, 2)
        >>> pairs.tables, pairs.cells
        (45, 180)
        >>> [way.name for way in pairs.ways(Zcdp("0.1"), Fraction(1, 20), 500)][0]
        'Gaussian noise on contrasts'
    """

    columns: int = field(converter=check.whole, validator=check.between(1, MOST_DIMENSIONS))
    order: int = field(converter=check.whole, validator=check.between(1, MOST_ORDER))
    name: ClassVar[str] = "k-way"
    share_of: ClassVar[str] = PEOPLE

    def __attrs_post_init__(self) -> None:
        """Refuse tables of more columns than there are."""
        if self.order > self.columns:
            raise InvalidArgument(
                "A table has more columns than there are",
                must=f"have an order of at most {self.columns}",
                got=str(self.order),
            )

    @property
    def words(self) -> str:
        """The task, in words."""
        return f"all tables of {self.order} of {self.columns:,} columns with two values"

    @property
    def tables(self) -> int:
        """How many tables there are."""
        return math.comb(self.columns, self.order)

    @property
    def cells(self) -> int:
        """How many counts there are in all of them."""
        return self.tables << self.order

    def ways(self, loss: PrivacyLoss, beta: Fraction, people: int) -> tuple[KnownWay, ...]:
        """Return what can be done with a loss, the most exact first."""
        moved = Contribution(l0=self.tables, linf=1)
        each = all_cells(moved, loss, beta, cells=self.cells)
        return ordered(
            [
                *(KnownWay(f"{way.name} on tables", way.error) for way in each),
                *(self._on_contrasts(one, beta) for one in affordable(loss).each()),
                *self._on_all_cells(loss, beta),
                cube(loss, beta, self.cells),
            ]
        )

    def contrast_noises(self, loss: Pure | Zcdp) -> list[CountingNoise]:
        r"""Return the noise of contrasts of 0, 1, ... columns.

        Shares are those of :class:`~discreet.synthesis.contingency.noisy_contrasts.NoisyContrasts`:
        a contrast of :math:`i` columns is in :math:`\binom{d - i}{k - i}` tables.
        """
        root = 1 / 3 if isinstance(loss, Pure) else 1 / 2
        sizes = range(self.order + 1)
        inside = [math.comb(self.columns - i, self.order - i) for i in sizes]
        weights = [exact(float(count) ** root) for count in inside]
        total = sum(math.comb(self.columns, i) * weights[i] for i in sizes)
        shares = [short_down(weight / total) for weight in weights]
        if isinstance(loss, Pure):
            return [DiscreteLaplace.calibrate(d_in=_ONE, loss=loss * share) for share in shares]
        return [DiscreteGaussian.calibrate(d_in=_ONE, loss=loss * share) for share in shares]

    def _on_contrasts(self, loss: Pure | Zcdp, beta: Fraction) -> KnownWay | None:
        r"""Return noise on contrasts, :math:`\binom ki` of which make a cell, over :math:`2^k`."""
        chosen, cells = self.contrast_noises(loss), self.cells
        if not all(noise.can_be_drawn for noise in chosen):
            return None
        if isinstance(loss, Zcdp):
            square = sum(
                math.comb(self.order, i) * noise.sigma_squared
                for i, noise in enumerate(chosen)
                if isinstance(noise, DiscreteGaussian)
            )
            error = sqrt_up(short_up(2 * square * log_up(2 * cells / beta))) / 2**self.order
            return KnownWay("Gaussian noise on contrasts", error)
        each = beta / (cells * (self.order + 1))
        errors = (
            sum_error(noise, each, math.comb(self.order, i)) for i, noise in enumerate(chosen)
        )
        return KnownWay("Laplace noise on contrasts", sum(errors) / Fraction(2**self.order))

    def _on_all_cells(self, loss: PrivacyLoss, beta: Fraction) -> Iterator[KnownWay]:
        """Yield noise on the table of all columns, where there is room for it."""
        if self.columns > MOST_CELLS.bit_length() - 1:
            return
        for name, noise in noises(_ONE, loss):
            error = sum_error(noise, beta / self.cells, 1 << (self.columns - self.order))
            yield KnownWay(f"{name} on all cells", error)

    def bounds(self) -> tuple[LowerBound, ...]:
        """Return what says that something is impossible.

        People who are alike have any row. With one value in all but ``order - 1`` of the columns
        the tables hold a count of each of the others.
        """
        others = self.columns - self.order + 1
        return (
            Packing(self.columns * LOG_TWO),
            Fingerprinting(others),
            Reconstruction(others),
        )

    def remarks(self, wanted: Wanted) -> tuple[str, ...]:
        """Return nothing: the bounds have constants."""
        return ()


@frozen
class SyntheticTask:
    """Rows with two values in each column that have all tables of ``order`` of the columns.

    Example:
        >>> found = SyntheticTask(8, 2).ways(Zcdp("0.1"), Fraction(1, 20), 10_000)
        >>> [way.name for way in found]
        ['contrasts, fitted by rows', 'multiplicative weights']
    """

    columns: int = field(converter=check.whole, validator=check.between(1, MOST_DIMENSIONS))
    order: int = field(converter=check.whole, validator=check.between(1, MOST_ORDER))
    name: ClassVar[str] = "synthetic"
    share_of: ClassVar[str] = PEOPLE

    def __attrs_post_init__(self) -> None:
        """Refuse tables of more columns than there are."""
        self.counted()

    def counted(self) -> KWayTask:
        """Return the task to publish the counts themselves."""
        return KWayTask(self.columns, self.order)

    @property
    def words(self) -> str:
        """The task, in words."""
        return f"synthetic rows with {self.counted().words}"

    def ways(self, loss: PrivacyLoss, beta: Fraction, people: int) -> tuple[KnownWay, ...]:
        """Return what can be done with a loss and so many people, the most exact first."""
        found: list[KnownWay | None] = []
        for one in affordable(loss).each():
            found.append(self._fitted(one, beta))
            if self.columns <= _MOST_LEARNT and self.counted().cells << self.columns <= _MOST_TABLE:
                found += [self._learnt(one, beta, people), self._small(one, beta, people)]
        best: dict[str, KnownWay] = {}
        for way in ordered(found):
            best.setdefault(way.name, way)
        return tuple(best.values())

    def _fitted(self, loss: Pure | Zcdp, beta: Fraction) -> KnownWay | None:
        r"""Return rows by a linear programme over noisy contrasts.

        If no noise exceeds :math:`z` deviations, no contrast of the rows is off by more than
        :math:`2z` deviations [BCD07, section 4], and rounding moves each of at most
        :math:`F + 1` cells by less than 1.
        """
        task = self.counted()
        contrasts = sum(math.comb(self.columns, i) for i in range(self.order + 1))
        if self.columns > 30 or contrasts << self.columns > MOST_ENTRIES:
            return None
        chosen = task.contrast_noises(loss)
        if not all(noise.can_be_drawn for noise in chosen):
            return None
        deviations = [sqrt_up(_variance(noise)) for noise in chosen]
        each = beta / contrasts
        times = max(
            noise.error_quantile(each) / deviation
            for noise, deviation in zip(chosen, deviations, strict=True)
        )
        mean = sum(math.comb(self.order, i) * one for i, one in enumerate(deviations))
        error = short_up(2 * times * mean / 2**self.order) + contrasts + 1
        return KnownWay("contrasts, fitted by rows", error)

    def _learnt(self, loss: Pure | Zcdp, beta: Fraction, people: int) -> KnownWay | None:
        """Return multiplicative weights, with the number of rounds that suits best."""
        queries = _queries(self.columns, self.order)

        def error(rounds: int) -> Fraction:
            learnt = Mwem.calibrate(
                queries=queries, rounds=rounds, d_in=_ONE_ROW, loss=loss, passes=0
            )
            return learnt.error_quantile(beta, rows=people)

        rounds = (2, 4, 8, 16, 32, 64, 128, 256)
        found = [possible("multiplicative weights", partial(error, count)) for count in rounds]
        return next(iter(ordered(found)), None)

    def _small(self, loss: Pure | Zcdp, beta: Fraction, people: int) -> KnownWay | None:
        """Return a small data set of the list of all."""
        queries = _queries(self.columns, self.order)

        def error(part: int) -> Fraction:
            small = SmallDatabase.calibrate(
                queries=queries, accuracy=Fraction(1, part), d_in=_ONE_ROW, loss=loss
            )
            return small.error_quantile(beta, rows=people)

        found = [possible("small data set", partial(error, part)) for part in (2, 4, 8, 16)]
        return next(iter(ordered(found)), None)

    def bounds(self) -> tuple[LowerBound, ...]:
        """Return what says that something is impossible: that of the counts."""
        return self.counted().bounds()

    def remarks(self, wanted: Wanted) -> tuple[str, ...]:
        """Return Ullman's statement, which is about computing."""
        return (_HARD, _MODELLED)


_HARD = (
    "if one-way functions exist, no quick mechanism answers about people² questions of any kind;"
    " tables of few columns are not meant [Ull13]"
)
_MODELLED = (
    "a graphical model (discreet synthesise) promises nothing of tables that it did not measure"
)
_ONE_ROW = Contribution(l1=1)
_MOST_LEARNT = 12
_MOST_TABLE = 1 << 22


def _variance(noise: CountingNoise) -> Fraction:
    r"""Return at least the variance: :math:`2b^2` for discrete Laplace noise."""
    if isinstance(noise, DiscreteGaussian):
        return noise.sigma_squared
    return 2 * noise.scale**2


@lru_cache(maxsize=8)
def _queries(columns: int, order: int) -> LinearQueries:
    """Return a counting query for each cell of each table, over the table of all columns."""
    places = np.arange(1 << columns)
    rows = []
    for chosen in combinations(range(columns), order):
        for values in product((0, 1), repeat=order):
            inside = np.ones(1 << columns, dtype=np.bool_)
            for column, value in zip(chosen, values, strict=True):
                inside &= (places >> column) % 2 == value
            rows.append(inside)
    return LinearQueries(np.array(rows, dtype=np.int64))
