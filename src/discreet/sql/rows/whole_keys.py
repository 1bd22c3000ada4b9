"""Keys that are whole numbers, however they are written: groups of ten as tools write them."""

from collections.abc import Sequence

from discreet.tables.column import Bounds, ColumnType
from discreet.tables.expression import Call, Expression, Literal, fields_in
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
    """Return the floor of a whole number over a positive constant; ``//`` rounds towards 0.

    Declared ranges are not relied on for what is below 0, for data may break them: such a row must
    not be in the group of 0. They only choose the form whose keys are no others than those of the
    range: a number below it is then in no public group.
    """
    if not isinstance(quotient, Call) or quotient.function != "/":
        return None
    top, bottom = (_in_whole_numbers(part, fields) for part in quotient.arguments)
    if not isinstance(bottom, Literal) or not isinstance(bottom.value, int) or bottom.value <= 0:
        return None
    if top is None:
        return None
    span = propose_bounds(top, fields)
    is_negative = call("<", [top, _whole(0)])
    has_keys = any(fields[index].keys is not None for index in fields_in(top))
    below = _below(top, bottom, span, has_keys=has_keys)
    return call("case", [is_negative, below, call("//", [top, bottom])])


def _below(top: Expression, bottom: Literal, span: Bounds | None, *, has_keys: bool) -> Expression:
    """Return the floor where the number is negative; NULL if no form has the right keys."""
    assert isinstance(bottom.value, int)
    if span is None or span.lower < 0:
        return call("-", [call("//", [call("+", [top, _whole(1)]), bottom]), _whole(1)])
    if span.lower < bottom.value and not has_keys:
        # Worked out for numbers that are not negative, it gives groups of the range too.
        above = call("//", [call("-", [_whole(bottom.value - 1), top]), bottom])
        return call("-", [_whole(0), above])
    return Literal(ColumnType.INTEGER, None)


def _whole(number: int) -> Literal:
    return Literal(ColumnType.INTEGER, number)


def _is_whole(expression: Expression) -> bool:
    if expression.type is ColumnType.INTEGER:
        return True
    if isinstance(expression, Literal):
        return str(expression.value).lstrip("-").isdigit()
    if not isinstance(expression, Call):
        return False
    function, arguments = expression.function, expression.arguments
    if function in _WHOLE or (function == "round" and _is_whole_place(arguments[1])):
        return True
    return function in _KEEP_WHOLE and all(map(_is_whole, arguments))


def _is_whole_place(digits: Expression) -> bool:
    return isinstance(digits, Literal) and isinstance(digits.value, int) and digits.value <= 0
