"""A stage of a SELECT: a relation, and how the nodes of the query become expressions over it."""

from collections.abc import Callable
from typing import Any, Protocol, Self

from attrs import evolve, frozen

from discreet.core import optional
from discreet.core.errors import RefusedQuery
from discreet.sql.expressions.expression import resolve_expression
from discreet.sql.rows.scope import MARK, Scope
from discreet.tables.expression import Call, Expression, FieldValue
from discreet.tables.relations.relation import Relation


class Stage(Protocol):
    """What a SELECT has at hand: before its GROUP BY a scope, and after it the groups."""

    @property
    def relation(self) -> Relation:
        """The relation that expressions stand on."""
        ...

    def row(self, node: Any) -> Expression:
        """Return the row-wise expression of a node."""
        ...

    def over(self, relation: Relation) -> Self:
        """Return the stage over a relation with the same fields, and perhaps more."""
        ...


def marked(index: int) -> Any:
    """Return a node that stands for the field at ``index`` of a stage's relation."""
    node = optional.load("sqlglot.expressions").column("computed")
    node.meta[MARK] = index
    return node


def replaced(node: Any, change: Callable[[Any], Any]) -> Any:
    """Return a copy of the node with parts changed, from the outside in."""
    return node.transform(change, copy=True)


@frozen(kw_only=True)
class Groups:
    """The stage after a GROUP BY: keys and totals, and nothing else of a row."""

    relation: Relation
    scope: Scope
    """The stage before it."""
    keys: tuple[Expression, ...]
    """The grouped expressions, over the scope; they are the first fields of the relation."""

    def over(self, relation: Relation) -> "Groups":
        """Return the groups over a relation with the same fields, and perhaps more."""
        return evolve(self, relation=relation)

    def row(self, node: Any) -> Expression:
        """Return an expression over the groups, in which keys are found again."""
        expression = resolve_expression(node, self._column)
        return self._over_groups(expression)

    def _column(self, node: Any) -> Expression:
        index = node.meta.get(MARK)
        if index is None:
            return self.scope.column(node)
        # Negative, so that it cannot be taken for a field of the scope.
        return FieldValue(self.relation.fields()[index].type, -1 - index)

    def _over_groups(self, expression: Expression) -> Expression:
        if expression in self.keys:
            return FieldValue(expression.type, self.keys.index(expression))
        if isinstance(expression, FieldValue):
            if expression.index < 0:
                return FieldValue(expression.type, -1 - expression.index)
            name = self.scope.field(expression.index).name
            raise RefusedQuery(
                f"Column '{name}' is neither grouped nor aggregated", next="Add it to GROUP BY"
            )
        if isinstance(expression, Call):
            arguments = tuple(self._over_groups(part) for part in expression.arguments)
            return Call(expression.type, expression.function, arguments)
        return expression
