"""The only way to make a call: by a name of the allow-list, with arguments of the right types."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches

from discreet.core.errors import RefusedQuery
from discreet.tables.expression import Expression
from discreet.tables.functions import (
    choice,
    clocks,
    comparison,
    dates,
    mathematics,
    numbers,
    ranges,
    text,
)
from discreet.tables.functions.cast import CAST
from discreet.tables.functions.function import Function, PlainNode, Without
from discreet.tables.functions.rules import is_null_literal

_FAMILIES = (comparison, numbers, mathematics, choice, text, dates, clocks, ranges)

FUNCTIONS: Mapping[str, Function] = {
    function.name: function for family in _FAMILIES for function in family.FUNCTIONS
}
"""Every total function by its name; casts are beside them, because they take a type."""

CALLED: Mapping[str, Function] = {**FUNCTIONS, CAST.name: CAST}
"""Every function that a call can be of, with casts."""


def nodes_of(name: str) -> tuple[PlainNode, ...]:
    """Return the nodes of the parser that a function is written as; none if it is not of rows."""
    written = FUNCTIONS[name].written if name in FUNCTIONS else ()
    return (
        ()
        if isinstance(written, Without)
        else tuple(w for w in written if isinstance(w, PlainNode))
    )


def call(name: str, arguments: Sequence[Expression]) -> Expression:
    """Return the function of the arguments, typed; or refuse it, and say what is allowed.

    Guarantee:
        The result is total: it has a value or is NULL for every row, and depends on that row only.
        By induction, since its arguments are, and the function is on the list.

    Example:
        >>> from discreet.tables.column import ColumnType
        >>> from discreet.tables.expression import FieldValue, Literal
        >>> age = FieldValue(ColumnType.INTEGER, 0)
        >>> call(">=", [age, Literal(ColumnType.REAL, "35/2")]).type.value
        'boolean'
        >>> call("lower", [age])
        Traceback (most recent call last):
        discreet.core.errors.RefusedQuery: 'lower' does not take these arguments. It must be written
        lower(text); got (integer).
    """
    function = FUNCTIONS.get(name)
    if function is None:
        raise unknown_function(name)
    result = function.build(tuple(arguments))
    if result is None:
        got = ", ".join("NULL" if is_null_literal(a) else a.type.value for a in arguments)
        raise RefusedQuery(
            f"'{name}' does not take these arguments",
            must=f"be written {function.usage}",
            got=f"({got})",
        )
    return result


def unknown_function(name: str) -> RefusedQuery:
    """Return the refusal of a name that is not on the list, with the nearest one that is."""
    named = sorted(f.name for f in FUNCTIONS.values() if f.usage.startswith(f"{f.name}("))
    near = get_close_matches(name.lower(), named, n=1)
    return RefusedQuery(
        "This function is not on the list",
        got=name[:40],
        next=f"Did you mean {near[0]}?" if near else f"Functions: {', '.join(named)}",
    )
