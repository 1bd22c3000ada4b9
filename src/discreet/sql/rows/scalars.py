"""Scalar sub-queries over public tables: their value is public, so it is written in their place."""

import datetime
from collections.abc import Iterator
from typing import Any

from discreet.core import optional
from discreet.core.errors import RefusedQuery, UnknownColumn, UnknownTable
from discreet.sql.rows.context import Context
from discreet.sql.rows.nodes import is_a
from discreet.tables.column import Key

MOST_SCALARS = 20
"""How many sub-queries one SELECT may have in its expressions."""
_CLAUSES = ("expressions", "where", "group", "having", "qualify", "order")


def with_scalars(select: Any, context: Context) -> Any:
    """Return the SELECT with the value of each sub-query that stands in an expression.

    Guarantee:
        Only public tables are read for it. So what the query means then, and every refusal, is a
        function of the query and of public data.
    """
    if next(_scalars(select), None) is None:
        return select
    changed = select.copy()
    found = list(_scalars(changed))
    if len(found) > MOST_SCALARS:
        raise RefusedQuery(
            "There are too many sub-queries in expressions", must=f"be at most {MOST_SCALARS}"
        )
    for node in found:
        node.replace(_constant(_value(node, context)))
    return changed


def _scalars(select: Any) -> Iterator[Any]:
    """Return the sub-queries in the expressions of one SELECT, not those inside others."""
    joins = [join.args.get("on") for join in select.args.get("joins") or []]
    clauses = [select.args.get(name) for name in _CLAUSES]
    waiting = [node for clause in (*joins, *clauses) for node in _listed(clause)]
    while waiting:
        node = waiting.pop()
        if is_a(node, "Subquery"):
            is_list = node.arg_key == "query" or is_a(node.parent, "Any", "All", "Exists")
            if not is_list:
                yield node
        elif not is_a(node, "Query"):
            waiting += node.iter_expressions(reverse=True)


def _listed(clause: Any) -> list[Any]:
    return clause if isinstance(clause, list) else [] if clause is None else [clause]


def _value(node: Any, context: Context) -> Key | float | None:
    if _reads_private(node, context):
        raise _private()
    try:
        relation = context.query(node, context.deeper())
    except (UnknownColumn, UnknownTable) as error:
        # It may be a name of the query around it, which a value that is read once cannot have.
        also = "A sub-query in an expression sees only its own tables; to compare with a row, JOIN"
        raise type(error)(error.what, must=error.must, next=f"{error.next}. {also}") from None
    if relation.owner() is not None:
        raise _private()
    if len(relation.fields()) != 1:
        raise RefusedQuery("A sub-query in an expression gives several columns", must="give one")
    rows = context.work.rows(relation, context.public_rows)
    if len(rows) > 1:
        raise RefusedQuery(
            "A sub-query in an expression gives several rows",
            must="give one",
            next="Use MAX, MIN or another aggregate in it, or x IN (SELECT ...)",
        )
    return rows[0][0] if rows else None


def _private() -> RefusedQuery:
    return RefusedQuery(
        "The value of a sub-query over a private table depends on everybody's rows",
        must="read public tables only, where it stands in an expression",
        next="Ask for that value first, and write it here as a number; or join with a sub-query"
        " that groups by the unit",
    )


def _reads_private(node: Any, context: Context) -> bool:
    """Tell whether any table that a query names is private, by itself or through WITH."""
    private = {table.name.lower() for table in context.catalog.tables}
    waiting, seen = [(node, context)], set()
    while waiting:
        query, around = waiting.pop()
        for table in query.find_all(optional.load("sqlglot.expressions").Table):
            name = str(table.name).lower()
            named = around.named.get(name)
            if named is None and name in private:
                return True
            if named is not None and id(named) not in seen:
                seen.add(id(named))
                waiting.append((named.query, named.context))
    return False


def _constant(value: Key | float | None) -> Any:
    """Return a node that says the value."""
    exp = optional.load("sqlglot.expressions")
    if value is None:
        return exp.Null()
    if isinstance(value, bool):
        return exp.Boolean(this=value)
    if isinstance(value, datetime.date):
        day = exp.Literal.string(value.isoformat())
        return exp.Cast(this=day, to=exp.DataType(this=exp.DataType.Type.DATE))
    if isinstance(value, str):
        return exp.Literal.string(value)
    size = exp.Literal.number(repr(abs(value)))
    return exp.Paren(this=exp.Neg(this=size)) if value < 0 else size
