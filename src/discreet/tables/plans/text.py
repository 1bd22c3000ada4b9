"""A bounded plan as text: whose privacy, the groups, the limits, and one line for each operator."""

from collections.abc import Sequence
from functools import singledispatch

from discreet.core.contribution import Contribution
from discreet.tables.keyset import Keys, PrivateKeys, PublicKeys
from discreet.tables.plans.expression_text import field_names, show_expression
from discreet.tables.plans.plan import BoundedPlan
from discreet.tables.relations.join import Exists, Join
from discreet.tables.relations.relation import (
    Distinct,
    Filter,
    Projection,
    Relation,
    RowLimit,
    RowOwner,
    UnionAll,
)
from discreet.tables.relations.scan import PublicScan, Scan
from discreet.tables.relations.totals import InnerAggregate, InnerTotal, Ranked, Window

# ---- A relation as text: one line for each operator, what it reads indented below it.


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
def _(relation: Projection) -> str:
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


def show(plan: BoundedPlan) -> str:
    """Return the plan as text. All of it is public."""
    names = field_names(plan.relation.fields())
    rows, groups = plan.limits.rows_per_group, plan.limits.groups_per_unit
    limits = f"{_many(rows, 'row')} of a unit in each group, {_many(groups, 'group')} of a unit"
    if plan.limits.rows_per_unit is not None:
        limits += f", {_many(plan.limits.rows_per_unit, 'row')} of a unit over all groups"
    aggregates = zip(plan.aggregates, plan.contributions(), strict=True)
    return "\n".join(
        [
            f"unit: {_owner(plan.owner())}",
            f"limits: {limits}",
            f"keys: {_keys(plan.keys, names)}",
            *(f"{part.plan_text(names)}: {_moves(reach)}" for part, reach in aggregates),
            *show_relation(plan.relation),
        ]
    )


def _owner(owner: RowOwner) -> str:
    unit = owner.unit
    column = "a row" if unit.column is None else unit.owner_text()
    period = "" if unit.period is None else f" and {unit.period.length.value}"
    return f"{column}{period} of {unit.id_space}"


def _keys(keys: Keys, names: Sequence[str]) -> str:
    grouped = [names[index] for index in keys.fields]
    if isinstance(keys, PrivateKeys):
        pairs = zip(grouped, keys.allowed, strict=True)
        shown = [name if known is None else f"{name} of {len(known)}" for name, known in pairs]
        return f"private ({', '.join(shown)})"
    assert isinstance(keys, PublicKeys)
    sets = [
        f"({', '.join(grouped[place] for place in part.places)}) {len(part.rows)}"
        for part in keys.sets
    ]
    return f"public {', '.join(sets)}"


def _moves(reach: Contribution) -> str:
    is_less = None not in (reach.l0, reach.linf) and reach.l1 != (reach.l0 or 0) * (reach.linf or 0)
    in_all = f", {reach.l1} in all" if is_less else ""
    return f"a unit moves {_many(reach.l0, 'group')} by at most {reach.linf}{in_all}"


def _many(count: int | None, word: str) -> str:
    shown = "any number of" if count is None else str(count)
    return f"{shown} {word}" if count == 1 else f"{shown} {word}s"
