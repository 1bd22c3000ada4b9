"""Arithmetic on numbers, and of days: what overflows or divides by zero is NULL."""

from discreet.core.numbers import exact
from discreet.tables.column import ColumnType
from discreet.tables.expression import Call, Expression, Literal
from discreet.tables.functions.convert import convert, unify
from discreet.tables.functions.function import Arguments, Build, Function, fixed, table

_INTEGER, _REAL, _DATE = ColumnType.INTEGER, ColumnType.REAL, ColumnType.DATE
NUMBERS = (_INTEGER, _REAL)


def numbers(arguments: Arguments) -> Arguments | None:
    """Return the arguments as numbers of one type, integers if all are, or None."""
    alike = unify(arguments)
    if alike is None or alike[0].type in NUMBERS:
        return alike
    as_integers = tuple(c for a in arguments if (c := convert(a, _INTEGER)) is not None)
    return as_integers if len(as_integers) == len(arguments) else None


def _binary(name: str) -> Build:
    def build(arguments: Arguments) -> Expression | None:
        both = numbers(arguments) if len(arguments) == 2 else None
        return None if both is None else Call(both[0].type, name, both)

    return build


def _add(arguments: Arguments) -> Expression | None:
    kinds = [argument.type for argument in arguments]
    if kinds == [_DATE, _INTEGER]:
        return Call(_DATE, "+", arguments)
    if kinds == [_INTEGER, _DATE]:
        return Call(_DATE, "+", arguments[::-1])
    return _binary("+")(arguments)


def _subtract(arguments: Arguments) -> Expression | None:
    if len(arguments) == 2 and arguments[0].type is _DATE:
        days = convert(arguments[1], _DATE)
        if arguments[1].type is _INTEGER:
            return Call(_DATE, "-", arguments)
        return None if days is None else Call(_INTEGER, "-", (arguments[0], days))
    return _binary("-")(arguments)


def _negate(arguments: Arguments) -> Expression | None:
    one = numbers(arguments) if len(arguments) == 1 else None
    if one is None:
        return None
    argument = one[0]
    if isinstance(argument, Literal) and argument.value is not None:
        value = -exact(str(argument.value))
        if argument.type is _REAL:
            return Literal(_REAL, str(value))
        if value.numerator < 2**63:
            return Literal(_INTEGER, value.numerator)
    return Call(argument.type, "neg", one)


def _absolute(arguments: Arguments) -> Expression | None:
    one = numbers(arguments) if len(arguments) == 1 else None
    return None if one is None else Call(one[0].type, "abs", one)


FUNCTIONS = table(
    Function(name="+", usage="number + number, or date + days", build=_add),
    Function(name="-", usage="number - number, date - days or date - date", build=_subtract),
    Function(name="*", usage="number * number", build=_binary("*")),
    fixed("/", "number / number", types=[[_REAL], [_REAL]], result=_REAL),
    fixed("//", "integer // integer", types=[[_INTEGER], [_INTEGER]], result=_INTEGER),
    Function(name="%", usage="number % number", build=_binary("%")),
    Function(name="neg", usage="-number", build=_negate),
    Function(name="abs", usage="abs(number)", build=_absolute),
)
