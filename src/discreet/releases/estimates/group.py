"""One group of an answer: its keys, and its noisy numbers."""

from collections.abc import Mapping
from fractions import Fraction

from attrs import field, frozen

from discreet.releases.estimates.estimate import Scalar, WindowOf
from discreet.tables.column import Key


@frozen
class Group:
    """One group of a public body, with exact numbers in the units of the answer."""

    keys: tuple[Key | None, ...]
    places: tuple[int, ...]
    """Which of the grouped fields its grouping set has; the others are rolled up."""
    values: tuple[Fraction, ...]
    """The noisy number of each aggregate, times its step."""
    threshold: int | None = None
    """The least noisy number of units with which a private group is shown."""
    windows: Mapping[WindowOf, Scalar | None] = field(factory=dict, eq=False, repr=False)
    """The value of each window of the query in this row."""
