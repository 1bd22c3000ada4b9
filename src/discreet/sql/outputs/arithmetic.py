"""Arithmetic, comparison and choice between noisy numbers: the parser's nodes to our functions."""

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

from discreet.core.errors import RefusedQuery
from discreet.releases.estimates.estimate import Constant, Estimate, KeyOf
from discreet.releases.estimates.functions import FUNCTIONS, calculate
from discreet.releases.estimates.linear import is_sure
from discreet.sql.expressions.refusals import in_query, not_a_key, not_between_numbers
from discreet.sql.syntax.nodes import constant, require_plain_output, unbracketed
from discreet.sql.syntax.types import written_type
from discreet.tables.column import ColumnType
from discreet.tables.functions.call import nodes_of
from discreet.tables.functions.function import BINARY

Inner = Callable[[Any], Estimate]
"""How to resolve a node that stands inside another."""
Build = Callable[[Any, Inner], Estimate]


def _of(name: str, *parts: str, ignored: Iterable[str] = ()) -> Build:
    """Return how a node becomes the function ``name`` of its parts, some of which are lists."""

    def build(node: Any, inner: Inner) -> Estimate:
        require_plain_output(node, *parts, *ignored)
        given = [node.args[part] for part in parts if node.args.get(part) is not None]
        flat = [one for some in given for one in (some if isinstance(some, list) else [some])]
        return calculate(name, *map(inner, flat))

    return build


def _coalesce(node: Any, inner: Inner) -> Estimate:
    require_plain_output(node, "this", "expressions", "is_nvl", "is_null")
    given = [inner(part) for part in (node.this, *node.expressions)]
    checked = calculate("coalesce", *given)
    return given[0] if is_sure(given[0]) and given[0].type is checked.type else checked


def _between(node: Any, inner: Inner) -> Estimate:
    require_plain_output(node, "this", "low", "high")
    value = inner(node.this)
    low, high = calculate(">=", value, inner(node.args["low"])), inner(node.args["high"])
    return calculate("and", low, calculate("<=", value, high))


def _in(node: Any, inner: Inner) -> Estimate:
    if node.args.get("query"):
        raise in_query()
    return _of("in", "this", "expressions")(node, inner)


def _is(node: Any, inner: Inner) -> Estimate:
    require_plain_output(node, "this", "expression")
    value, kind = inner(node.this), node.expression.key
    if kind == "null":
        return calculate("is_null", value)
    if kind == "boolean":
        told = calculate("=", value, inner(node.expression))
        return calculate("coalesce", told, Constant(ColumnType.BOOLEAN, False))
    raise RefusedQuery("IS goes with NULL, TRUE and FALSE only", next="Write = instead")


def _case(node: Any, inner: Inner) -> Estimate:
    require_plain_output(node, "this", "ifs", "default")
    operand = None if node.this is None else inner(node.this)
    parts: list[Estimate] = []
    for branch in node.args["ifs"]:
        condition = inner(branch.this)
        parts.append(condition if operand is None else calculate("=", operand, condition))
        parts.append(inner(branch.args["true"]))
    return calculate("case", *parts, _else(node.args.get("default"), inner))


def _if(node: Any, inner: Inner) -> Estimate:
    require_plain_output(node, "this", "true", "false")
    then = inner(node.args["true"])
    return calculate("case", inner(node.this), then, _else(node.args.get("false"), inner))


def _else(node: Any, inner: Inner) -> Estimate:
    return Constant(ColumnType.REAL, None) if node is None else inner(node)


def _log(node: Any, inner: Inner) -> Estimate:
    require_plain_output(node, "this", "expression")
    if node.args.get("expression") is None:
        return calculate("log10", inner(node.this))
    base = constant(unbracketed(node.this))
    if base is None or base.value not in (2, 10):
        raise RefusedQuery("LOG goes with base 2 or 10 only", next="Write LN(x) / LN(base)")
    return calculate(f"log{base.value}", inner(node.expression))


_CASTS = {ColumnType.INTEGER: "integer", ColumnType.REAL: "real"}


def _cast(node: Any, inner: Inner) -> Estimate:
    value, wanted = inner(node.this), written_type(node.to)
    if wanted.kind is ColumnType.TEXT and value.type is ColumnType.TEXT:
        return value
    if isinstance(value, KeyOf) and wanted.kind not in _CASTS:
        raise not_a_key(node)
    if wanted.kind not in _CASTS:
        raise RefusedQuery(
            f"A result cannot be cast to {wanted.name[:40]}",
            must="be cast to INTEGER, DOUBLE or DECIMAL",
            next="Write ROUND(x, 2) to show fewer digits",
        )
    if wanted.name != "DECIMAL":
        return calculate(_CASTS[wanted.kind], value)
    if value.type is ColumnType.INTEGER:
        return value
    number = calculate("real", value)
    if wanted.places is None:
        return number
    return calculate("round", number, Constant(ColumnType.INTEGER, Fraction(wanted.places)))


ARITHMETIC: dict[str, Build] = {
    **{
        node.name.lower(): _of(name, *node.parts, ignored=node.expected)
        for name in FUNCTIONS
        for node in nodes_of(name)
    },
    "add": _of("+", *BINARY),
    "sub": _of("-", *BINARY),
    "div": _of("/", *BINARY, ignored=("typed", "safe")),
    "log": _log,
    "coalesce": _coalesce,
    "case": _case,
    "if": _if,
    "cast": _cast,
    "trycast": _cast,
    "between": _between,
    "in": _in,
    "is": _is,
    "and": _of("and", *BINARY),
    "or": _of("or", *BINARY),
}
"""How each node between noisy numbers is made, by the parser's name for it.

A function that rows have too is written as its record says; the others have a form of their own."""


def arithmetic(node: Any, inner: Inner) -> Estimate:
    """Return the estimate that a node makes of the ones inside it; refuse what is not listed."""
    build = ARITHMETIC.get(node.key)
    if build is None:
        raise not_between_numbers(node)
    return build(node, inner)
