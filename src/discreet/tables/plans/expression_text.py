"""Expressions as text: as a person would write them, and as a plan shows them."""

from collections.abc import Sequence

from discreet.core.errors import Unsupported
from discreet.tables.column import ColumnType
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


_INFIX = {"+", "-", "*", "/", "%", "=", "<>", "<", "<=", ">", ">=", "and", "or", "like"}


def expression_text(expression: Expression, fields: Sequence[Field]) -> str:
    """Return an expression as a person would write it.

    Example:
        >>> age = Field(name="age", type=ColumnType.INTEGER)
        >>> old = (FieldValue(ColumnType.INTEGER, 0), Literal(ColumnType.INTEGER, 65))
        >>> expression_text(Call(ColumnType.BOOLEAN, ">=", old), [age])
        'age >= 65'
    """
    if isinstance(expression, FieldValue):
        return fields[expression.index].name
    if isinstance(expression, Literal):
        return _written(expression)
    if not isinstance(expression, Call):
        raise Unsupported("This expression has no text", got=type(expression).__name__)
    inner = [expression_text(argument, fields) for argument in expression.arguments]
    if expression.function in _INFIX and len(inner) > 1:
        pairs = zip(expression.arguments, inner, strict=True)
        bracketed = [f"({text})" if _is_infix(argument) else text for argument, text in pairs]
        return f" {expression.function.upper()} ".join(bracketed)
    if expression.function == "cast":
        return f"CAST({inner[0]} AS {expression.type.value.upper()})"
    if expression.function == "not" and inner[0].endswith(" IS NULL"):
        return inner[0].removesuffix("NULL") + "NOT NULL"
    if expression.function == "case":
        return _case(inner)
    if expression.function == "in":
        return f"{inner[0]} IN ({', '.join(inner[1:])})"
    if expression.function == "is_null":
        return f"{inner[0]} IS NULL"
    return f"{expression.function.upper()}({', '.join(inner)})"


def _case(inner: Sequence[str]) -> str:
    """Return conditions with their values in turn, and perhaps what else it is."""
    pairs = zip(inner[0::2], inner[1::2], strict=False)
    branches = " ".join(f"WHEN {condition} THEN {value}" for condition, value in pairs)
    otherwise = f" ELSE {inner[-1]}" if len(inner) % 2 else ""
    return f"CASE {branches}{otherwise} END"


def _is_infix(expression: Expression) -> bool:
    return isinstance(expression, Call) and expression.function in _INFIX


def _written(literal: Literal) -> str:
    if literal.value is None:
        return "NULL"
    is_plain = literal.type in (ColumnType.INTEGER, ColumnType.REAL, ColumnType.BOOLEAN)
    return str(literal.value) if is_plain else f"'{literal.value}'"
