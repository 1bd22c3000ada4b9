"""A bill: how much work some rows of one unit are, added up over the operators of a plan."""

from collections import Counter
from collections.abc import Mapping, Sequence

from attrs import evolve, field, frozen

from discreet.core.errors import Unsupported
from discreet.tables.column import ColumnType
from discreet.tables.expression import Call, Expression, FieldValue, Literal
from discreet.tables.functions.call import CALLED
from discreet.tables.functions.function import Without
from discreet.tables.functions.work import GUARD, NOTHING, Lengths, Steps, TextLength

CROWDS = 4
"""In how many crowds the rows of one unit stand apart, behind one limit: engines work on crowds."""

OPERATOR = 500_000
"""The work of an operator that keeps rows, if there is a row at all."""


@frozen(kw_only=True)
class Work:
    """The most steps that one unit can cause.

    Guarantee:
        A unit with *n* stored rows causes at most *n* times ``of_a_row`` steps, as much again as
        ``of_stored_texts`` says in proportion to the texts that it has stored, and ``of_a_unit``
        behind limits, whatever the rows hold; given the measured numbers of the functions and
        operators.
    """

    of_a_row: int
    """For one stored row."""
    of_stored_texts: int
    """For one stored row, if its texts are as long as they may be: copying them as they are."""
    of_a_unit: int
    """For one unit, behind limits of its rows: it does not matter how many are stored."""

    def is_within(self, most: "Work") -> bool:
        """Tell whether no part of it is more than that of ``most``."""
        return (
            self.of_a_row <= most.of_a_row
            and self.of_stored_texts <= most.of_stored_texts
            and self.of_a_unit <= most.of_a_unit
        )

    def shared(self, among: int) -> "Work":
        """Return one of so many equal shares."""
        return Work(
            of_a_row=self.of_a_row // among,
            of_stored_texts=self.of_stored_texts // among,
            of_a_unit=self.of_a_unit // among,
        )


@frozen(kw_only=True)
class RowCount:
    """How many rows of one unit there are."""

    behind: int = 0
    """Behind limits."""
    limits: int = 0
    """How many limits those came through."""
    stored: Mapping[str, int] = field(factory=dict)
    """Besides, so many for each stored row of a table."""

    def __add__(self, other: "RowCount") -> "RowCount":
        """Return the rows of both."""
        return RowCount(
            behind=self.behind + other.behind,
            limits=self.limits + other.limits,
            stored=Counter(self.stored) + Counter(other.stored),
        )

    def __mul__(self, times: int) -> "RowCount":
        """Return so many rows for each."""
        stored = {table: times * count for table, count in self.stored.items()}
        return evolve(self, behind=self.behind * times, stored=stored)

    def limited(self, most: int) -> "RowCount":
        """Return the rows behind a limit."""
        return RowCount(behind=most if self.stored else min(most, self.behind), limits=1)


@frozen(kw_only=True)
class Bill:
    """Work that was added up: for one unit, and for a stored row of each table."""

    unit: int = 0
    rows: Mapping[str, int] = field(factory=dict)
    texts: Mapping[str, int] = field(factory=dict)

    @staticmethod
    def of(rows: RowCount, steps: Steps, *, keeps: bool = False) -> "Bill":
        """Return the work of each of some rows, and of an operator that ``keeps`` them."""
        apart = min(rows.behind, CROWDS * rows.limits)
        unit = rows.behind * (steps.each + steps.kept) + apart * steps.alone
        begun = OPERATOR if keeps and (rows.behind or rows.stored) else 0
        return Bill(
            unit=unit + begun,
            rows={t: count * (steps.each + steps.alone) for t, count in rows.stored.items()},
            texts={t: count * steps.kept for t, count in rows.stored.items()},
        )

    def __add__(self, other: "Bill") -> "Bill":
        """Return the work of both."""
        return Bill(
            unit=self.unit + other.unit,
            rows=Counter(self.rows) + Counter(other.rows),
            texts=Counter(self.texts) + Counter(other.texts),
        )

    def work(self) -> Work:
        """Return the most that one unit can cause of it."""
        return Work(
            of_a_row=max(self.rows.values(), default=0),
            of_stored_texts=max(self.texts.values(), default=0),
            of_a_unit=self.unit,
        )


