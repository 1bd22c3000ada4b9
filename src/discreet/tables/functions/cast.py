"""Casts: what does not read as the other type is NULL."""

from discreet.core.errors import RefusedQuery
from discreet.tables.column import ColumnType
from discreet.tables.expression import Call, Expression
from discreet.tables.functions.convert import convert

_INTEGER, _REAL, _TEXT = ColumnType.INTEGER, ColumnType.REAL, ColumnType.TEXT
_BOOLEAN, _DATE = ColumnType.BOOLEAN, ColumnType.DATE

CASTS = {
    _INTEGER: (_REAL, _TEXT, _BOOLEAN),
    _REAL: (_INTEGER, _TEXT, _BOOLEAN),
    _TEXT: (_INTEGER, _REAL, _BOOLEAN, _DATE),
    _BOOLEAN: (_INTEGER, _REAL, _TEXT),
    _DATE: (_TEXT,),
}
"""What each type can be cast to."""


def cast(argument: Expression, to: ColumnType) -> Expression:
    """Return the argument as another type.

    Example:
        >>> from discreet.tables.expression import Literal
        >>> cast(Literal(ColumnType.BOOLEAN, True), ColumnType.INTEGER).function
        'cast'
    """
    converted = convert(argument, to)
    if converted is not None:
        return converted
    if to not in CASTS[argument.type]:
        allowed = ", ".join(kind.value for kind in CASTS[argument.type])
        raise RefusedQuery(
            f"A value of type {argument.type.value} has no meaning as {to.value}",
            must=f"be cast to {allowed}",
        )
    return Call(to, "cast", (argument,))
