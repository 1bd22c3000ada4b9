"""Counts of places within places through the gate: a nation, its regions, their districts."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from attrs import evolve, field, frozen

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.event import Event
from discreet.core.protocols import IntArray, Rng
from discreet.synthesis.counted.counted_rows import CountedRows, sum_integers
from discreet.synthesis.counted.integer_noise import variance_of
from discreet.synthesis.counted.value_cells import ValueCells
from discreet.synthesis.hierarchy.hierarchical_counts import DeclaredCount, HierarchicalCounts
from discreet.synthesis.hierarchy.hierarchy import Hierarchy
from discreet.synthesis.published.publishing_method import (
    AboutCount,
    Measured,
    OfferedNoise,
    PublicPaths,
    PublishedLines,
    PublishingMethod,
    noise_words,
    refuse_runs,
    rows_within,
)
from discreet.synthesis.published.runs_of_cells import CellRun
from discreet.tables.column import Column, Key

MOST_PLACES = 1 << 20
"""How many places the lowest level may have."""

Path = tuple[Key | None, ...]
"""The values of the columns from the top: a region, and a district in it."""


def _paths(places: Any) -> str | tuple[Path, ...] | None:
    if places is None or isinstance(places, str):
        return places
    if not isinstance(places, Sequence) or not all(isinstance(one, tuple | list) for one in places):
        raise InvalidArgument(
            "places is not a list of places",
            must='be paths, such as [("north", "n1")], or the name of a public table',
        )
    return tuple(tuple(one) for one in places)


def _counts(declared: Any) -> tuple[tuple[Path, int], ...]:
    pairs = declared.items() if isinstance(declared, Mapping) else declared
    try:
        return tuple((tuple(path), check.whole(count)) for path, count in pairs)
    except (TypeError, ValueError):
        raise InvalidArgument(
            "declared has no counts of places",
            must='be numbers by their paths, such as {("north",): 12000}',
        ) from None


@frozen(kw_only=True)
class NestedPlaces(PublishingMethod):
    """Counts of places on several levels: whole, not negative, and in agreement on all of them.

    Each column is a level below the one before it. Which places there are is public: paths that
    are written down, those of a public table, or all combinations of the declared keys.
    """

    name: ClassVar[str] = "hierarchy"
    summary: ClassVar[str] = "counts of regions, their districts and so on, that add up"
    places: str | tuple[Path, ...] | None = field(default=None, converter=_paths)
    declared: tuple[tuple[Path, int], ...] = field(default=(), converter=_counts)
    """Counts that the owner declares to be public: they are written, and never read from rows."""

    def read(self, public: PublicPaths, columns: Sequence[Column]) -> "NestedPlaces":
        """Read the places from a public table, if one is named."""
        if not isinstance(self.places, str):
            return self
        return evolve(self, places=tuple(public(self.places, [one.name for one in columns])))

    def cells_of(self, columns: Sequence[Column]) -> tuple[ValueCells, ...]:
        """Return the cells of each column."""
        found = super().cells_of(columns)
        for one in found:
            if one.keys is None:
                raise InvalidArgument(
                    f"The places of '{one.column.name}' cannot be listed",
                    must="have declared keys",
                    next="Nothing was charged. Declare its keys, or leave the column out",
                )
        return found

    def options(self) -> dict[str, Any]:
        """Return what was chosen, as plain values."""
        places = None if self.places is None else [_written(path) for path in self.places]
        counts = [[_written(path), count] for path, count in self.declared]
        return {"places": places, "declared": counts}

    def ready(self, offered: OfferedNoise) -> "ReadyPlaces":
        """Return the method with its noise."""
        paths = self._listed(offered)
        hierarchy = Hierarchy.of(paths)
        counts = HierarchicalCounts.calibrate(
            hierarchy,
            loss=offered.noise,
            rows_per_unit=offered.rows_per_unit,
            declared=[_declared(hierarchy, path, count) for path, count in self.declared],
        )
        lowest = {path: place for place, path in enumerate(hierarchy.names[-1])}
        return ReadyPlaces(
            offered=offered,
            counts=counts,
            places=_table_of_places(offered, paths, lowest),
        )

    def _listed(self, offered: OfferedNoise) -> tuple[Path, ...]:
        """Return the lowest places, each by its path, whose values are all declared."""
        if self.places is None:
            return _all_paths(offered)
        assert not isinstance(self.places, str)  # it was read
        if not 1 <= len(self.places) <= MOST_PLACES:
            raise InvalidArgument(
                "There are too few places, or too many",
                must=f"be 1 to {MOST_PLACES:,}",
                got=f"{len(self.places):,}",
            )
        known = [_values(one) for one in offered.cells]
        for path in self.places:
            if len(path) != len(known) or any(
                value not in values for value, values in zip(path, known, strict=True)
            ):
                raise InvalidArgument(
                    "A place is not among what is declared",
                    must=f"have a declared key of each of {', '.join(offered.names)}",
                    got=repr(path)[:80],
                    next="Nothing was charged. Declare the key, or leave the place out",
                )
        return self.places


def _values(cells: ValueCells) -> dict[Key | None, int]:
    """Return the place of each value in the list of a column, NULL last."""
    keys: list[Key | None] = list(cells.keys or ())
    return {key: place for place, key in enumerate([*keys, *([None] * cells.column.nullable)])}


def _all_paths(offered: OfferedNoise) -> tuple[Path, ...]:
    count = int(np.prod([len(one.keys or ()) for one in offered.cells], dtype=object))
    if count > MOST_PLACES:
        raise InvalidArgument(
            "All combinations of the keys are too many places",
            must=f"be at most {MOST_PLACES:,}",
            got=f"{count:,}",
            next="Nothing was charged. Say which there are with places=, or leave a column out",
        )
    found: list[Path] = [()]
    for one in offered.cells:
        found = [(*path, key) for path in found for key in one.keys or ()]
    return tuple(found)


def _table_of_places(
    offered: OfferedNoise, paths: Sequence[Path], lowest: Mapping[Hashable, int]
) -> dict[int, int]:
    """Return the lowest place of each combination of cells; what has none is left out."""
    known = [_values(one) for one in offered.cells]
    found = {}
    for path in paths:
        cell = 0
        for value, values, size in zip(path, known, offered.sizes, strict=True):
            cell = cell * size + values[value]
        found[cell] = lowest[path]
    return found


def _declared(hierarchy: Hierarchy, path: Path, count: int) -> DeclaredCount:
    if not path:
        return DeclaredCount(0, 0, count)
    names = hierarchy.names[len(path) - 1] if len(path) <= len(hierarchy.names) else ()
    if path not in names:
        raise InvalidArgument(
            "A declared count is about no place", must="have the path of one", got=repr(path)[:80]
        )
    return DeclaredCount(len(path), names.index(path), count)


def _written(path: Sequence[Any]) -> list[str | None]:
    return [None if value is None else str(value) for value in path]


@frozen(kw_only=True, eq=False)
class ReadyPlaces:
    """Hierarchical counts with their noise."""

    offered: OfferedNoise
    counts: HierarchicalCounts
    places: Mapping[int, int] = field(repr=False)
    """The lowest place of each combination of cells that has one: public."""

    def event(self) -> Event:
        """Describe one use, on units with as many rows as they may have."""
        return self.counts.event(self.offered.rows_per_unit)

    def expected(self) -> list[tuple[str, str]]:
        """Say what is measured, with how much noise."""
        names = ("all", *self.offered.names)
        found = []
        for name, size, noise in zip(
            names, self.counts.hierarchy.sizes, self.counts.noises, strict=True
        ):
            if noise is not None:
                within = rows_within(noise.error_quantile("0.05"))
                told = f"{size:,} counts with {noise_words(noise)}, ± {within} each at 95 %"
                found.append((f"Level {name}", told))
        return found

    def most_numbers(self) -> int:
        """Return how many whole numbers are stored at most."""
        return sum(self.counts.hierarchy.sizes)

    def measure(self, rows: CountedRows, rng: Rng) -> list[IntArray]:
        """Return what was measured. The gate already holds the loss."""
        codes = np.zeros(len(rows.counts), dtype=object)
        for column, size in enumerate(rows.sizes):
            codes = codes * size + rows.codes[:, column]
        places = np.array([self.places.get(code, -1) for code in codes.tolist()], dtype=np.int64)
        kept = places >= 0
        size = self.counts.hierarchy.sizes[-1]
        lowest = sum_integers(places[kept], rows.counts[kept], size)
        return [level for level in self.counts.measure(lowest, rng) if level is not None]

    def estimate(self, measured: Measured) -> list[IntArray]:
        """Return what follows from the measured numbers."""
        return self.counts.estimate(list(measured))

    def lines(self, measured: Measured) -> PublishedLines:
        """Return the estimate as a table."""
        depth = len(self.offered.names)
        labels: list[tuple[str | None, ...]] = [(None,) * depth]
        for level in self.counts.hierarchy.names:
            labels += [_filled(path, depth) for path in level]
        levels = self.estimate(measured)
        deviations = [
            np.full(len(level), 0.0 if noise is None else variance_of(noise) ** 0.5)
            for level, noise in zip(levels, self.counts.noises, strict=True)
        ]
        return PublishedLines(
            headings=self.offered.names,
            labels=labels,
            values=np.concatenate(levels).astype(np.float64),
            deviations=np.concatenate(deviations),
        )

    def count(self, measured: Measured, runs: Sequence[CellRun]) -> AboutCount:
        """Refuse: these counts are looked up."""
        raise refuse_runs(NestedPlaces.name)

    def notes(self) -> tuple[str, ...]:
        """Return what must be known about the numbers."""
        found = [
            (
                "counts are whole, not negative, and add up on every level; so those of small"
                " places are too large where many are empty. The deviation is that of what was"
                " measured"
            ),
            "rows that are in none of the listed places are left out",
        ]
        if self.counts.declared:
            found.append(
                "some counts are as the owner declared them: they were not measured, and what they "
                "tell is outside of the guarantee. Where one is not the number of rows that count, "
                "others are moved to fit it, by more than their deviation says"
            )
        return tuple(found)


def _filled(path: Any, depth: int) -> tuple[str | None, ...]:
    named = tuple("NULL" if value is None else str(value) for value in path)
    return (*named, *(None,) * (depth - len(named)))
