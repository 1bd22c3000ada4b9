"""The work of a function for one row: what it is counted in, and the rules that several share.

The numbers were measured on DuckDB with what is slowest for each function: 10,000 characters of
four bytes, or of two where those are slower; needles that nearly occur everywhere; rows alone among
2,048 of others. ``benchmarks/programs/work_of_texts.py`` measures them again, and
``benchmarks/programs/work_of_one.py`` whole questions.

A text that is copied takes room as well: an engine keeps the results of all nested functions for
the rows that it works on. So a character costs at least 2 steps for each byte that is kept of it.
"""

from collections.abc import Callable, Sequence

from attrs import frozen

from discreet.tables.column import ColumnType
from discreet.tables.expression import Call, Expression, Literal


@frozen
class Steps:
    """The work for one row of a unit. A step takes about a nanosecond, at worst."""

    each: int = 0
    """In a crowd of rows of the same unit."""
    alone: int = 0
    """What it is more for a row among those of other people. An engine works on many rows at once;
    what only one of them needs, because of a CASE or a WHERE, has a price for being looked at."""
    kept: int = 0
    """Copying texts that are stored as they are: it is as much as the unit has stored."""

    def __add__(self, other: "Steps") -> "Steps":
        """Return the work of both."""
        return Steps(self.each + other.each, self.alone + other.alone, self.kept + other.kept)

    def __mul__(self, times: int) -> "Steps":
        """Return the work of doing it several times."""
        return Steps(self.each * times, self.alone * times, self.kept * times)


NOTHING = Steps()

PLAIN = Steps(5, 1_000)
"""A comparison, an addition, a branch."""

GUARD = Steps(60, 12_000)
"""A value that is looked at before it is passed on: is it finite, a divisor, a usual date?"""

TEXT = Steps(100, 3_000)
"""Making a text, however short."""

COPIED = 8
"""The steps of a character that is copied once: it has up to four bytes, and takes room."""

Lengths = Sequence[int]
"""The most characters of each argument; 0 for what is no text."""

WorkRule = Callable[[Call, Lengths], Steps]
GuardRule = Callable[[Call], int]
LengthRule = Callable[[Call, Lengths], int]


@frozen
class TextLength:
    """The most characters of a text, from those of the arguments."""

    longest: LengthRule
    """In any one row."""
    usual: LengthRule
    """On an average of rows, from the averages of the arguments."""

    @classmethod
    def alike(cls, rule: LengthRule) -> "TextLength":
        """Return a length with one rule for both."""
        return cls(rule, rule)


def plain(node: Call, lengths: Lengths) -> Steps:
    """Return the work of looking at every argument: of comparing them, if they are texts."""
    return PLAIN * len(node.arguments) + Steps(sum(lengths) // 8)


def guarded(count: int) -> GuardRule:
    """Return the rule of a function that always has so many guards."""
    return lambda _: count


def if_made(node: Call) -> int:
    """Return 1 if the result itself is looked at: a real number, a date or a time; else 0."""
    return int(node.type in _LOOKED_AT)


_LOOKED_AT = (ColumnType.REAL, ColumnType.DATE, ColumnType.TIMESTAMP, ColumnType.TIME)


def written_number(argument: Expression) -> int:
    """Return the value of an argument that is known to be a whole number of the query."""
    assert isinstance(argument, Literal)
    return int(str(argument.value))


def written_text(argument: Expression) -> str:
    """Return the value of an argument that is known to be a text of the query."""
    assert isinstance(argument, Literal)
    return str(argument.value)
