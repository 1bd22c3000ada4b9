"""Units with text that could not be read: how many there are, from a histogram of two cells.

Text that does not read as a column's type counts as NULL. A unit with such a cell is in one cell of
the histogram, and every other unit is in the other one.
"""

import math
from typing import Any

from attrs import frozen

from discreet.core.unit_words import UNITS, put_in
from discreet.mechanisms.noise_json import AggregateMechanism
from discreet.releases.accuracy import CONFIDENCE, error_of

WITHOUT, WITH = 0, 1
"""The keys of the two cells."""


@frozen(kw_only=True)
class UnreadableUnits:
    """How many units have something in a column that could not be read.

    Example:
        >>> from discreet.mechanisms import DiscreteLaplace
        >>> noise = DiscreteLaplace(scale=10)
        >>> print(UnreadableUnits(column="cost", without=659, units=12, noise=noise))
        about 12 of 671 units have something in cost that could not be read (0 to 42)
    """

    column: str
    without: int
    """The noisy number of units without such a cell."""
    units: int
    """The noisy number of units with one."""
    noise: AggregateMechanism

    def bounds(self) -> tuple[int, int]:
        """Return how many there are at least and at most, 95 % of the time."""
        margin = math.floor(error_of(self.noise, 1 - CONFIDENCE))
        return max(0, self.units - margin), max(0, self.units + margin)

    def everybody(self) -> int:
        """Return about how many units there are."""
        return max(0, self.without + self.units)

    def matters(self) -> bool:
        """Tell whether there surely are some, or whether they may be one in a hundred or more."""
        low, high = self.bounds()
        return low > 0 or 100 * high >= self.everybody()

    def __str__(self) -> str:
        """Say how many there are."""
        return put_in(self.sentence())

    def sentence(self) -> str:
        """Say how many there are, with room for the name of units."""
        low, high = self.bounds()
        about = min(max(0, self.units), self.everybody())
        said = f"{UNITS} have something in {self.column} that could not be read"
        return f"about {about:,} of {self.everybody():,} {said} ({low:,} to {high:,})"

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        low, high = self.bounds()
        return {
            "units": self.units,
            "without": self.without,
            "low": low,
            "high": high,
            "noise": self.noise.to_json(),
        }
