"""Every function of the allow-list in DuckDB's SQL."""

from collections.abc import Mapping, Sequence

from discreet.engines.duckdb.render.dates import DATE_FUNCTIONS, shift
from discreet.engines.duckdb.render.let import Render, finite, let_pair, ordinary
from discreet.engines.duckdb.render.numbers import NUMBER_FUNCTIONS, arithmetic
from discreet.engines.duckdb.render.ranges import RANGE_FUNCTIONS
from discreet.engines.duckdb.render.texts import TEXT_FUNCTIONS
from discreet.engines.duckdb.render.values import SQL_TYPES
from discreet.tables.column import ColumnType
from discreet.tables.expression import Call


def _infix(operator: str) -> Render:
    return lambda _, arguments: f"({f' {operator} '.join(arguments)})"


def _by_first_type(on_dates: Render, on_numbers: Render) -> Render:
    def render(node: Call, arguments: Sequence[str]) -> str:
        is_date = node.arguments[0].type is ColumnType.DATE
        return on_dates(node, arguments) if is_date else on_numbers(node, arguments)

    return render


def _in(_: Call, arguments: Sequence[str]) -> str:
    return f"({arguments[0]} IN ({', '.join(arguments[1:])}))"


def _case(_: Call, arguments: Sequence[str]) -> str:
    pairs = zip(arguments[:-1:2], arguments[1:-1:2], strict=True)
    whens = " ".join(f"WHEN {condition} THEN {value}" for condition, value in pairs)
    return f"(CASE {whens} ELSE {arguments[-1]} END)"


def _nullif(_: Call, arguments: Sequence[str]) -> str:
    first, second = arguments
    return let_pair(first, second, "CASE WHEN v.a = v.b THEN NULL ELSE v.a END")


def _coalesce(_: Call, arguments: Sequence[str]) -> str:
    return f"coalesce({', '.join(arguments)})"


def _extreme(name: str) -> Render:
    """Return the least or the greatest of all, two by two.

    Of more than two arguments the engine notes the names, and a plan in which two are called alike
    (one field twice, or two fields of the sides of a join) it cannot copy for grouping sets.
    """

    def render(_: Call, arguments: Sequence[str]) -> str:
        level = list(arguments)
        while len(level) > 1:
            pairs = [level[i : i + 2] for i in range(0, len(level), 2)]
            level = [f"{name}({', '.join(pair)})" if len(pair) == 2 else pair[0] for pair in pairs]
        return level[0]

    return render


def _cast(node: Call, arguments: Sequence[str]) -> str:
    value = arguments[0]
    if node.arguments[0].type is ColumnType.REAL and node.type is ColumnType.TEXT:
        value = f"{value} + 0::DOUBLE"  # text is where minus zero would differ from zero
    sql = f"TRY_CAST({value} AS {SQL_TYPES[node.type]})"
    guard = _GUARDS.get(node.type)
    return sql if guard is None else guard(sql)


_GUARDS = {ColumnType.REAL: finite, ColumnType.DATE: ordinary}

FUNCTIONS: Mapping[str, Render] = {
    **{operator: _infix(operator) for operator in ("=", "<>", "<", "<=", ">", ">=")},
    "and": _infix("AND"),
    "or": _infix("OR"),
    "not": lambda _, arguments: f"(NOT {arguments[0]})",
    "is_null": lambda _, arguments: f"({arguments[0]} IS NULL)",
    "is_distinct": _infix("IS DISTINCT FROM"),
    "in": _in,
    "case": _case,
    "coalesce": _coalesce,
    "nullif": _nullif,
    "greatest": _extreme("greatest"),
    "least": _extreme("least"),
    "cast": _cast,
    "+": _by_first_type(shift("+"), arithmetic("+")),
    "-": _by_first_type(shift("-"), arithmetic("-")),
    **NUMBER_FUNCTIONS,
    **TEXT_FUNCTIONS,
    **DATE_FUNCTIONS,
    **RANGE_FUNCTIONS,
}
