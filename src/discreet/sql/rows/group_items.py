"""The items of a GROUP BY: names, aliases, positions and expressions, as the nodes they mean."""

from collections.abc import Sequence
from typing import Any

from discreet.core.errors import RefusedQuery
from discreet.sql.rows.aliases import with_aliases
from discreet.sql.rows.nodes import has_part, is_a, unwrapped
from discreet.sql.rows.scope import Scope

_MOST_DIGITS = 6


def group_node(node: Any, items: Sequence[tuple[str, Any]], scope: Scope) -> Any:
    """Return the expression that an item of a GROUP BY means: a position, an alias, or itself."""
    inner = unwrapped(node)
    if is_a(inner, "Literal") and not inner.is_string:
        return _by_position(str(inner.this), items)
    return with_aliases(inner, items, scope)


def _by_position(number: str, items: Sequence[tuple[str, Any]]) -> Any:
    is_short = number.isascii() and number.isdigit() and len(number) < _MOST_DIGITS
    place = int(number) - 1 if is_short else -1
    if not 0 <= place < len(items) or has_part(items[place][1], "AggFunc", "Star"):
        raise RefusedQuery("GROUP BY names no key", got=number[:20], next="Write the column's name")
    return items[place][1]


def all_keys(items: Sequence[tuple[str, Any]]) -> list[Any]:
    """Return what GROUP BY ALL groups by: the items with a column and no aggregate."""
    return [
        value
        for _, value in items
        if has_part(value, "Column") and not has_part(value, "AggFunc", "Window")
    ]


def plain_group(group: Any) -> bool:
    """Tell whether it is GROUP BY ALL; refuse what is written behind the items."""
    if group.args.get("all") is False:
        raise RefusedQuery("GROUP BY DISTINCT is not supported", next="Write GROUP BY")
    for name in ("rollup", "cube", "grouping_sets", "totals"):
        if group.args.get(name):
            raise RefusedQuery(
                f"WITH {name.upper()} is not supported", next="Write GROUP BY ROLLUP (a, b)"
            )
    return bool(group.args.get("all"))
