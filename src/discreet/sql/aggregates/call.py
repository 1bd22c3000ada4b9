"""A call of an aggregate function, and the aggregates that all calls of a query ask for."""

from fractions import Fraction
from typing import Protocol

from attrs import define, field, frozen

from discreet.core.canonical import canonical, described
from discreet.core.errors import RefusedQuery
from discreet.core.unit_words import UNITS
from discreet.releases.estimates.estimate import Estimate, TotalOf
from discreet.releases.view import ClampSource
from discreet.sql.aggregates.clamps import (
    ChooseBounds,
    Clamped,
    TotalInRange,
    clamped,
    clamped_total,
    not_a_sum,
    not_of_moments,
    require_chosen,
    unclamped,
)
from discreet.sql.syntax.nodes import Node, function_name, is_a, require_plain_output
from discreet.tables.column import ColumnType
from discreet.tables.expression import Expression, FieldValue, Literal
from discreet.tables.functions.call import call
from discreet.tables.functions.conditions import both
from discreet.tables.plans.aggregate import Aggregate
from discreet.tables.plans.expression_text import expression_text
from discreet.tables.relations.relation import Relation

MOST_AGGREGATES = 200
"""How many different aggregates one query may ask for, conditions included: an engine takes longer
than in proportion for many, and each gets its part of the price."""


@define
class AskedAggregates:
    """The aggregates that the outputs of one query have asked for so far, each once."""

    _clamps: dict[Aggregate, ClampSource | None] = field(factory=dict)
    _asked: dict[Estimate, dict[int, Fraction]] = field(factory=dict)
    _places: dict[Aggregate, int] = field(factory=dict, init=False)

    def __attrs_post_init__(self) -> None:
        """Number the aggregates that are known already."""
        self._places.update((aggregate, i) for i, aggregate in enumerate(self._clamps))

    def index(self, aggregate: Aggregate, clamp: ClampSource | None = None) -> int:
        """Return the place of an aggregate; the same one twice is one."""
        self._clamps.setdefault(aggregate, clamp)
        if len(self._clamps) > MOST_AGGREGATES:
            raise RefusedQuery(
                "The query asks for too many aggregates",
                must=f"ask for at most {MOST_AGGREGATES}",
                next="Ask in parts. The same one twice is one; AVG counts as two, a variance as"
                " three",
            )
        return self._places.setdefault(aggregate, len(self._places))

    def ask(self, estimate: Estimate, parts: dict[int, Fraction]) -> Estimate:
        """Note that an estimate is asked for, and how its part of the price is split."""
        self._asked[estimate] = parts
        return estimate

    def in_order(self) -> "AskedAggregates":
        """Return the same aggregates in canonical order, and nothing asked for.

        The order of the outputs is presentation, so it must not make another plan.
        """
        ordered = sorted(self._clamps.items(), key=lambda item: canonical(described(item[0])))
        return AskedAggregates(clamps=dict(ordered))

    @property
    def aggregates(self) -> tuple[Aggregate, ...]:
        """The aggregates, each once."""
        return tuple(self._clamps)

    @property
    def clamps(self) -> tuple[ClampSource | None, ...]:
        """Who chose the clamp of each aggregate."""
        return tuple(self._clamps.values())

    def sourced(self) -> tuple[tuple[Aggregate, ClampSource | None], ...]:
        """Return each aggregate with who chose its clamp."""
        return tuple(self._clamps.items())

    def weights(self) -> tuple[Fraction, ...]:
        """Return the part of the price of each aggregate; together they are 1.

        Every different estimate that is asked for gets an equal part, split among the aggregates
        that it is made from; an aggregate that several estimates share has all of its parts.
        """
        weights = [Fraction(0)] * len(self._clamps)
        for parts in self._asked.values():
            for index, part in parts.items():
                weights[index] += part / len(self._asked)
        return tuple(weights)


class OutputScope(Protocol):
    """What SELECT, HAVING and ORDER BY may refer to: rows below the aggregates, keys beside."""

    @property
    def keys(self) -> tuple[Expression, ...]:
        """The grouped expressions, in the order of the plan's keys."""
        ...

    @property
    def has_private_keys(self) -> bool:
        """Whether the groups are chosen by a noisy number of units."""
        ...

    @property
    def relation(self) -> Relation:
        """The relation that the aggregates stand on."""
        ...

    @property
    def choose(self) -> ChooseBounds:
        """How bounds are chosen where nobody gives them."""
        ...

    def row(self, node: Node) -> Expression:
        """Return the row-wise expression that a node says, over the fields of the relation."""
        ...


