"""A rule: how one kind of sqlglot node is read, and which of its parts are understood.

Most nodes are one function of their parts, and the record of the function says which.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from attrs import field, frozen

from discreet.core.errors import RefusedQuery
from discreet.sql.syntax.nodes import function_name
from discreet.tables.column import ColumnType
from discreet.tables.expression import Expression, Literal
from discreet.tables.functions.call import FUNCTIONS, call
from discreet.tables.functions.function import PlainNode
from discreet.tables.relations.relation import Field

FieldOf = Callable[[Expression], Field | None]
"""Returns the field that a value is, if it is one unchanged, and something is known of it."""


class Visit(Protocol):
    """Resolves a part of a node, and says what is declared of a column that was found so."""

    @property
    def field(self) -> FieldOf:
        """What returns the field that a value is."""
        ...

    def __call__(self, node: Any, /) -> Expression:
        """Return the expression of a part."""
        ...


LONGEST_SHOWN = 20


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
                    got=f"{function_name(node)} with {name.replace('_', ' ')}",
                )


def compared(function: str, values: Sequence[Expression]) -> Expression:
    """Return a comparison; if a text of the query is in the way because it is no date, say so.

    So it is with timestamps and times of day.

    Example:
        >>> from discreet.tables.expression import FieldValue
        >>> day, text = FieldValue(ColumnType.DATE, 0), Literal(ColumnType.TEXT, "2025-13-01")
        >>> compared(">=", [day, text])
        Traceback (most recent call last):
        discreet.core.errors.RefusedQuery: '2025-13-01' is not a date. It must look like
        '2025-01-31'.
    """
    try:
        return call(function, values)
    except RefusedQuery:
        texts = [
            value.value
            for value in values
            if isinstance(value, Literal) and value.type is ColumnType.TEXT and value.value
        ]
        kind = next((value.type for value in values if value.type in _LOOKS), None)
        if not texts or kind is None:
            raise
        shown = str(texts[0])[:LONGEST_SHOWN]
        raise RefusedQuery(
            f"'{shown}' is not a {kind.value}", must=f"look like '{_LOOKS[kind]}'"
        ) from None


_LOOKS = {
    ColumnType.DATE: "2025-01-31",
    ColumnType.TIMESTAMP: "2025-01-31 10:00:00",
    ColumnType.TIME: "10:00:00",
}


def _plain(function: str, written: PlainNode) -> Rule:
    make = compared if written.compares else call

    def read(node: Any, visit: Visit) -> Expression:
        values = [node.args.get(part) for part in written.parts]
        flat = [one for v in values if v is not None for one in (v if isinstance(v, list) else [v])]
        return make(function, [visit(one) for one in flat])

    return Rule(written.parts, read, written.expected)


PLAIN = {
    written.name: _plain(function.name, written)
    for function in FUNCTIONS.values()
    for written in function.ways()
    if isinstance(written, PlainNode)
}
"""Nodes that are one function of their parts, in order."""
