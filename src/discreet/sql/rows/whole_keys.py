"""Keys that are whole numbers, however they are written: groups of ten as tools write them."""

from collections.abc import Sequence

from discreet.tables.column import ColumnType
from discreet.tables.expression import Call, Expression, Literal
from discreet.tables.functions.call import call
from discreet.tables.functions.cast import cast
from discreet.tables.functions.proposal import propose_bounds
from discreet.tables.relations.relation import Field, Relation

_WHOLE = ("floor", "ceil", "trunc")
_KEEP_WHOLE = ("*", "+", "-", "neg", "abs", "cast")


def as_key(expression: Expression, relation: Relation) -> Expression:
    """Return an expression as it is grouped by: a real that is always whole as an integer.

    ``FLOOR(age / 10.0) * 10.0`` is how many tools write groups of ten. Where all of it can be said
    in whole numbers, it is, and its keys are public if those of the column are.
    """
    if expression.type is not ColumnType.REAL or not _is_whole(expression):
        return expression
    return _in_whole_numbers(expression, relation.fields()) or cast(expression, ColumnType.INTEGER)


def _in_whole_numbers(expression: Expression, fields: Sequence[Field]) -> Expression | None:
    """Return what has the same value and no real in it, if that is simple."""
    if expression.type is ColumnType.INTEGER:
        return expression
    if isinstance(expression, Literal) and _is_whole(expression):
        return Literal(ColumnType.INTEGER, int(str(expression.value)))
    if not isinstance(expression, Call):
        return None
    if expression.function == "floor":
        return _floor(expression.arguments[0], fields)
    parts = [_in_whole_numbers(part, fields) for part in expression.arguments]
    found = [part for part in parts if part is not None]
    if expression.function not in _KEEP_WHOLE or len(found) < len(parts):
        return None
    return found[0] if expression.function == "cast" else call(expression.function, found)


def _floor(quotient: Expression, fields: Sequence[Field]) -> Expression | None:
    """Return the floor of a whole number over a positive constant; ``//`` rounds towards 0."""
    if not isinstance(quotient, Call) or quotient.function != "/":
        return None
    top, bottom = (_in_whole_numbers(part, fields) for part in quotient.arguments)
    is_positive = isinstance(bottom, Literal) and isinstance(bottom.value, int) and bottom.value > 0
    if top is None or bottom is None or not is_positive:
        return None
    towards_zero = call("//", [top, bottom])
    span = propose_bounds(top, fields)
    if span is not None and span.lower >= 0:
        return towards_zero
    one = Literal(ColumnType.INTEGER, 1)
    below = call("-", [call("//", [call("+", [top, one]), bottom]), one])
    is_negative = call("<", [top, Literal(ColumnType.INTEGER, 0)])
    return call("case", [is_negative, below, towards_zero])


def _is_whole(expression: Expression) -> bool:
    if expression.type is ColumnType.INTEGER:
        return True
    if isinstance(expression, Literal):
        return str(expression.value).lstrip("-").isdigit()
    if not isinstance(expression, Call):
        return False
    function, arguments = expression.function, expression.arguments
    if function in _WHOLE or (function == "round" and _is_zero(arguments[1])):
        return True
    return function in _KEEP_WHOLE and all(map(_is_whole, arguments))


def _is_zero(expression: Expression) -> bool:
    return isinstance(expression, Literal) and expression.value == 0
