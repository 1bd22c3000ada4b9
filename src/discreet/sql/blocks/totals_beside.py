"""A total of an answer that is joined with it, as a total in a sub-query of its own.

People write the share of each group with the total in a WITH of its own, which has one row::

    WITH c AS (...), t AS (SELECT SUM(n) AS total FROM c) SELECT n / t.total FROM c CROSS JOIN t

That is ``n / (SELECT SUM(n) FROM c)``, so it is written so.
"""

from discreet.core import optional
from discreet.sql.blocks.trees import changed, given, name_of, named_queries
from discreet.sql.rows.grouping import has_total
from discreet.sql.rows.items import item_name, item_value
from discreet.sql.syntax.nodes import Node, is_a, is_set, listed, part, replaced, table_of


def with_totals_inside(select: Node) -> Node:
    """Return a SELECT in which totals that are joined without a condition are sub-queries."""
    joins = listed(select, "joins")
    totals = {id(join): total for join in joins if (total := _total(join, select)) is not None}
    if not totals:
        return select
    values: dict[tuple[str, str] | None, Node] = {}
    for join in joins:
        if id(join) in totals:
            values |= _values(_name(join.this), totals[id(join)], select)

    def change(node: Node) -> Node:
        key = (table_of(node).lower(), node.name.lower()) if is_a(node, "Column") else None
        return values[key].copy() if key in values else node

    kept = [join for join in joins if id(join) not in totals]
    rest = changed(select, joins=kept, with_=None)
    return changed(replaced(rest, change), with_=part(select, "with_"))


def _total(join: Node, select: Node) -> Node | None:
    """Return the query of one row that is joined, if it is one of totals alone."""
    is_plain = not any(is_set(join, name) for name in ("on", "using", "side", "method"))
    table = join.this
    if not is_plain or not is_a(table, "Table") or is_set(table, "db"):
        return None
    for query in named_queries(select):
        inner = query.this
        if name_of(query) != table.this.name.lower() or not is_a(inner, "Select"):
            continue
        is_bare = set(given(inner)) == {"expressions", "from_"}
        if is_bare and all(has_total(item_value(item)) for item in inner.expressions):
            return inner if _reads_a_query(inner, select) else None
    return None


def _reads_a_query(inner: Node, select: Node) -> bool:
    source = part(inner, "from_")
    is_table = source is not None and is_a(source.this, "Table")
    names = {name_of(query) for query in named_queries(select)}
    return source is not None and is_table and source.this.this.name.lower() in names


def _name(table: Node) -> str:
    alias = part(table, "alias")
    return (table.this if alias is None else alias.this).name.lower()


def _values(name: str, total: Node, select: Node) -> dict[tuple[str, str] | None, Node]:
    """Return the sub-query of each column of a query of totals, by its names.

    Without its table's name a column is meant that no other query of the WITH has.
    """
    exp = optional.load("sqlglot.expressions")
    others = [query.this for query in named_queries(select) if query.this is not total]
    taken = {item_name(item).lower() for one in others for item in listed(one, "expressions")}
    found: dict[tuple[str, str] | None, Node] = {}
    for item in total.expressions:
        query = exp.Subquery(this=changed(total, expressions=[item.copy()]))
        column = item_name(item).lower()
        tables = (name,) if column in taken else (name, "")
        found |= {(table, column): query for table in tables}
    return found
