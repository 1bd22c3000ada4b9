"""FROM: tables, queries with a name, sub-queries, and their joins."""

from collections.abc import Sequence
from functools import partial

from discreet.core.errors import RefusedQuery, UnknownTable
from discreet.sql.expressions.refusals import require_unique, two_columns
from discreet.sql.rows.fields import field_values, projected
from discreet.sql.rows.joins import joined
from discreet.sql.rows.scope import (
    Context,
    Named,
    Scope,
    did_you_mean,
    require_few_tables,
)
from discreet.sql.syntax.databases import require_schema
from discreet.sql.syntax.nodes import Node, is_a, is_set, listed, part, require_plain
from discreet.tables.catalog import Catalog, Table
from discreet.tables.relations.read_keys import with_read_keys
from discreet.tables.relations.relation import Relation
from discreet.tables.relations.scan import PublicScan, Scan


def from_clause(select: Node, context: Context, where: Sequence[Node]) -> Scope:
    """Return what FROM and its joins put in reach."""
    clause = part(select, "from_")
    if clause is None:
        require_read_from(select, context.catalog)
        names = [table.name for table in context.catalog.tables]
        raise RefusedQuery(
            "The query names no table",
            must=f"read FROM a table: {', '.join(names)}",
            next=f"Write, for example, SELECT COUNT(*) FROM {next(iter(names), 'table')}",
        )
    require_plain(clause, "this")
    return _with_joins(_source(clause.this, context, where), select, context, where)


def require_read_from(select: Node, catalog: Catalog) -> None:
    """Refuse a private table that stands in a value or a condition of rows that have no owner."""
    private = {table.name.lower(): table.name for table in catalog.tables}
    named = (node.this.name.lower() for node in select.walk() if is_a(node, "Table"))
    found = next((private[name] for name in named if name in private), None)
    if found is not None:
        raise RefusedQuery(
            f"{found} is private, and stands in a condition or a value alone",
            must="be read FROM, and asked for COUNT, SUM, AVG or another aggregate",
            next=f"Write, for example, SELECT COUNT(*) FROM {found}",
        )


def _with_joins(scope: Scope, node: Node, context: Context, where: Sequence[Node]) -> Scope:
    for join in listed(node, "joins"):
        scope = joined(scope, _source(join.this, context, where), join, where)
    return scope


def _source(node: Node, context: Context, where: Sequence[Node]) -> Scope:
    if is_a(node, "Table"):
        return _table(node, context, where)
    if is_a(node, "Subquery"):
        return _subquery(node, context, where)
    what = node.key.upper() if is_a(node, "Values", "Lateral", "Unnest", "Pivot") else "This"
    raise RefusedQuery(
        f"{what} cannot be read FROM",
        must="be a declared table, a query that WITH names, or a sub-query",
    )


def _table(node: Node, context: Context, where: Sequence[Node]) -> Scope:
    require_plain(
        node, "this", "alias", "joins", "db", next="Write FROM table, or FROM table AS name"
    )
    require_schema(part(node, "db"))
    if not is_a(node.this, "Identifier"):
        raise RefusedQuery(
            "A table function cannot be read FROM",
            must="be a declared table, a query that WITH names, or a sub-query",
        )
    name = node.this.name
    # A schema stands in front of declared tables alone.
    named = None if is_set(node, "db") else context.named.get(name.lower())
    relation = _scan(name, context) if named is None else read_named(named)
    alias, columns = _alias(node)
    scope = Scope.of(renamed(relation, columns), alias or name)
    return _with_joins(scope, node, context, where)


def _scan(name: str, context: Context) -> Relation:
    try:
        table = context.catalog.table(name)
    except UnknownTable as error:
        catalog = context.catalog
        private = [one.name for one in catalog.tables]
        public = [one.name for one in catalog.public_tables]
        near = did_you_mean(name, [*private, *public, *context.named])
        raise UnknownTable(error.what, next=f"{near}{error.next}") from None
    if not isinstance(table, Table):
        return PublicScan.of(table)
    rows = partial(context.work.rows, public_rows=context.public_rows)
    return Scan.of(with_read_keys(table, context.catalog, rows))


def read_named(named: Named) -> Relation:
    """Return the relation of a query that WITH named.

    It is resolved each time that it is read, so that two readings are two relations: a row of one
    is not a row of the other.
    """
    named.context.work.spend(named.steps)
    relation = named.context.query(named.query, named.context.deeper())
    return require_few_tables(renamed(relation, named.columns))


def _subquery(node: Node, context: Context, where: Sequence[Node]) -> Scope:
    require_plain(node, "this", "alias")
    alias, columns = _alias(node)
    if is_a(node.this, "Table", "Subquery"):
        scope = _source(node.this, context, where)
        if not alias and not columns:
            return scope
        if len(scope.tables) > 1:
            raise RefusedQuery(
                "Joined tables have one name together", next="Name each table, inside the brackets"
            )
        return Scope.of(renamed(scope.relation, columns), alias)
    relation = context.query(node.this, context.deeper())
    return Scope.of(renamed(relation, columns), alias or "subquery")


def _alias(node: Node) -> tuple[str, tuple[str, ...]]:
    alias = part(node, "alias")
    if alias is None:
        return "", ()
    require_plain(alias, "this", "columns")
    name = part(alias, "this")
    columns = tuple(column.name for column in listed(alias, "columns"))
    return "" if name is None else name.name, columns


def renamed(relation: Relation, columns: tuple[str, ...]) -> Relation:
    """Return the relation with other names for its first fields, as ``AS name (a, b)`` gives."""
    fields = relation.fields()
    if len(columns) > len(fields):
        raise RefusedQuery(
            "There are more names than columns",
            must=f"be at most {len(fields)}",
            got=str(len(columns)),
        )
    if not columns:
        return relation
    names = [*columns, *(field.name for field in fields[len(columns) :])]
    require_unique(names, two_columns)
    return projected(relation, field_values(relation), names)


_NODES_OF_A_STEP = 250


def with_clause(node: Node, context: Context) -> Context:
    """Return the context in which the queries of a WITH have their names."""
    clause = part(node, "with_")
    if clause is None:
        return context
    require_plain(clause, "expressions", next="Write the steps out as queries of their own")
    own: set[str] = set()
    for item in clause.expressions:
        # MATERIALIZED is about speed alone.
        require_plain(item, "this", "alias", "materialized")
        name, columns = _alias(item)
        if name.lower() in own:
            raise RefusedQuery(f"WITH names '{name}' twice", next="Give one another name")
        own.add(name.lower())
        steps = sum(1 for _ in item.this.walk()) // _NODES_OF_A_STEP
        named = Named(query=item.this, columns=columns, context=context, steps=steps)
        read_named(named)  # a query that is never read must be one that could be
        context = context.knowing(name, named)
    return context
