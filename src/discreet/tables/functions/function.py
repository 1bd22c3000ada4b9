"""A function of the allow-list: all that is known of it, in one record.

How it is written, which arguments it takes, how far it reaches, which keys it has, how much work it
is: each is a part of the record, and a part that a function does not have says why. An engine adds
the function in its own language, by name.
"""

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Protocol

from attrs import field, frozen

from discreet.tables.arithmetic.between import BetweenNumbers
from discreet.tables.column import DateRange, Key
from discreet.tables.expression import Call, Expression
from discreet.tables.functions.span import Span
from discreet.tables.functions.work import GuardRule, TextLength, WorkRule

Arguments = tuple[Expression, ...]
Build = Callable[[Arguments], Expression | None]
"""Returns the checked expression, or None if the number or the types of arguments do not fit."""

Keys = tuple[Key, ...]


@frozen
class Without:
    """Why a function has no rule for something."""

    reason: str


NOT_A_NUMBER = Without("its value is no number")
NOT_A_DATE = Without("its value is no date")
NOT_A_TEXT = Without("its value is no text")
TRUE_OR_FALSE = Without("its value is true or false, and that is known of every boolean")
NO_KEYS = Without("its value is a real number, and those are no keys")
OF_ROWS_ONLY = Without("it is not worked out between the numbers of an answer")


# ---- How it is written.


@frozen
class PlainNode:
    """A node of the parser that is the function of its parts, in order."""

    name: str
    parts: tuple[str, ...] = ("this",)
    expected: Mapping[str, object] = field(factory=dict)
    """Parts that the parser always sets, with the only value for which the node is understood."""
    compares: bool = False
    """Whether a text beside a date must be one, and is refused as none."""


@frozen
class Alias:
    """Another name that it is called by, which the parser does not know."""

    name: str


@frozen
class DatePart:
    """A part of a date, as EXTRACT and date_part call it."""

    name: str


Way = PlainNode | Alias | DatePart
Written = tuple[Way, ...] | Without

BINARY = ("this", "expression")
"""The parts of a node that stands between two others."""

BY_NAME = Without("the parser has no node for it, so it is called by its name")
BY_FORM = Without("it has a form of its own in SQL, with a reader of its own")


# ---- What is known of its values.


class Reach(Protocol):
    """How far expressions reach, for the rules of functions over them."""

    def span(self, expression: Expression) -> Span | None:
        """Return the span of a number, or None if it is not known."""

    def dates(self, expression: Expression) -> DateRange | None:
        """Return the range of a date, or None if it is not known."""


class Listing(Protocol):
    """Which keys expressions have, for the rules of functions over them."""

    def keys(self, expression: Expression) -> Keys | None:
        """Return the keys of an expression, or None if they are not known."""

    def dates(self, expression: Expression) -> DateRange | None:
        """Return the range of a date, or None if it is not known."""

    def may_be_null(self, expression: Expression) -> bool:
        """Tell whether an expression can be NULL."""

    def allows(self, values: int) -> bool:
        """Count so many values, and tell whether they may be worked out."""

    def mapped(self, node: Call, found: Sequence[Keys] | None) -> Keys | None:
        """Return the function of every combination of its arguments' keys."""


class Mapped(Enum):
    """What a key maps to if it is not a key."""

    UNKNOWN = "unknown"


UNKNOWN = Mapped.UNKNOWN
Result = Key | None | Mapped

SpanRule = Callable[[Call, Reach], Span | None]
DatesRule = Callable[[Call, Reach], DateRange | None]
KeysRule = Callable[[Call, Listing], Keys | None]
KeyFunction = Callable[..., Result]
"""From a call and one key for each argument to a key, NULL, or the news that we do not know."""


@frozen(kw_only=True)
class Function:
    """One total function.

    Guarantee:
        A function is in the allow-list only if its value depends on its arguments alone (on no
        other row, clock, time zone, locale or random number), and no arguments make an engine
        raise. Where a usual SQL function would raise, ours is NULL.
    """

    name: str
    usage: str
    """How it is written, with types, for a message: ``length(text)``."""
    written: Written
    """How the parser shows it; its name works too where the parser does not know it."""
    build: Build
    """What it makes of arguments."""
    span: SpanRule | Without
    """How far it reaches, if its value is a number. Nothing rests on it."""
    dates: DatesRule | Without
    """From which day to which it reaches, if its value is a date. Nothing rests on it."""
    keys: KeysRule | Without
    """Which keys it has, from those of its arguments."""
    on_keys: KeyFunction | Without
    """What it is of public keys, exactly as an engine does it: for keys where that is simple."""
    work: WorkRule | Without
    """Its work for one row, beside that of its arguments and of its guards."""
    guards: GuardRule | Without
    """How many values it looks at before it passes them on."""
    length: TextLength | Without
    """The most characters that it has, if its value is a text."""
    between: BetweenNumbers | Without
    """What it is between the noisy numbers of an answer: type, value, and where that lies."""

    def ways(self) -> tuple[Way, ...]:
        """Return the ways that it is written, beside its name and forms of its own."""
        return () if isinstance(self.written, Without) else self.written
