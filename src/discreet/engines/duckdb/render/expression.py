"""Row-wise expressions in DuckDB's SQL. Nothing here can raise on any data.

DuckDB may evaluate a branch that a CASE does not take, and folds constants early, so no CASE
protects an operation that could raise. Instead each operation is safe on all that can reach it:
integers are computed in 128 bits and cast back with TRY_CAST; a divisor of zero, the argument of a
root or a logarithm, and a date are replaced by NULL *before* the operation, as data; real results
pass a filter for infinity and NaN.
"""

from collections.abc import Sequence
from functools import singledispatch

from discreet.core.errors import Unsupported
from discreet.engines.duckdb.render.functions import FUNCTIONS
from discreet.engines.duckdb.render.values import literal
from discreet.tables.expression import Call, Expression, FieldValue, Literal

Cells = Sequence[str]
"""The SQL of each field of the relation that the expression stands on, closed: a name, say."""


@singledispatch
def expression(node: Expression, cells: Cells) -> str:
    """Return a row-wise expression in SQL, closed: it needs no parentheses around it.

    Guarantee:
        The SQL is total: for any row of values of the fields' types it has a value of the
        expression's type or is NULL, and evaluating it raises nothing. Tested by running every
        function over extreme values of its types, as columns and as constants.

    Example:
        >>> from discreet.tables.column import ColumnType
        >>> age = FieldValue(ColumnType.INTEGER, 0)
        >>> expression(Call(ColumnType.BOOLEAN, "is_null", (age,)), ["t.age"])
        '(t.age IS NULL)'
    """
    raise Unsupported("DuckDB cannot run this expression", got=type(node).__name__)


@expression.register
def _(node: FieldValue, cells: Cells) -> str:
    return cells[node.index]


@expression.register
def _(node: Literal, cells: Cells) -> str:
    return literal(node)


@expression.register
def _(node: Call, cells: Cells) -> str:
    render = FUNCTIONS.get(node.function)
    if render is None:
        raise Unsupported("DuckDB cannot run this function", got=node.function)
    return render(node, [expression(argument, cells) for argument in node.arguments])
