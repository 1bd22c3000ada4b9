"""Choices among values of one type."""

from discreet.tables.column import ColumnType
from discreet.tables.expression import Call, Expression
from discreet.tables.functions.convert import convert, unify
from discreet.tables.functions.function import Arguments, Function, table


def _case(arguments: Arguments) -> Expression | None:
    """Check (condition, value, condition, value, ..., otherwise)."""
    if len(arguments) < 3 or len(arguments) % 2 == 0:
        return None
    conditions = [convert(argument, ColumnType.BOOLEAN) for argument in arguments[:-1:2]]
    values = unify((*arguments[1::2], arguments[-1]))
    if values is None:
        return None
    pairs: list[Expression] = []
    for condition, value in zip(conditions, values, strict=False):
        if condition is None:
            return None
        pairs += (condition, value)
    return Call(values[-1].type, "case", (*pairs, values[-1]))


def _if(arguments: Arguments) -> Expression | None:
    return _case(arguments) if len(arguments) == 3 else None


def _coalesce(arguments: Arguments) -> Expression | None:
    values = unify(arguments) if arguments else None
    if values is None or len(values) == 1:
        return values and values[0]
    return Call(values[0].type, "coalesce", values)


def _nullif(arguments: Arguments) -> Expression | None:
    both = unify(arguments) if len(arguments) == 2 else None
    return None if both is None else Call(both[0].type, "nullif", both)


FUNCTIONS = table(
    Function(name="case", usage="CASE WHEN boolean THEN x ... ELSE y END", build=_case),
    Function(name="if", usage="if(boolean, x, y)", build=_if),
    Function(name="coalesce", usage="coalesce(x, y, ...), all of one type", build=_coalesce),
    Function(name="nullif", usage="nullif(x, y), both of one type", build=_nullif),
)
