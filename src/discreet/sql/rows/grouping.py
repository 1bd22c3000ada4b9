"""GROUP BY: of the outermost SELECT, with its grouping sets, and of a sub-query."""

from collections.abc import Iterable, Sequence
from itertools import combinations, product

from attrs import evolve, frozen

from discreet.core.errors import RefusedQuery
from discreet.core.unit_words import UNITS
from discreet.sql.aggregates.functions import has_aggregate, is_aggregate
from discreet.sql.expressions.expression import resolve_expression
from discreet.sql.rows.fields import extended, key_text, require_whole_unit
from discreet.sql.rows.items import Item, item_name, with_aliases
from discreet.sql.rows.scope import Scope
from discreet.sql.rows.totals import inner_total, total_field
from discreet.sql.rows.whole_keys import as_key
from discreet.sql.syntax.nodes import (
    Node,
    has_part,
    is_a,
    is_set,
    mark_of,
    marked,
    part,
    replaced,
    require_plain,
    small_number,
    unbracketed,
    within,
)
from discreet.tables.expression import Call, Expression, FieldValue
from discreet.tables.relations.relation import Field, Relation
from discreet.tables.relations.totals import InnerAggregate, InnerTotal

MOST_SETS = 64
MOST_KEYS = 100
"""How many grouped expressions a question may have."""


@frozen(kw_only=True)
class Grouping:
    """The grouped expressions, what each is called, and which of them each grouping set has."""

    keys: tuple[Expression, ...]
    names: tuple[str, ...]
    sets: tuple[tuple[int, ...], ...]


NO_GROUPING = Grouping(keys=(), names=(), sets=((),))

NodeSet = tuple[Node, ...]
"""The nodes of one grouping set."""


def resolve_grouping(select: Node, items: Sequence[Item], scope: Scope) -> Grouping:
    """Return what the outermost SELECT groups by."""
    group = part(select, "group")
    if group is None:
        return NO_GROUPING
    if _is_all(group):
        node_sets: list[NodeSet] = [tuple(_all_keys(items))]
    else:
        require_plain(group, "expressions")
        node_sets = _crossed([_sets(node) for node in group.expressions])
    if len(node_sets) == 1:
        found = [
            as_key(scope.row(_meant(node, items, scope)), scope.relation) for node in node_sets[0]
        ]
        if len(set(found)) < len(found):
            raise RefusedQuery("GROUP BY names a column twice", next="Name it once")
    return _resolved(node_sets, items, scope)


def _sets(node: Node) -> list[NodeSet]:
    """Return the grouping sets that one item of a GROUP BY means."""
    rule = _RULES.get(node.key)
    return [_elements(node)] if rule is None else rule(node)


def _elements(node: Node) -> NodeSet:
    """Return the nodes of one element: several in brackets count as one."""
    inner = unbracketed(node)
    if is_a(inner, "Tuple"):
        require_plain(inner, "expressions")
        return tuple(inner.expressions)
    return (inner,)


def _rollup(node: Node) -> list[NodeSet]:
    require_plain(node, "expressions")
    elements = [_elements(item) for item in node.expressions]
    return [_flat(elements[:size]) for size in range(len(elements), -1, -1)]


def _cube(node: Node) -> list[NodeSet]:
    require_plain(node, "expressions")
    elements = [_elements(item) for item in node.expressions]
    if 2 ** len(elements) > MOST_SETS:
        raise _too_many()
    sizes = range(len(elements), -1, -1)
    return [_flat(chosen) for size in sizes for chosen in combinations(elements, size)]


def _grouping_sets(node: Node) -> list[NodeSet]:
    require_plain(node, "expressions")
    return [found for item in node.expressions for found in _sets(item)]


_RULES = {"rollup": _rollup, "cube": _cube, "groupingsets": _grouping_sets}


def _flat(elements: Iterable[NodeSet]) -> NodeSet:
    return tuple(node for element in elements for node in element)


