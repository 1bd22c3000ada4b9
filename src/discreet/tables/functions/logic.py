"""AND, OR, NOT: three-valued, as in SQL."""

from discreet.tables.column import ColumnType
from discreet.tables.expression import Call, Expression
from discreet.tables.functions.convert import convert
from discreet.tables.functions.function import Arguments, Function, call_of, fixed, table

_BOOLEAN = ColumnType.BOOLEAN


def _chain(name: str, usage: str) -> Function:
    def build(arguments: Arguments) -> Expression | None:
        if len(arguments) < 2:
            return None
        flat = [part for argument in arguments for part in _parts(name, argument)]
        return call_of(name, _BOOLEAN, [convert(part, _BOOLEAN) for part in flat])

    return Function(name=name, usage=usage, build=build)


def _parts(name: str, argument: Expression) -> Arguments:
    """Return the parts of an AND in an AND: the order of evaluation has no meaning here."""
    if isinstance(argument, Call) and argument.function == name:
        return argument.arguments
    return (argument,)


FUNCTIONS = table(
    _chain("and", "boolean AND boolean"),
    _chain("or", "boolean OR boolean"),
    fixed("not", "NOT boolean", types=[[_BOOLEAN]], result=_BOOLEAN),
)
