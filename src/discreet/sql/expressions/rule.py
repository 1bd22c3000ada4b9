"""A rule: how one kind of sqlglot node is read, and which of its parts are understood."""

from collections.abc import Callable, Mapping
from typing import Any

from attrs import field, frozen

from discreet.core.errors import RefusedQuery
from discreet.tables.expression import Expression

Visit = Callable[[Any], Expression]
"""Resolves a part of a node."""


@frozen
class Rule:
    """How to read a node. A part that is set, and not named here, is refused and never ignored."""

    parts: tuple[str, ...]
    read: Callable[[Any, Visit], Expression]
    expected: Mapping[str, object] = field(factory=dict)
    """Parts that the parser always sets, with the only value for which the node is understood."""

    def refuse_unknown_parts(self, node: Any) -> None:
        """Refuse a node with a part that the rule does not read."""
        for name, value in node.args.items():
            is_set = value is not None and value is not False and value != []
            is_expected = name in self.expected and value == self.expected[name]
            if is_set and name not in self.parts and not is_expected:
                raise RefusedQuery(
                    "This form of an expression is not supported",
                    got=f"{type(node).__name__} with {name}",
                )