# ---- A value of one row: how long its text can be, and the work of making it.

SORTING, HOLDING = 15, 10
"""The steps of copying one character to where rows are sorted or grouped, or held for a join."""


@frozen(kw_only=True)
class Value:
    """What is known of a field or an expression before any row is read."""

    length: int = 0
    """The most characters, if it is a text: on an average of the rows that there can be."""
    longest: int = 0
    """The most characters in any one row."""
    steps: Steps = NOTHING
    """The work of making it, from what is stored or kept."""
    is_stored: bool = False
    """Whether it is a column as it is stored: then long texts of a unit are long in its rows."""

    def ready(self) -> "Value":
        """Return the value for somebody who finds it made."""
        return evolve(self, steps=NOTHING)

    def keeping(self, each: int = SORTING) -> Steps:
        """Return the work of copying it to where rows are kept."""
        copied = each * self.length
        return Steps(kept=copied) if self.is_stored else Steps(each=copied)


def value_of(expression: Expression, fields: Sequence[Value]) -> Value:
    """Return what an expression over fields is, and its work with that of the fields it reads.

    No function's work grows faster than its texts do, so averages of lengths give averages of work.

    Example:
        >>> note = FieldValue(ColumnType.TEXT, 0)
        >>> shout = Call(ColumnType.TEXT, "upper", (note,))
        >>> value_of(shout, [text_value(100)]).steps
        Steps(each=2100, alone=3000, kept=0)
    """
    if isinstance(expression, FieldValue):
        return fields[expression.index]
    if isinstance(expression, Literal):
        is_text = expression.type is ColumnType.TEXT and expression.value is not None
        return text_value(len(str(expression.value)) if is_text else 0)
    if not isinstance(expression, Call):
        raise Unsupported("Nobody has measured this expression", got=type(expression).__name__)
    parts = [value_of(argument, fields) for argument in expression.arguments]
    lengths, longest = [part.length for part in parts], [part.longest for part in parts]
    steps = sum((part.steps for part in parts), function_work(expression, lengths))
    most = longest_result(expression, longest)
    return Value(length=min(most, usual_result(expression, lengths)), longest=most, steps=steps)


def text_value(length: int) -> Value:
    """Return a text of so many characters at most, which is ready."""
    return Value(length=length, longest=length)


def function_work(node: Call, lengths: Lengths) -> Steps:
    """Return the work of a call by itself, without that of its arguments.

    Example:
        >>> note = FieldValue(ColumnType.TEXT, 0)
        >>> function_work(Call(ColumnType.TEXT, "lower", (note,)), [1_000])
        Steps(each=20100, alone=3000, kept=0)
    """
    function = CALLED.get(node.function)
    if function is None or isinstance(function.work, Without):
        raise Unsupported("Nobody has measured this function", got=node.function)
    return function.work(node, lengths) + GUARD * guards(node)


def guards(node: Call) -> int:
    """Return how many values a call looks at before it passes them on."""
    function = CALLED.get(node.function)
    if function is None or isinstance(function.guards, Without):
        raise Unsupported("Nobody has counted the guards of this function", got=node.function)
    return function.guards(node)


def longest_result(node: Call, lengths: Lengths) -> int:
    """Return the most characters of a call's result; 0 if it is no text.

    Example:
        >>> note, ten = FieldValue(ColumnType.TEXT, 0), Literal(ColumnType.INTEGER, 10)
        >>> longest_result(Call(ColumnType.TEXT, "left", (note, ten)), [1_000, 0])
        10
    """
    return _length(node).longest(node, lengths) if node.type is ColumnType.TEXT else 0


def usual_result(node: Call, lengths: Lengths) -> int:
    """Return the most characters of a call's result on an average, from those of its arguments."""
    return _length(node).usual(node, lengths) if node.type is ColumnType.TEXT else 0


def _length(node: Call) -> TextLength:
    function = CALLED.get(node.function)
    if function is None or isinstance(function.length, Without):
        raise Unsupported("Nobody knows how long this text can be", got=node.function)
    return function.length
