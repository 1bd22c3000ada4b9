"""A column as the owner declared it: a type, perhaps a range, perhaps public keys."""

import datetime
import math
from enum import Enum
from fractions import Fraction
from typing import ClassVar

from attrs import field, frozen

from discreet.core.canonical import IF_GIVEN, PRESENTATION
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import exact

Key = str | int | bool | datetime.date | datetime.time
"""A public value that a group can have; a timestamp is a date too, for Python."""


class ColumnType(Enum):
    """The types that a column can be declared to have."""

    INTEGER = "integer"
    REAL = "real"
    TEXT = "text"
    BOOLEAN = "boolean"
    DATE = "date"
    TIMESTAMP = "timestamp"
    """A day and a time of day, as calendar and clock on the wall show them, in microseconds."""
    TIME = "time"
    """A time of day, in microseconds: from midnight to before the next one."""


LARGEST_BOUND = Fraction(10) ** 300

LARGEST_STEPS = 2**53
"""Bounds are at most this many steps in size, so that a float can hold each step exactly."""

LONGEST_TEXT = 10_000
"""So many characters of a text count, and joining and replacing give no more: no data exhausts the
memory."""


@frozen(kw_only=True)
class Bounds:
    """A public range and a public grid: a value becomes a whole number of steps within the range.

    Example:
        >>> Bounds(lower=0, upper="10.5", step="0.5").upper_steps
        21
    """

    stored_as: ClassVar[str] = "Bounds"
    lower: Fraction = field(converter=exact)
    upper: Fraction = field(converter=exact)
    step: Fraction = field(default=Fraction(1), converter=exact)

    def __attrs_post_init__(self) -> None:
        """Refuse an empty range, and ends that are off the grid."""
        if self.step <= 0:
            raise InvalidArgument("step is out of range", must="be above 0", got=str(self.step))
        if self.lower >= self.upper:
            raise InvalidArgument(
                "The range is empty", must="have min below max", got=f"{self.lower} to {self.upper}"
            )
        for end in (self.lower, self.upper):
            if (end / self.step).denominator != 1:
                raise InvalidArgument(
                    "A bound is off the grid",
                    must=f"be a whole number of steps of {self.step}",
                    got=str(end),
                )
            if abs(end) > LARGEST_BOUND or self.step < 1 / LARGEST_BOUND:
                raise InvalidArgument(
                    "A bound or step has no floating-point number near it",
                    must="lie between 1e-300 and 1e300 in size",
                    got=f"{float(end):.3g}" if abs(end) < LARGEST_BOUND else "a larger one",
                )
            if abs(end / self.step) > LARGEST_STEPS:
                raise InvalidArgument(
                    "A bound is too many steps away from zero",
                    must="be at most 2**53 steps",
                    got=f"{end} in steps of {self.step}",
                    next="Declare a larger step",
                )

    @property
    def lower_steps(self) -> int:
        """The lower end, in steps."""
        return math.floor(self.lower / self.step)

    @property
    def upper_steps(self) -> int:
        """The upper end, in steps."""
        return math.floor(self.upper / self.step)

    @property
    def largest_steps(self) -> int:
        """The largest size of a value in the range, in steps."""
        return max(abs(self.lower_steps), abs(self.upper_steps))


MOST_IN_RANGE = 10_000
"""How many whole numbers of a range may be public keys."""


def whole_numbers(bounds: Bounds) -> tuple[int, ...] | None:
    """Return the numbers of a range, if its step is whole and they are few enough to be keys.

    Example:
        >>> whole_numbers(Bounds(lower=-10, upper=20, step=10))
        (-10, 0, 10, 20)
        >>> whole_numbers(Bounds(lower=0, upper=10**6)) is None
        True
    """
    size = bounds.upper_steps - bounds.lower_steps + 1
    if bounds.step.denominator != 1 or size > MOST_IN_RANGE:
        return None
    step = bounds.step.numerator
    return tuple(n * step for n in range(bounds.lower_steps, bounds.upper_steps + 1))


