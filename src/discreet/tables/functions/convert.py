"""The conversions that SQL makes without being asked, and the type that several values share."""

import datetime
from collections.abc import Callable, Sequence

from discreet.tables.column import ColumnType
from discreet.tables.expression import Call, Expression, Literal


def convert(argument: Expression, wanted: ColumnType) -> Expression | None:
    """Return the argument as ``wanted``, or None if that needs a cast.

    Integers become real, NULL becomes anything, and a text in the query that reads as a date
    becomes a date.

    Example:
        >>> convert(Literal(ColumnType.INTEGER, 3), ColumnType.REAL)
        Literal(type=<ColumnType.REAL: 'real'>, value='3')
    """
    if is_null_literal(argument):
        return Literal(wanted, None)
    if argument.type is wanted:
        return argument
    rule = _CONVERSIONS.get((argument.type, wanted))
    return None if rule is None else rule(argument)


def is_null_literal(argument: Expression) -> bool:
    """Tell whether this is NULL as written in the query: it has no type of its own."""
    return isinstance(argument, Literal) and argument.value is None


def _integer_to_real(argument: Expression) -> Expression:
    if isinstance(argument, Literal):
        return Literal(ColumnType.REAL, str(argument.value))
    return Call(ColumnType.REAL, "cast", (argument,))


def _text_to_date(argument: Expression) -> Expression | None:
    return read_date(str(argument.value)) if isinstance(argument, Literal) else None


def read_date(text: str) -> Literal | None:
    """Return a text as a date of the form 2024-01-31, or None if it is not one.

    Example:
        >>> read_date("2024-01-31"), read_date("20240131")
        (Literal(type=<ColumnType.DATE: 'date'>, value=datetime.date(2024, 1, 31)), None)
    """
    try:
        day = datetime.date.fromisoformat(text)
    except ValueError:
        return None
    return Literal(ColumnType.DATE, day) if day.isoformat() == text else None


_CONVERSIONS: dict[tuple[ColumnType, ColumnType], Callable[[Expression], Expression | None]] = {
    (ColumnType.INTEGER, ColumnType.REAL): _integer_to_real,
    (ColumnType.TEXT, ColumnType.DATE): _text_to_date,
}


def first_fit(argument: Expression, kinds: Sequence[ColumnType]) -> Expression | None:
    """Return the argument as it is if its type is one of ``kinds``, else as the first it can be."""
    if argument.type in kinds and not is_null_literal(argument):
        return argument
    converted = (convert(argument, kind) for kind in kinds)
    return next((value for value in converted if value is not None), None)


def unify(arguments: Sequence[Expression]) -> tuple[Expression, ...] | None:
    """Return the arguments as the one type that they share, or None if they share none.

    Example:
        >>> one, half = Literal(ColumnType.INTEGER, 1), Literal(ColumnType.REAL, "1/2")
        >>> [argument.type.value for argument in unify((one, half))]
        ['real', 'real']
    """
    typed = dict.fromkeys(a.type for a in arguments if not is_null_literal(a))
    for wanted in typed or {ColumnType.TEXT: None}:
        converted = [convert(argument, wanted) for argument in arguments]
        fitting = tuple(value for value in converted if value is not None)
        if len(fitting) == len(arguments):
            return fitting
    return None
