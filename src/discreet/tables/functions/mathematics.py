"""Rounding, roots, logarithms and powers: where they are undefined or too large, NULL."""

from discreet.core.errors import RefusedQuery
from discreet.tables.column import ColumnType
from discreet.tables.expression import Call, Expression, Literal
from discreet.tables.functions.arithmetic import NUMBERS
from discreet.tables.functions.constants import constant_integer
from discreet.tables.functions.convert import first_fit, unify
from discreet.tables.functions.function import Arguments, Function, fixed, table

_INTEGER, _REAL = ColumnType.INTEGER, ColumnType.REAL

MOST_DIGITS = 15
"""The most digits after (or before) the point that a number is rounded to."""


def _round(arguments: Arguments) -> Expression | None:
    number = first_fit(arguments[0], NUMBERS) if 1 <= len(arguments) <= 2 else None
    if number is None:
        return None
    digits = 0
    if len(arguments) == 2:
        digits = constant_integer(
            arguments[1], "number of digits of round", least=-MOST_DIGITS, most=MOST_DIGITS
        )
    if number.type is _INTEGER and digits >= 0:
        return number
    return Call(number.type, "round", (number, Literal(_INTEGER, digits)))


def _to_whole(name: str) -> Function:
    """Return a function that does nothing to an integer."""

    def build(arguments: Arguments) -> Expression | None:
        number = first_fit(arguments[0], NUMBERS) if len(arguments) == 1 else None
        if number is None or number.type is _INTEGER:
            return number
        return Call(_REAL, name, (number,))

    return Function(name=name, usage=f"{name}(number)", build=build)


def _extreme(name: str) -> Function:
    def build(arguments: Arguments) -> Expression | None:
        if len(arguments) > MOST_ARGUMENTS:
            raise RefusedQuery(
                f"{name} has too many arguments", must=f"have at most {MOST_ARGUMENTS}"
            )
        alike = unify(arguments) if arguments else None
        return None if alike is None else Call(alike[0].type, name, alike)

    return Function(name=name, usage=f"{name}(x, y, ...), all of one type", build=build)


MOST_ARGUMENTS = 100
"""The most arguments of greatest and least."""


def _real(name: str, places: int = 1) -> Function:
    shown = ", ".join(["number"] * places)
    return fixed(name, f"{name}({shown})", types=[[_REAL]] * places, result=_REAL)


FUNCTIONS = table(
    Function(name="round", usage="round(number) or round(number, digits)", build=_round),
    _to_whole("floor"),
    _to_whole("ceil"),
    _to_whole("trunc"),
    *(_real(name) for name in ("sqrt", "ln", "log10", "log2", "exp")),
    _real("power", 2),
    fixed("sign", "sign(number)", types=[NUMBERS], result=_INTEGER),
    _extreme("greatest"),
    _extreme("least"),
)
