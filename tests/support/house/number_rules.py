"""Rules about types of numbers, for the folders where an array decides noise.

A run under :mod:`tests.support.statistics.guarded_numpy` sees every operation that it makes. These
rules are for what it cannot see: a conversion that is right on the numbers of a test and wrong on
others.
"""

import ast
from collections.abc import Iterator

from tests.support.house.source import Module

HOMES = ("randomness/", "mechanisms/", "engines/duckdb/render/", "engines/duckdb/engine")

NARROW = {
    *("int8", "int16", "int32", "uint8", "uint16", "uint32"),
    *("float16", "float32", "half", "single", "byte", "ubyte", "short", "ushort"),
}
VAGUE = {"int_", "uint", "intc", "uintc", "long", "ulong", "longlong", "ulonglong", "longdouble"}
FLOATS = {"float64", "double", "float"}

NARROW_WITH_REASON = {
    ("randomness/tables/draw.py", "uint16"): "words are cut into four indices of 16 digits",
    (
        "randomness/tables/draw.py",
        "uint32",
    ): "words are cut in two halves, each an index and an offset",
    ("randomness/rng.py", "uint8"): "the cipher writes bytes",
}
FLOAT_WITH_REASON = {
    ("randomness/tables/draw.py", "words.astype(np.float64)"): "one rounding, inside the tolerance",
    (
        "randomness/tables/draw.py",
        "(2 * near + steps).astype(np.float64)",
    ): "one of the six roundings",
    ("randomness/tables/draw.py", "steps.astype(np.float64)"): "exact: steps are below 2**48",
    ("randomness/samplers.py", "words.astype(np.float64)"): "one rounding, inside the limit",
    ("randomness/argmax.py", "counts[part].astype(np.float64)"): "a relative 2**-53",
    (
        "mechanisms/query_release/linear_queries.py",
        "self.table.astype(np.float64)",
    ): "exact: coefficients are at most 2**20, and public",
    (
        "mechanisms/query_release/public_weights.py",
        "query.astype(np.float64)",
    ): "exact: coefficients are at most 2**20, and public",
}
"""Each with where the proof counts it: a docstring of that file."""

Violations = Iterator[tuple[int, str]]


def no_casting(module: Module) -> Violations:
    """No operation is told how to cast: what it would not do by itself is not safe."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.keyword) and node.arg == "casting":
            yield node.lineno, "gives casting="


def no_narrow_type(module: Module) -> Violations:
    """No number is narrower than 64 bits, or as wide as the machine likes, without a reason."""
    for node in ast.walk(module.tree):
        name = getattr(node, "attr", None)
        if not isinstance(node, ast.Attribute) or getattr(node.value, "id", None) != "np":
            continue
        if name in VAGUE or (name in NARROW and (module.place, name) not in NARROW_WITH_REASON):
            yield node.lineno, f"uses np.{name}"


def no_float_conversion(module: Module) -> Violations:
    """No array becomes one of floats without a reason: integers above 2**53 would be rounded."""
    for node in ast.walk(module.tree):
        if not isinstance(node, ast.Call) or _called(node) in {"empty", "zeros", "ones"}:
            continue
        given = [*node.args[:1], *(word.value for word in node.keywords if word.arg == "dtype")]
        names = {_name(part) for part in given} if _called(node) in _CONVERTING else set()
        names |= {_name(word.value) for word in node.keywords if word.arg == "dtype"}
        is_scalar = ast.unparse(node.func) in {"np.float64", "np.double"}
        if (names & FLOATS or is_scalar) and (
            (module.place, ast.unparse(node)) not in FLOAT_WITH_REASON
        ):
            yield node.lineno, f"converts to floats: {ast.unparse(node)}"


def no_default_type(module: Module) -> Violations:
    """What ``np.empty``, ``zeros`` and ``ones`` make are floats if nobody says otherwise."""
    for node in ast.walk(module.tree):
        if not isinstance(node, ast.Call) or ast.unparse(node.func) not in _MAKERS:
            continue
        if len(node.args) < 2 and not any(word.arg == "dtype" for word in node.keywords):
            yield node.lineno, f"{ast.unparse(node.func)} without a dtype"


def no_named_type(module: Module) -> Violations:
    """A type is written as ``np.int64``: not as text, and not as Python's ``int``."""
    for node in ast.walk(module.tree):
        if not isinstance(node, ast.Call):
            continue
        given = [word.value for word in node.keywords if word.arg == "dtype"]
        given += node.args[:1] if _called(node) in _CONVERTING else []
        for part in given:
            if isinstance(part, ast.Constant) or _name(part) == "int":
                yield node.lineno, f"names a type loosely: {ast.unparse(node)}"


_CONVERTING = {"astype", "view"}
_MAKERS = {"np.empty", "np.zeros", "np.ones"}

NUMBER_RULES = (
    no_casting,
    no_narrow_type,
    no_float_conversion,
    no_default_type,
    no_named_type,
)


def _called(node: ast.Call) -> str | None:
    return getattr(node.func, "attr", None)


def _name(node: ast.AST) -> str | None:
    return getattr(node, "attr", None) or getattr(node, "id", None)
