"""Aliases: names that a SELECT gives, written out where the same SELECT uses them."""

from collections.abc import Mapping, Sequence
from typing import Any

from discreet.core.errors import RefusedQuery
from discreet.sql.expressions.expression import MOST_NODES
from discreet.sql.rows.nodes import is_a, parts
from discreet.sql.rows.scope import MARK, Scope

Item = tuple[str, Any]
"""An item of a SELECT: its name, and its node without the alias."""


def with_aliases(node: Any, items: Sequence[Item], scope: Scope) -> Any:
    """Return a node in which the aliases of a SELECT are written out; columns come first.

    A sub-query has names of its own, so nothing is changed inside of one.
    """
    values = {name.lower(): value for name, value in reversed(items)}
    return _written_out(node, values, scope)


def lateral(items: Sequence[Item], scope: Scope) -> list[Item]:
    """Return the items of a SELECT, in each of which the aliases before it are written out.

    Example: ``age * 2 AS twice, twice + 1 AS more`` is ``age * 2 AS twice, age * 2 + 1 AS more``.
    """
    known: dict[str, Any] = {}
    found = []
    for name, node in items:
        value = _written_out(node, known, scope)
        known.setdefault(name.lower(), value)
        found.append((name, value))
    return found


def _written_out(node: Any, values: Mapping[str, Any], scope: Scope) -> Any:
    def meant(part: Any) -> Any:
        if not is_a(part, "Column") or part.args.get("table") or MARK in part.meta:
            return None
        name = str(part.name).lower()
        return None if name in scope.columns else values.get(name)

    used = [value for part in parts(node) if (value := meant(part)) is not None]
    if not used:
        return node
    _require_small([node, *used])
    whole = meant(node)
    if whole is not None:
        return whole.copy()
    changed = node.copy()
    for part in list(parts(changed)):
        value = meant(part)
        if value is not None:
            part.replace(value.copy())
    return changed


def _require_small(nodes: Sequence[Any]) -> None:
    """Refuse aliases of aliases that would make a short text a huge expression."""
    if sum(1 for node in nodes for _ in node.walk()) > MOST_NODES:
        raise RefusedQuery(
            "An expression is too large with its aliases written out",
            must=f"have at most {MOST_NODES:,} parts",
            next="Compute parts of it in a sub-query",
        )
