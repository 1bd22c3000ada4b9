"""Fields: what is known of a value, and whether it is a part of the unit's key."""

from collections.abc import Iterable, Sequence
from functools import singledispatch

from attrs import evolve

from discreet.core.errors import RefusedQuery
from discreet.core.unit_words import UNITS
from discreet.tables.column import ColumnType
from discreet.tables.expression import Call, Expression, FieldValue, Literal, fields_in
from discreet.tables.functions.conditions import shifted, typed_conjuncts
from discreet.tables.functions.proposal import propose_bounds
from discreet.tables.relations.join import Exists, Join
from discreet.tables.relations.relation import (
    Computed,
    Distinct,
    Field,
    Filter,
    Projection,
    Relation,
    RowOwner,
    UnionAll,
)
from discreet.tables.relations.scan import PublicScan, Scan
from discreet.tables.relations.totals import InnerAggregate, Window


def field_of(expression: Expression, relation: Relation, *, name: str) -> Field:
    """Return the field of an expression over a relation.

    A column that is passed on keeps all that is known of it. Of a computed value a range is
    proposed, and its keys can be worked out if it is grouped by; it is no part of the unit, except
    a period that is.
    """
    return _field_of(expression, relation, relation.fields(), name=name)


def _field_of(
    expression: Expression, relation: Relation, fields: tuple[Field, ...], *, name: str
) -> Field:
    if isinstance(expression, FieldValue):
        return evolve(fields[expression.index], name=name)
    return Field(
        name=name,
        type=expression.type,
        bounds=propose_bounds(expression, fields),
        made=Computed(expression, fields),
        unit_part=unit_part(expression, relation),
    )


def field_values(relation: Relation) -> list[FieldValue]:
    """Return the value of every field, as it is."""
    return [FieldValue(field.type, i) for i, field in enumerate(relation.fields())]


def projected(relation: Relation, values: Sequence[Expression], names: Sequence[str]) -> Relation:
    """Return the relation with other fields."""
    pairs = zip(values, names, strict=True)
    fields = relation.fields()
    shape = tuple(_field_of(value, relation, fields, name=name) for value, name in pairs)
    return Projection(source=relation, values=tuple(values), shape=shape)


def extended(
    relation: Relation, values: Sequence[Expression], names: Sequence[str]
) -> tuple[Relation, tuple[int, ...]]:
    """Return a relation in which every value is a field, and the fields; the old ones come first.

    Values that are fields already need no new one.
    """
    fields = relation.fields()
    new: dict[Expression, str] = {}
    for value, name in zip(values, names, strict=True):
        if not isinstance(value, FieldValue):
            new.setdefault(value, name)
    places = {value: len(fields) + i for i, value in enumerate(new)}
    indices = tuple(
        value.index if isinstance(value, FieldValue) else places[value] for value in values
    )
    if not new:
        return relation, indices
    old = [field.name for field in fields]
    return projected(relation, [*field_values(relation), *new], [*old, *new.values()]), indices


def unit_part(expression: Expression, relation: Relation) -> int | None:
    """Return which part of the unit's key an expression is, if it is one unchanged."""
    if isinstance(expression, FieldValue):
        return relation.fields()[expression.index].unit_part
    if not isinstance(expression, Call):
        return None
    if expression.function == "date_trunc":
        return _period_part(expression.arguments, relation)
    if expression.function == "cast" and expression.type in _CALENDAR:
        return _cast_part(expression.arguments[0], relation)
    return None


_CALENDAR = (ColumnType.DATE, ColumnType.TIMESTAMP)
_DAY = Literal(ColumnType.TEXT, "day")


def _cast_part(value: Expression, relation: Relation) -> int | None:
    """Return the same for a cast between dates and timestamps: a midnight is a day."""
    if value.type not in _CALENDAR:
        return None
    part = unit_part(value, relation)
    return _period_part((_DAY, value), relation) if part is None else part


def _period_part(arguments: tuple[Expression, ...], relation: Relation) -> int | None:
    """Return the place of the period in the key, for date_trunc(length, column) of the period."""
    owner = relation.owner()
    if owner is None or owner.unit.period is None:
        return None
    length, value = arguments
    if not isinstance(length, Literal) or not isinstance(value, FieldValue):
        return None
    if str(length.value).lower() != owner.unit.period.length.value:
        return None
    if not is_period_column(relation, value.index):
        return None
    return len(owner.unit.key_columns()) - 1


@singledispatch
def is_period_column(relation: Relation, index: int) -> bool:
    """Tell whether the field is the column of the unit's period, unchanged."""
    raise TypeError(f"no rule for {type(relation).__name__}")