def _crossed(choices: list[list[NodeSet]]) -> list[NodeSet]:
    size = 1
    for choice in choices:
        size *= len(choice)
        if size > MOST_SETS:
            raise _too_many()
    return [_flat(chosen) for chosen in product(*choices)]


def _too_many() -> RefusedQuery:
    return RefusedQuery(
        "There are too many grouping sets", must=f"be at most {MOST_SETS}", next="Ask for fewer"
    )


def _resolved(node_sets: list[NodeSet], items: Sequence[Item], scope: Scope) -> Grouping:
    names: dict[Expression, str] = {}
    sets: list[tuple[int, ...]] = []
    for nodes in node_sets:
        chosen = set()
        for node in nodes:
            meant = _meant(node, items, scope)
            key = as_key(scope.row(meant), scope.relation)
            # As the SELECT calls it, if it has it.
            called = next((name for name, value in items if value == meant), item_name(meant))
            names.setdefault(key, called)
            if len(names) > MOST_KEYS:
                raise RefusedQuery(
                    "The query groups by too many columns",
                    must=f"group by at most {MOST_KEYS}",
                    next="Group by fewer",
                )
            chosen.add(list(names).index(key))
        sets.append(tuple(sorted(chosen)))
    if len(set(sets)) < len(sets):
        raise RefusedQuery("The same grouping set appears twice", next="Name each once")
    return Grouping(keys=tuple(names), names=tuple(names.values()), sets=tuple(sets))


_MOST_DIGITS = 5


def _meant(node: Node, items: Sequence[Item], scope: Scope) -> Node:
    """Return the expression that an item of a GROUP BY means: a position, an alias, or itself."""
    inner = unbracketed(node)
    if is_a(inner, "Literal") and not inner.is_string:
        return _by_position(inner, items)
    return with_aliases(inner, items, scope)


def _by_position(number: Node, items: Sequence[Item]) -> Node:
    place = small_number(number, _MOST_DIGITS)
    if place is not None and 1 <= place <= len(items):
        value = items[place - 1][1]
        if not has_aggregate(value) and not has_part(value, "Star"):
            return value
    got = number.name[:20]
    raise RefusedQuery("GROUP BY names no key", got=got, next="Write the column's name")


def written_group(
    select: Node, items: Sequence[Item], scope: Scope
) -> tuple[Node | None, list[Node]]:
    """Return the GROUP BY with places and aliases written out, and the nodes that it groups by."""
    group = part(select, "group")
    if group is None:
        return None, []
    found = group.copy()
    nodes: list[Node] = []

    def meant(node: Node) -> Node:
        inner = unbracketed(node)
        if is_a(inner, "Tuple") or inner.key in _RULES:
            inner.set("expressions", [meant(one) for one in inner.expressions])
            return inner
        nodes.append(_meant(inner, items, scope).copy())
        return nodes[-1]

    if _is_all(group):
        found.set("all", None)
        nodes = [node.copy() for node in _all_keys(items)]
        found.set("expressions", nodes)
    else:
        found.set("expressions", [meant(node) for node in found.expressions])
    return found, nodes


def _all_keys(items: Sequence[Item]) -> list[Node]:
    """Return what GROUP BY ALL groups by: the items with a column and no aggregate."""
    return [
        value
        for _, value in items
        if has_part(value, "Column") and not has_part(value, "Window") and not has_aggregate(value)
    ]


def _is_all(group: Node) -> bool:
    """Tell whether it is GROUP BY ALL; refuse what is written behind the items."""
    if group.args.get("all") is False:
        raise RefusedQuery("GROUP BY DISTINCT is not supported", next="Write GROUP BY")
    for name in ("rollup", "cube", "grouping_sets", "totals"):
        if is_set(group, name):
            raise RefusedQuery(
                f"WITH {name.upper()} is not supported", next="Write GROUP BY ROLLUP (a, b)"
            )
    return is_set(group, "all")


