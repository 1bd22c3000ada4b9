"""Laws on a public grid: rounded numbers have no density, so a simulator inserts a grid value."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, TypeVar

from attrs import field, frozen

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact
from discreet.noiseless.laws.hidden import Hidden, Interval, RowLaw, interval, spelt

T = TypeVar("T", Fraction, float)

LARGEST_GRID = 100_000
FINEST_BLOCK = 10**12
"""Sums of finer ones are beyond what the floats that choose a line of integration can tell."""

FINEST_GRID = 10**100
"""Where a range has more steps than this, its values have as good as a density."""


def _block(value: Sequence[Number]) -> Interval:
    return interval(value, "The block")


def _range(value: Sequence[Number]) -> Interval:
    return interval(value, "The clamps")


def steps_between(low: Fraction, high: Fraction, step: Fraction, what: str) -> int:
    """Return how many steps of the grid lie between two of its values; refuse others."""
    count = (high - low) / step
    if count.denominator != 1:
        raise InvalidArgument(
            f"{what} is not on the grid",
            must=f"be a whole number of steps of {step} from the lower clamp",
            got=str(high),
        )
    if count > FINEST_GRID:
        raise InvalidArgument("The grid is too fine", must="have at most 1e100 steps")
    return int(count)


def grid_middle(clamps: Interval, step: Fraction) -> Fraction:
    """Return the grid value at or just below the middle of the clamps.

    Example:
        >>> grid_middle((Fraction(0), Fraction(9)), Fraction(1))
        Fraction(4, 1)
    """
    return clamps[0] + step * (steps_between(*clamps, step, "The upper clamp") // 2)


def grid_points(block: Interval, clamps: Interval, step: Fraction) -> int:
    """Return how many values a block has; refuse one that is off the grid or outside its clamps."""
    low, high = clamps
    steps_between(low, high, step, "The upper clamp")
    for end in block:
        if not low <= end <= high:
            raise InvalidArgument(
                "The block is outside the clamps",
                must=f"lie between {low} and {high}",
                got=str(end),
            )
        steps_between(low, end, step, "The block")
    points = steps_between(*block, step, "The block") + 1
    if points > FINEST_BLOCK:
        raise InvalidArgument(
            "The grid of the block is too fine",
            must="have at most 1e12 values in the block",
            next="Declare a larger step, or come without a grid if values are not rounded",
        )
    return points


def grid_reach(clamps: Interval, step: Fraction) -> int:
    """Return how many steps the farther clamp is from the value that a simulator inserts."""
    return steps_between(grid_middle(clamps, step), clamps[1], step, "The upper clamp")


@frozen
class GridFloor:
    r"""Rows lie on a public grid, and take each value of a block with some least probability.

    This is what :class:`BoxDensity` is for rounded numbers.

    Attributes:
        floor: q, the least probability of each value of the block.
        block: Its first and last value.
        clamps: The first and last value of all.
        step: The distance of two values.

    Guarantee:
        With probability v = q × (values of the block) a row is uniform on the block. The simulator
        inserts the grid value at or just below the middle of the clamps; the middle of a range of
        an odd number of steps is no such value, and a sum with it could be told apart at once.

    Example:
        >>> law = GridFloor("0.1", block=(2, 6), clamps=(0, 9), step=1)
        >>> law.mass, law.simulator, law.hidden().shifts
        (Fraction(1, 2), (Fraction(4, 1),), (Fraction(5, 1),))
    """

    floor: Fraction = field(converter=exact, validator=check.positive)
    block: Interval = field(converter=_block, kw_only=True)
    range: Interval = field(converter=_range, kw_only=True, alias="clamps")
    step: Fraction = field(converter=exact, validator=check.positive, kw_only=True)

    def __attrs_post_init__(self) -> None:
        if self.mass > 1:
            raise InvalidArgument(
                "No law has so much probability",
                must="have floor × values of at most 1",
                got=str(float(self.mass)),
                next="Assert a lower floor, or a smaller block",
            )

    @property
    def points(self) -> int:
        """How many values the block has."""
        return grid_points(self.block, self.range, self.step)

    @property
    def mass(self) -> Fraction:
        """How likely a row is to be uniform on the block: v."""
        return self.floor * self.points

    @property
    def clamps(self) -> tuple[Interval, ...]:
        """The first and last value of the grid."""
        return (self.range,)

    @property
    def simulator(self) -> tuple[Fraction, ...]:
        """The grid value at or just below the middle of the clamps."""
        return (grid_middle(self.range, self.step),)

    def members(self) -> tuple[RowLaw, ...]:
        """Return this law."""
        return (self,)

    def hidden(self) -> Hidden:
        """Return the uniform part; the farther clamp is the worst row."""
        reach = Fraction(grid_reach(self.range, self.step))
        return Hidden(self.mass, (self.points,), (reach,))

    def words(self) -> str:
        """Return the assertion in a sentence."""
        return (
            f"Each row is drawn independently from a grid of step {self.step} on "
            f"{spelt((self.range,))}, and takes each value of {spelt((self.block,))} with a "
            f"probability of at least {float(self.floor):.6g}."
        )

    def to_json(self) -> dict[str, Any]:
        """Return what is asserted."""
        return {
            "law": "grid_floor",
            "floor": str(self.floor),
            "block": [str(end) for end in self.block],
            "clamps": [str(end) for end in self.range],
            "step": str(self.step),
        }


def _weights(values: Iterable[Number]) -> tuple[Fraction, ...]:
    return tuple(exact(one) for one in values)


@frozen
class DiscreteLaw:
    r"""Rows lie on a public grid, and their law is known.

    Attributes:
        weights: The probability of each value, from the first one on; they sum to 1 exactly.
        start: The first value.
        step: The distance of two values.
        slack: How wrong the law can be: at most this far in total variation. If it is above 0, a
            row may take any value of the grid.

    Guarantee:
        A row is within ``slack`` of a row of this law, so n rows are within n times that of n such
        rows, and δ is at most :math:`n (1 + e^\varepsilon)` times ``slack`` larger.

    Example:
        >>> die = DiscreteLaw(["1/6"] * 6, start=1)
        >>> die.simulator, die.is_log_concave
        ((Fraction(3, 1),), True)
    """

    weights: tuple[Fraction, ...] = field(converter=_weights, repr=lambda all_: f"<{len(all_)}>")
    start: Fraction = field(default=Fraction(0), converter=exact, kw_only=True)
    step: Fraction = field(
        default=Fraction(1), converter=exact, validator=check.positive, kw_only=True
    )
    slack: Fraction = field(
        default=Fraction(0), converter=exact, validator=check.probability, kw_only=True
    )

    def __attrs_post_init__(self) -> None:
        if not 2 <= len(self.weights) <= LARGEST_GRID:
            raise InvalidArgument(
                "The law has too few or too many values",
                must=f"have from 2 to {LARGEST_GRID}",
                got=str(len(self.weights)),
            )
        interval(self.clamps[0], "The range of values")
        if min(self.weights) < 0 or sum(self.weights) != 1:
            raise InvalidArgument(
                "These are no probabilities",
                must="be at least 0 and sum to 1 exactly",
                got=f"a sum of {float(sum(self.weights))}",
                next="Write them as fractions",
            )

    @property
    def clamps(self) -> tuple[Interval, ...]:
        """The first and last value."""
        return ((self.start, self.start + self.step * (len(self.weights) - 1)),)

    @property
    def simulator(self) -> tuple[Fraction, ...]:
        """The grid value at or just below the middle of the clamps."""
        return (grid_middle(self.clamps[0], self.step),)

    @property
    def middle_index(self) -> int:
        """The place of the simulator's value."""
        return (len(self.weights) - 1) // 2

    @property
    def is_log_concave(self) -> bool:
        """Whether no weight is below the geometric mean of its neighbours, and none inside is 0."""
        first = next(i for i, one in enumerate(self.weights) if one)
        last = next(i for i in reversed(range(len(self.weights))) if self.weights[i])
        inner = self.weights[first : last + 1]
        return 0 not in inner and all(
            b * b >= a * c for (a, b), (_, c) in pairwise(pairwise(inner))
        )

    def possible(self) -> tuple[int, ...]:
        """Return the places of the values that a row can take."""
        return tuple(i for i, one in enumerate(self.weights) if one or self.slack)

    def members(self) -> tuple[RowLaw, ...]:
        """Return this law."""
        return (self,)

    def floor(self) -> GridFloor | None:
        """Return a good floor of this law; None if two neighbours never have weight both.

        By default the one that hides most: mass times squared length is about the variance that
        stays hidden.
        """
        best, found = Fraction(0), None
        for first, last, least in blocks_of(self.weights):
            points = last - first + 1
            lowered = max(Fraction(0), least - self.slack)
            value = lowered * points * (points * points - 1)
            if value > best:
                ends = (self.start + self.step * first, self.start + self.step * last)
                best, found = value, (lowered, ends)
        if found is None:
            return None
        return GridFloor(found[0], block=found[1], clamps=self.clamps[0], step=self.step)

    def hidden(self) -> Hidden:
        """Return the uniform part of the best floor."""
        floor = self.floor()
        far = len(self.weights) - 1 - self.middle_index
        return floor.hidden() if floor else Hidden(Fraction(0), (2,), (Fraction(far),))

    def words(self) -> str:
        """Return the assertion in a sentence."""
        right = f", up to {float(self.slack):.3g} in total variation" if self.slack else ""
        return (
            f"Each row is drawn independently from a known law of {len(self.weights)} values, in "
            f"steps of {self.step} on {spelt(self.clamps)}{right}."
        )

    def to_json(self) -> dict[str, Any]:
        """Return what is asserted."""
        return {
            "law": "discrete",
            "weights": [str(one) for one in self.weights],
            "start": str(self.start),
            "step": str(self.step),
            "slack": str(self.slack),
        }


def blocks_of(weights: Sequence[T]) -> Iterable[tuple[int, int, T]]:
    """Yield the longest block for each least weight, by a stack of open blocks."""
    stack: list[tuple[int, T]] = []
    ended: list[T] = list(weights)
    ended.append(weights[0] - weights[0])
    for place, weight in enumerate(ended):
        first = place
        while stack and stack[-1][1] >= weight:
            first, least = stack.pop()
            yield first, place - 1, least
        stack.append((first, weight))
