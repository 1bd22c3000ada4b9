"""What a method must say to go through the gate: what it counts, costs, stores, and makes of it.

A *method* is a name with its options. For the cells of some columns, a price and a limit of rows it
becomes *ready*: then everything public about it is known, and it can be charged. What it measures
are whole numbers in arrays, which are stored as they are; an estimate is made of them, as often as
one likes, for nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.core.errors import InvalidArgument, UndeclaredBound
from discreet.core.event import Event
from discreet.core.loss import PrivacyLoss, Pure, Zcdp
from discreet.core.protocols import IntArray, Rng
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.synthesis.counted.counted_rows import CountedRows
from discreet.synthesis.counted.integer_noise import IntegerNoise, variance_of
from discreet.synthesis.counted.value_cells import MOST_CELLS, ValueCells, value_cells
from discreet.synthesis.published.runs_of_cells import CellRun
from discreet.tables.column import Column, Key

Reals = NDArray[np.float64]

Measured = Sequence[IntArray]
"""What was measured: public whole numbers."""

PublicPaths = Callable[[str, Sequence[str]], Sequence[tuple[Key | None, ...]]]
"""The combinations of values that some columns of a public table have, by the names of both."""


@frozen(kw_only=True)
class OfferedNoise:
    """What a method is made ready for."""

    cells: tuple[ValueCells, ...]
    """The cells of each column."""
    sizes: tuple[int, ...]
    """How many there are of each; without that of NULL, where such rows are left out."""
    noise: Pure | Zcdp
    """What may be spent, in a measure that can be divided."""
    whole: PrivacyLoss
    """What was offered: the same, or an ε with a δ from which the ρ follows."""
    rows_per_unit: int

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(one.column.name for one in self.cells)

    def labels(self, column: int) -> tuple[str, ...]:
        """Return what the cells of a column are called."""
        return self.cells[column].labels()[: self.sizes[column]]


@frozen(kw_only=True, eq=False)
class PublishedLines:
    """Noisy numbers as a table of people: what each is about, and how far noise may have moved it.

    A label that is None stands for all values.
    """

    headings: tuple[str, ...]
    labels: Sequence[tuple[str | None, ...]] = field(repr=False)
    values: Reals = field(repr=False)
    deviations: Reals | None = field(default=None, repr=False)
    """The standard deviation of each, where it is known."""
    called: str = "count"
    """What the numbers are."""


@frozen
class AboutCount:
    """A noisy count, and how far from the truth it may be."""

    count: float
    deviation: float | None = None
    """The standard deviation of its noise, if the count is off by nothing else."""
    within: Fraction | None = None
    """How far it is off at most, 95 % of the time, if that is known."""
    counted: Mapping[str, str] = field(factory=dict)
    """Of columns that were asked for by a part of a cell, the values that are counted: whole cells.
    The error is that of these."""


class ReadyMethod(Protocol):
    """A method with its noise: all that is public about it before it is paid for."""

    def event(self) -> Event:
        """Describe one use, on units with as many rows as they may have."""
        ...

    def expected(self) -> list[tuple[str, str]]:
        """Return in words what is measured, with how much noise, and how far off that may be."""
        ...

    def most_numbers(self) -> int:
        """Return how many whole numbers are stored at most."""
        ...

    def measure(self, rows: CountedRows, rng: Rng) -> list[IntArray]:
        """Return what was measured. ``rows`` are private; the gate already holds the loss."""
        ...

    def estimate(self, measured: Measured) -> Any:
        """Return the method's own estimate, of which anything may be asked."""
        ...

    def lines(self, measured: Measured) -> PublishedLines:
        """Return the estimate as a table."""
        ...

    def count(self, measured: Measured, runs: Sequence[CellRun]) -> AboutCount:
        """Return how many rows are in a run of cells of each column."""
        ...

    def notes(self) -> tuple[str, ...]:
        """Return what must be known about the numbers."""
        ...


@frozen
class LinearTable:
    """A part of what was measured: the table of some columns, each cell with noise of its own."""

    columns: tuple[int, ...]
    noise: IntegerNoise
    part: int
    """Which of the measured arrays it is; of a longer one, its first numbers."""


@runtime_checkable
class LinearMethod(Protocol):
    """A method of which some measured numbers are tables of rows, NULL with the other values."""

    def linear(self) -> tuple[LinearTable, ...]:
        """Return these tables."""
        ...


@frozen(kw_only=True)
class PublishingMethod:
    """A way to publish counts, with its options. It is public, and looks at nothing private."""

    name: ClassVar[str]
    summary: ClassVar[str]
    """What it is for, in a few words."""
    has_null: ClassVar[bool] = True
    """Whether no value is a value of its own; otherwise such rows are left out."""

    def read(self, public: PublicPaths, columns: Sequence[Column]) -> Self:
        """Return the method with what it takes from a public table, read before any charge."""
        return self

    def cells_of(self, columns: Sequence[Column]) -> tuple[ValueCells, ...]:
        """Return the cells of each column: they follow from what is declared."""
        return tuple(declared_cells(column, MOST_CELLS) for column in columns)

    def options(self) -> dict[str, Any]:
        """Return what was chosen, as plain values: equal options measure alike."""
        return {}

    def all_options(self) -> dict[str, Any]:
        """Return the options from which the method can be made again, also what is free."""
        return self.options()

    def ready(self, offered: OfferedNoise) -> ReadyMethod:
        """Return the method with its noise; refuse what could not be measured for that."""
        raise NotImplementedError


def declared_cells(column: Column, most: int) -> ValueCells:
    """Return the cells of a column whose values are declared; refuse another one."""
    cells = value_cells(column, most)
    if cells.is_open:
        raise UndeclaredBound(
            f"The values of '{column.name}' are not declared",
            must="have keys or a range: what is measured of a column is a public list",
            next="Nothing was charged. Declare them, leave the column out, or give them as keys="
            f'{{"{column.name}": [...]}}: a question with GROUP BY {column.name} finds them '
            "privately",
        )
    return cells


def named_options(options: object) -> dict[str, Any]:
    """Return options by their names; refuse what has none.

    Example:
        >>> named_options(None), named_options({"cells": 64})
        ({}, {'cells': 64})
    """
    if options is None:
        return {}
    if not isinstance(options, Mapping) or not all(isinstance(name, str) for name in options):
        raise InvalidArgument(
            "Options have no names",
            must='be such as {"cells": 64}',
            got=type(options).__name__,
            next="Nothing was charged",
        )
    return dict(options)


def noise_words(noise: IntegerNoise | None) -> str:
    """Say which noise it is, and how wide.

    Example:
        >>> from discreet import DiscreteLaplace
        >>> noise_words(DiscreteLaplace(scale=3))
        'discrete Laplace noise of deviation 4.24'
    """
    if noise is None:
        return "no noise, because it is not measured"
    law = "Laplace" if isinstance(noise, DiscreteLaplace) else "Gaussian"
    return f"discrete {law} noise of deviation {variance_of(noise) ** 0.5:,.3g}"


def rows_within(bound: Fraction | int) -> str:
    """Return a bound on an error as text."""
    return f"{float(bound):,.4g}"


def refuse_runs(name: str) -> InvalidArgument:
    """Return the refusal of a method that does not count runs of cells."""
    return InvalidArgument(
        f"Counts by the method '{name}' are not asked for by runs of values",
        must="be looked up: to_pandas() has them all",
        next="The methods tree, prefix, search and boxes answer for any run",
    )
