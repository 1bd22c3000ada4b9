"""Totals within one owner, in a sub-query that groups or in a window; and the ranks of windows."""

from collections.abc import Callable, Sequence
from fractions import Fraction

from attrs import evolve

from discreet.core.errors import RefusedQuery, UndeclaredBound
from discreet.sql.aggregates.call import argument_of
from discreet.sql.aggregates.functions import aggregate_name
from discreet.sql.expressions.refusals import unknown_total
from discreet.sql.rows.fields import field_of, require_whole_unit
from discreet.sql.rows.scope import Stage
from discreet.sql.syntax.nodes import (
    Node,
    function_name,
    is_a,
    is_set,
    listed,
    order_items,
    part,
    require_plain,
    small_number,
    word,
)
from discreet.tables.column import Bounds, ColumnType
from discreet.tables.expression import Expression, Literal
from discreet.tables.functions.call import call
from discreet.tables.functions.conditions import as_condition
from discreet.tables.functions.fine_grid import fine_grid
from discreet.tables.functions.proposal import propose_bounds
from discreet.tables.relations.relation import Field, Relation
from discreet.tables.relations.totals import InnerTotal, Ranked, Ranking, SortKey, Total, Window

_TOTALS = {
    "SUM": Total.SUM,
    "AVG": Total.AVERAGE,
    "MIN": Total.MINIMUM,
    "MAX": Total.MAXIMUM,
}
_OF_CONDITIONS = {"logicalor": Total.MAXIMUM, "logicaland": Total.MINIMUM}
"""BOOL_OR and BOOL_AND, by the parser's names: false is less than true."""


Row = Callable[[Node], Expression]
"""How to resolve a value of one row."""


def inner_total(node: Node, row: Row, relation: Relation) -> InnerTotal:
    """Return the total that a node says, over the fields of the relation."""
    condition = None
    if is_a(node, "Filter"):
        require_plain(node, "this", "expression")
        condition = as_condition(row(node.expression.this))
        node = node.this
    if is_a(node, "AggFunc") and part(node, "this") is None:
        raise RefusedQuery(
            f"{function_name(node)}() is about nothing", next="Name a column, or COUNT(*)"
        )
    if is_a(node, "Count"):
        return _count(node, row, condition)
    if is_a(node, "CountIf"):
        require_plain(node, "this")
        counted = _where(as_condition(row(node.this)), Literal(ColumnType.INTEGER, 1))
        return InnerTotal(total=Total.COUNT, value=_where(condition, counted))
    total = _TOTALS.get(aggregate_name(node)) or _OF_CONDITIONS.get(node.key)
    if total is None:
        raise unknown_total(node)
    if not is_a(node, "Anonymous"):
        require_plain(node, "this")
    argument = argument_of(node)
    if is_a(argument, "Distinct"):
        raise RefusedQuery(
            f"{function_name(node)}(DISTINCT ...) is not supported here",
            next="Take the DISTINCT rows first",
        )
    found = row(argument)
    value = _where(condition, as_condition(found) if node.key in _OF_CONDITIONS else found)
    return InnerTotal(total=total, value=value, bounds=_grid(total, value, relation))


def _count(node: Node, row: Row, condition: Expression | None) -> InnerTotal:
    require_plain(node, "this", "big_int")
    if is_a(node.this, "Star"):
        require_plain(node.this)
        if condition is None:
            return InnerTotal(total=Total.COUNT_ROWS, value=None)
        return InnerTotal(
            total=Total.COUNT, value=_where(condition, Literal(ColumnType.INTEGER, 1))
        )
    if is_a(node.this, "Distinct"):
        require_plain(node.this, "expressions")
        if len(node.this.expressions) != 1:
            raise RefusedQuery("COUNT(DISTINCT ...) takes one column")
        value = _where(condition, row(node.this.expressions[0]))
        return InnerTotal(total=Total.COUNT_DISTINCT, value=value)
    return InnerTotal(total=Total.COUNT, value=_where(condition, row(node.this)))


