"""Truncated histograms of rows whose number is uncertain, or that are part of a population."""

from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

from attrs import evolve, field, frozen

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.noiseless.certifiable import BreakingPoint, PrivacyTarget, Way
from discreet.noiseless.counted_rows import meets
from discreet.noiseless.histograms.cell_enumeration import CellEnumeration, part_of_population
from discreet.noiseless.histograms.poisson_cells import NOTHING_HIDDEN, TwoSides
from discreet.noiseless.histograms.random_discarding import RandomDiscarding
from discreet.noiseless.histograms.size_laws import OtherRows
from discreet.noiseless.histograms.spread_cells import spread_sides
from discreet.noiseless.histograms.truncated_histogram import TruncatedHistogram

_MOST_CELLS = 64


@frozen(kw_only=True)
class SizedHistogram(TruncatedHistogram):
    """A histogram of independent rows whose number has an asserted law.

    Guarantee:
        :func:`discreet.noiseless.histograms.spread_cells.spread_sides`, for every probability of
        every cell at once. It is an upper bound, and not the divergence itself.

    Assumes:
        At most ``known`` rows are known in all, and not only of one cell: the others must be enough
        to hide somebody.

    Attributes:
        sizes: The law of the number of rows, given all that the adversary knows.

    Example:
        >>> from discreet.noiseless import two_sided_geometric
        >>> sizes = two_sided_geometric(5000, "0.2")
        >>> histogram = SizedHistogram(truncation=60, sizes=sizes)
        >>> float(histogram.deltas(Fraction(1))[Way.MIXTURE]) < 1e-4
        True
    """

    kind: ClassVar[str] = "sized"
    way: ClassVar[Way] = Way.MIXTURE
    sizes: OtherRows

    def _of_the_law(self) -> tuple[str, ...]:
        return (
            "Rows are independent and have one law, which may be anything.",
            f"How many rows there are is, to the adversary, {self.sizes.words}.",
            f"Of all rows together the adversary knows at most {self.known}.",
        )

    def sides(self, epsilon: Fraction) -> TwoSides:
        """Return upper bounds of δ in both directions."""
        return _spread(epsilon, self._hidden, self.sizes, self.known)

    def _law_json(self) -> dict[str, Any]:
        return {"sizes": self.sizes.words}


@frozen(kw_only=True)
class DiscardedHistogram(TruncatedHistogram):
    """A histogram of independent rows, of which a random number was thrown away.

    Guarantee:
        That of :class:`~.random_discarding.RandomDiscarding`: known rows are thrown away like the
        others.

    Assumes:
        At most ``known`` rows are known in all, and nobody knows which of them were thrown away.

    Attributes:
        discarding: How many are thrown away.

    Example:
        >>> from discreet.noiseless import RandomDiscarding
        >>> discarding = RandomDiscarding.calibrate(rows=5000, epsilon="0.2", delta="1e-7")
        >>> histogram = DiscardedHistogram(truncation=60, known=10, discarding=discarding)
        >>> float(histogram.deltas(Fraction(1))[Way.MIXTURE]) < 1e-4
        True
    """

    kind: ClassVar[str] = "discarded"
    way: ClassVar[Way] = Way.MIXTURE
    discarding: RandomDiscarding

    def _of_the_law(self) -> tuple[str, ...]:
        return (
            "Rows are independent and have one law, which may be anything.",
            (
                f"How many rows are counted is {self.discarding.sizes().words}; which ones are "
                "thrown away is told nowhere."
            ),
            f"Of all rows together the adversary knows at most {self.known}.",
        )

    def sides(self, epsilon: Fraction) -> TwoSides:
        """Return upper bounds of δ in both directions."""
        if self.known >= self.discarding.rows:
            return NOTHING_HIDDEN
        return _spread(epsilon, self._hidden, self.discarding.beside(self.known), self.known)

    def _law_json(self) -> dict[str, Any]:
        return {"sizes": self.discarding.sizes().words}


@lru_cache(maxsize=512)
def _spread(
    epsilon: Fraction, truncation: int, sizes: OtherRows | tuple[OtherRows, ...], known: int
) -> TwoSides:
    return spread_sides(epsilon, truncation, sizes, known=known)


def _cells(values: Any) -> tuple[int, ...]:
    return tuple(sorted({check.at_least_one(value, "a cell") for value in values}))


