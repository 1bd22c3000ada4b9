"""Contain: bound the pairs of rows that one owner can cause, by limits below all that pairs rows.

A join looks at many pairs for few rows, and joins can be nested. An analyst chooses how often, and
for whom. So a plan looks at :data:`MOST_PAIRS` pairs of rows of one owner at most, shared out over
its joins and semi-joins; a costly condition counts for several. Each private side gets as many rows
of an owner as that allows, and a public side may not have more partners for one row.
"""

import math

from attrs import evolve

from discreet.core.errors import RefusedQuery
from discreet.tables.column import ColumnType
from discreet.tables.expression import Call, Expression
from discreet.tables.plans.plan import BoundedPlan
from discreet.tables.relations.exists import Exists
from discreet.tables.relations.join import Join
from discreet.tables.relations.relation import Relation
from discreet.tables.relations.row_limit import RowLimit

MOST_PAIRS = 1_000_000
"""How many pairs of rows of one owner a plan looks at, in all of its joins together."""

_PLAIN = 25
"""How many parts of a condition one look at a pair pays for."""

_TEXT = 20
"""How many parts a text counts for: making one takes longer than comparing numbers."""


def contain(plan: BoundedPlan) -> BoundedPlan:
    """Return the plan with limits below its joins.

    Guarantee:
        The limits are owner-local operators, so the relation stays owner-local, and what one unit
        can move is bounded above it as before. Public relations stay as they are.
    """
    joins = [node for node in _nodes(plan.relation) if isinstance(node, Join | Exists)]
    paired = sum(map(_multiplies, joins))
    return evolve(plan, relation=_contained(plan.relation, MOST_PAIRS // max(1, paired)))


def row_limits(relation: Relation) -> tuple[int, ...]:
    """Return the limits that stand in a relation, each once, smallest first."""
    found = {node.rows for node in _nodes(relation) if isinstance(node, RowLimit)}
    return tuple(sorted(found))


def _nodes(relation: Relation) -> list[Relation]:
    """Return the private operators of a relation."""
    if relation.owner() is None:
        return []
    return [relation, *(node for part in relation.inputs() for node in _nodes(part))]


def _contained(relation: Relation, pairs: int) -> Relation:
    if relation.owner() is None:
        return relation
    if isinstance(relation, Join | Exists):
        left, right = _contained(relation.left, pairs), _contained(relation.right, pairs)
        if _multiplies(relation):
            rows = _rows(relation, pairs)
            left, right = _limited(left, rows), _limited(right, rows)
        return evolve(relation, left=left, right=right)
    parts = {
        name: _contained(value, pairs)
        for name in ("source", "first", "second")
        if isinstance(value := getattr(relation, name, None), Relation)
    }
    return evolve(relation, **parts)


def _multiplies(relation: Join | Exists) -> bool:
    """Tell whether one row can have several partners."""
    is_public = relation.right.owner() is None
    return not is_public or relation.partners is None or relation.partners > 1


def _rows(relation: Join | Exists, pairs: int) -> int:
    """Return how many rows of one owner a private side may have."""
    affordable = pairs // math.ceil(_weight(relation.condition) / _PLAIN)
    if relation.right.owner() is not None:
        return max(1, math.isqrt(affordable))
    if relation.partners is None or relation.partners > affordable:
        raise RefusedQuery(
            "One private row would meet too many rows of a public table",
            must=f"meet at most {affordable:,} in this join",
            got="" if relation.partners is None else f"{relation.partners:,}",
            next="Join on an equality with a column that tells the public rows apart",
        )
    return affordable // relation.partners


def _weight(condition: Expression | None) -> int:
    """Return how much work one look at a condition is, in simple parts."""
    total, waiting = 1, [] if condition is None else [condition]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Call):
            total += _TEXT if part.type is ColumnType.TEXT else 1
            waiting += part.arguments
    return total


def _limited(side: Relation, rows: int) -> Relation:
    return side if side.owner() is None else RowLimit(source=side, rows=rows)
