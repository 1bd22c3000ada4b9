"""Relations in DuckDB's SQL, one rule for each operator.

Every rule keeps the hidden owner columns, and every rule that puts rows together does so within
one owner. Nothing here can raise on any data: casts are TRY_CAST, arithmetic is total.
"""

from collections.abc import Iterator, Sequence
from functools import singledispatch

from discreet.core.errors import Unsupported
from discreet.tables.engines.duckdb_sql.expression import expression
from discreet.tables.engines.duckdb_sql.owner import (
    HASH,
    owner_columns,
    same_owner,
    scanned_owner,
    unit_values,
)
from discreet.tables.engines.duckdb_sql.sample import sample
from discreet.tables.engines.duckdb_sql.totals import total, window_value
from discreet.tables.engines.duckdb_sql.values import column_value
from discreet.tables.expression import Expression
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
from discreet.tables.sources.opened import Opened

Sources = Iterator[Opened]
"""The opened sources of a relation's scans, in the order in which the scans stand in it."""


def fields(count: int, row: str = "") -> list[str]:
    """Return the names of the first ``count`` fields, of the row called ``row``."""
    prefix = f"{row}." if row else ""
    return [f"{prefix}f{i}" for i in range(count)]


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
    left, right = select(node.left, sources), select(node.right, sources)
    before, after = len(node.left.fields()), len(node.right.fields())
    shown = [
        *(f"l.{name}" for name in owner_columns(node.left)),
        *fields(before, "l"),
        *(f"r.f{i} AS f{before + i}" for i in range(after)),
    ]
    kind = "LEFT JOIN" if node.keep_left else "JOIN"
    on = _pairs(node.left, node.right, node.condition)
    return f"SELECT {_list(shown)} FROM ({left}) AS l {kind} ({right}) AS r ON {on}"


@select.register
def _(node: Exists, sources: Sources) -> str:
    left, right = select(node.left, sources), select(node.right, sources)
    kind = "ANTI JOIN" if node.lacks else "SEMI JOIN"
    on = _pairs(node.left, node.right, node.condition)
    return f"SELECT l.* FROM ({left}) AS l {kind} ({right}) AS r ON {on}"


@select.register
def _(node: RowLimit, sources: Sources) -> str:
    names, owner = fields(len(node.fields())), owner_columns(node)
    unit, shown = ", ".join(owner[:-1]), _list([*owner, *names])
    many, size = f"count(*) > {node.rows}", ""
    if node.texts:
        size = " + ".join(f"coalesce(length(f{i}), 0)" for i in node.texts)
        many += f" OR sum({size}) > {node.characters}"
    # Few owners have so many rows: the others' need not be put in order.
    kept = sample(
        f"(SELECT * FROM limited SEMI JOIN crowded USING ({unit}))",
        within=owner[:-1],
        key=[HASH],
        content=names,
        most=node.rows,
        size=(size, node.characters) if size else None,
    )
    return f"""SELECT {shown} FROM (WITH limited AS MATERIALIZED ({select(node.source, sources)}),
crowded AS (SELECT {unit} FROM limited GROUP BY {unit} HAVING {many})
SELECT {shown} FROM limited ANTI JOIN crowded USING ({unit})
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


def _pairs(left: Relation, right: Relation, condition: Expression | None) -> str:
    """Return when two rows make a pair: always within one owner, if both have one."""
    cells = [*fields(len(left.fields()), "l"), *fields(len(right.fields()), "r")]
    asked = [] if condition is None else [f"({expression(condition, cells)})"]
    return " AND ".join([*same_owner(left, right), *asked]) or "TRUE"


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
