"""The columns that a statement would have, for a tool that asks for no rows (LIMIT 0)."""

from attrs import frozen

from discreet.core.recursion import refusing_depth
from discreet.sql.blocks.merge import merged
from discreet.sql.blocks.mode import with_mode
from discreet.sql.blocks.trees import changed, clause
from discreet.sql.free.no_rows import has_no_rows, has_totals, without_noughts
from discreet.sql.parse import Statement
from discreet.sql.resolve import resolve
from discreet.sql.rows.query import resolve_query
from discreet.sql.rows.scope import Context, PublicRows
from discreet.sql.syntax.databases import without_database
from discreet.sql.syntax.nodes import condition_of
from discreet.tables.catalog import Catalog
from discreet.tables.column import ColumnType


@frozen
class StatementColumn:
    """A column that a statement would have."""

    name: str
    type: ColumnType
    is_noisy: bool = False
    """Whether its values would have intervals."""


@refusing_depth
def columns_of(
    statement: Statement, catalog: Catalog, public_rows: PublicRows
) -> tuple[StatementColumn, ...]:
    """Return names and types of the columns of a statement over private tables.

    Guarantee:
        No private row is read: names and types are declared, and the text says the rest. What could
        not be answered for another reason than that it shows rows is refused here too.
    """
    named = without_database(statement.select, catalog.name)
    bare = {"limit": None, "offset": None, "order": None, "distinct": None}
    select = without_noughts(named) if has_no_rows(named) else changed(named, **bare)
    context = Context(catalog=catalog, query=resolve_query, public_rows=public_rows)
    whole = merged(with_mode(select), context)
    if has_totals(whole):
        question = resolve(
            Statement(select=select, options=statement.options), catalog, public_rows
        )
        return tuple(
            StatementColumn(output.name, output.estimate.type, output.is_noisy())
            for output in question.view.outputs
        )
    # Without aggregates HAVING is a condition on keys, which every row has.
    said = (condition_of(whole, name) for name in ("where", "having"))
    where = clause("Where", [node for node in said if node is not None])
    rows = changed(whole, group=None, having=None, where=where)
    fields = resolve_query(rows, context).fields()
    return tuple(StatementColumn(field.name, field.type) for field in fields)
