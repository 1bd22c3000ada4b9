"""Rows with several rounded numbers that may depend on one another: a floor on a block of them."""

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from attrs import field, frozen

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact
from discreet.noiseless.laws.grid_law import grid_middle, grid_points, grid_reach
from discreet.noiseless.laws.hidden import Hidden, Interval, RowLaw, intervals, pairs, spelt


def _blocks(value: Iterable[Any]) -> tuple[Interval, ...]:
    return intervals(tuple(value), "The block")


def _ranges(value: Iterable[Any]) -> tuple[Interval, ...]:
    return intervals(tuple(value), "The clamps")


def _steps(value: Iterable[Number]) -> tuple[Fraction, ...]:
    return tuple(exact(one) for one in value)


@frozen
class GridBlock:
    r"""Rows lie on a public grid, and take each combination of a block with a least probability.

    Attributes:
        floor: q, the least probability of each combination.
        blocks: By column, the first and the last value of the block.
        clamps: By column, the first and the last value of all.
        steps: By column, the distance of two values.

    Guarantee:
        With probability v = q × (combinations of the block) a row is uniform on the block, and then
        its numbers are independent. Otherwise they may depend on one another in any way.

    Example:
        >>> law = GridBlock("0.02", blocks=[(2, 6), (0, 4)], clamps=[(0, 9), (0, 9)], steps=[1, 1])
        >>> law.mass, law.simulator, law.hidden().shifts
        (Fraction(1, 2), (Fraction(4, 1), Fraction(4, 1)), (Fraction(5, 1), Fraction(5, 1)))
    """

    floor: Fraction = field(converter=exact, validator=check.positive)
    blocks: tuple[Interval, ...] = field(converter=_blocks, kw_only=True)
    clamps: tuple[Interval, ...] = field(converter=_ranges, kw_only=True)
    steps: tuple[Fraction, ...] = field(converter=_steps, kw_only=True)

    def __attrs_post_init__(self) -> None:
        if not len(self.blocks) == len(self.clamps) == len(self.steps):
            raise InvalidArgument(
                "Block, clamps and grid differ in dimension",
                must="have one interval, one range and one step for every column",
            )
        if self.mass > 1:
            raise InvalidArgument(
                "No law has so much probability",
                must="have floor × combinations of at most 1",
                got=str(float(self.mass)),
                next="Assert a lower floor, or a smaller block",
            )

    @property
    def points(self) -> tuple[int, ...]:
        """How many values the block has, by column."""
        each = zip(self.blocks, self.clamps, self.steps, strict=True)
        return tuple(grid_points(block, clamps, step) for block, clamps, step in each)

    @property
    def mass(self) -> Fraction:
        """How likely a row is to be uniform on the block: v."""
        return self.floor * math.prod(self.points)

    @property
    def simulator(self) -> tuple[Fraction, ...]:
        """By column, the grid value at or just below the middle of the clamps."""
        return tuple(map(grid_middle, self.clamps, self.steps))

    def members(self) -> tuple[RowLaw, ...]:
        """Return this law."""
        return (self,)

    def hidden(self) -> Hidden:
        """Return the uniform part; the farther clamp of every column is the worst row."""
        return Hidden(
            self.mass, self.points, tuple(map(Fraction, map(grid_reach, self.clamps, self.steps)))
        )

    def words(self) -> str:
        """Return the assertion in a sentence."""
        steps = " × ".join(str(step) for step in self.steps)
        return (
            f"Each row is drawn independently from a grid of step {steps} on "
            f"{spelt(self.clamps)}, and takes each combination of {spelt(self.blocks)} with a "
            f"probability of at least {float(self.floor):.6g}."
        )

    def to_json(self) -> dict[str, Any]:
        """Return what is asserted."""
        return {
            "law": "grid_block",
            "floor": str(self.floor),
            "blocks": pairs(self.blocks),
            "clamps": pairs(self.clamps),
            "steps": [str(step) for step in self.steps],
        }
