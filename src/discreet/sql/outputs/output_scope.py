"""What the outputs of a query may refer to: rows below the aggregates, keys beside them."""

from typing import Any, Protocol

from discreet.tables.expression import Expression
from discreet.tables.relations.relation import Relation


class OutputScope(Protocol):
    """The names that are in reach of SELECT, HAVING and ORDER BY."""

    @property
    def keys(self) -> tuple[Expression, ...]:
        """The grouped expressions, in the order of the plan's keys."""
        ...

    @property
    def key_names(self) -> tuple[str, ...]:
        """What to call each key in a message."""
        ...

    @property
    def has_private_keys(self) -> bool:
        """Whether the groups are chosen by a noisy number of units."""
        ...

    @property
    def relation(self) -> Relation:
        """The relation that the aggregates stand on."""
        ...

    def row(self, node: Any) -> Expression:
        """Return the row-wise expression that a node says, over the fields of the relation."""
        ...
