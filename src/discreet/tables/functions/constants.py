"""Arguments that must be constants of the query, because a meaning or a limit rests on them."""

from fractions import Fraction

from discreet.core.errors import RefusedQuery
from discreet.core.numbers import exact
from discreet.tables.column import ColumnType
from discreet.tables.expression import Expression, Literal

_NUMBERS = (ColumnType.INTEGER, ColumnType.REAL)


def constant_integer(argument: Expression, what: str, *, least: int, most: int) -> int:
    """Return the value of an integer constant between ``least`` and ``most``, or refuse.

    Example:
        >>> constant_integer(Literal(ColumnType.INTEGER, 2), "digits of round", least=0, most=15)
        2
    """
    value = argument.value if isinstance(argument, Literal) else None
    if argument.type is not ColumnType.INTEGER or not isinstance(value, int):
        raise _must_be(what, f"a whole number from {least} to {most}, written in the query")
    if not least <= value <= most:
        raise RefusedQuery(
            f"The {what} is out of range", must=f"be {least} to {most}", got=str(value)
        )
    return value


def constant_number(argument: Expression, what: str) -> Fraction:
    """Return the exact value of a number that is written in the query, or refuse."""
    value = argument.value if isinstance(argument, Literal) else None
    if argument.type not in _NUMBERS or value is None:
        raise _must_be(what, "a number that is written in the query")
    return exact(str(value))


def constant_text(argument: Expression, what: str) -> str:
    """Return the value of a text that is written in the query, or refuse."""
    value = argument.value if isinstance(argument, Literal) else None
    if not isinstance(value, str) or argument.type is not ColumnType.TEXT:
        raise _must_be(what, "a text that is written in the query")
    return value


def _must_be(what: str, must: str) -> RefusedQuery:
    return RefusedQuery(f"The {what} is not a constant", must=f"be {must}")
