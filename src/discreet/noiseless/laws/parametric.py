"""Families with parameters: the largest box under their density, found from the parameters alone.

A box that is found in the data tells something by being chosen. Parameters are an assertion of the
owner like any other; the box follows from them, and no row is looked at.
"""

import itertools
import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

from attrs import field, frozen

from discreet.accounting.tails.normal_tail import normal_tail_bounds, pi_bounds
from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import exact
from discreet.core.rounding import dyadic_down, dyadic_up, exp_down, short_down, sqrt_up
from discreet.noiseless.laws.box_density import BoxDensity, middle
from discreet.noiseless.laws.grid_law import LARGEST_GRID, DiscreteLaw, steps_between
from discreet.noiseless.laws.hidden import (
    FARTHEST,
    Hidden,
    Interval,
    RowLaw,
    intervals,
    pairs,
    spelt,
)

_BITS = 160
_ENDS_BITS = 24


def _clamps(value: Any) -> tuple[Interval, ...]:
    return intervals(value, "The clamps")


def _largest(
    clamps: tuple[Interval, ...],
    boxes: Iterable[tuple[float, float]],
    least_density: Callable[[Fraction, Fraction], Fraction],
) -> BoxDensity:
    """Return the box, of those that are tried, with the largest mass × length²."""
    (lowest, highest), best, found = clamps[0], Fraction(0), None
    for start, end in boxes:
        low = max(lowest, dyadic_up(Fraction(start), _ENDS_BITS))
        high = min(highest, dyadic_down(Fraction(end), _ENDS_BITS))
        if low < high:
            density = short_down(least_density(low, high))
            value = density * (high - low) ** 3
            if value > best:
                best, found = value, BoxDensity(density, box=(low, high), clamps=clamps)
    if found is None:
        raise InvalidArgument(
            "There is no such box",
            must="have density between the clamps",
            next="Check parameters and clamps: all rows would be moved to a clamp",
        )
    return found


@frozen
class ClippedRows:
    """Rows of a family with parameters, moved to public clamps if they lie beyond.

    Attributes:
        centre: Where the density is largest.
        scale: The standard deviation of normal rows; the scale of the others.
        clamps: Two numbers.
    """

    kind: ClassVar[str]
    shape: ClassVar[str]
    centre: Fraction = field(converter=exact)
    scale: Fraction = field(converter=exact, validator=check.positive)
    clamps: tuple[Interval, ...] = field(converter=_clamps, kw_only=True)

    def __attrs_post_init__(self) -> None:
        if len(self.clamps) != 1:
            raise InvalidArgument("These rows are numbers", must="have one pair of clamps")
        if max(abs(self.centre), self.scale, 1 / self.scale) > FARTHEST:
            raise InvalidArgument(
                "The law is out of range",
                must="have numbers of at most 1e100 in size, and a scale of at least 1e-100",
                next="Use another unit",
            )

    @property
    def simulator(self) -> tuple[Fraction, ...]:
        """The middle of the clamps."""
        return middle(self.clamps)

    def members(self) -> tuple[RowLaw, ...]:
        """Return this law."""
        return (self,)

    def hidden(self) -> Hidden:
        """Return the uniform part of the largest box."""
        return self.box().hidden()

    def box(self, reach: Any = None) -> BoxDensity:
        """Return a box under the density: of this ``reach`` in scales, or the best of many.

        The best one hides most: mass times squared length is about the variance that stays hidden.
        """
        reaches = [k / 16 for k in range(2, 97)] if reach is None else [float(exact(reach))]
        centre, scale = float(self.centre), float(self.scale)
        boxes = [self.around(centre, scale * one) for one in reaches]
        return _largest(self.clamps, boxes, self.least_density)

    def around(self, centre: float, reach: float) -> tuple[float, float]:
        """Return an interval that suits the family."""
        return centre - reach, centre + reach

    def least_density(self, low: Fraction, high: Fraction) -> Fraction:
        """Return a number that is not above the density anywhere on an interval."""
        raise NotImplementedError

    def words(self) -> str:
        """Return the assertion in a sentence."""
        return (
            f"Each row is drawn independently from {self.shape} law with centre {self.centre} and "
            f"scale {self.scale}, and moved to {spelt(self.clamps)} if it lies beyond."
        )

    def to_json(self) -> dict[str, Any]:
        """Return what is asserted."""
        return {
            "law": self.kind,
            "centre": str(self.centre),
            "scale": str(self.scale),
            "clamps": pairs(self.clamps),
        }


@lru_cache(maxsize=1)
def _root_of_two_pi() -> Fraction:
    return sqrt_up(2 * pi_bounds(96)[1])


