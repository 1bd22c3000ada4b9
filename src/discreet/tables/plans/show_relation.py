"""A relation as text: one line for each operator, what it reads indented below it."""

from collections.abc import Sequence
from functools import singledispatch

from discreet.tables.expression_text import field_names, show_expression
from discreet.tables.relations.distinct import Distinct
from discreet.tables.relations.exists import Exists
from discreet.tables.relations.filter import Filter
from discreet.tables.relations.inner_aggregate import InnerAggregate, InnerTotal
from discreet.tables.relations.join import Join
from discreet.tables.relations.project import Project
from discreet.tables.relations.relation import Relation
from discreet.tables.relations.row_limit import RowLimit
from discreet.tables.relations.scan import PublicScan, Scan
from discreet.tables.relations.union_all import UnionAll
from discreet.tables.relations.window import Ranked, Window


def show_relation(relation: Relation, *, depth: int = 0) -> list[str]:
    """Return the lines of a relation."""
    below = [line for part in relation.inputs() for line in show_relation(part, depth=depth + 1)]
    return ["  " * depth + _line(relation), *below]


def _names(*relations: Relation) -> tuple[str, ...]:
    return field_names([field for relation in relations for field in relation.fields()])


@singledispatch
def _line(relation: Relation) -> str:
    raise TypeError(f"no text for {type(relation).__name__}")


@_line.register
def _(relation: Scan) -> str:
    return f"scan {relation.table.name}{_columns([column.name for column in relation.columns])}"


@_line.register
def _(relation: PublicScan) -> str:
    names = [column.name for column in relation.columns]
    return f"scan public {relation.table.name}{_columns(names)}"


def _columns(names: Sequence[str]) -> str:
    return f": {', '.join(names)}" if names else ""


@_line.register
def _(relation: Filter) -> str:
    return f"filter {show_expression(relation.condition, _names(relation.source))}"


@_line.register
def _(relation: RowLimit) -> str:
    names = _names(relation.source)
    texts = ", ".join(names[i] for i in relation.texts)
    more = f", with {relation.characters:,} characters of {texts} in all" if texts else ""
    return f"at most {relation.rows:,} rows of each owner{more}"


@_line.register
def _(relation: Project) -> str:
    names = _names(relation.source)
    pairs = zip(relation.values, relation.shape, strict=True)
    return f"project{_columns([_named(show_expression(v, names), f.name) for v, f in pairs])}"


def _named(value: str, name: str) -> str:
    return value if value == name else f"{value} as {name}"


@_line.register
def _(relation: Join) -> str:
    kind = "left join" if relation.keep_left else "join"
    return kind + _on(relation)


@_line.register
def _(relation: Exists) -> str:
    return ("anti join" if relation.lacks else "semi join") + _on(relation)


def _on(relation: Join | Exists) -> str:
    owned = " by owner" if relation.right.owner() is not None else ""
    if relation.condition is None:
        return owned
    names = _names(relation.left, relation.right)
    return f"{owned} on {show_expression(relation.condition, names)}"


@_line.register
def _(relation: Distinct) -> str:
    return "distinct" + (" by owner" if relation.owner() is not None else "")


@_line.register
def _(relation: UnionAll) -> str:
    return "union all"


@_line.register
def _(relation: InnerAggregate) -> str:
    names = _names(relation.source)
    owner = ["owner"] if relation.owner() is not None else []
    keys = ", ".join([*owner, *(names[key] for key in relation.keys)])
    totals = ", ".join(_total(total, names) for total in relation.totals)
    return f"totals by ({keys}): {totals}"


def _total(total: InnerTotal, names: Sequence[str]) -> str:
    value = "*" if total.value is None else show_expression(total.value, names)
    grid = ""
    if total.bounds is not None:
        grid = f" in {total.bounds.lower} to {total.bounds.upper} by {total.bounds.step}"
    return f"{total.total.value}({value}{grid})"


@_line.register
def _(relation: Window) -> str:
    names = _names(relation.source)
    owner = ["owner"] if relation.owner() is not None else []
    parts = [*owner, *(show_expression(part, names) for part in relation.partition)]
    order = [
        show_expression(key.value, names) + (" desc" if key.descending else "")
        for key in relation.order
    ]
    by = f" order by {', '.join(order)}" if order else ""
    return f"window {_function(relation.function, names)} over ({', '.join(parts)}{by})"


def _function(function: InnerTotal | Ranked, names: Sequence[str]) -> str:
    if isinstance(function, InnerTotal):
        return _total(function, names)
    if function.value is None:
        return f"{function.ranking.value}()"
    value = show_expression(function.value, names)
    return f"{function.ranking.value}({value}, {function.offset})"
