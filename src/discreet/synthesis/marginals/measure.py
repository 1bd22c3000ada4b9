r"""Measure marginals: the columns by themselves, which of them depend on each other, and those.

There are three rounds, each with a part of the price that is fixed before. The first counts the
values of each column. The second scores each pair of columns: how far its table is from what two
columns with these counts would give if they did not depend on each other. The third measures the
tables that the scores choose, and each column once more that is in none of them.

If *residuals* are wanted, the third has half of its part, and two more follow: scores of how far
the table of each pair is from a model of what was measured so far, and the tables once more, with
those that the model misses. Where no tables are worth their noise, there is one round for all of
that part, as without residuals.

Scores of the first round say how far columns are from independence, and a model can be wrong where
they are next to 0. Of three columns two may decide about the third, and know nothing of each other:
with the third alone between them, a model has them depend on each other. Whether a pair is measured
that prevents it may be for noise to decide, so where a second round costs next to nothing there is
one: two measurements for parts of a :math:`\rho` are as good as one for both, unless noise is less
than a row, where most of its numbers are 0 for one price and not for half of it.

Guarantee:
    Let a unit have at most :math:`m` kept rows, and fix what earlier rounds made public.

    *Counts.* Adding the unit adds at most :math:`m` to the cells of one table, so a table moves by
    at most :math:`m` in :math:`\ell_1` and in :math:`\ell_2`.

    *Scores.* The score of a pair is :math:`\sum_c |x_c - e_c|` over the cells of its table, with
    whole numbers :math:`e_c` that follow from what was released before. A row more moves one of the
    summands by at most 1, so the score moves by at most :math:`m`, and the vector of :math:`P`
    scores by at most :math:`P m` in :math:`\ell_1` and :math:`\sqrt P\, m` in :math:`\ell_2`.

    Every number is whole and gets discrete noise for its part of the price. Which tables come in
    the last round, and how its part is shared among them, follows from what was released before,
    and the shares of all of them add up to at most that part. So by adaptive composition the whole
    costs the price: for :math:`\varepsilon` [DR14, Theorem 3.16] and for :math:`\rho`
    [BS16, Lemma 1.7]. A set of tables that the user names is one that nothing private chose.

Assumes:
    ``rows_per_unit`` rows of each unit are counted, by whatever rule that looks at no other unit.

Utility:
    Where no table is chosen, nothing is lost against measuring columns by themselves but the
    second round. Its part of the price is one for which all noise is 1 % more, as a deviation is
    in proportion to :math:`1/\sqrt\rho` or :math:`1/\varepsilon`:
    :math:`1/\sqrt{1 - 0.02} = 1.0102` and :math:`1/(1 - 0.01) = 1.0101`. The scores of another
    round cost as much again, where there is one. Tables are chosen where less error is expected
    with them than without any, by a tenth at least; with some, others for whatever they gain.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction

import numpy as np
from attrs import evolve, frozen
from numpy.typing import NDArray

from discreet.core.contribution import Contribution
from discreet.core.event import Event
from discreet.core.loss import Pure, Zcdp
from discreet.core.protocols import Rng
from discreet.core.stated_event import PureEvent, ZcdpEvent
from discreet.mechanisms.noise_json import Noise
from discreet.project.noise import choose_noise
from discreet.synthesis.counted.counted_rows import CountedColumn, CountedRows, Integers
from discreet.synthesis.marginals.choose_tables import (
    CHANCE,
    CHANCE_OF_HEAVY_TAILS,
    Scored,
    all_pairs,
    choose_pairs,
    measured_alone,
    most_tables,
    shares_of,
)
from discreet.synthesis.marginals.coarse_values import CoarseValues, coarse_values, most_coarse
from discreet.synthesis.marginals.estimate import estimate
from discreet.synthesis.marginals.junction_tree import Columns, junction_tree
from discreet.synthesis.marginals.measured import MeasuredMarginals, MeasuredTable
from discreet.synthesis.marginals.pair_tables import pair_tables

FIRST = Fraction(15, 100)
"""The part of the price for the first counts of each column."""
SCORES = Fraction(2, 100)
"""The part of a ρ for the scores of pairs; of an ε it is half of that."""

ABOUT = 0.1
"""How far the model of the first tables may be from the best one, as a share of their noise: what
it misses is scored with more noise than that."""

MOST_NAMED_CELLS = 1_000_000
"""How many cells a clique may have if the tables are named."""

Price = Pure | Zcdp


@frozen(kw_only=True)
class MarginalMechanism:
    """Measures marginals of columns for a price; all that it knows is public.

    Without ``tables`` they are chosen privately. With none at all (an empty tuple), only columns
    by themselves are measured.

    Example:
        >>> columns = (CountedColumn(size=2, has_order=False, has_null=False),) * 3
        >>> mechanism = MarginalMechanism(columns=columns, rows_per_unit=2, price=Zcdp("1/10"))
        >>> mechanism.event()
        ZcdpEvent(rho=0.1)
        >>> round(mechanism.first_noises()[0].sigma_squared)
        400
    """

    columns: tuple[CountedColumn, ...]
    rows_per_unit: int
    price: Price
    tables: tuple[Columns, ...] | None = None
    most_values: int = 32
    """How many values a column with an order has at most in a table of several columns."""
    most_cells: int = 200_000
    """How many cells a clique of the model has at most."""
    is_tree: bool = False
    """Whether the tables that are chosen may close no circle."""
    has_residuals: bool = False
    """Whether there is a second choice, of what a model of the first tables misses."""

    @property
    def each(self) -> Contribution:
        """What a unit moves of one table, and of one score."""
        return Contribution(l1=self.rows_per_unit)

    @property
    def has_scores(self) -> bool:
        """Whether pairs are chosen privately."""
        return self.tables is None and len(self.columns) > 1

    def first_noises(self) -> tuple[Noise, ...]:
        """Return the noise of each column's first counts."""
        part = self.price * FIRST
        return tuple(
            choose_noise(self.each, part * share)
            for share in shares_of([column.size for column in self.columns])
        )

    def score_noise(self) -> Noise:
        """Return the noise of the scores of all pairs."""
        pairs = len(all_pairs(len(self.columns)))
        d_in = Contribution(
            l0=pairs,
            linf=self.rows_per_unit,
            l1=pairs * self.rows_per_unit,
            l2_squared=pairs * self.rows_per_unit**2,
        )
        return choose_noise(d_in, self.price * self.scores_part)

    @property
    def scores_part(self) -> Fraction:
        """The part of the price for scores: one that makes all other noise 1 % larger."""
        return SCORES / 2 if isinstance(self.price, Pure) else SCORES

    @property
    def rounds(self) -> tuple[Price, ...]:
        """What each round of tables may cost."""
        if not (self.has_scores and self.has_residuals):
            return (self.rest,)
        return (self.price * ((1 - FIRST - 2 * self.scores_part) / 2),) * 2

    @property
    def rest(self) -> Price:
        """What is left after the first scores, if there are any."""
        return self.price * (1 - FIRST - (self.scores_part if self.has_scores else 0))

    def most_measured(self) -> int:
        """Return how many cells tables of several columns have at most, and scores."""
        pairs = len(all_pairs(len(self.columns)))
        if self.tables is not None:
            return sum(
                math.prod(self.columns[column].size for column in one) for one in self.tables
            )
        first, second = (
            min(pairs, most_tables(len(self.columns), is_second=one)) for one in (False, True)
        )
        fine = [column.size for column in self.columns]
        if not self.has_residuals:
            return pairs + first * self._most_in_a_table(fine)
        # Columns are measured by themselves once more than in one round.
        cells = self._most_in_a_table(self._most_coarse())
        return 2 * pairs + (first + second) * cells + sum(fine)

    def _most_in_a_table(self, sizes: Sequence[int]) -> int:
        """Return how many cells the table of two columns with so many values has at most."""
        return min(self.most_cells, math.prod(sorted(sizes, reverse=True)[:2]))

    def _most_coarse(self) -> list[int]:
        """Return how many values each column has at most in tables, whatever is counted."""
        return [
            most_coarse(
                one.size,
                has_order=one.has_order,
                has_null=one.has_null,
                most=one.most or self.most_values,
            )
            for one in self.columns
        ]

    def require_possible(self) -> None:
        """Refuse tables that no model could hold, and noise that cannot be drawn.

        It is looked at before the charge, for every set of tables that could be chosen: what is
        drawn lies between the noise of a table that has all of the last round and that of one with
        the least share.
        """
        if self.tables:
            junction_tree(self._most_coarse(), self.tables, most_cells=MOST_NAMED_CELLS)
        self.first_noises()
        if self.has_scores:
            self.score_noise()
        weights = sum(one.size ** (2 / 3) for one in self.columns)
        most = most_tables(len(self.columns), is_second=len(self.rounds) > 1)
        tables = max(len(self.tables or ()), most)
        weights += tables * max(self.most_cells, MOST_NAMED_CELLS if self.tables else 1) ** (2 / 3)
        for part in (self.rest, self.rounds[-1] * Fraction(1, math.ceil(weights))):
            choose_noise(self.each, part)

    def event(self) -> Event:
        """State the price: of later rounds only their parts of it are known before."""
        price = self.price
        return PureEvent(price.epsilon) if isinstance(price, Pure) else ZcdpEvent(price.rho)

    def release(self, rows: CountedRows, rng: Rng) -> MeasuredMarginals:
        """Return noisy counts of what is measured. ``rows`` are private, and seen here alone."""
        first = tuple(
            _measured(rows, (column,), noise, rng)
            for column, noise in enumerate(self.first_noises())
        )
        coarse = tuple(
            coarse_values(
                one.values.astype(float),
                one.variance**0.5,
                has_order=column.has_order,
                has_null=column.has_null,
                most=column.most or self.most_values,
            )
            for column, one in zip(self.columns, first, strict=True)
        )
        found = MeasuredMarginals(sizes=rows.sizes, first=first, coarse=coarse)
        grouped = rows.grouped([one.numbers for one in coarse])
        if not self.has_scores:
            return self._with_tables(found, self.tables or (), rows, grouped, self.rest, rng)
        expected = (expected_table(first, coarse, pair) for pair in all_pairs(len(first)))
        found = evolve(found, scores=self._scores(grouped, expected, rng))
        if self.has_residuals:
            first_tables, second_tables = self.rounds
            if chosen := self._chosen(found, *self.rounds):
                found = self._with_tables(found, chosen, rows, grouped, first_tables, rng)
                scores = self._scores(grouped, modelled_tables(found), rng)
                found = evolve(found, residuals=scores)
                chosen = self._chosen(found, second_tables)
                return self._with_tables(found, chosen, rows, grouped, second_tables, rng)
        chosen = self._chosen(found, self.rest)
        return self._with_tables(found, chosen, rows, grouped, self.rest, rng)

    def _scores(
        self, rows: CountedRows, expected: Iterable[NDArray[np.float64]], rng: Rng
    ) -> MeasuredTable:
        """Return noisy distances of the tables of all pairs from public whole numbers."""
        noise = self.score_noise()
        pairs = zip(all_pairs(len(self.columns)), expected, strict=True)
        found = [_distance(rows.table(pair), public) for pair, public in pairs]
        return MeasuredTable((), noise, noise.release(np.array(found, dtype=np.int64), rng))

    def _with_tables(
        self,
        found: MeasuredMarginals,
        pairs: Sequence[Columns],
        rows: CountedRows,
        grouped: CountedRows,
        price: Price,
        rng: Rng,
    ) -> MeasuredMarginals:
        """Add the tables of one round, and the columns that are measured with them."""
        again = measured_alone(grouped.sizes, rows.sizes, pairs)
        tables = [*pairs, *((column,) for column in again)]
        homes = [rows if len(one) == 1 else grouped for one in tables]
        shares = shares_of([_cells(home, one) for home, one in zip(homes, tables, strict=True)])
        added = (
            _measured(home, one, choose_noise(self.each, price * share), rng)
            for home, one, share in zip(homes, tables, shares, strict=True)
        )
        return evolve(found, tables=(*found.tables, *added))

    def _chosen(self, found: MeasuredMarginals, *prices: Price) -> tuple[Columns, ...]:
        """Return the pairs of a round, by the scores that were released last.

        The tables are measured once for each of the prices before all is done.
        """
        scores = found.residuals or found.scores
        assert scores is not None
        chance = CHANCE_OF_HEAVY_TAILS if isinstance(self.price, Pure) else CHANCE
        one_way = [found.one_way(column)[1] for column in range(len(found.sizes))]
        known = Scored(
            sizes=tuple(one.size for one in found.coarse),
            scores=tuple(scores.values.tolist()),
            margin=float(scores.noise.error_quantile(2 * chance / len(scores.values))),
            variances=tuple(
                variance * len(values.numbers) / values.size
                for variance, values in zip(one_way, found.coarse, strict=True)
            ),
            fine_sizes=tuple(column.size for column in self.columns),
            total=max(1.0, float(np.mean([one.values.sum() for one in found.first]))),
            fine_variances=tuple(one_way),
            deviation=self._deviation(*prices),
            alone=self._deviation(self.rest),
            before={one.columns: one.variance for one in found.tables if len(one.columns) > 1},
        )
        return choose_pairs(known, most_cells=self.most_cells, is_tree=self.is_tree)

    def _deviation(self, *prices: Price) -> Callable[[float], float]:
        """Return about what the deviation of noise is that a share of each price buys.

        Of what is measured more than once it is that of the weighted mean for ρ. For ε it is worse
        than one measurement for both, so tables must be worth the noise of the best one alone.
        """
        if isinstance(self.price, Pure):
            best = max(float(price.epsilon) for price in prices if isinstance(price, Pure))
            return lambda share: math.sqrt(2) * self.rows_per_unit / (best * share)
        rho = sum(float(price.rho) for price in prices if isinstance(price, Zcdp))
        return lambda share: self.rows_per_unit / math.sqrt(2 * rho * share)


