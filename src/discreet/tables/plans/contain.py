"""Contain: put a limit on the rows of one owner below everything that pairs rows.

A join can make many rows of few, and joins can be nested. So the private sides of a join in which
a row can have several partners get at most :data:`MOST_ROWS` rows of each owner, and a public side
may offer at most :data:`MOST_PARTNERS` partners to one row. Then every join makes at most a million
(or ten million) rows of one owner, however often it is nested.
"""

from attrs import evolve

from discreet.core.errors import RefusedQuery
from discreet.tables.plans.plan import BoundedPlan
from discreet.tables.relations.exists import Exists
from discreet.tables.relations.join import Join
from discreet.tables.relations.relation import Relation
from discreet.tables.relations.row_limit import RowLimit

MOST_ROWS = 1_000
"""How many rows of one owner a join looks at, on each private side."""

MOST_PARTNERS = 10_000
"""How many rows of a public side may meet one private row."""


def contain(plan: BoundedPlan) -> BoundedPlan:
    """Return the plan with limits below its joins."""
    return evolve(plan, relation=contained(plan.relation))


def contained(relation: Relation) -> Relation:
    """Return the relation with limits below its joins.

    Guarantee:
        The limits are owner-local operators, so the relation stays owner-local, and what one unit
        can move is bounded above it as before. Public relations stay as they are.
    """
    if relation.owner() is None:
        return relation
    if isinstance(relation, Join | Exists):
        left, right = contained(relation.left), contained(relation.right)
        if _multiplies(relation):
            left, right = _limited(left), _limited(right)
        return evolve(relation, left=left, right=right)
    parts = {
        name: contained(value)
        for name in ("source", "first", "second")
        if isinstance(value := getattr(relation, name, None), Relation)
    }
    return evolve(relation, **parts)


def _multiplies(relation: Join | Exists) -> bool:
    """Tell whether one row can have several partners, and refuse too many of them."""
    if relation.right.owner() is not None:
        return True
    if isinstance(relation, Exists):
        return False  # a row stays or goes: it never becomes several
    if relation.partners is None or relation.partners > MOST_PARTNERS:
        raise RefusedQuery(
            "One private row would meet too many rows of a public table",
            must=f"meet at most {MOST_PARTNERS:,}",
            got="" if relation.partners is None else f"{relation.partners:,}",
            next="Join on an equality with a column that tells the public rows apart",
        )
    return relation.partners > 1


def _limited(side: Relation) -> Relation:
    return side if side.owner() is None else RowLimit(source=side, rows=MOST_ROWS)
