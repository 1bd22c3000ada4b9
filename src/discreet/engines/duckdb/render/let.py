"""Guards in DuckDB's SQL: a value if it is fit for what follows, else NULL.

A guard mentions a value twice. Written out twice, nested expressions would double in size at every
level. A list of one element and a lambda mention it once; the lambda's body never holds another
expression of the query, so names cannot clash.
"""

from collections.abc import Callable, Sequence

from discreet.tables.expression import Call

Render = Callable[[Call, Sequence[str]], str]
"""From a call and the SQL of its arguments to its SQL, closed: it binds to nothing around it."""


def let(value: str, body: str) -> str:
    """Return ``body``, in which ``v`` stands for ``value``.

    Example:
        >>> let("x + y", "CASE WHEN v > 0 THEN v END")
        'list_transform([x + y], lambda v: CASE WHEN v > 0 THEN v END)[1]'
    """
    return f"list_transform([{value}], lambda v: {body})[1]"


def let_pair(first: str, second: str, body: str) -> str:
    """Return ``body``, in which ``v.a`` and ``v.b`` stand for the two values."""
    return let(f"{{'a': {first}, 'b': {second}}}", body)


def only_if(value: str, condition: str) -> str:
    """Return the value if the condition on ``v`` holds, else NULL."""
    return let(value, f"CASE WHEN {condition} THEN v END")


def finite(value: str) -> str:
    """Return a real number without a sign on zero, NULL if it is infinite or not a number."""
    return let(value, f"CASE WHEN isfinite(v) THEN {unsigned_zero('v')} END")


def unsigned_zero(value: str) -> str:
    """Return a real number, with zero for minus zero: they are equal, but do not look alike."""
    return f"({value} + '0'::DOUBLE)"


def ordinary(value: str) -> str:
    """Return a date, NULL if it lies outside the years 1 to 9999."""
    return only_if(value, "v BETWEEN '0001-01-01'::DATE AND '9999-12-31'::DATE")


def whole(value: str) -> str:
    """Return 128-bit arithmetic as a 64-bit integer, NULL if it does not fit."""
    return f"TRY_CAST({value} AS BIGINT)"