def _where(condition: Expression | None, value: Expression) -> Expression:
    if condition is None:
        return value
    return call("case", (condition, value, Literal(value.type, None)))


def _grid(total: Total, value: Expression, relation: Relation) -> Bounds | None:
    if total not in (Total.SUM, Total.AVERAGE):
        return None
    if value.type not in (ColumnType.INTEGER, ColumnType.REAL):
        raise RefusedQuery(
            f"A value of type {value.type.value} has no {total.value}", must="be a number"
        )
    if value.type is ColumnType.INTEGER:
        return None
    bounds = propose_bounds(value, relation.fields())
    if bounds is None:
        raise UndeclaredBound(
            f"A real value under {total.value.upper()} has no range",
            must="have min, max and step: reals are added on a grid, whatever their order",
            next=f"Declare them, or write {total.value.upper()}(CLAMP(value, 0, 100))",
        )
    return fine_grid(bounds)


_FINER = 100


def total_field(total: InnerTotal, relation: Relation, *, name: str) -> Field:
    """Return the field of a total. Nobody declared a range for a count or a sum."""
    plain = Field(name=name, type=total.type(), nullable=total.total not in _COUNTS)
    if total.value is None or total.total in _COUNTS:
        return plain
    known = field_of(total.value, relation, name=name)
    if total.total is Total.AVERAGE and known.bounds is not None:
        return evolve(plain, bounds=_finer(known.bounds))
    if total.total in (Total.MINIMUM, Total.MAXIMUM):
        return evolve(
            plain,
            bounds=known.bounds,
            dates=known.dates,
            keys=known.keys,
            made=known.made,
            zone=known.zone,
        )
    return plain


_COUNTS = (Total.COUNT_ROWS, Total.COUNT, Total.COUNT_DISTINCT)


def _finer(bounds: Bounds) -> Bounds:
    """Return the range with a smaller step: an average of whole numbers is not a whole number."""
    step = bounds.step / _FINER
    largest = max(abs(bounds.lower), abs(bounds.upper)) / step
    return bounds if largest > _MOST_STEPS else evolve(bounds, step=Fraction(step))


_MOST_STEPS = 2**40


_RANKINGS = {
    "rownumber": Ranking.ROW_NUMBER,
    "rank": Ranking.RANK,
    "denserank": Ranking.DENSE_RANK,
    "lag": Ranking.LAG,
    "lead": Ranking.LEAD,
    "firstvalue": Ranking.FIRST_VALUE,
}
_IN_A_WINDOW = (
    "Supported: ROW_NUMBER, RANK, DENSE_RANK, LAG, LEAD, FIRST_VALUE, COUNT, SUM, AVG, MIN, MAX"
)
_MOST_DIGITS = 6
"""Of how many rows away LAG and LEAD may look."""


def windowed(stage: Stage, node: Node, definitions: Sequence[Node]) -> Relation:
    """Return the relation of the stage with one more field, the value of the window."""
    require_plain(node, "this", "partition_by", "order", "spec", "over", "alias")
    if word(node, "over") not in ("", "OVER"):
        raise RefusedQuery(f"{word(node, 'over')} is not supported in a window")
    partition_nodes, order_nodes = _definition(node, definitions)
    partition = tuple(stage.row(item) for item in partition_nodes)
    require_whole_unit(stage.relation, partition, where="PARTITION BY")
    order = tuple(_sort_key(stage, item) for item in order_nodes)
    function = _function(stage, node.this)
    if _takes_all(part(node, "spec"), function, has_order=bool(order)):
        order = ()
    if isinstance(function, Ranked) and function.ranking is not Ranking.ROW_NUMBER and not order:
        raise RefusedQuery(
            f"{function.ranking.name} has no order", next="Add ORDER BY inside OVER (...)"
        )
    return Window(
        source=stage.relation,
        function=function,
        partition=partition,
        order=order,
        shape=_field(function, stage.relation),
    )


