"""Arithmetic, comparison and choice between noisy numbers: the parser's nodes to our functions."""

from collections.abc import Callable
from typing import Any

from discreet.core.errors import RefusedQuery
from discreet.releases.estimates.estimate import Constant, Estimate
from discreet.releases.estimates.functions import calculate
from discreet.releases.estimates.linear import is_sure
from discreet.sql.nodes import constant, require_plain_output, unbracketed
from discreet.sql.refusals import in_query, not_between_numbers
from discreet.tables.column import ColumnType

Inner = Callable[[Any], Estimate]
"""How to resolve a node that stands inside another."""
Build = Callable[[Any, Inner], Estimate]


def _of(name: str, *parts: str, without: tuple[str, ...] = ()) -> Build:
    """Return how a node with fixed parts becomes the function ``name`` of them."""

    def build(node: Any, inner: Inner) -> Estimate:
        require_plain_output(node, *parts, *without)
        given = [node.args[part] for part in parts if node.args.get(part) is not None]
        return calculate(name, *map(inner, given))

    return build


def _listed(name: str, *without: str) -> Build:
    """Return how a node with a first part and a list becomes the function ``name`` of all."""

    def build(node: Any, inner: Inner) -> Estimate:
        require_plain_output(node, "this", "expressions", *without)
        return calculate(name, inner(node.this), *map(inner, node.expressions))

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
    return _listed("in")(node, inner)


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


_CASTS = {
    "INT": "integer",
    "BIGINT": "integer",
    "SMALLINT": "integer",
    "TINYINT": "integer",
    "DOUBLE": "real",
    "FLOAT": "real",
}


def _cast(node: Any, inner: Inner) -> Estimate:
    value, wanted = inner(node.this), str(node.to.this.name)
    if wanted in ("TEXT", "VARCHAR") and value.type is ColumnType.TEXT:
        return value
    if wanted not in _CASTS or node.to.expressions:
        raise RefusedQuery(
            f"A result cannot be cast to {wanted}",
            must="be cast to INTEGER or DOUBLE",
            next="Write ROUND(x, 2) to show fewer digits",
        )
    return calculate(_CASTS[wanted], value)


_PAIR = ("this", "expression")

ARITHMETIC: dict[str, Build] = {
    "add": _of("+", *_PAIR),
    "sub": _of("-", *_PAIR),
    "mul": _of("*", *_PAIR),
    "div": _of("/", *_PAIR, without=("typed", "safe")),
    "safedivide": _of("/", *_PAIR),
    "intdiv": _of("//", *_PAIR),
    "mod": _of("%", *_PAIR),
    "neg": _of("neg", "this"),
    "abs": _of("abs", "this"),
    "floor": _of("floor", "this"),
    "ceil": _of("ceil", "this"),
    "trunc": _of("trunc", "this"),
    "sign": _of("sign", "this"),
    "round": _of("round", "this", "decimals"),
    "sqrt": _of("sqrt", "this"),
    "ln": _of("ln", "this"),
    "log": _log,
    "exp": _of("exp", "this"),
    "pow": _of("power", *_PAIR),
    "greatest": _listed("greatest", "ignore_nulls"),
    "least": _listed("least", "ignore_nulls"),
    "nullif": _of("nullif", *_PAIR),
    "coalesce": _coalesce,
    "case": _case,
    "if": _if,
    "cast": _cast,
    "trycast": _cast,
    "eq": _of("=", *_PAIR),
    "neq": _of("<>", *_PAIR),
    "lt": _of("<", *_PAIR),
    "lte": _of("<=", *_PAIR),
    "gt": _of(">", *_PAIR),
    "gte": _of(">=", *_PAIR),
    "between": _between,
    "in": _in,
    "is": _is,
    "and": _of("and", *_PAIR),
    "or": _of("or", *_PAIR),
    "not": _of("not", "this"),
}
"""How each node between noisy numbers is made, by the parser's name for it."""


def arithmetic(node: Any, inner: Inner) -> Estimate:
    """Return the estimate that a node makes of the ones inside it; refuse what is not listed."""
    build = ARITHMETIC.get(node.key)
    if build is None:
        raise not_between_numbers(node)
    return build(node, inner)
