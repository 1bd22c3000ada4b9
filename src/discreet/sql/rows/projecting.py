"""Fields of computed values: what the public knows of a value follows from the expression."""

from collections.abc import Sequence

from attrs import evolve

from discreet.sql.rows.unit_key import unit_part
from discreet.tables.expression import Expression, FieldValue
from discreet.tables.functions.proposal import propose_bounds
from discreet.tables.relations.project import Project
from discreet.tables.relations.relation import Computed, Field, Relation


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


def projected(relation: Relation, values: Sequence[Expression], names: Sequence[str]) -> Relation:
    """Return the relation with other fields."""
    pairs = zip(values, names, strict=True)
    fields = relation.fields()
    shape = tuple(_field_of(value, relation, fields, name=name) for value, name in pairs)
    return Project(source=relation, values=tuple(values), shape=shape)


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
    kept = [FieldValue(field.type, i) for i, field in enumerate(fields)]
    old = [field.name for field in fields]
    return projected(relation, [*kept, *new], [*old, *new.values()]), indices
