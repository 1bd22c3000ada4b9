"""Stars: *, table.* and EXCLUDE, written out."""

from collections.abc import Sequence
from typing import Any

from discreet.core.errors import UnknownColumn, UnknownTable
from discreet.sql.rows.nodes import is_a, item_name, item_value, require_plain
from discreet.sql.rows.scope import Scope
from discreet.sql.rows.stage import marked


def expanded(items: Sequence[Any], scope: Scope) -> list[tuple[str, Any]]:
    """Return the items of a SELECT as names and nodes, each star as the columns that it means."""
    found: list[tuple[str, Any]] = []
    for item in items:
        if is_a(item, "Star"):
            found += _columns(scope, item, "")
        elif is_a(item, "Column") and is_a(item.this, "Star"):
            require_plain(item, "this", "table")
            found += _columns(scope, item.this, str(item.args["table"].name))
        else:
            found.append((item_name(item), item_value(item)))
    return found


def _columns(scope: Scope, star: Any, table: str) -> list[tuple[str, Any]]:
    require_plain(star, "except_", next="Write the columns out")
    if table and table.lower() not in [name.lower() for name in scope.tables()]:
        raise UnknownTable(
            f"No table '{table}' in FROM", next=f"In reach: {', '.join(scope.tables())}"
        )
    names = [
        name
        for name in scope.names
        if (name.table.lower() == table.lower() if table else not name.is_merged)
    ]
    left_out = {str(column.name).lower() for column in star.args.get("except_") or []}
    unknown = left_out - {name.column.lower() for name in names}
    if unknown:
        raise UnknownColumn(
            f"EXCLUDE names no column here: {', '.join(sorted(unknown))}",
            next=f"Columns: {', '.join(name.column for name in names)}",
        )
    return [
        (name.column, marked(name.index)) for name in names if name.column.lower() not in left_out
    ]
