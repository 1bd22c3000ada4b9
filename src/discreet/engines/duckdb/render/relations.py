"""Relations in DuckDB's SQL, one rule for each operator.

Every rule keeps the hidden owner columns, and every rule that puts rows together does so within
one owner. Nothing here can raise on any data: casts are TRY_CAST, arithmetic is total.
"""

from collections.abc import Iterator, Sequence
from functools import singledispatch

from discreet.core.errors import Unsupported
from discreet.engines.duckdb.render.expression import expression
from discreet.engines.duckdb.render.owner import (
    HASH,
    owner_columns,
    same_owner,
    scanned_owner,
    unit_values,
)
from discreet.engines.duckdb.render.pairs import fields, pairs
from discreet.engines.duckdb.render.sample import sample
from discreet.engines.duckdb.render.totals import total, window_value
from discreet.engines.duckdb.render.values import column_value
from discreet.engines.duckdb.sources.opened import Opened
from discreet.tables.relations.distinct import Distinct
from discreet.tables.relations.exists import Exists
from discreet.tables.relations.filter import Filter
from discreet.tables.relations.inner_aggregate import InnerAggregate
from discreet.tables.relations.join import Join
from discreet.tables.relations.project import Project
from discreet.tables.relations.relation import Relation
from discreet.tables.relations.row_limit import RowLimit
from discreet.tables.relations.scan import PublicScan, Scan
from discreet.tables.relations.union_all import UnionAll
from discreet.tables.relations.window import Window

Sources = Iterator[Opened]
"""The opened sources of a relation's scans, in the order in which the scans stand in it."""


@singledispatch
def select(relation: Relation, sources: Sources) -> str:
    """Return the SELECT of a relation: the owner's columns, then ``f0``, ``f1`` and so on."""
    raise Unsupported("DuckDB cannot run this relation", got=type(relation).__name__)


@select.register
def _(node: Scan, sources: Sources) -> str:
    opened = next(sources)
    values = _columns(node, opened)
    shown = [*scanned_owner(node.table, opened, values), *_named(values)]
    owned = [f"{value} IS NOT NULL" for value in unit_values(node.table, opened)]
    return f"SELECT {', '.join(shown)} FROM {opened.relation}{_where(owned)}"


@select.register
def _(node: PublicScan, sources: Sources) -> str:
    opened = next(sources)
    values = _columns(node, opened)
    return f"SELECT {_list(_named(values))} FROM {opened.relation}"


@select.register
def _(node: Filter, sources: Sources) -> str:
    source = select(node.source, sources)
    condition = expression(node.condition, fields(len(node.fields())))
    return f"SELECT * FROM ({source}) WHERE {condition}"


@select.register
def _(node: Project, sources: Sources) -> str:
    source = select(node.source, sources)
    cells = fields(len(node.source.fields()))
    values = [expression(value, cells) for value in node.values]
    return f"SELECT {_list([*owner_columns(node), *_named(values)])} FROM ({source})"


@select.register
def _(node: Join, sources: Sources) -> str:
    sides = pairs(node, select(node.left, sources), select(node.right, sources))
    before, after = len(node.left.fields()), len(node.right.fields())
    shown = [
        *(f"l.{name}" for name in owner_columns(node.left)),
        *fields(before, "l"),
        *(f"r.f{i} AS f{before + i}" for i in range(after)),
    ]
    kind = "LEFT JOIN" if node.keep_left else "JOIN"
    joined = f"({sides.left}) AS l {kind} ({sides.right}) AS r ON {sides.on}"
    return f"SELECT {_list(shown)} FROM {joined}"


@select.register
def _(node: Exists, sources: Sources) -> str:
    sides = pairs(node, select(node.left, sources), select(node.right, sources))
    shown = [*(f"l.{name}" for name in owner_columns(node)), *fields(len(node.fields()), "l")]
    kind = "ANTI JOIN" if node.lacks else "SEMI JOIN"
    joined = f"({sides.left}) AS l {kind} ({sides.right}) AS r ON {sides.on}"
    return f"SELECT {_list(shown)} FROM {joined}"


@select.register
def _(node: RowLimit, sources: Sources) -> str:
    names, owner = fields(len(node.fields())), owner_columns(node)
    unit, shown = ", ".join(owner[:-1]), _list([*owner, *names])
    many, size = f"count(*) > {node.rows}", ""
    if node.texts:
        size = " + ".join(f"coalesce(length(f{i}), 0)" for i in node.texts)
        many += f" OR sum({size}) > {node.characters}"
    same, nobody = " AND ".join(same_owner(node, node)), ", ".join("NULL" for _ in owner[:-1])
    # Few owners have so many rows: the others' need not be put in order. That there is one must not
    # decide whether everybody's rows are looked up: so nobody counts as crowded.
    kept = sample(
        f"(SELECT l.* FROM limited AS l SEMI JOIN crowded AS r ON {same})",
        within=owner[:-1],
        key=[HASH],
        content=names,
        most=node.rows,
        size=(size, node.characters) if size else None,
    )
    return f"""SELECT {shown} FROM (WITH limited AS MATERIALIZED ({select(node.source, sources)}),
crowded AS (SELECT {unit} FROM limited GROUP BY {unit} HAVING {many} UNION ALL SELECT {nobody})
SELECT {shown} FROM limited AS l ANTI JOIN crowded AS r ON {same}
UNION ALL SELECT {shown} FROM ({kept}))"""


@select.register
def _(node: Distinct, sources: Sources) -> str:
    return f"SELECT DISTINCT * FROM ({select(node.source, sources)})"


@select.register
def _(node: UnionAll, sources: Sources) -> str:
    sides = [f"SELECT * FROM ({select(side, sources)})" for side in node.inputs()]
    return " UNION ALL ".join(sides)


@select.register
def _(node: InnerAggregate, sources: Sources) -> str:
    source = select(node.source, sources)
    cells = fields(len(node.source.fields()))
    keys = [cells[i] for i in node.keys]
    values = [*keys, *(total(inner, cells) for inner in node.totals)]
    within = [*owner_columns(node), *keys]
    grouped = f" GROUP BY {', '.join(within)}" if within else ""
    return f"SELECT {_list([*owner_columns(node), *_named(values)])} FROM ({source}){grouped}"


@select.register
def _(node: Window, sources: Sources) -> str:
    source = select(node.source, sources)
    cells = fields(len(node.source.fields()))
    value = window_value(node, cells, within=owner_columns(node))
    return f"SELECT *, {value} AS f{len(cells)} FROM ({source})"


def _columns(node: Scan | PublicScan, opened: Opened) -> list[str]:
    """Return the columns of a scan, texts cut to the characters that count."""
    pairs = zip(node.columns, node.lengths(), strict=True)
    return [column_value(column, opened.cells, longest) for column, longest in pairs]


def _named(values: Sequence[str]) -> list[str]:
    return [f"{value} AS f{i}" for i, value in enumerate(values)]


def _list(items: Sequence[str]) -> str:
    return ", ".join(items) or "1 AS nothing"


def _where(conditions: Sequence[str]) -> str:
    return f" WHERE {' AND '.join(conditions)}" if conditions else ""
