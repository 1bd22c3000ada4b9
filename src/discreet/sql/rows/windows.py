"""Windows: fn(...) OVER (PARTITION BY unit ... ORDER BY ...), one relation for each."""

from collections.abc import Sequence
from typing import Any

from attrs import evolve

from discreet.core.errors import RefusedQuery
from discreet.sql.rows.nodes import is_a, require_plain
from discreet.sql.rows.projecting import field_of
from discreet.sql.rows.stage import Stage
from discreet.sql.rows.totals import inner_total, total_field
from discreet.sql.rows.unit_key import require_whole_unit
from discreet.tables.relations.inner_aggregate import InnerTotal
from discreet.tables.relations.relation import Field, Relation
from discreet.tables.relations.window import Ranked, Ranking, SortKey, Window

_RANKINGS = {
    "RowNumber": Ranking.ROW_NUMBER,
    "Rank": Ranking.RANK,
    "DenseRank": Ranking.DENSE_RANK,
    "Lag": Ranking.LAG,
    "Lead": Ranking.LEAD,
    "FirstValue": Ranking.FIRST_VALUE,
}
_SUPPORTED = (
    "Supported: ROW_NUMBER, RANK, DENSE_RANK, LAG, LEAD, FIRST_VALUE, COUNT, SUM, AVG, MIN, MAX"
)
_MOST_ROWS_AWAY = 1_000_000


def windowed(stage: Stage, node: Any, definitions: Sequence[Any]) -> Relation:
    """Return the relation of the stage with one more field, the value of the window."""
    require_plain(node, "this", "partition_by", "order", "spec", "over", "alias")
    if str(node.args.get("over") or "OVER") != "OVER":
        raise RefusedQuery(f"{node.args['over']} is not supported in a window")
    partition_nodes, order_nodes = _definition(node, definitions)
    partition = tuple(stage.row(part) for part in partition_nodes)
    require_whole_unit(stage.relation, partition, where="PARTITION BY")
    order = tuple(_sort_key(stage, item) for item in order_nodes)
    function = _function(stage, node.this)
    if _takes_all(node.args.get("spec"), function, has_order=bool(order)):
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


def _definition(node: Any, definitions: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Return the nodes of PARTITION BY and ORDER BY, from here or from the WINDOW clause."""
    partition, order = list(node.args.get("partition_by") or []), _ordered(node)
    name = node.args.get("alias")
    if name is None:
        return partition, order
    for definition in definitions:
        if definition.this.name.lower() == name.name.lower():
            require_plain(definition, "this", "partition_by", "order")
            if partition or (order and _ordered(definition)):
                raise RefusedQuery("A named window is given again what it has already")
            return list(definition.args.get("partition_by") or []), order or _ordered(definition)
    raise RefusedQuery(f"No window is called '{name.name}'", next="Define it with WINDOW ... AS")


def _ordered(node: Any) -> list[Any]:
    order = node.args.get("order")
    if order is None:
        return []
    require_plain(order, "expressions")
    return list(order.expressions)


def _sort_key(stage: Stage, item: Any) -> SortKey:
    require_plain(item, "this", "desc", next="NULL always comes last")
    return SortKey(value=stage.row(item.this), descending=bool(item.args.get("desc")))


def _function(stage: Stage, node: Any) -> InnerTotal | Ranked:
    ranking = _RANKINGS.get(type(node).__name__)
    if ranking is None:
        if not is_a(node, "Count", "Sum", "Avg", "Min", "Max", "Filter"):
            raise RefusedQuery("This function is not supported in a window", next=_SUPPORTED)
        return inner_total(node, stage.row, stage.relation)
    if node.args.get("default"):
        raise RefusedQuery(
            f"A default is not supported in {ranking.name}",
            next=f"Write COALESCE({ranking.name}(value) OVER (...), default); the default then also"
            " stands where there is such a row and its value is NULL",
        )
    require_plain(node, "this", "offset")
    if ranking in (Ranking.ROW_NUMBER, Ranking.RANK, Ranking.DENSE_RANK):
        require_plain(node)
        return Ranked(ranking=ranking)
    if node.this is None:
        raise RefusedQuery(f"{ranking.name}() is about nothing", next="Name a column")
    return Ranked(ranking=ranking, value=stage.row(node.this), offset=_offset(node))


def _offset(node: Any) -> int:
    offset = node.args.get("offset")
    if offset is None:
        return 1
    text = str(offset.this) if is_a(offset, "Literal") and not offset.is_string else ""
    is_whole = text.isascii() and text.isdigit() and len(text) < len(str(_MOST_ROWS_AWAY))
    if not is_whole:
        raise RefusedQuery("The number of rows away is not a small whole number")
    return int(text)


_START = ("UNBOUNDED", "PRECEDING")
_TO_HERE, _TO_END = ("CURRENT ROW", ""), ("UNBOUNDED", "FOLLOWING")


def _takes_all(spec: Any, function: InnerTotal | Ranked, *, has_order: bool) -> bool:
    """Tell whether a frame is the whole partition, and refuse frames that are neither usual."""
    if spec is None:
        return False
    require_plain(spec, "kind", "start", "start_side", "end", "end_side")
    start, end = (
        (str(spec.args.get(side) or "").upper(), str(spec.args.get(f"{side}_side") or "").upper())
        for side in ("start", "end")
    )
    is_total = isinstance(function, InnerTotal)
    if start == _START and end == _TO_END and is_total:
        return True
    kind = str(spec.args.get("kind") or "").upper()
    is_usual = kind == "RANGE" or not has_order or not is_total
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