def _definition(node: Node, definitions: Sequence[Node]) -> tuple[list[Node], list[Node]]:
    """Return the nodes of PARTITION BY and ORDER BY, from here or from the WINDOW clause."""
    partition, order = listed(node, "partition_by"), order_items(node)
    name = part(node, "alias")
    if name is None:
        return partition, order
    for definition in definitions:
        if definition.this.name.lower() == name.name.lower():
            require_plain(definition, "this", "partition_by", "order")
            if partition or (order and order_items(definition)):
                raise RefusedQuery("A named window is given again what it has already")
            return listed(definition, "partition_by"), order or order_items(definition)
    raise RefusedQuery(f"No window is called '{name.name}'", next="Define it with WINDOW ... AS")


def _sort_key(stage: Stage, item: Node) -> SortKey:
    require_plain(item, "this", "desc", next="NULL always comes last")
    return SortKey(value=stage.row(item.this), descending=is_set(item, "desc"))


def _function(stage: Stage, node: Node) -> InnerTotal | Ranked:
    ranking = _RANKINGS.get(node.key)
    if ranking is None:
        if not is_a(node, "Filter") and aggregate_name(node) not in ("COUNT", *_TOTALS):
            raise RefusedQuery("This function is not supported in a window", next=_IN_A_WINDOW)
        return inner_total(node, stage.row, stage.relation)
    if is_set(node, "default"):
        raise RefusedQuery(
            f"A default is not supported in {ranking.name}",
            next=f"Write COALESCE({ranking.name}(value) OVER (...), default); the default then also"
            " stands where there is such a row and its value is NULL",
        )
    require_plain(node, "this", "offset")
    if ranking in (Ranking.ROW_NUMBER, Ranking.RANK, Ranking.DENSE_RANK):
        require_plain(node)
        return Ranked(ranking=ranking)
    if part(node, "this") is None:
        raise RefusedQuery(f"{ranking.name}() is about nothing", next="Name a column")
    return Ranked(ranking=ranking, value=stage.row(node.this), offset=_offset(node))


def _offset(node: Node) -> int:
    offset = part(node, "offset")
    if offset is None:
        return 1
    number = small_number(offset, _MOST_DIGITS)
    if number is None:
        raise RefusedQuery("The number of rows away is not a small whole number")
    return number


_START = ("UNBOUNDED", "PRECEDING")
_TO_HERE, _TO_END = ("CURRENT ROW", ""), ("UNBOUNDED", "FOLLOWING")


def _takes_all(spec: Node | None, function: InnerTotal | Ranked, *, has_order: bool) -> bool:
    """Tell whether a frame is the whole partition, and refuse frames that are neither usual."""
    if spec is None:
        return False
    require_plain(spec, "kind", "start", "start_side", "end", "end_side")
    start, end = ((word(spec, side), word(spec, f"{side}_side")) for side in ("start", "end"))
    is_total = isinstance(function, InnerTotal)
    if start == _START and end == _TO_END and is_total:
        return True
    is_usual = word(spec, "kind") == "RANGE" or not has_order or not is_total
    if start == _START and end in (_TO_HERE, ("", "")) and is_usual and (has_order or not is_total):
        return False
    raise RefusedQuery(
        "This frame of a window is not supported",
        must="be the usual one, or all of the partition",
        next="Leave the frame out, or write "
        "RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
    )


def _field(function: InnerTotal | Ranked, relation: Relation) -> Field:
    if isinstance(function, InnerTotal):
        return total_field(function, relation, name="window")
    if function.value is None:
        return Field(name="window", type=function.type(), nullable=False)
    known = field_of(function.value, relation, name="window")
    # It is the value of another row, so it is no part of this row's unit or public row.
    return evolve(known, nullable=True, unit_part=None, origin=None)
