"""Parts of an output that has several entries: what an auditor can look at one by one."""

import math
from collections.abc import Hashable, Sequence
from enum import Enum
from numbers import Real
from typing import Any

from attrs import frozen

MOST_ENTRIES = 32
"""How many entries of a long output are looked at one by one."""


class Missing(Enum):
    """The part of an output that does not have it."""

    MISSING = "missing"

    def __str__(self) -> str:
        return self.value


@frozen
class VectorEntry:
    """One entry of a vector, counted from 0."""

    place: int

    def of(self, output: Any) -> Hashable:
        """Return the entry, if there is one."""
        if isinstance(output, tuple) and len(output) > self.place:
            entry: Hashable = output[self.place]
            return entry
        return Missing.MISSING

    def __str__(self) -> str:
        return f"entry {self.place} of the output"


@frozen
class VectorStep:
    """How far an entry is below the next one: noise that both share has no part in it."""

    place: int

    def of(self, output: Any) -> Hashable:
        """Return the difference, if both are there and are numbers."""
        pair = output[self.place : self.place + 2] if isinstance(output, tuple) else ()
        if len(pair) < 2 or not all(isinstance(entry, Real) for entry in pair):
            return Missing.MISSING
        step: Hashable = pair[1] - pair[0]
        return math.nan if step != step else step

    def __str__(self) -> str:
        return f"the step from entry {self.place} to entry {self.place + 1} of the output"


@frozen
class VectorLength:
    """How many entries there are."""

    def of(self, output: Any) -> Hashable:
        """Return the number of entries."""
        return len(output) if isinstance(output, tuple) else Missing.MISSING

    def __str__(self) -> str:
        return "the number of entries of the output"


OutputPart = VectorEntry | VectorStep | VectorLength
"""What can be taken from an output that has entries."""


def parts_of(outputs: Sequence[Hashable]) -> list[OutputPart]:
    """Return the parts to look at: entries and steps, up to a limit, and the length if it varies.

    Example:
        >>> print(*parts_of([(3, 1), (4, 1)]), sep="; ")
        entry 0 of the output; entry 1 of the output; the step from entry 0 to entry 1 of the output
    """
    lengths = {len(output) for output in outputs if isinstance(output, tuple)}
    width = min(max(lengths, default=0), MOST_ENTRIES)
    parts: list[OutputPart] = [VectorEntry(place) for place in range(width)]
    parts += [VectorStep(place) for place in range(width - 1)]
    return parts + [VectorLength()] * (len(lengths) > 1)
