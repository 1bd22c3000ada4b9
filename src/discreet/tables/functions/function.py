"""A function of the allow-list: its name, how it is written, and what it makes of arguments."""

from collections.abc import Callable, Mapping, Sequence

from attrs import frozen

from discreet.tables.column import ColumnType
from discreet.tables.expression import Call, Expression
from discreet.tables.functions.convert import first_fit

Arguments = tuple[Expression, ...]
Build = Callable[[Arguments], Expression | None]
"""Returns the checked expression, or None if the number or the types of arguments do not fit."""


@frozen(kw_only=True)
class Function:
    """One total function.

    Guarantee:
        A function is in the allow-list only if its value depends on its arguments alone (on no
        other row, clock, time zone, locale or random number), and no arguments make an engine
        raise. Where a usual SQL function would raise, ours is NULL.
    """

    name: str
    usage: str
    """How it is written, with types, for a message: ``length(text)``."""
    build: Build


def fixed(
    name: str, usage: str, *, types: Sequence[Sequence[ColumnType]], result: ColumnType
) -> Function:
    """Return a function with one result type; each place takes the first of its types that fits."""

    def build(arguments: Arguments) -> Expression | None:
        if len(arguments) != len(types):
            return None
        return call_of(
            name, result, [first_fit(a, t) for a, t in zip(arguments, types, strict=True)]
        )

    return Function(name=name, usage=usage, build=build)


def call_of(
    name: str, result: ColumnType, arguments: Sequence[Expression | None]
) -> Expression | None:
    """Return the call, or None if an argument did not fit."""
    given = tuple(argument for argument in arguments if argument is not None)
    return Call(result, name, given) if len(given) == len(arguments) else None


def table(*functions: Function) -> Mapping[str, Function]:
    """Return the functions by name."""
    return {function.name: function for function in functions}