@frozen
class NormalRows(ClippedRows):
    """Rows of a normal law; ``scale`` is the standard deviation.

    Guarantee:
        The density falls away from the centre, so on an interval it is least at the end that is
        farther from it; there it is rounded down.

    Example:
        >>> law = NormalRows(0, 1, clamps=("-2.5", "2.5"))
        >>> round(float(law.box("1.5").mass), 4), round(float(law.box().mass), 4)
        (0.3886, 0.302)
    """

    kind: ClassVar[str] = "normal"
    shape: ClassVar[str] = "a normal"

    def least_density(self, low: Fraction, high: Fraction) -> Fraction:
        """Return the density at the farther end, rounded down."""
        far = max(abs(low - self.centre), abs(high - self.centre)) / self.scale
        return exp_down(-far * far / 2) / (self.scale * _root_of_two_pi())

    def on_grid(self, step: Any) -> DiscreteLaw:
        """Return the law of these rows after rounding to a grid, up to a proved slack.

        The grid starts at the lower clamp. A row is rounded to the nearest value, and what lies
        beyond the clamps counts there.

        Example:
            >>> law = NormalRows(0, 1, clamps=(-2, 2)).on_grid("0.5")
            >>> len(law.weights), law.slack < Fraction(1, 10**40)
            (9, True)
        """
        size = exact(step)
        (low, high), half = self.clamps[0], exact(step) / 2
        count = steps_between(low, high, size, "The upper clamp")
        if count >= LARGEST_GRID:
            raise InvalidArgument(
                "The grid is too fine for a normal law",
                must=f"have at most {LARGEST_GRID:,} values",
                got=f"{count + 1:,}",
                next="Take a larger step, or come without a grid if values are not rounded",
            )
        edges = [self._below(low + size * k + half) for k in range(count)]
        ends = [Fraction(0), *edges, Fraction(1)]
        weights = [b - a for a, b in itertools.pairwise(ends)]
        # Each edge is off by less than 2^-150, and each weight is the difference of two.
        slack = Fraction(count, 1 << 150)
        return DiscreteLaw(weights, start=low, step=size, slack=slack)

    def _below(self, value: Fraction) -> Fraction:
        z = (value - self.centre) / self.scale
        low, high = normal_tail_bounds(z * z, _BITS)
        tail = Fraction(int((low + high) / 2 * (1 << 152)), 1 << 152)
        return tail if z < 0 else 1 - tail


@frozen
class LaplaceRows(ClippedRows):
    """Rows of a Laplace law.

    Example:
        >>> round(float(LaplaceRows(0, 1, clamps=(-5, 5)).box().mass), 4)
        0.1494
    """

    kind: ClassVar[str] = "laplace"
    shape: ClassVar[str] = "a Laplace"

    def least_density(self, low: Fraction, high: Fraction) -> Fraction:
        """Return the density at the farther end, rounded down."""
        far = max(abs(low - self.centre), abs(high - self.centre)) / self.scale
        return exp_down(-far) / (2 * self.scale)


@frozen
class ExponentialRows(ClippedRows):
    """Rows of an exponential law that starts at ``centre``.

    Example:
        >>> round(float(ExponentialRows(0, 1, clamps=(0, 5)).box().mass), 4)
        0.1494
    """

    kind: ClassVar[str] = "exponential"
    shape: ClassVar[str] = "an exponential"

    def around(self, centre: float, reach: float) -> tuple[float, float]:
        """Return an interval from the start on; as a float the start is never before it."""
        start = centre if Fraction(centre) >= self.centre else math.nextafter(centre, math.inf)
        return start, start + reach

    def least_density(self, low: Fraction, high: Fraction) -> Fraction:
        """Return the density at the upper end, rounded down."""
        if low < self.centre:
            return Fraction(0)
        return exp_down(-(high - self.centre) / self.scale) / self.scale


@frozen
class BetaRows:
    """Rows of a Beta law with whole parameters, on the interval between the clamps.

    Guarantee:
        The density is a polynomial with a single peak, so on an interval it is least at an end.

    Example:
        >>> law = BetaRows(2, 2, clamps=(0, 1))
        >>> round(float(law.hidden().mass), 3)
        0.492
    """

    first: int = field(converter=check.whole, validator=check.positive)
    second: int = field(converter=check.whole, validator=check.positive)
    clamps: tuple[Interval, ...] = field(converter=_clamps, kw_only=True)

    @property
    def simulator(self) -> tuple[Fraction, ...]:
        """The middle of the clamps."""
        return middle(self.clamps)

    def members(self) -> tuple[RowLaw, ...]:
        """Return this law."""
        return (self,)

    def box(self) -> BoxDensity:
        """Return the best box of many."""
        low, high = (float(end) for end in self.clamps[0])
        ends = [low + (high - low) * k / 32 for k in range(33)]
        boxes = [(a, b) for i, b in enumerate(ends) for a in ends[:i]]
        return _largest(self.clamps, boxes, self.least_density)

    def least_density(self, low: Fraction, high: Fraction) -> Fraction:
        """Return the smaller density of the two ends, exactly."""
        return min(self._density(low), self._density(high))

    def _density(self, value: Fraction) -> Fraction:
        least, most = self.clamps[0]
        x = (value - least) / (most - least)
        a, b = self.first, self.second
        constant = a * math.comb(a + b - 1, a)
        return constant * x ** (a - 1) * (1 - x) ** (b - 1) / (most - least)

    def hidden(self) -> Hidden:
        """Return the uniform part of the largest box."""
        return self.box().hidden()

    def words(self) -> str:
        """Return the assertion in a sentence."""
        return (
            f"Each row is drawn independently from a Beta law with parameters {self.first} and "
            f"{self.second} on {spelt(self.clamps)}."
        )

    def to_json(self) -> dict[str, Any]:
        """Return what is asserted."""
        return {
            "law": "beta",
            "first": self.first,
            "second": self.second,
            "clamps": pairs(self.clamps),
        }
