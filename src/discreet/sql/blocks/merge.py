"""Blocks: a private answer that another SELECT reads becomes part of that SELECT.

People write an aggregate in a WITH or in FROM (SELECT ...), and what they want to see of it above.
A block is about rows while its rows have an owner: GROUP BY the unit keeps it, GROUP BY clinic ends
it. What stands above a block whose rows have no owner is about its answer, as HAVING, windows and
ORDER BY are. So the two are written as one SELECT, which means the same and is planned as usual;
nothing here decides about privacy.
"""

from attrs import evolve

from discreet.core.errors import RefusedQuery
from discreet.sql.blocks.above import Above
from discreet.sql.blocks.block import Block, answer_of
from discreet.sql.blocks.side_by_side import side_by_side
from discreet.sql.blocks.totals_beside import with_totals_inside
from discreet.sql.blocks.trees import name_of, named_queries, with_queries
from discreet.sql.rows.scope import Context
from discreet.sql.syntax.nodes import Node, is_a, is_set, listed, part


def merged(select: Node, context: Context) -> Node:
    """Return the SELECT of which the answer that it reads is a part, if it reads one."""
    select = with_totals_inside(select)
    blocks: list[Block] = []
    for node in _sources(select):
        block = _block(node, select, context)
        # Rows that are joined with an answer, or an answer with rows: as for all rows, refused.
        if block is None:
            return select
        blocks.append(block)
    if not blocks:
        return select
    blocks = blocks if len(blocks) == 1 else side_by_side(select, blocks)
    return Above(select=select, blocks=tuple(blocks)).merged()


def _sources(select: Node) -> list[Node]:
    clause = part(select, "from_")
    if clause is None or listed(clause.this, "joins"):
        return []
    return [clause.this, *(join.this for join in listed(select, "joins"))]


def _block(node: Node, select: Node, context: Context) -> Block | None:
    """Return the answer that a source is, if it is one."""
    inner, source = _query_of(node, select)
    if inner is None or not is_a(inner, "Select"):
        return None
    context.work.spend()
    inner = merged(_alone(inner, select, source), context)
    block = answer_of(inner, context)
    if block is None:
        return None
    alias = part(node, "alias")
    given = None if alias is None else part(alias, "this")
    columns = [] if alias is None else [one.name for one in listed(alias, "columns")]
    columns = columns or _columns_of(select, source)
    if len(columns) > len(block.items):
        raise RefusedQuery(
            "There are more names than columns",
            must=f"be at most {len(block.items)}",
            got=str(len(columns)),
        )
    named = [(name, value) for name, (_, value) in zip(columns, block.items, strict=False)]
    items = (*named, *block.items[len(named) :])
    name = source if given is None else given.name
    return evolve(block, name=name, items=items, source=source)


def _query_of(node: Node, select: Node) -> tuple[Node | None, str]:
    """Return the query that a source is, and its name if WITH names it."""
    if is_a(node, "Subquery"):
        return node.this, ""
    if not is_a(node, "Table") or not is_a(node.this, "Identifier") or is_set(node, "db"):
        return None, ""
    for item in named_queries(select):
        if name_of(item) == node.this.name.lower():
            return item.this, node.this.name
    return None, ""


def _columns_of(select: Node, source: str) -> list[str]:
    for item in named_queries(select):
        alias = part(item, "alias")
        if source and alias is not None and name_of(item) == source.lower():
            return [column.name for column in listed(alias, "columns")]
    return []


def _alone(inner: Node, select: Node, source: str) -> Node:
    """Return a query with the queries of WITH that it can see, as one that could stand alone."""
    seen = []
    for item in named_queries(select):
        if source and name_of(item) == source.lower():
            break
        seen.append(item)
    own = named_queries(inner)
    hidden = {name_of(item) for item in own}
    return with_queries(inner, [*(one for one in seen if name_of(one) not in hidden), *own])
