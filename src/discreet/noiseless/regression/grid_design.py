"""A regression of rounded numbers as it is declared: columns on public grids, and a floor."""

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

from attrs import field, frozen

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import exact, written
from discreet.noiseless.laws.grid_block import GridBlock
from discreet.noiseless.laws.grid_law import grid_middle, grid_points, steps_between
from discreet.noiseless.laws.hidden import Interval, RowLaw, interval
from discreet.noiseless.regression.grid_product import GridProduct, Whole
from discreet.noiseless.regression.row_moments import RowMoment


def _range(value: Sequence[Any]) -> Interval:
    return interval(value, "The clamps")


def _block(value: Sequence[Any]) -> Interval:
    return interval(value, "The block")


@frozen(kw_only=True)
class GridColumn:
    """A column of a regression whose values are on a public grid.

    Attributes:
        name: The column.
        clamps: The first and the last value of all.
        block: Where the law has a floor; all values if nothing is said.
        step: The distance of two values.
        centre: A public grid value that is subtracted before products are made; the one at or just
            below the middle of the clamps if nothing is said.

    Example:
        >>> GridColumn(name="hours", clamps=(0, 9), step=1).range
        (-4, 5)
    """

    name: str
    clamps: Interval = field(converter=_range)
    block: Interval = field(converter=_block)
    step: Fraction = field(converter=exact, validator=check.positive)
    centre: Fraction = field(converter=exact)

    @block.default
    def _(self) -> Interval:
        return self.clamps

    @centre.default
    def _(self) -> Fraction:
        return grid_middle(self.clamps, self.step)

    def __attrs_post_init__(self) -> None:
        _ = self.points
        steps_between(self.clamps[0], self.centre, self.step, f"The centre of {self.name!r}")

    @property
    def points(self) -> int:
        """How many values the block has."""
        return grid_points(self.block, self.clamps, self.step)

    @property
    def range(self) -> Whole:
        """The clamps, in steps from the centre."""
        return self._counted(self.clamps)

    @property
    def block_range(self) -> Whole:
        """The block, in steps from the centre."""
        return self._counted(self.block)

    def _counted(self, ends: Interval) -> Whole:
        low, high = ((end - self.centre) / self.step for end in ends)
        return int(low), int(high)

    def to_json(self) -> dict[str, Any]:
        """Return all of it as text."""
        return {
            "name": self.name,
            "clamps": [written(end) for end in self.clamps],
            "block": [written(end) for end in self.block],
            "step": written(self.step),
            "centre": written(self.centre),
        }


def _columns(values: Iterable[GridColumn]) -> tuple[GridColumn, ...]:
    return tuple(values)


@frozen(kw_only=True)
class GridDesign:
    """Regressors and an outcome on public grids, and what the owner asserts of one row.

    Attributes:
        regressors: The columns that explain.
        outcome: The column that is explained.
        floor: The least probability of each combination of values of the blocks.
        has_intercept: Whether the line has a constant term. Without one, columns are not centred.

    Example:
        >>> hours = GridColumn(name="hours", clamps=(0, 9), step=1)
        >>> score = GridColumn(name="score", clamps=(0, 99), block=(20, 79), step=1)
        >>> design = GridDesign(regressors=[hours], outcome=score, floor="0.001")
        >>> design.mass
        Fraction(3, 5)
    """

    regressors: tuple[GridColumn, ...] = field(converter=_columns, validator=check.non_empty)
    outcome: GridColumn
    floor: Fraction = field(converter=exact, validator=check.positive)
    has_intercept: bool = True

    def __attrs_post_init__(self) -> None:
        names = [column.name for column in self.columns]
        if len(set(names)) < len(names) or "" in names:
            raise InvalidArgument("Columns need names of their own", must="be named once each")
        if not self.has_intercept and any(column.centre for column in self.columns):
            raise InvalidArgument(
                "A line through the origin has its columns as they are",
                must="have 0 as the centre of every column, or have an intercept",
            )
        if self.mass > 1:
            raise InvalidArgument(
                "Such a law cannot be true",
                must="have a floor times the combinations of the blocks of at most 1",
                got=f"{float(self.mass):.4g}",
            )

    @property
    def columns(self) -> tuple[GridColumn, ...]:
        """The regressors, and then the outcome."""
        return (*self.regressors, self.outcome)

    @property
    def mass(self) -> Fraction:
        """How likely a row is to be uniform on the blocks."""
        return self.floor * math.prod(column.points for column in self.columns)

    def column(self, name: str) -> GridColumn:
        """Return a column by its name."""
        return next(column for column in self.columns if column.name == name)

    def law_of(self, moments: Sequence[RowMoment]) -> RowLaw:
        """Return the law of plain columns together, or of one product.

        A row that is uniform on all blocks is so on those of some columns.
        """
        factors = [[self.column(name) for name in moment.factors] for moment in moments]
        if all(len(one) == 1 for one in factors):
            plain = [one for (one,) in factors]
            return GridBlock(
                self.mass / math.prod(one.points for one in plain),
                blocks=[one.block for one in plain],
                clamps=[one.clamps for one in plain],
                steps=[one.step for one in plain],
            )
        ((first, second),) = factors
        used = [first] if first is second else [first, second]
        return GridProduct(
            self.mass,
            blocks=[one.block_range for one in used],
            ranges=[one.range for one in used],
            step=first.step * second.step,
        )

    def to_json(self) -> dict[str, Any]:
        """Return all that is asserted."""
        return {
            "regressors": [column.to_json() for column in self.regressors],
            "outcome": self.outcome.to_json(),
            "floor": written(self.floor),
            "has_intercept": self.has_intercept,
        }
