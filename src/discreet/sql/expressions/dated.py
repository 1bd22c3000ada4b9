"""Comparisons: a text that is compared with a date must be one."""

from collections.abc import Sequence

from discreet.core.errors import RefusedQuery
from discreet.tables.column import ColumnType
from discreet.tables.expression import Expression, Literal
from discreet.tables.functions.call import call

LONGEST_SHOWN = 20


def compared(function: str, values: Sequence[Expression]) -> Expression:
    """Return a comparison; if a text of the query is in the way because it is no date, say so.

    Example:
        >>> from discreet.tables.expression import FieldValue
        >>> day, text = FieldValue(ColumnType.DATE, 0), Literal(ColumnType.TEXT, "2025-13-01")
        >>> compared(">=", [day, text])
        Traceback (most recent call last):
        discreet.core.errors.RefusedQuery: '2025-13-01' is not a date. It must look like
        '2025-01-31'.
    """
    try:
        return call(function, values)
    except RefusedQuery:
        texts = [
            value.value
            for value in values
            if isinstance(value, Literal) and value.type is ColumnType.TEXT and value.value
        ]
        if not texts or not any(value.type is ColumnType.DATE for value in values):
            raise
        shown = str(texts[0])[:LONGEST_SHOWN]
        raise RefusedQuery(f"'{shown}' is not a date", must="look like '2025-01-31'") from None
