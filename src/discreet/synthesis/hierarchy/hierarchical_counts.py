"""Counts of a nation, its regions and their districts: whole, not negative, and in agreement."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Self

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.event import ComposedEvent
from discreet.core.loss import Approximate, PrivacyLoss, Pure, Zcdp
from discreet.core.numbers import Number, exact
from discreet.core.protocols import IntArray, Rng
from discreet.synthesis.counted.integer_noise import (
    IntegerNoise,
    loss_of,
    noise_for,
    share_of,
    table_contribution,
    variance_of,
)
from discreet.synthesis.hierarchy.hierarchy import Hierarchy, fitted
from discreet.synthesis.hierarchy.nearest_counts import LARGEST_TOTAL, nearest_counts


@frozen
class DeclaredCount:
    """A number that the owner declares to be public, and that the counts shall have.

    It is written by the owner and never read from the rows. If it is true because someone looked
    at the rows, what it tells about people is outside of every guarantee here.
    """

    level: int = field(converter=check.whole, validator=check.non_negative)
    place: int = field(converter=check.whole, validator=check.non_negative)
    count: int = field(converter=check.whole, validator=check.non_negative)


@frozen(kw_only=True, eq=False)
class HierarchicalCounts:
    r"""Add noise to the counts of each level, and publish whole numbers that agree on all levels.

    Guarantee:
        A unit has at most :math:`m` kept rows. A row is in one place of each level, so the counts
        of one level move by at most :math:`m` in :math:`\ell_1` and :math:`\ell_2`, and the loss is
        the sum over the levels that are measured: :math:`\sum_l m/s_l` with Laplace noise of
        scales :math:`s_l`, :math:`\sum_l m^2/(2\sigma_l^2)` of zCDP with Gaussian noise.
        ``estimate`` looks at nothing but the measured numbers and the declared ones, so it costs
        nothing.

    Assumes:
        The hierarchy and the declared counts are public. ``rng`` is unpredictable.

    Utility:
        ``estimate`` first takes for each place the best guess from itself and all below it, then
        goes down from the top: the numbers below a place are the whole numbers, none below 0, with
        the sum that the place has, that are nearest to those guesses
        (:func:`~discreet.synthesis.hierarchy.nearest_counts.nearest_counts`). So errors of large
        places stay small, and those of small places are biased upwards where many are empty: the
        uncertainty principle of [AACGKLSSTZ21].

    Example:
        >>> from discreet import SystemRng, Zcdp
        >>> nation = Hierarchy.of([("north", "n1"), ("north", "n2"), ("south", "s1")])
        >>> counts = HierarchicalCounts.calibrate(nation, loss=Zcdp(rho=1), rows_per_unit=1)
        >>> counts.loss(rows_per_unit=1)
        Zcdp(ρ = 1)
        >>> measured = counts.measure(np.array([520, 0, 7]), SystemRng())
        >>> top, regions, districts = counts.estimate(measured)
        >>> bool(top[0] == regions.sum() == districts.sum())
        True
    """

    hierarchy: Hierarchy
    noises: tuple[IntegerNoise | None, ...]
    """The noise of each level; None for a level that is not measured."""
    declared: tuple[DeclaredCount, ...] = ()

    def __attrs_post_init__(self) -> None:
        """Refuse levels without a noise, and declared counts that no rows could have."""
        if len(self.noises) != len(self.hierarchy.sizes) or self.noises[-1] is None:
            raise InvalidArgument(
                "Each level has a noise or None, and the lowest level is measured",
                must=f"have {len(self.hierarchy.sizes)} noises",
                got=str(len(self.noises)),
            )
        _bounds(self.hierarchy, self.declared)

    @classmethod
    def calibrate(
        cls,
        hierarchy: Hierarchy,
        *,
        loss: PrivacyLoss,
        rows_per_unit: int,
        shares: Sequence[Number] | None = None,
        declared: Iterable[DeclaredCount] = (),
    ) -> Self:
        """Return the counts that spend exactly ``loss``; each level has an equal share if not told.

        A share of 0 leaves a level out.
        """
        sizes = hierarchy.sizes
        parts = [exact(s) for s in shares] if shares is not None else [Fraction(1)] * len(sizes)
        if len(parts) != len(sizes) or any(part < 0 for part in parts) or not sum(parts):
            raise InvalidArgument(
                "Each level has a share",
                must=f"be {len(sizes)} numbers, none below 0 and not all 0",
                got=str(len(parts)),
            )
        whole = sum(parts)
        noises = tuple(
            noise_for(share_of(loss, part / whole), table_contribution(size, rows_per_unit))
            if part
            else None
            for part, size in zip(parts, sizes, strict=True)
        )
        return cls(hierarchy=hierarchy, noises=noises, declared=tuple(declared))

    def event(self, rows_per_unit: int) -> ComposedEvent:
        """Describe one measurement, of units with at most so many kept rows."""
        return ComposedEvent.of(
            [
                noise.event(table_contribution(size, rows_per_unit))
                for noise, size in zip(self.noises, self.hierarchy.sizes, strict=True)
                if noise is not None
            ]
        )

    def loss(self, *, rows_per_unit: int) -> Pure | Zcdp | Approximate:
        """Return the loss of one measurement."""
        noises = [noise for noise in self.noises if noise is not None]
        return loss_of(self.event(rows_per_unit), *noises)

    def measure(self, lowest: IntArray, rng: Rng) -> tuple[IntArray | None, ...]:
        """Return the noisy counts of each level. The gate already holds the loss."""
        exact_counts = self.hierarchy.sums(lowest)
        return tuple(
            None if noise is None else noise.release(counts, rng)
            for noise, counts in zip(self.noises, exact_counts, strict=True)
        )

    def estimate(self, measured: Sequence[IntArray | None]) -> list[IntArray]:
        """Return the counts of each level: whole, not negative, as declared, and in agreement."""
        least, most = _bounds(self.hierarchy, self.declared)
        best, spread = fitted(self.hierarchy, *self.guesses(measured))
        top = np.clip(np.rint(best[0]), least[0], np.minimum(most[0], LARGEST_TOTAL))
        found = [top.astype(np.int64)]
        for level, places in enumerate(self.hierarchy.above, start=1):
            counts = np.empty(places.size, dtype=np.int64)
            order = np.argsort(places, kind="stable")
            starts = np.searchsorted(places[order], np.arange(found[-1].size + 1))
            for place, total in enumerate(found[-1].tolist()):
                some = order[starts[place] : starts[place + 1]]
                counts[some] = nearest_counts(
                    best[level][some],
                    total,
                    variances=spread[level][some],
                    least=least[level][some],
                    most=most[level][some],
                )
            found.append(counts)
        return found

    def guesses(
        self, measured: Sequence[IntArray | None]
    ) -> tuple[list[NDArray[np.float64]], list[NDArray[np.float64]]]:
        """Return what is known of each place, and the variance of it: 0 where it is declared."""
        counts, variances = [], []
        for size, noise, noisy in zip(self.hierarchy.sizes, self.noises, measured, strict=True):
            if (noise is None) != (noisy is None) or (noisy is not None and noisy.shape != (size,)):
                raise InvalidArgument("These are no measurements of this hierarchy")
            known = np.zeros(size) if noisy is None else noisy.astype(np.float64)
            counts.append(known)
            variances.append(np.full(size, np.inf if noise is None else variance_of(noise)))
        for one in self.declared:
            counts[one.level][one.place] = one.count
            variances[one.level][one.place] = 0.0
        return counts, variances


def _bounds(
    hierarchy: Hierarchy, declared: Sequence[DeclaredCount]
) -> tuple[list[IntArray], list[IntArray]]:
    """Return the least and the most that each place can have, given what is declared."""
    known: list[dict[int, int]] = [{} for _ in hierarchy.sizes]
    for one in declared:
        if one.level >= len(known) or one.place >= hierarchy.sizes[one.level]:
            raise InvalidArgument("A declared count is about no place of the hierarchy")
        if known[one.level].setdefault(one.place, one.count) != one.count:
            raise _impossible(one.level)
    least = [np.zeros(hierarchy.sizes[-1], dtype=np.int64)]
    most = [np.full(hierarchy.sizes[-1], LARGEST_TOTAL, dtype=np.int64)]
    for level in range(len(known) - 1, -1, -1):
        if level < len(known) - 1:
            places, size = hierarchy.above[level], hierarchy.sizes[level]
            least.append(_sums_within(places, least[-1], size))
            most.append(_sums_within(places, most[-1], size))
        for place, count in known[level].items():
            if not least[-1][place] <= count <= most[-1][place]:
                raise _impossible(level)
            least[-1][place] = most[-1][place] = count
    return least[::-1], most[::-1]


def _sums_within(places: IntArray, values: IntArray, size: int) -> IntArray:
    """Return the sum of the values at each place, or the largest total if it is more."""
    found = np.bincount(places, weights=values.astype(np.float64), minlength=size)
    sums: IntArray = np.minimum(found, LARGEST_TOTAL).astype(np.int64)
    return sums


def _impossible(level: int) -> InvalidArgument:
    return InvalidArgument(
        "No counts are as they are declared",
        must="have parts that add up to no more, and if all are declared no less, than the whole",
        got=f"a count of level {level} that the others rule out",
        next="Leave out a declared count, or mend it",
    )