@frozen
class AggregateCall:
    """One call of an aggregate function, without what stands around it."""

    node: Node
    where: Expression | None
    """The condition of its FILTER."""
    scope: OutputScope
    asked: AskedAggregates

    def argument(self) -> Node:
        """Return the one argument of the call, whether or not the parser knows the function."""
        if not is_a(self.node, "Anonymous"):
            require_plain_output(self.node, "this")
        return argument_of(self.node)

    def kept(self, value: Expression | None) -> Expression | None:
        """Return which rows count: those of FILTER that have a value."""
        present = None if value is None else self._presence(value)
        return both([part for part in (present, self.where) if part is not None])

    def _presence(self, value: Expression) -> Expression | None:
        if isinstance(value, Literal) and value.value is not None:
            return None
        return None if self._is_always_there(value) else call("not", [call("is_null", [value])])

    def _is_always_there(self, value: Expression) -> bool:
        if not isinstance(value, FieldValue) or value.type is ColumnType.REAL:
            return False  # NaN counts as NULL, whatever is declared
        return not self.scope.relation.fields()[value.index].nullable

    def number(self, node: Node) -> Clamped:
        """Return the value of a node, which must be a number, with its clamp."""
        inner, relation = unclamped(node), self.scope.relation
        value, fields = self._of_number(inner), relation.fields()
        is_asked = inner is not node
        chosen = self.scope.choose(relation, value, is_asked)
        if is_asked or chosen is not None:
            return require_chosen(value, fields, chosen)
        return clamped(value, relation)

    def total_number(self, node: Node, ends: list[Expression]) -> TotalInRange:
        """Return the value of a node, which must be a number, with the range of its total."""
        return clamped_total(self._of_number(node), ends, self.scope.relation)

    def _of_number(self, node: Node) -> Expression:
        value, fields = self.plain_row(node), self.scope.relation.fields()
        if value.type is ColumnType.BOOLEAN:
            text = expression_text(value, fields)
            raise RefusedQuery(
                f"{text} is true or false, not a number",
                next=f"Write COUNT(*) FILTER (WHERE {text}), or AVG(CAST({text} AS INTEGER)) for"
                " a share",
            )
        if value.type is ColumnType.DATE:
            raise not_a_sum(value, fields, function_name(self.node))
        if value.type in (ColumnType.TIMESTAMP, ColumnType.TIME):
            raise not_of_moments(value, fields, function_name(self.node))
        if value.type not in (ColumnType.INTEGER, ColumnType.REAL):
            raise RefusedQuery(
                f"{expression_text(value, fields)} is {value.type.value}, not a number",
                must="be a number inside SUM, AVG and the like",
                next="COUNT works for every type",
            )
        return value

    def plain_row(self, node: Node) -> Expression:
        """Return the value of a node, which must be without DISTINCT."""
        if is_a(node, "Distinct"):
            raise RefusedQuery(
                f"DISTINCT inside {function_name(self.node)} is not supported",
                must=f"be without DISTINCT, because which rows count would depend on other {UNITS}",
                next="Write SELECT DISTINCT with the unit's column in a sub-query, or use"
                " COUNT(DISTINCT x)",
            )
        return self.scope.row(node)

    def total(self, aggregate: Aggregate, clamp: ClampSource | None = None) -> Estimate:
        """Return the estimate that shows one count or sum as it is."""
        index = self.asked.index(aggregate, clamp)
        is_whole = aggregate.step.denominator == 1
        estimate = TotalOf(ColumnType.INTEGER if is_whole else ColumnType.REAL, index)
        return self.asked.ask(estimate, {index: Fraction(1)})


def argument_of(node: Node) -> Node:
    """Return the one argument of a call; one that the parser does not know keeps a list."""
    if not is_a(node, "Anonymous"):
        return node.this
    if len(node.expressions) != 1:
        raise RefusedQuery(f"{function_name(node)} takes one value")
    return node.expressions[0]
