"""Labels: what an aggregate is called, for the body of a release and for explanations."""

from collections.abc import Sequence
from functools import singledispatch
from typing import Any

from discreet.core.errors import Unsupported
from discreet.tables.aggregate import (
    Aggregate,
    CountDistinct,
    CountRows,
    CountUnits,
    QuantileValues,
    SumSquares,
    SumValues,
)
from discreet.tables.column import ColumnType
from discreet.tables.expression import Call, Expression, FieldValue, Literal
from discreet.tables.relations.relation import Field

Fields = Sequence[Field]


@singledispatch
def label(aggregate: Aggregate, fields: Fields) -> dict[str, Any]:
    """Return what an aggregate is, as plain values; ``fields`` are those of its relation."""
    raise Unsupported("This aggregate has no name", got=type(aggregate).__name__)


@label.register
def _(aggregate: CountRows, fields: Fields) -> dict[str, Any]:
    return {"aggregate": "count", "text": _text("COUNT(*)", aggregate, fields)}


@label.register
def _(aggregate: CountUnits, fields: Fields) -> dict[str, Any]:
    return {"aggregate": "count_units", "text": _text("COUNT(DISTINCT unit)", aggregate, fields)}


@label.register
def _(aggregate: CountDistinct, fields: Fields) -> dict[str, Any]:
    value = expression_text(aggregate.value, fields)
    text = _text(f"COUNT(DISTINCT {value})", aggregate, fields)
    return {"aggregate": "count_distinct", "value": value, "text": text}


@label.register
def _(aggregate: SumValues, fields: Fields) -> dict[str, Any]:
    value = expression_text(aggregate.value, fields)
    centre = aggregate.centre * aggregate.bounds.step
    shown = f"SUM({value})" if not centre else f"SUM({value} - {_number(str(centre))})"
    return {
        "aggregate": "sum",
        "value": value,
        "centre": str(centre),
        "text": _text(shown, aggregate, fields),
    }


@label.register
def _(aggregate: SumSquares, fields: Fields) -> dict[str, Any]:
    value, step = expression_text(aggregate.value, fields), aggregate.bounds.step
    centre, offset = str(aggregate.centre * step), str(aggregate.offset * step**2)
    shown = f"SUM(({value} - {_number(centre)})² - {_number(offset)})"
    return {
        "aggregate": "sum_squares",
        "value": value,
        "centre": centre,
        "offset": offset,
        "text": _text(shown, aggregate, fields),
    }


@label.register
def _(aggregate: QuantileValues, fields: Fields) -> dict[str, Any]:
    value, share = expression_text(aggregate.value, fields), str(aggregate.quantile)
    text = _text(f"QUANTILE({value}, {_number(share)})", aggregate, fields)
    return {"aggregate": "quantile", "value": value, "quantile": share, "text": text}


def _text(shown: str, aggregate: Aggregate, fields: Fields) -> str:
    if aggregate.where is None or _is_presence(aggregate):
        return shown
    return f"{shown} where {expression_text(aggregate.where, fields)}"


def _is_presence(aggregate: Aggregate) -> bool:
    """Tell whether only rows without a value are left out, which every aggregate does anyway."""
    value, where = getattr(aggregate, "value", None), aggregate.where
    if value is None or not isinstance(where, Call) or where.function != "not":
        return False
    inner = where.arguments[0]
    return isinstance(inner, Call) and inner.function == "is_null" and inner.arguments == (value,)


_INFIX = {"+", "-", "*", "/", "%", "=", "<>", "<", "<=", ">", ">=", "and", "or", "like"}


def expression_text(expression: Expression, fields: Fields) -> str:
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
        return _literal(expression)
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
    if expression.function == "is_null":
        return f"{inner[0]} IS NULL"
    return f"{expression.function.upper()}({', '.join(inner)})"


def _is_infix(expression: Expression) -> bool:
    return isinstance(expression, Call) and expression.function in _INFIX


def _literal(literal: Literal) -> str:
    if literal.value is None:
        return "NULL"
    is_quoted = literal.type in (ColumnType.TEXT, ColumnType.DATE)
    return f"'{literal.value}'" if is_quoted else str(literal.value)


def _number(text: str) -> str:
    """Return a fraction as a short decimal, where it is written as a quotient."""
    top, _, bottom = text.partition("/")
    return text if not bottom else f"{int(top) / int(bottom):.6g}"
