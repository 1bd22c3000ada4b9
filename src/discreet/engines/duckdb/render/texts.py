"""Functions of text in DuckDB's SQL."""

from collections.abc import Mapping, Sequence

from discreet.engines.duckdb.render.let import Render
from discreet.tables.expression import Call
from discreet.tables.functions.text import LONGEST_TEXT


def _plain(name: str) -> Render:
    return lambda _, arguments: f"{name}({', '.join(arguments)})"


def _join(template: str) -> Render:
    """Return the first characters of a join, so that no text grows without limit.

    The arguments are not cut: they are no longer than that themselves, and a cut is a copy.
    """

    def render(_: Call, arguments: Sequence[str]) -> str:
        return _cut(template.format(*arguments))

    return render


def _replace(_: Call, arguments: Sequence[str]) -> str:
    return _cut(f"replace({_cut(arguments[0])}, {arguments[1]}, {arguments[2]})")


def _cut(value: str) -> str:
    return f"left({value}, {LONGEST_TEXT})"


def _like(_: Call, arguments: Sequence[str]) -> str:
    return f"({arguments[0]} LIKE {arguments[1]})"


def _ilike(_: Call, arguments: Sequence[str]) -> str:
    """Return LIKE of small letters: ILIKE itself looks at a text again for each part of a word."""
    return f"(lower({arguments[0]}) LIKE lower({arguments[1]}))"


TEXT_FUNCTIONS: Mapping[str, Render] = {
    **{
        name: _plain(name)
        for name in (
            "lower", "upper", "trim", "ltrim", "rtrim", "substring", "left", "right",
            "starts_with", "ends_with", "contains",
        )
    },
    "length": lambda _, arguments: f"length({arguments[0]})::BIGINT",
    "||": _join("{} || {}"),
    "concat": _join("concat({}, {})"),
    "replace": _replace,
    "like": _like,
    "ilike": _ilike,
}  # fmt: skip
