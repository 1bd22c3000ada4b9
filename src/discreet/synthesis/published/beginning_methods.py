"""How texts begin, through the gate: a universe without end, made finite by what is asked of it."""

from collections.abc import Sequence
from enum import Enum
from typing import Any, ClassVar

import numpy as np
from attrs import field, frozen

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.event import Event
from discreet.core.protocols import IntArray, Rng
from discreet.mechanisms.query_release.drawn_scales import require_drawable
from discreet.mechanisms.query_release.mwem import Mwem, MwemRelease
from discreet.mechanisms.query_release.prefix_queries import PrefixQueries
from discreet.synthesis.contingency.noisy_cells import NoisyCells
from discreet.synthesis.counted.counted_rows import CountedRows
from discreet.synthesis.counted.integer_noise import variance_of
from discreet.synthesis.counted.value_cells import ValueCells
from discreet.synthesis.published.publishing_method import (
    AboutCount,
    Measured,
    OfferedNoise,
    PublishedLines,
    PublishingMethod,
    noise_words,
    refuse_runs,
)
from discreet.synthesis.published.query_methods import (
    measured_rounds,
    mwem_release,
    require_little_work,
    unit_rows,
)
from discreet.synthesis.published.runs_of_cells import CellRun
from discreet.tables.column import Column, ColumnType
from discreet.tables.expression import Expression, FieldValue, Literal
from discreet.tables.functions.call import call
from discreet.tables.keyset import LONGEST_KEY

MOST_PREFIXES = 256
"""How many different prefixes may be asked for."""


class BeginningNoise(Enum):
    """What is measured of the cells of the small universe."""

    CELLS = "cells"
    """Each of them: best for few prefixes, with an error bar for each answer."""
    MWEM = "mwem"
    """The queries that a public guess has most wrong: for many that overlap."""


@frozen
class BeginningCells(ValueCells):
    """Texts as cells: each is taken for the longest prefix in a list that it begins with."""

    def expression(self, value: FieldValue) -> Expression:
        """Return what an engine groups by: that prefix, or the empty text."""
        text = ColumnType.TEXT
        branches: list[Expression] = [call("is_null", [value]), value]
        for prefix in sorted(map(str, self.keys or ()), key=len, reverse=True):
            if prefix:
                literal = Literal(text, prefix)
                branches += (call("starts_with", [value, literal]), literal)
        return call("case", [*branches, Literal(text, "")])

    def description(self) -> str:
        """Say in words how values are divided into cells."""
        return f"{len(self.keys or ()):,} cells: the longest listed prefix of a text, or none"


def _queries(given: Any) -> PrefixQueries | None:
    """Read lists of texts; as one text, such as ``I10+I11,J4``: commas between queries."""
    if given is None or isinstance(given, PrefixQueries):
        return given
    if isinstance(given, str):
        given = [one.split("+") for one in given.split(",")]
    if not isinstance(given, Sequence) or not all(
        isinstance(one, str | list | tuple | set | frozenset) for one in given
    ):
        raise InvalidArgument(
            "queries is not a list of prefixes",
            must='be such as [["I10", "I11"], ["J4"]], a list of texts for each query',
            got=type(given).__name__,
        )
    return PrefixQueries(given)


def _way(value: BeginningNoise | str) -> BeginningNoise:
    return check.chosen(BeginningNoise, value, noun="way to measure")


@frozen(kw_only=True)
class TextBeginnings(PublishingMethod):
    """How many texts begin with some of the given prefixes; nothing else of them is declared."""

    name: ClassVar[str] = "beginnings"
    summary: ClassVar[str] = "how many texts of one column begin with given prefixes"
    has_null: ClassVar[bool] = False
    queries: PrefixQueries | None = field(default=None, converter=_queries)
    """A list of prefixes for each count: public, and never read from the rows."""
    by: BeginningNoise = field(
        default=BeginningNoise.CELLS,
        converter=_way,
    )
    rounds: int = field(default=10, converter=check.whole, validator=check.positive)
    rows: int | None = field(default=None, converter=check.optional_whole)
    """How many rows there are, if the owner declares that to be public; only for mwem."""
    passes: int = field(default=10, converter=check.whole, validator=check.non_negative)

    def cells_of(self, columns: Sequence[Column]) -> tuple[ValueCells, ...]:
        """Return the cells of the column: the prefixes, and all other texts."""
        if len(columns) != 1 or columns[0].type is not ColumnType.TEXT:
            raise InvalidArgument(
                "Beginnings are those of one column of texts",
                must="be given one column of the type text",
                got=", ".join(f"{one.name} ({one.type.value})" for one in columns)[:80],
                next="Nothing was charged. Name it",
            )
        universe = self._asked().universe
        longest = max(map(len, universe))
        if not 2 <= len(universe) <= MOST_PREFIXES + 1 or longest > LONGEST_KEY:
            raise InvalidArgument(
                "There are too many prefixes, too long ones, or only the empty one",
                must=f"be 1 to {MOST_PREFIXES} of at most {LONGEST_KEY:,} characters",
                got=f"{len(universe) - 1:,}, the longest of {longest:,}",
                next="Nothing was charged. Ask for fewer in each publication",
            )
        return (BeginningCells(columns[0], universe),)

    def _asked(self) -> PrefixQueries:
        if self.queries is None:
            raise InvalidArgument(
                "Nobody said which beginnings are counted",
                must='have queries, such as [["I10", "I11"], ["J4"]]',
                next="Nothing was charged. Give queries= to TextBeginnings (--option "
                "queries=I10+I11,J4)",
            )
        return self.queries

    def options(self) -> dict[str, Any]:
        """Return what was chosen, as plain values."""
        asked = [sorted(one) for one in self._asked().sets]
        if self.by is BeginningNoise.CELLS:  # the cells are all: what is asked of them is free
            return {"by": self.by.value}
        rounds = {"rounds": self.rounds, "rows": self.rows, "passes": self.passes}
        return {"by": self.by.value, "queries": asked, **rounds}

    def ready(self, offered: OfferedNoise) -> "ReadyBeginnings":
        """Return the method with its noise."""
        prefixes = self._asked()
        inner: Mwem | NoisyCells
        if self.by is BeginningNoise.CELLS:
            inner = NoisyCells.calibrate(
                offered.sizes, loss=offered.noise, rows_per_unit=offered.rows_per_unit
            )
            require_drawable([inner.noise])
        else:
            require_little_work(self.rounds, self.passes, len(prefixes.universe))
            inner = Mwem.calibrate(
                queries=prefixes.linear,
                rounds=self.rounds,
                d_in=unit_rows(offered),
                loss=offered.noise,
                rows=self.rows,
                passes=self.passes,
            )
        return ReadyBeginnings(offered=offered, prefixes=prefixes, inner=inner)


