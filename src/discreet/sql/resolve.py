"""Resolve: statement to question. Names are looked up; only public tables are ever read.

Read this page first: ``_resolve`` goes through a query from top to bottom. ``rows/`` is what lies
below the aggregates, ``aggregates/`` what they are, ``outputs/`` what lies above them.
"""

from collections.abc import Sequence

from attrs import evolve, frozen

from discreet.core.errors import RefusedQuery
from discreet.core.loss import short
from discreet.core.recursion import refusing_depth
from discreet.releases.view import View
from discreet.sql.aggregates.clamps import ChooseBounds, nothing_chosen
from discreet.sql.blocks.distinct import with_groups
from discreet.sql.blocks.merge import merged
from discreet.sql.blocks.mode import mode_of, with_mode
from discreet.sql.blocks.side_by_side import is_side_by_side
from discreet.sql.outputs.outputs import OrderItem, Outputs, resolve_outputs
from discreet.sql.parse import Statement
from discreet.sql.question import Question, Size
from discreet.sql.rows.fields import extended
from discreet.sql.rows.grouping import resolve_grouping
from discreet.sql.rows.items import Item, is_star, item_value, lateral, output_names, with_aliases
from discreet.sql.rows.joins import with_partners
from discreet.sql.rows.keys import resolve_keys
from discreet.sql.rows.possible_keys import possible_keys
from discreet.sql.rows.query import resolve_query
from discreet.sql.rows.scope import Context, PublicRows, Scope, example
from discreet.sql.rows.sources import require_read_from
from discreet.sql.rows.where import filtered, opened
from discreet.sql.syntax.databases import without_database
from discreet.sql.syntax.nodes import (
    Node,
    condition_of,
    is_set,
    order_items,
    part,
    require_plain,
    small_number,
)
from discreet.sql.syntax.options import Options
from discreet.tables.catalog import Catalog, Limits, with_given
from discreet.tables.column import Bounds
from discreet.tables.expression import Expression, FieldValue
from discreet.tables.functions.public_values import Enumeration
from discreet.tables.keyset import PrivateKeys, PublicKeys
from discreet.tables.relations.join import Exists
from discreet.tables.relations.relation import Field, Relation, RowOwner
from discreet.tables.relations.scan import Scan


@refusing_depth
def resolve(
    statement: Statement,
    catalog: Catalog,
    public_rows: PublicRows,
    enumeration: Enumeration | None = None,
    choose: ChooseBounds = nothing_chosen,
    *,
    takes_private: bool = True,
) -> Question:
    """Return the question that ``statement`` asks about the declared tables.

    ``public_rows`` reads a public relation, for keys that come from public tables. No private row
    is read, so nothing here depends on private data: neither the question nor a refusal.
    Questions that are asked together share an ``enumeration`` of their keys. ``choose`` returns the
    bounds of a clamp that are to be chosen from what is public. A question that takes no private
    keys groups whole numbers with a declared range by every number of it.
    """
    enumeration = (enumeration or Enumeration()).begin()
    select = without_database(statement.select, catalog.name)
    options = statement.options
    context = Context(catalog=catalog, query=resolve_query, public_rows=public_rows)
    # An answer that the query reads, and what stands above it, are one SELECT.
    select = with_groups(merged(with_mode(select), context))
    _require_supported(select)
    # WITH, FROM and WHERE say which rows count.
    asked = opened(select, context)
    select, scope = asked.select, asked.scope
    _require_unit(options, _require_private(scope, select, catalog))
    items = _items(select, scope, catalog)
    conditions = [with_aliases(node, items, scope) for node in asked.conditions]
    scope = filtered(scope, conditions, asked.context)
    # GROUP BY says which groups there are.
    grouping = resolve_grouping(select, items, scope)
    relation, fields = extended(scope.relation, grouping.keys, grouping.names)
    keys = resolve_keys(
        grouping,
        scope.relation,
        fields,
        public_rows=public_rows,
        selection=options.group_selection,
        enumeration=enumeration,
        takes_private=takes_private and not is_side_by_side(select),
    )
    if is_side_by_side(select) and isinstance(keys, PrivateKeys):
        raise RefusedQuery(
            "Answers with private groups cannot be joined: each has groups of its own",
            must="have public keys",
            next="Ask for both in one SELECT, such as COUNT(*) FILTER (WHERE ...)",
        )
    possible = possible_keys(grouping.keys, scope.relation, keys)
    over = _OutputScope(
        scope=scope.over(relation),
        keys=grouping.keys,
        has_private_keys=isinstance(keys, PrivateKeys),
        choose=choose,
    )
    # SELECT, HAVING and ORDER BY say which aggregates are wanted, and what is shown of them.
    outputs = _outputs(select, items, over)
    if not outputs.aggregates and isinstance(keys, PublicKeys):
        raise RefusedQuery(
            "The query asks for no aggregate",
            must="ask for COUNT, SUM, AVG or another aggregate",
            next="Single rows are never shown, and public groups are known already. Write, for"
            f" example, {example(scope, catalog)}",
        )
    mode = mode_of(select, len(grouping.keys), outputs.aggregates)
    view = evolve(outputs.view, possible=possible, mode=mode)
    question = Question(
        relation=with_partners(relation, public_rows),
        keys=keys,
        limits=_limits(relation, options),
        aggregates=outputs.aggregates,
        weights=outputs.weights,
        view=_with_ranges(view, enumeration, grouping.keys, scope.relation.fields()),
        price=options.price(),
    )
    Size.of(question).require_small()
    return question