@frozen(kw_only=True)
class DateRange:
    """A public range of days, both ends included.

    Example:
        >>> year = DateRange(first=datetime.date(2025, 1, 1), last=datetime.date(2025, 12, 31))
        >>> year.days
        365
    """

    stored_as: ClassVar[str] = "DateRange"
    first: datetime.date
    last: datetime.date

    def __attrs_post_init__(self) -> None:
        """Refuse an empty range."""
        if self.first > self.last:
            raise InvalidArgument(
                "The range of days is empty",
                must="have min at or before max",
                got=f"{self.first} to {self.last}",
            )

    @property
    def days(self) -> int:
        """How many days there are."""
        return (self.last - self.first).days + 1


@frozen(kw_only=True)
class Codes:
    """What stored values mean: a label, true or false, or that there is no value.

    Example:
        >>> meanings = ((1, "male"), (2, "female"))
        >>> sex = Codes(read_as=ColumnType.INTEGER, meanings=meanings, is_all=True)
        >>> sex.stored()
        (1, 2)
    """

    stored_as: ClassVar[str] = "Codes"
    read_as: ColumnType
    """As what stored values are read; a real number among them is its exact text."""
    meanings: tuple[tuple[Key, Key | None], ...]
    """Stored values, and what each means; None is NULL."""
    is_all: bool
    """Whether every other stored value is NULL; else it means itself."""

    def stored(self) -> tuple[Key, ...]:
        """Return the stored values that mean something."""
        return tuple(code for code, meaning in self.meanings if meaning is not None)


@frozen
class KeysFrom:
    """A column of a public table that has the keys of another column."""

    table: str
    column: str

    def __str__(self) -> str:
        """Return both names, as SQL has them."""
        return f"{self.table}.{self.column}"


INSIDE = "\0"
"""What stands before each name of a path; no name that is declared has it in it."""


def path_name(path: tuple[str, ...]) -> str:
    r"""Return one name for a path: that of a column, or one that no column has.

    Example:
        >>> path_name(("address.city",)), path_name(("address", "city"))
        ('address.city', '\x00address\x00city')
    """
    return path[0] if len(path) == 1 else "".join(INSIDE + name for name in path)


@frozen(kw_only=True)
class Column:
    """One declared column of a table."""

    stored_as: ClassVar[str] = "Column"
    name: str
    type: ColumnType
    bounds: Bounds | None = None
    """The range of a number: the clamp below a sum, unless the query gives another."""
    dates: DateRange | None = None
    """The range of a date or of a timestamp: it makes months and years into public keys."""
    keys: tuple[Key, ...] | None = None
    keys_from: KeysFrom | None = field(default=None, metadata=PRESENTATION)
    """Where the keys are read, for each question anew; what is read is in ``keys`` then."""
    nullable: bool = True
    """Whether a value may be missing. If the owner is wrong about it, no guarantee changes."""
    auto_bounds: bool = field(default=False, metadata=PRESENTATION)
    """Whether the clamp below a sum is chosen from a profile of values, as soon as there is one."""
    zone: str | None = field(default=None, metadata=IF_GIVEN)
    """Where the wall is on which a timestamp is read, if it is stored as an instant."""
    codes: Codes | None = field(default=None, metadata=IF_GIVEN)
    """What stored values mean, where they are not simply themselves."""
    missing_texts: tuple[str, ...] = field(default=(), metadata=PRESENTATION)
    """Texts that stand for no number or date, as the owner says."""
    unreadable_as: ColumnType | None = field(default=None, metadata=IF_GIVEN)
    """If given, the value is whether something is stored that does not read as this type."""

    stored_at: tuple[str, ...] | None = field(default=None, metadata=IF_GIVEN)
    """Where the values are stored, from the outermost name, if not under the name of the column."""

    @property
    def stored_name(self) -> str:
        """The name by which the column is looked for in a file: of a field in another, its path."""
        return self.name if self.stored_at is None else path_name(self.stored_at)

    @property
    def read_as(self) -> ColumnType:
        """The type that stored values are read as, before codes are given their meaning."""
        return self.type if self.codes is None else self.codes.read_as