@frozen(kw_only=True, eq=False)
class ReadyBeginnings:
    """Prefixes with their noise."""

    offered: OfferedNoise
    prefixes: PrefixQueries
    inner: Mwem | NoisyCells

    def event(self) -> Event:
        """Describe one use, on units with as many rows as they may have."""
        if isinstance(self.inner, Mwem):
            return self.inner.event(unit_rows(self.offered))
        return self.inner.event(self.offered.rows_per_unit)

    def expected(self) -> list[tuple[str, str]]:
        """Say what is measured, with how much noise."""
        if isinstance(self.inner, Mwem):
            told = f"{self.inner.rounds} of {self.prefixes.linear.count:,} counts, the worst first"
            return [("Measures", told), ("Noise", f"{noise_words(self.inner.noise)} of each count")]
        cells = f"{len(self.prefixes.universe):,} cells, each with {noise_words(self.inner.noise)}"
        widest = float(self._deviations(self.inner).max())
        return [("Measures", cells), ("Error", f"deviation {widest:,.3g} of a count at most")]

    def _deviations(self, cells: NoisyCells) -> Any:
        # A count adds up cells: as many noises as prefixes in the list begin with what is asked.
        return np.sqrt(self.prefixes.linear.table.sum(axis=1) * variance_of(cells.noise))

    def most_numbers(self) -> int:
        """Return how many whole numbers are stored at most."""
        if isinstance(self.inner, Mwem):
            return 2 * self.inner.rounds + 1
        return len(self.prefixes.universe)

    def measure(self, rows: CountedRows, rng: Rng) -> list[IntArray]:
        """Return what was measured. The gate already holds the loss."""
        if isinstance(self.inner, Mwem):
            return measured_rounds(self.inner, rows, rng)
        return [self.inner.measure(rows, rng)]

    def estimate(self, measured: Measured) -> "MwemRelease | CountedBeginnings":
        """Return what follows from the measured numbers."""
        if isinstance(self.inner, Mwem):
            return mwem_release(self.inner, measured)
        return CountedBeginnings(self.prefixes.universe, measured[0])

    def lines(self, measured: Measured) -> PublishedLines:
        """Return a line for each query."""
        found = self.estimate(measured)
        if isinstance(found, MwemRelease):
            values = found.latest_answers()
        else:
            values = self.prefixes.linear.table @ found.counts
        return PublishedLines(
            headings=(f"{self.offered.names[0]}_begins_with",),
            labels=[(" or ".join(sorted(one)),) for one in self.prefixes.sets],
            values=values.astype(np.float64),
            deviations=None if isinstance(self.inner, Mwem) else self._deviations(self.inner),
        )

    def count(self, measured: Measured, runs: Sequence[CellRun]) -> AboutCount:
        """Refuse: these counts are looked up."""
        raise refuse_runs(TextBeginnings.name)

    def notes(self) -> tuple[str, ...]:
        """Return what must be known about the numbers."""
        told = "a text is taken for the longest listed prefix that it begins with; NULL is left out"
        if isinstance(self.inner, Mwem):
            return (
                told,
                "most counts are guessed from those that were measured, with no error bar",
            )
        return (told, "a count may come out below 0; estimate.count([...]) is for others, for free")


@frozen(eq=False)
class CountedBeginnings:
    """Noisy counts of texts by the longest listed prefix that they begin with."""

    universe: tuple[str, ...]
    counts: IntArray = field(repr=False)

    def count(self, prefixes: Sequence[str]) -> int:
        """Return about how many texts begin with some of these; each must be in the list.

        Example:
            >>> beginnings = CountedBeginnings(("", "I", "I10", "J4"), np.array([9, 4, 7, 2]))
            >>> beginnings.count(["I"]), beginnings.count(["I10", "J4"])
            (11, 9)
        """
        if isinstance(prefixes, str) or not set(prefixes) <= set(self.universe):
            raise InvalidArgument(
                "These prefixes were not counted",
                must=f"be a list of some of {', '.join(self.universe[1:9])}, ...",
            )
        inside = [cell.startswith(tuple(prefixes)) for cell in self.universe]
        return int(self.counts[inside].sum())
