"""A value of one row: how long its text can be, and the work of making it."""

from collections.abc import Sequence

from attrs import evolve, frozen

from discreet.core.errors import Unsupported
from discreet.tables.column import ColumnType
from discreet.tables.expression import Call, Expression, FieldValue, Literal
from discreet.tables.functions.call import CALLED
from discreet.tables.functions.function import Without
from discreet.tables.functions.work import GUARD, NOTHING, Lengths, Steps, TextLength

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