@frozen(kw_only=True)
class PopulationHistogram(TruncatedHistogram):
    """A histogram of a sample of uncertain size, without replacement, from a known population.

    Guarantee:
        :func:`discreet.noiseless.histograms.cell_enumeration.cell_sides` for each of the listed
        sizes of cells, and the worst of them. The person is in the sample, so one of the cell and
        one of the population is left out. Nothing is asserted of the part that was not sampled: it
        is in the sums, and if it is small so that it hides nobody, δ says so.

    Assumes:
        The adversary knows none of the other rows. A known row is one fewer of its cell, of the
        population and of the sample, and what is left is another law, not this one with a smaller
        k: the count of those who are not known is smaller, and strays more.

    Attributes:
        population: How many people there are.
        cells: How many of them are in each cell; every size that a cell has must be listed.
        sizes: The law of the size of the sample.

    Example:
        >>> from discreet.noiseless import two_sided_geometric
        >>> sizes = two_sided_geometric(19900, "0.2", largest=20000)
        >>> nearly_all = PopulationHistogram(
        ...     truncation=100, population=20000, cells=[2000], sizes=sizes
        ... )
        >>> round(float(nearly_all.deltas(Fraction(3, 5))[Way.TIGHT]), 4)
        0.0174
    """

    kind: ClassVar[str] = "population"
    population: int = field(converter=check.whole, validator=check.between(1, 10_000_000))
    cells: tuple[int, ...] = field(converter=_cells)
    sizes: OtherRows

    def __attrs_post_init__(self) -> None:
        if self.known:
            raise InvalidArgument(
                "A sample from a population is certified if no other row is known",
                must="have 0 known rows",
                got=f"{self.known}",
                next="Declare what is left: fewer people, fewer in the cell, fewer rows, smaller k",
            )
        if not 1 <= len(self.cells) <= _MOST_CELLS or max(self.cells) > self.population:
            raise InvalidArgument(
                "The cells do not fit the population",
                must=f"be 1 to {_MOST_CELLS} different sizes, none above {self.population}",
            )
        if self.sizes.first + len(self.sizes.real) > self.population:
            raise InvalidArgument(
                "The law of sizes does not fit the population",
                must="have no size above that of the population",
                got=f"up to {self.sizes.first + len(self.sizes.real)} of {self.population}",
            )

    def _of_the_law(self) -> tuple[str, ...]:
        cells = ", ".join(str(cell) for cell in self.cells)
        people = (
            f"Rows are drawn without replacement from {self.population} members of a population, "
            f"of whom each cell has one of these numbers: {cells}."
        )
        return (people, f"How many rows are drawn is, to the adversary, {self.sizes.words}.")

    def sides(self, epsilon: Fraction) -> TwoSides:
        """Return upper bounds of δ in both directions, for the worst of the cells."""
        found = [
            _enumeration(self.population, cell, self.sizes).sides(epsilon, self._hidden)
            for cell in self.cells
        ]
        return TwoSides(max(one.present for one in found), max(one.absent for one in found))

    def breaking_points(self, target: PrivacyTarget) -> tuple[BreakingPoint, ...]:
        """Return the least k, and how many people of a cell must be left unsampled, on average."""
        average = sum(
            (
                weight * (self.sizes.first + place + 1)
                for place, weight in enumerate(self.sizes.real)
            ),
            start=Fraction(0),
        )
        share = 1 - average / self.population
        enough = [cell for cell in self.cells if meets(evolve(self, cells=[cell]), target)]
        left = BreakingPoint(
            "members of a cell that are not in the sample, on average",
            Fraction(round(min(enough) * share)) if enough else None,
            "A cell with fewer of them is nearly used up, and then its count tells who is in it.",
        )
        least, _ = super().breaking_points(target)
        unknown = BreakingPoint(
            "rows of one cell that the adversary knows",
            Fraction(0) if len(enough) == len(self.cells) else None,
            "This certificate is for rows that nobody else knows.",
        )
        return (least, unknown, left)

    def _most_known(self, target: PrivacyTarget, most: int) -> int | None:
        return most  # of rows that somebody knows there is no certificate, and none is shown

    def _law_json(self) -> dict[str, Any]:
        sizes = self.sizes.words
        return {"population": self.population, "cells": list(self.cells), "sizes": sizes}


@lru_cache(maxsize=8)
def _enumeration(population: int, cell: int, sizes: OtherRows) -> CellEnumeration:
    return CellEnumeration(sizes, part_of_population(population, cell))