def _with_ranges(
    view: View, enumeration: Enumeration, keys: Sequence[Expression], fields: Sequence[Field]
) -> View:
    """Return the view with a remark on keys that are a range, or are worked out from one."""
    grouped = {fields[key.index].name for key in keys if isinstance(key, FieldValue)}
    remarks = (
        _range_remark(name, known, is_computed=name not in grouped)
        for name, known in enumeration.ranges.items()
    )
    return evolve(view, remarks=(*view.remarks, *remarks))


def _range_remark(name: str, known: Bounds, *, is_computed: bool) -> str:
    """Return what is said of a declared range: which rows are in the groups, if data break it."""
    span = f"{short(known.lower)} to {short(known.upper)}"
    if not is_computed:
        return (
            f"The groups of {name} are the whole numbers of its declared range, {span}: rows with"
            " another value, or none, are in no group."
        )
    return (
        f"The groups are worked out from the whole numbers of the declared range of {name}, {span}:"
        " rows with another value are counted where it falls into one of them, and in no group"
        " else."
    )


_PARTS = (
    "expressions",
    "from_",
    "joins",
    "where",
    "group",
    "having",
    "qualify",
    "order",
    "limit",
    "offset",
    "with_",
)


def _require_supported(select: Node) -> None:
    if is_set(select, "distinct"):
        raise RefusedQuery(
            "SELECT DISTINCT is not supported in the outermost SELECT",
            next="GROUP BY the columns instead: SELECT column, COUNT(*) ... GROUP BY column",
        )
    if is_set(select, "windows"):
        raise RefusedQuery(
            "WINDOW is not supported in the outermost SELECT", next="Write it out, in OVER (...)"
        )
    require_plain(select, *_PARTS, next="Put it into a sub-query: FROM (SELECT ...) AS t")


def _items(select: Node, scope: Scope, catalog: Catalog) -> list[Item]:
    """Return what SELECT names, with aliases written out."""
    names = output_names(select.expressions)
    stars = [item for item in select.expressions if is_star(item)]
    if stars or not select.expressions:
        raise RefusedQuery(
            "* would show single rows" if stars else "SELECT names nothing to show",
            must="ask for COUNT, SUM, AVG or another aggregate",
            next=f"Single rows are never shown. Write, for example, {example(scope, catalog)}",
        )
    values = [item_value(item) for item in select.expressions]
    return lateral(list(zip(names, values, strict=True)), scope)