@is_period_column.register
def _(relation: Scan, index: int) -> bool:
    period = relation.table.unit.period
    name = relation.columns[index].name
    return period is not None and name.lower() == period.column.lower()


@is_period_column.register
def _(relation: PublicScan, index: int) -> bool:
    return False


@is_period_column.register(Filter)
@is_period_column.register(Distinct)
def _(relation: Filter | Distinct, index: int) -> bool:
    return is_period_column(relation.source, index)


@is_period_column.register
def _(relation: Exists, index: int) -> bool:
    return is_period_column(relation.left, index)


@is_period_column.register
def _(relation: Projection, index: int) -> bool:
    value = relation.values[index]
    return isinstance(value, FieldValue) and is_period_column(relation.source, value.index)


@is_period_column.register
def _(relation: Join, index: int) -> bool:
    width = len(relation.left.fields())
    if index < width:
        return is_period_column(relation.left, index)
    return not relation.keep_left and is_period_column(relation.right, index - width)


@is_period_column.register
def _(relation: UnionAll, index: int) -> bool:
    return all(is_period_column(side, index) for side in relation.inputs())


@is_period_column.register
def _(relation: InnerAggregate, index: int) -> bool:
    keys = relation.keys
    return index < len(keys) and is_period_column(relation.source, keys[index])


@is_period_column.register
def _(relation: Window, index: int) -> bool:
    width = len(relation.source.fields())
    return index < width and is_period_column(relation.source, index)


def key_text(owner: RowOwner, parts: Iterable[int] | None = None) -> str:
    """Return the unit's key as a query writes it (or some parts of it)."""
    columns = owner.unit.key_columns()
    wanted = range(len(columns)) if parts is None else sorted(parts)
    return ", ".join(_part_text(owner, columns[part]) for part in wanted)


def _part_text(owner: RowOwner, column: str) -> str:
    period = owner.unit.period
    if period is None or column != period.column:
        return column
    if period.length.value == "day" and not period.has_times:
        return column
    return f"date_trunc('{period.length.value}', {column})"


def require_whole_unit(
    relation: Relation, named: Iterable[Expression], *, where: str, otherwise: str = ""
) -> None:
    """Refuse what puts rows of a private relation together without naming whose they are."""
    owner = relation.owner()
    if owner is None:
        return
    if owner.unit.column is None:
        raise RefusedQuery(
            f"{where} puts rows together, and each row is a unit of its own",
            must="be over a table with a unit column",
        )
    missing = _missing_parts(relation, owner, named)
    if missing:
        raise RefusedQuery(
            f"{where} would put rows of different {UNITS} together",
            must=f"name the whole unit: {key_text(owner)}",
            next=f"Add {key_text(owner, missing)} to it (no expression of it){otherwise}",
        )


def names_whole_unit(relation: Relation, named: Iterable[Expression]) -> bool:
    """Tell whether expressions over a private relation say whose its rows are."""
    owner = relation.owner()
    return owner is not None and not _missing_parts(relation, owner, named)


def _missing_parts(relation: Relation, owner: RowOwner, named: Iterable[Expression]) -> set[int]:
    found = {unit_part(expression, relation) for expression in named}
    return {one for one in range(len(owner.unit.key_columns())) if one not in found}


def require_same_unit(
    left: Relation, right: Relation, condition: Expression | None, *, where: str, rewrite: str
) -> None:
    """Refuse pairs of private rows whose condition does not say that they have the same owner.

    The condition stands over the fields of the left followed by those of the right.
    """
    owner, width = left.owner(), len(left.fields())
    if owner is None or right.owner() is None:
        return
    found = set()
    for part in typed_conjuncts(condition):
        if isinstance(part, Call) and part.function == "=":
            found |= _equal_parts(part.arguments, left, right, width)
    missing = set(range(len(owner.unit.key_columns()))) - found
    if missing:
        raise RefusedQuery(
            f"{where} would pair rows of different {UNITS}",
            must="say that both rows have the same unit, in equalities joined with AND",
            next=f"{rewrite} {_equalities(owner, right.owner() or owner, missing)}",
        )


def _equalities(left: RowOwner, right: RowOwner, parts: Iterable[int]) -> str:
    pairs = [(key_text(left, [part]), key_text(right, [part])) for part in sorted(parts)]
    return " AND ".join(f"{first} = {second}" for first, second in pairs)


def _equal_parts(
    pair: tuple[Expression, ...], left: Relation, right: Relation, width: int
) -> set[int]:
    for first, second in (pair, pair[::-1]):
        is_across = max(fields_in(first), default=width) < width
        if is_across and min(fields_in(second), default=0) >= width:
            part = unit_part(first, left)
            if part is not None and part == unit_part(shifted(second, -width), right):
                return {part}
    return set()
