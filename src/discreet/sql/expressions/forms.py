"""Forms of SQL that mean a combination of functions: BETWEEN, IN, LIKE, CASE, IS, CAST."""

from typing import Any

from discreet.core.errors import RefusedQuery
from discreet.sql.expressions.dated import compared
from discreet.sql.expressions.rule import Rule, Visit
from discreet.sql.refusals import in_query
from discreet.tables.column import ColumnType
from discreet.tables.expression import Expression, Literal
from discreet.tables.functions.call import call
from discreet.tables.functions.cast import cast

_FALSE = Literal(ColumnType.BOOLEAN, False)
_NULL = Literal(ColumnType.TEXT, None)


def _paren(node: Any, visit: Visit) -> Expression:
    return visit(node.this)


def _chain(function: str) -> Rule:
    """Return a rule for a operator that associates: a long chain is not a deep expression."""

    def read(node: Any, visit: Visit) -> Expression:
        parts = [node.expression]
        first = node.this
        while type(first) is type(node):
            parts.append(first.expression)
            first = first.this
        return call(function, [visit(part) for part in (first, *reversed(parts))])

    return Rule(("this", "expression"), read, {"safe": True})


def _same(node: Any, visit: Visit) -> Expression:
    return call("not", [call("is_distinct", [visit(node.this), visit(node.expression)])])


def _is(node: Any, visit: Visit) -> Expression:
    what = visit(node.expression)
    if not isinstance(what, Literal) or not (what.value is None or isinstance(what.value, bool)):
        raise RefusedQuery("IS takes NULL, TRUE or FALSE", next="Write x = y")
    value = visit(node.this)
    if what.value is None:
        return call("is_null", [value])
    return call("coalesce", [value if what.value else call("not", [value]), _FALSE])


def _between(node: Any, visit: Visit) -> Expression:
    value = visit(node.this)
    lower = compared(">=", [value, visit(node.args["low"])])
    return call("and", [lower, compared("<=", [value, visit(node.args["high"])])])


def _in(node: Any, visit: Visit) -> Expression:
    if node.args.get("query"):
        raise in_query()
    if not node.expressions:
        raise RefusedQuery("IN takes a list of values", next="Write x IN ('a', 'b')")
    return compared("in", [visit(part) for part in (node.this, *node.expressions)])


def _like(function: str) -> Rule:
    def read(node: Any, visit: Visit) -> Expression:
        matches = call(function, [visit(node.this), visit(node.expression)])
        return call("not", [matches]) if node.args.get("negate") else matches

    return Rule(("this", "expression", "negate"), read)


def _case(node: Any, visit: Visit) -> Expression:
    subject = visit(node.this) if node.this is not None else None
    pairs: list[Expression] = []
    for branch in node.args["ifs"]:
        when = visit(branch.this)
        pairs += (
            when if subject is None else call("=", [subject, when]),
            visit(branch.args["true"]),
        )
    default = node.args.get("default")
    return call("case", [*pairs, _NULL if default is None else visit(default)])


def _if(node: Any, visit: Visit) -> Expression:
    otherwise = node.args.get("false")
    values = [visit(node.this), visit(node.args["true"])]
    return call("case", [*values, _NULL if otherwise is None else visit(otherwise)])


_TYPES = {
    "TINYINT": ColumnType.INTEGER,
    "SMALLINT": ColumnType.INTEGER,
    "INT": ColumnType.INTEGER,
    "BIGINT": ColumnType.INTEGER,
    "FLOAT": ColumnType.REAL,
    "DOUBLE": ColumnType.REAL,
    "FLOAT64": ColumnType.REAL,
    "TEXT": ColumnType.TEXT,
    "VARCHAR": ColumnType.TEXT,
    "BOOLEAN": ColumnType.BOOLEAN,
    "DATE": ColumnType.DATE,
}
_OTHER_TYPES = {
    "DECIMAL": "Write round(CAST(x AS DOUBLE), 2)",
    "TIMESTAMPNTZ": "Dates have no time of day here: write CAST(x AS DATE)",
}


def _cast(node: Any, visit: Visit) -> Expression:
    wanted = node.args["to"]
    name = str(wanted.args.get("kind") or wanted.this.value).upper()
    kind = _TYPES.get(name)
    if kind is None or wanted.expressions:
        raise RefusedQuery(
            "A value cannot be cast to this type",
            must="be BIGINT, DOUBLE, TEXT, BOOLEAN or DATE",
            got=name[:40],
            next=_OTHER_TYPES.get(name, ""),
        )
    value = visit(node.this)
    result = cast(value, kind)
    if kind is ColumnType.DATE and isinstance(value, Literal) and not isinstance(result, Literal):
        raise RefusedQuery("A date in the query is not a date", must="look like DATE '2024-01-31'")
    return result


def _date(node: Any, visit: Visit) -> Expression:
    return cast(visit(node.this), ColumnType.DATE)


FORMS = {
    "Paren": Rule(("this",), _paren),
    "And": _chain("and"),
    "Or": _chain("or"),
    "DPipe": _chain("||"),
    "NullSafeEQ": Rule(("this", "expression"), _same),
    "Is": Rule(("this", "expression"), _is),
    "Between": Rule(("this", "low", "high"), _between),
    "In": Rule(("this", "expressions", "query"), _in),
    "Like": _like("like"),
    "ILike": _like("ilike"),
    "Case": Rule(("this", "ifs", "default"), _case),
    "If": Rule(("this", "true", "false"), _if),
    "Cast": Rule(("this", "to"), _cast),
    "TryCast": Rule(("this", "to"), _cast, {"safe": True}),
    "Date": Rule(("this",), _date),
}
