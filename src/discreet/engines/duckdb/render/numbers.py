"""Functions of numbers in DuckDB's SQL."""

from collections.abc import Mapping, Sequence

from discreet.engines.duckdb.render.let import Render, finite, only_if, unsigned_zero, whole
from discreet.tables.column import ColumnType
from discreet.tables.expression import Call

_REAL = ColumnType.REAL


def arithmetic(operator: str) -> Render:
    """Return a sum, difference or product: no two 64-bit integers overflow 128 bits."""

    def render(node: Call, arguments: Sequence[str]) -> str:
        if node.type is _REAL:
            return finite(f"{arguments[0]} {operator} {arguments[1]}")
        return whole(f"{arguments[0]}::HUGEINT {operator} {arguments[1]}::HUGEINT")

    return render


def _quotient(operator: str) -> Render:
    """Return a division, by NULL instead of zero; in 128 bits -2**63 // -1 has a place."""

    def render(node: Call, arguments: Sequence[str]) -> str:
        divisor = only_if(arguments[1], "v <> 0")
        if node.type is _REAL:
            return finite(f"{arguments[0]} {operator} {divisor}")
        return whole(f"{arguments[0]}::HUGEINT {operator} {divisor}::HUGEINT")

    return render


def _unary(template: str) -> Render:
    """Return -x or abs(x): of the smallest integer neither fits in 64 bits."""

    def render(node: Call, arguments: Sequence[str]) -> str:
        if node.type is _REAL:
            return unsigned_zero(template.format(arguments[0]))
        return whole(template.format(f"{arguments[0]}::HUGEINT"))

    return render


def _round(node: Call, arguments: Sequence[str]) -> str:
    value, digits = arguments
    if node.type is _REAL:
        return finite(f"round({value}, {digits}::INTEGER)")
    return whole(f"round({value}::HUGEINT, {digits}::INTEGER)")


def _whole(name: str) -> Render:
    """Return a rounding, which never overflows."""
    return lambda _, arguments: unsigned_zero(f"{name}({arguments[0]})")


def _where(name: str, condition: str) -> Render:
    """Return a function of the numbers for which it is defined."""
    return lambda _, arguments: finite(f"{name}({only_if(arguments[0], condition)})")


def _unlimited(name: str) -> Render:
    """Return a function that can overflow: infinite or an error, as DuckDB is set; so NULL."""
    return lambda _, arguments: finite(f"TRY({name}({', '.join(arguments)}))")


NUMBER_FUNCTIONS: Mapping[str, Render] = {
    "*": arithmetic("*"),
    "/": _quotient("/"),
    "//": _quotient("//"),
    "%": _quotient("%"),
    "neg": _unary("(-{})"),
    "abs": _unary("abs({})"),
    "round": _round,
    "floor": _whole("floor"),
    "ceil": _whole("ceil"),
    "trunc": _whole("trunc"),
    "sqrt": _where("sqrt", "v >= 0"),
    "ln": _where("ln", "v > 0"),
    "log10": _where("log10", "v > 0"),
    "log2": _where("log2", "v > 0"),
    "exp": _unlimited("exp"),
    "power": _unlimited("pow"),
    "sign": lambda _, arguments: f"sign({arguments[0]})::BIGINT",
}
