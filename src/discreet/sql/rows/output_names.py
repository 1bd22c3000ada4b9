"""What the outputs of an answer are called, where the query does not say."""

from collections.abc import Sequence
from typing import Any

from discreet.core.errors import RefusedQuery
from discreet.sql.rows.nodes import alias_of, is_a, unwrapped

LONGEST_NAME = 60


def output_names(items: Sequence[Any]) -> list[str]:
    """Return a name for each item of a SELECT: all different, case ignored.

    COUNT(*) is called count, SUM(age) sum_age, and anything longer as it is written.
    """
    names = _apart([(alias_of(item), unwrapped(item)) for item in items])
    seen: set[str] = set()
    for name in names:
        if name.lower() in seen:
            raise RefusedQuery(f"Two outputs are called '{name}'", next="Give one another name")
        seen.add(name.lower())
    return names


def _apart(items: Sequence[tuple[str, Any]]) -> list[str]:
    """Return the names; where two without an alias would be alike, they are called as written.

    So COUNT(a.x) and COUNT(b.x) are both shown. The same item twice stays the same name.
    """
    names = [alias or _own_name(node) for alias, node in items]
    found: list[str] = []
    nodes: list[Any] = []
    for name, (alias, node) in zip(names, items, strict=True):
        is_taken = name.lower() in [other.lower() for other in found] and node not in nodes
        is_renamed = is_taken and not alias
        found.append(str(node.sql("duckdb")).lower()[:LONGEST_NAME] if is_renamed else name)
        nodes.append(node)
    return found


def _own_name(node: Any) -> str:
    if is_a(node, "Column"):
        return str(node.name)
    if is_a(node, "Count") and is_a(node.this, "Star"):
        return "count"
    if is_a(node, "AggFunc"):
        inner = list(node.iter_expressions())
        if len(inner) == 1 and is_a(inner[0], "Column"):
            return f"{node.sql_name().lower()}_{inner[0].name}"
    return str(node.sql("duckdb")).lower()[:LONGEST_NAME]