@frozen(kw_only=True)
class GroupStage:
    """The stage after a GROUP BY: keys and totals, and nothing else of a row."""

    relation: Relation
    scope: Scope
    """The stage before it."""
    keys: tuple[Expression, ...]
    """The grouped expressions, over the scope; they are the first fields of the relation."""

    def over(self, relation: Relation) -> "GroupStage":
        """Return the groups over a relation with the same fields, and perhaps more."""
        return evolve(self, relation=relation)

    def row(self, node: Node) -> Expression:
        """Return an expression over the groups, in which keys are found again."""
        expression = resolve_expression(node, self._column, self._field_of)
        return self._over_groups(expression)

    def _column(self, node: Node) -> Expression:
        index = mark_of(node)
        if index is None:
            return self.scope.column(node)
        # Negative, so that it cannot be taken for a field of the scope.
        return FieldValue(self.relation.fields()[index].type, -1 - index)

    def _field_of(self, value: Expression) -> Field | None:
        if isinstance(value, FieldValue) and value.index < 0:
            return self.relation.fields()[-1 - value.index]
        return self.scope.field_of(value)

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


def is_total(node: Node) -> bool:
    """Tell whether a node is an aggregate with its FILTER, and not the function of a window."""
    if is_a(node.parent, "Window"):
        return False
    if is_a(node, "Filter"):
        return is_aggregate(node.this)
    return is_aggregate(node) and not is_a(node.parent, "Filter", "IgnoreNulls", "RespectNulls")


def has_total(node: Node) -> bool:
    """Tell whether an aggregate stands in the node that is not the function of a window."""
    return any(is_total(inner) for inner in within(node))


def grouped(
    select: Node, scope: Scope, items: Sequence[Item], others: Sequence[Node]
) -> tuple[GroupStage, list[Item], list[Node]]:
    """Return the groups, and the items and other nodes with their aggregates replaced."""
    nodes = _group_nodes(select, items, scope)
    keys = tuple(dict.fromkeys(scope.row(node) for node in nodes))
    _require_unit(scope, keys)
    names = [f"key_{i}" for i, _ in enumerate(keys)]
    relation, places = extended(scope.relation, keys, names)
    totals: list[InnerTotal] = []

    def change(node: Node) -> Node:
        if not is_total(node):
            return node
        total = inner_total(node, scope.row, relation)
        if total not in totals:
            totals.append(total)
        return marked(len(keys) + totals.index(total))

    new_items = [(name, replaced(node, change)) for name, node in items]
    new_others = [replaced(node, change) for node in others]
    fields = relation.fields()
    shape = (
        *(fields[place] for place in places),
        *(total_field(total, relation, name=f"total_{i}") for i, total in enumerate(totals)),
    )
    aggregate = InnerAggregate(source=relation, keys=places, totals=tuple(totals), shape=shape)
    return GroupStage(relation=aggregate, scope=scope, keys=keys), new_items, new_others


def _group_nodes(select: Node, items: Sequence[Item], scope: Scope) -> list[Node]:
    group = part(select, "group")
    if group is None:
        return []
    if _is_all(group):
        return _all_keys(items)
    require_plain(group, "expressions")
    for node in group.expressions:
        if is_a(node, "Rollup", "Cube", "GroupingSets", "Tuple"):
            raise RefusedQuery(
                "Grouping sets are not supported in a sub-query",
                next="Put ROLLUP, CUBE and GROUPING SETS into the outermost SELECT",
            )
    return [_meant(node, items, scope) for node in group.expressions]


def _require_unit(scope: Scope, keys: Sequence[Expression]) -> None:
    """Refuse totals over several people: they are answers, and answers are noisy."""
    owner = scope.relation.owner()
    if owner is not None and owner.unit.column is not None and not keys:
        raise RefusedQuery(
            f"An aggregate in a sub-query would add up rows of different {UNITS}",
            must=f"be for each unit: GROUP BY {key_text(owner)}",
            next=(
                f"Aggregate over {UNITS} in the outermost SELECT, where noise is added; "
                "arithmetic between answers is allowed there too"
            ),
        )
    require_whole_unit(
        scope.relation,
        keys,
        where="GROUP BY in a sub-query",
        otherwise="; or aggregate in the outermost SELECT alone, where noise is added",
    )
