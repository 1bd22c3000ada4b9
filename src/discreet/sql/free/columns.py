"""The columns that a statement would have, for a tool that asks for no rows (LIMIT 0)."""

from discreet.core.recursion import refusing_depth
from discreet.sql.blocks.trees import changed, clause
from discreet.sql.free.allowed import has_aggregates
from discreet.sql.parse import Statement
from discreet.sql.resolve import resolve
from discreet.sql.rows.query import resolve_query
from discreet.sql.rows.scope import Context, PublicRows
from discreet.sql.syntax.nodes import condition_of
from discreet.tables.catalog import Catalog
from discreet.tables.column import ColumnType


@refusing_depth
def columns_of(
    statement: Statement, catalog: Catalog, public_rows: PublicRows
) -> tuple[tuple[str, ColumnType], ...]:
    """Return names and types of the columns of a statement over private tables.

    Guarantee:
        No private row is read: names and types are declared, and the text says the rest. What could
        not be answered for another reason than that it shows rows is refused here too.
    """
    select = changed(statement.select, limit=None, offset=None, order=None)
    if has_aggregates(select):
        question = resolve(
            Statement(select=select, options=statement.options), catalog, public_rows
        )
        return tuple((output.name, output.estimate.type) for output in question.view.outputs)
    # Without aggregates HAVING is a condition on keys, which every row has.
    said = (condition_of(select, name) for name in ("where", "having"))
    where = clause("Where", [node for node in said if node is not None])
    rows = changed(select, distinct=None, group=None, having=None, where=where)
    context = Context(catalog=catalog, query=resolve_query, public_rows=public_rows)
    return tuple((field.name, field.type) for field in resolve_query(rows, context).fields())