def expected_table(
    first: Sequence[MeasuredTable], coarse: Sequence[CoarseValues], pair: Columns
) -> NDArray[np.float64]:
    """Return whole numbers for the cells of two columns that do not depend on each other."""
    a, b = (
        np.maximum(coarse[column].sums(first[column].values.astype(float)), 0.0) for column in pair
    )
    total = max(float(np.mean([max(float(one.values.sum()), 0.0) for one in first])), 1.0)
    shares = np.outer(a / max(a.sum(), 1.0), b / max(b.sum(), 1.0))
    return np.floor(total * shares)


def modelled_tables(found: MeasuredMarginals) -> Iterator[NDArray[np.float64]]:
    """Return whole numbers for the cells of all pairs, by a model of what was measured."""
    sizes = [one.size for one in found.coarse]
    known = estimate(sizes, found.measurements(), close_enough=ABOUT)
    tables = pair_tables(known.model)
    for pair in all_pairs(len(found.sizes)):
        yield np.floor(known.total * tables[pair])


def _measured(rows: CountedRows, columns: Columns, noise: Noise, rng: Rng) -> MeasuredTable:
    exact = rows.table(columns)
    return MeasuredTable(columns, noise, noise.release(exact.ravel(), rng).reshape(exact.shape))


def _distance(table: Integers, expected: NDArray[np.float64]) -> int:
    return int(np.abs(table - expected.astype(np.int64)).sum())


def _cells(rows: CountedRows, columns: Columns) -> int:
    return int(np.prod([rows.sizes[column] for column in columns]))
