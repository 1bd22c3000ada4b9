"""An expression as text for a reader, with the names of fields."""

from collections.abc import Sequence

from discreet.tables.expression import Call, Expression, FieldValue, Literal
from discreet.tables.relations.relation import Field

_BETWEEN = {
    "and",
    "or",
    "=",
    "<>",
    "<",
    "<=",
    ">",
    ">=",
    "+",
    "-",
    "*",
    "/",
    "//",
    "%",
    "like",
    "||",
}


def field_names(fields: Sequence[Field]) -> tuple[str, ...]:
    """Return a name for each field; those that share one have their place behind it.

    Example:
        >>> from discreet.tables.column import ColumnType
        >>> age = Field(name="age", type=ColumnType.INTEGER)
        >>> field_names([age, age])
        ('age#0', 'age#1')
    """
    lower = [field.name.lower() for field in fields]
    return tuple(
        field.name if lower.count(field.name.lower()) == 1 else f"{field.name}#{i}"
        for i, field in enumerate(fields)
    )


def show_expression(expression: Expression, names: Sequence[str]) -> str:
    """Return an expression as text, with a name for each field.

    Example:
        >>> from discreet.tables.column import ColumnType
        >>> age = FieldValue(ColumnType.INTEGER, 0)
        >>> adult = Call(ColumnType.BOOLEAN, ">=", (age, Literal(ColumnType.INTEGER, 18)))
        >>> show_expression(adult, ["age"])
        'age >= 18'
    """
    if isinstance(expression, FieldValue):
        return names[expression.index]
    if isinstance(expression, Literal):
        return _literal(expression)
    assert isinstance(expression, Call)
    shown = [show_expression(part, names) for part in expression.arguments]
    if expression.function in _BETWEEN:
        pairs = zip(expression.arguments, shown, strict=True)
        inner = [f"({text})" if _is_between(part) else text for part, text in pairs]
        return f" {expression.function} ".join(inner)
    kind = f" as {expression.type.value}" if expression.function == "cast" else ""
    return f"{expression.function}({', '.join(shown)}{kind})"


def _is_between(expression: Expression) -> bool:
    return isinstance(expression, Call) and expression.function in _BETWEEN


def _literal(literal: Literal) -> str:
    if literal.value is None:
        return "NULL"
    is_number = literal.type.value in ("integer", "real")
    return str(literal.value) if is_number else repr(str(literal.value))
