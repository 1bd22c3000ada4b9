"""SELECT DISTINCT over people: the same as GROUP BY all that is selected."""

from discreet.core import optional
from discreet.sql.blocks.trees import changed
from discreet.sql.rows.grouping import has_total
from discreet.sql.rows.items import is_star
from discreet.sql.syntax.nodes import Node, has_part, is_set, part


def with_groups(select: Node) -> Node:
    """Return a SELECT DISTINCT of values of rows as a GROUP BY of them, and any other as it is.

    Which values there are is found privately, unless they are public: then they are known already.
    """
    distinct = part(select, "distinct")
    if distinct is None or is_set(distinct, "on") or is_set(select, "group"):
        return select
    items = select.expressions
    if any(is_star(one) or has_total(one) or has_part(one, "Window") for one in items):
        return select
    exp = optional.load("sqlglot.expressions")
    places = [exp.Literal.number(place) for place in range(1, len(items) + 1)]
    return changed(select, distinct=None, group=exp.Group(expressions=places))
