"""What a field of a relation is made from: values over relations below, down to the tables."""

from collections.abc import Iterator

from attrs import frozen

from discreet.tables.expression import Expression, FieldValue, fields_in
from discreet.tables.relations.join import Exists, Join
from discreet.tables.relations.relation import OneSource, Projection, Relation, UnionAll
from discreet.tables.relations.totals import InnerAggregate, InnerTotal, Ranked, Window


@frozen
class MadePart:
    """A value over the fields of a relation, and what is worked out over rows, if anything."""

    relation: Relation
    value: Expression
    function: InnerTotal | Ranked | None = None


def made_from(relation: Relation, index: int) -> tuple[MadePart, ...]:
    """Return what a field is made from one relation further down; nothing if it is a column."""
    match relation:
        case Projection():
            return (MadePart(relation.source, relation.values[index]),)
        case InnerAggregate() if index < len(relation.keys):
            return _same(relation.source, relation.keys[index])
        case InnerAggregate():
            return _worked_out(relation.source, relation.totals[index - len(relation.keys)])
        case Window() if index == len(relation.source.fields()):
            return _worked_out(relation.source, relation.function)
        case OneSource():
            return _same(relation.source, index)
        case Join():
            first = len(relation.left.fields())
            is_left = index < first
            return _same(*((relation.left, index) if is_left else (relation.right, index - first)))
        case Exists():
            return _same(relation.left, index)
        case UnionAll():
            return tuple(part for side in relation.inputs() for part in _same(side, index))
        case _:
            return ()


def _same(relation: Relation, index: int) -> tuple[MadePart, ...]:
    return (MadePart(relation, FieldValue(relation.fields()[index].type, index)),)


def _worked_out(relation: Relation, function: InnerTotal | Ranked) -> tuple[MadePart, ...]:
    return () if function.value is None else (MadePart(relation, function.value, function),)


def is_column(relation: Relation, value: Expression) -> bool:
    """Tell whether a value is a column of a table as it is, on every side of a union."""
    if not isinstance(value, FieldValue):
        return False
    if not relation.inputs():
        return True
    parts = made_from(relation, value.index)
    return bool(parts) and all(
        part.function is None and is_column(part.relation, part.value) for part in parts
    )


def parts_of(relation: Relation, value: Expression) -> Iterator[MadePart]:
    """Return a value and all that its fields are made from, each field of a relation once."""
    waiting, seen = [MadePart(relation, value)], set[tuple[int, int]]()
    while waiting:
        part = waiting.pop()
        yield part
        for index in sorted(fields_in(part.value)):
            if (id(part.relation), index) not in seen:
                seen.add((id(part.relation), index))
                waiting += made_from(part.relation, index)