def _require_private(scope: Scope, select: Node, catalog: Catalog) -> RowOwner:
    owner = scope.relation.owner()
    if owner is None:
        require_read_from(select, catalog)
        raise RefusedQuery(
            "Only public tables are asked about, so there is nothing to protect",
            must="read a private table",
            next="Read the public table directly: it costs nothing",
        )
    return owner


def _require_unit(options: Options, owner: RowOwner) -> None:
    asked, declared = options.unit_column, owner.unit.column
    if asked is not None and owner.unit.others:
        raise RefusedQuery(
            "privacy_unit_column names one column, and several name the unit together",
            must=f"be left out: {owner.unit.owner_text()} are declared",
            got=asked[:40],
        )
    if asked is not None and (declared is None or asked.lower() != declared.lower()):
        raise RefusedQuery(
            "privacy_unit_column is not the declared unit",
            must=f"be {declared}" if declared else "be left out: each row is a unit",
            got=asked[:40],
        )


@frozen(kw_only=True)
class _OutputScope:
    """The rows and the keys, for the outputs."""

    scope: Scope
    keys: tuple[Expression, ...]
    has_private_keys: bool
    choose: ChooseBounds

    @property
    def relation(self) -> Relation:
        return self.scope.relation

    def row(self, node: Node) -> Expression:
        return self.scope.row(node)


def _outputs(select: Node, items: list[Item], scope: _OutputScope) -> Outputs:
    return resolve_outputs(
        items=items,
        having=condition_of(select, "having"),
        qualify=condition_of(select, "qualify"),
        order=_order(select),
        limit=_count(select, "limit"),
        offset=_count(select, "offset"),
        scope=scope,
    )


def _order(select: Node) -> list[OrderItem]:
    """Return what ORDER BY names."""
    items = order_items(select)
    for item in items:
        require_plain(item, "this", "desc", "nulls_first")
    return [
        OrderItem(
            node=item.this,
            descending=is_set(item, "desc"),
            nulls_first=is_set(item, "nulls_first"),
        )
        for item in items
    ]


_MOST_DIGITS = 9


def _count(select: Node, name: str) -> int | None:
    """Return the number of LIMIT or OFFSET."""
    clause = part(select, name)
    if clause is None:
        return None
    require_plain(clause, "expression", next="Write LIMIT 10, or LIMIT 10 OFFSET 20")
    number = small_number(clause.expression, _MOST_DIGITS)
    if number is None:
        raise RefusedQuery(f"{name.upper()} takes a whole number", next=f"Write {name.upper()} 10")
    return number


def _limits(relation: Relation, options: Options) -> Limits:
    """Return the widest limits of the private tables whose rows count, or those that are given.

    In a join of tables a row of the result can be one of either, so the narrower limit would leave
    out what its owner allowed to count; and the order of the tables does not matter.
    """
    found = {
        "rows_per_group": options.rows_per_group,
        "groups_per_unit": options.groups_per_unit,
        "rows_per_unit": options.rows_per_unit,
    }
    given = {name: limit for name, limit in found.items() if limit is not None}
    declared = [scan.table.limits for scan in _counted(relation)]
    over_all = [limits.rows_per_unit for limits in declared if limits.rows_per_unit is not None]
    widest = Limits(
        rows_per_group=max(limits.rows_per_group for limits in declared),
        groups_per_unit=max(limits.groups_per_unit for limits in declared),
        rows_per_unit=max(over_all) if len(over_all) == len(declared) else None,
    )
    return with_given(widest, given)


def _counted(relation: Relation) -> list[Scan]:
    """Return the private tables whose rows are in the relation, not only looked at by EXISTS."""
    if isinstance(relation, Scan):
        return [relation]
    sources = (relation.left,) if isinstance(relation, Exists) else relation.inputs()
    return [scan for source in sources for scan in _counted(source)]
