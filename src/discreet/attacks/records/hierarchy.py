"""How a value is made less precise, step by step, until nothing is left of it."""

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import pairwise
from typing import Any

from attrs import field, frozen

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact

NOTHING = None
"""What every value becomes at the last step: it is suppressed."""


@frozen(kw_only=True)
class Suppression:
    """A value stays as it is, or goes."""

    @property
    def steps(self) -> int:
        """How many steps there are up to the last, at which nothing is left."""
        return 1

    def shown(self, value: Any, step: int) -> Any:
        """Return what a value becomes at a step; at 0 it is itself."""
        return value if step == 0 else NOTHING


def _widths(given: Sequence[Number]) -> tuple[Number, ...]:
    return tuple(given)


@frozen(kw_only=True)
class NumberIntervals:
    """A number becomes the interval of a width that it lies in, each wider than the one before.

    Example:
        >>> by_age = NumberIntervals(widths=[5, 10])
        >>> by_age.shown(37, 1), by_age.shown(37, 2)
        ('35 to below 40', '30 to below 40')
    """

    widths: tuple[Number, ...] = field(converter=_widths)

    def __attrs_post_init__(self) -> None:
        numbers = [exact(width) for width in self.widths]
        if (
            not numbers
            or numbers[0] <= 0
            or any(
                (wide / narrow).denominator > 1 or wide == narrow
                for narrow, wide in pairwise(numbers)
            )
        ):
            raise InvalidArgument(
                "These are no widths of intervals",
                must="be above 0, each a multiple of the one before",
                got=", ".join(map(str, self.widths)),
            )

    @property
    def steps(self) -> int:
        """One for each width, and the last."""
        return len(self.widths) + 1

    def shown(self, value: Any, step: int) -> Any:
        """Return the interval of a number; what is no number is refused, NULL stays."""
        if step == 0 or value is None:
            return value
        if step == self.steps:
            return NOTHING
        if not isinstance(value, int | float | Decimal) or not math.isfinite(value):
            raise InvalidArgument("Only numbers lie in intervals", must="be a column of numbers")
        width = exact(self.widths[step - 1])
        low = math.floor(exact(value) / width) * width
        return f"{_short(low)} to below {_short(low + width)}"


def _short(number: Any) -> str:
    return str(number.numerator) if number.denominator == 1 else str(float(number))


@frozen(kw_only=True)
class Prefixes:
    """A text loses one character from its end at each step; a number its last digits.

    Example:
        >>> Prefixes(length=5).shown("10117", 2)
        '101**'
    """

    length: int = field(converter=check.whole, validator=check.positive)

    @property
    def steps(self) -> int:
        """One for each character."""
        return self.length

    def shown(self, value: Any, step: int) -> Any:
        """Return what is left of a text that is filled up to the length."""
        if step == 0 or value is None:
            return value
        if step == self.steps:
            return NOTHING
        text = str(value).ljust(self.length)
        if len(text) > self.length:
            raise InvalidArgument(
                "A text is longer than the prefixes", must=f"have at most {self.length} characters"
            )
        return text[: self.length - step] + "*" * step


@frozen(kw_only=True)
class Tree:
    """A value becomes its parent, and that the next: a tree that somebody declared.

    Example:
        >>> jobs = Tree(parents={"nurse": "health", "doctor": "health", "clerk": "office"})
        >>> jobs.shown("nurse", 1), jobs.shown("nurse", 2)
        ('health', None)
    """

    parents: Mapping[Any, Any]
    steps: int = field(init=False)

    def __attrs_post_init__(self) -> None:
        depths = [self._depth(value) for value in self.parents]
        leaves = [
            depth
            for value, depth in zip(self.parents, depths, strict=True)
            if value not in self.parents.values()
        ]
        if not leaves or len(set(leaves)) != 1:
            raise InvalidArgument(
                "The tree is not even, or empty",
                must="have the same number of parents above every leaf",
            )
        object.__setattr__(self, "steps", leaves[0] + 1)

    def _depth(self, value: Any) -> int:
        depth = 0
        while value in self.parents:
            value, depth = self.parents[value], depth + 1
            if depth > len(self.parents):
                raise InvalidArgument("The tree goes round in a circle", must="have a root")
        return depth

    def shown(self, value: Any, step: int) -> Any:
        """Return the ancestor of a value; one that is not in the tree is refused, NULL stays."""
        if step == 0 or value is None:
            return value
        if step == self.steps:
            return NOTHING
        for _ in range(step):
            if value not in self.parents:
                raise InvalidArgument(
                    "A value is not in the tree", must="be a leaf of it", next="Declare a parent"
                )
            value = self.parents[value]
        return value


Hierarchy = Suppression | NumberIntervals | Prefixes | Tree
"""How a column is generalised."""


def forms(hierarchy: Hierarchy, values: Sequence[Any], step: int) -> list[Any]:
    """Return what each value becomes at a step."""
    if not 0 <= step <= hierarchy.steps:
        raise InvalidArgument(
            "There is no such step", must=f"be from 0 to {hierarchy.steps}", got=str(step)
        )
    return [hierarchy.shown(value, step) for value in values]
