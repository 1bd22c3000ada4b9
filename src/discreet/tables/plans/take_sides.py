"""Take sides: put each condition of a join, and above one, on the side that it is about.

Below the limit of a side, a condition is asked of stored rows: so the limit counts the rows that
are wanted, and the texts that only the condition reads do not count at all. In the join itself
stays what is about both sides.
"""

from collections.abc import Callable, Mapping, Sequence

from attrs import evolve

from discreet.tables.expression import Expression, FieldValue, fields_in, moved
from discreet.tables.functions.call import call
from discreet.tables.functions.conditions import typed_conjuncts
from discreet.tables.plans.plan import BoundedPlan
from discreet.tables.relations.join import Exists, Join
from discreet.tables.relations.relation import Filter, Projection, Relation

Conditions = Sequence[Expression]


def take_sides(plan: BoundedPlan) -> BoundedPlan:
    """Return the plan with conditions on the sides of joins where they are about one.

    Guarantee:
        The relation has the same rows, with the same owners. A condition is true or a row is left
        out; of an inner join or a semi-join it does not matter whether that happens before, in or
        after it. A preserved left row (of a left join or an anti-join) must not be left out by a
        condition *of the join*, and one *above* it must not be asked of the right: these stay.
    """
    return evolve(plan, relation=settled(plan.relation))


def settled(relation: Relation, asked: Conditions = ()) -> Relation:
    """Return a relation of the rows for which all conditions ``asked`` are true."""
    if not _has_join(relation):
        return _filtered(relation, asked)
    if isinstance(relation, Filter):
        return settled(relation.source, [*typed_conjuncts(relation.condition), *asked])
    if isinstance(relation, Projection):
        return _projected(relation, asked)
    if isinstance(relation, Join):
        return _joined(relation, asked)
    if isinstance(relation, Exists):
        return _existing(relation, asked)
    return _filtered(_over(relation, settled), asked)


def _projected(node: Projection, asked: Conditions) -> Relation:
    """Ask below a projection what is about fields that only pass through it."""
    plain = {i: value.index for i, value in enumerate(node.values) if isinstance(value, FieldValue)}
    below = [part for part in asked if fields_in(part) <= plain.keys()]
    above = [part for part in asked if part not in below]
    source = settled(node.source, [moved(part, plain) for part in below])
    return _filtered(evolve(node, source=source), above)


def _joined(node: Join, asked: Conditions) -> Relation:
    width, own = len(node.left.fields()), typed_conjuncts(node.condition)
    if node.keep_left:
        left, above = _split(asked, width, "left")
        right, own = _split(own, width, "right")
    else:
        (left, own), above = _split([*own, *asked], width, "left"), []
        right, own = _split(own, width, "right")
    joined = evolve(
        node,
        left=settled(node.left, left),
        right=settled(node.right, [moved(part, _from(width, part)) for part in right]),
        condition=_all(own),
    )
    return _filtered(joined, above)


def _existing(node: Exists, asked: Conditions) -> Relation:
    width, own = len(node.left.fields()), typed_conjuncts(node.condition)
    left = list(asked)
    if not node.lacks:
        more, own = _split(own, width, "left")
        left += more
    right, own = _split(own, width, "right")
    return evolve(
        node,
        left=settled(node.left, left),
        right=settled(node.right, [moved(part, _from(width, part)) for part in right]),
        condition=_all(own),
    )


def _split(parts: Conditions, width: int, side: str) -> tuple[list[Expression], list[Expression]]:
    """Return the conditions that are about one side of a join, and the others; each once."""
    of_side: list[Expression] = []
    others: list[Expression] = []
    for part in dict.fromkeys(parts):
        is_left = [index < width for index in fields_in(part)]
        is_of_side = all(is_left) if side == "left" else not any(is_left)
        (of_side if is_of_side else others).append(part)
    return of_side, others


def _from(width: int, part: Expression) -> Mapping[int, int]:
    """Return where the fields of a condition on the right are in the right side itself."""
    return {index: index - width for index in fields_in(part)}


def _all(conditions: Conditions) -> Expression | None:
    if len(conditions) < 2:
        return conditions[0] if conditions else None
    return call("and", conditions)


def _filtered(relation: Relation, asked: Conditions) -> Relation:
    condition = _all(list(dict.fromkeys(asked)))
    return relation if condition is None else Filter(source=relation, condition=condition)


def _over(relation: Relation, change: Callable[[Relation], Relation]) -> Relation:
    parts = {
        name: change(value)
        for name in ("source", "first", "second")
        if isinstance(value := getattr(relation, name, None), Relation)
    }
    return evolve(relation, **parts)


def _has_join(relation: Relation) -> bool:
    return isinstance(relation, Join | Exists) or any(map(_has_join, relation.inputs()))
