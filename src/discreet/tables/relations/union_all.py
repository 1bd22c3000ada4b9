"""Union all: the rows of several relations, each with its owner."""

from typing import ClassVar

from attrs import evolve, frozen

from discreet.core.errors import RefusedQuery
from discreet.tables.relations.relation import (
    Field,
    OnBothSides,
    Owner,
    Relation,
    common_owner,
)


@frozen(kw_only=True)
class UnionAll(Relation):
    """The rows of two relations. A person on both sides is one owner of all of their rows."""

    stored_as: ClassVar[str] = "UnionAll"
    first: Relation
    second: Relation

    def __attrs_post_init__(self) -> None:
        """Refuse sides of different shape or with different owners."""
        types = [[field.type for field in side.fields()] for side in self.inputs()]
        if types[0] != types[1]:
            raise RefusedQuery(
                "The sides of a UNION ALL have different columns",
                must="have as many, of the same types in the same order",
                got=" and ".join(", ".join(kind.value for kind in side) for side in types),
            )
        if (self.first.owner() is None) != (self.second.owner() is None):
            raise RefusedQuery("UNION ALL takes private tables or public ones, not both")
        if self.first.owner() is not None:
            common_owner(self.first, self.second)

    def fields(self) -> tuple[Field, ...]:
        """Return the fields of the first; what is known of a value must be so on both sides."""
        pairs = zip(self.first.fields(), self.second.fields(), strict=True)
        return tuple(_common(first, second) for first, second in pairs)

    def owner(self) -> Owner | None:
        """Return the owner of both."""
        return self.first.owner()

    def inputs(self) -> tuple[Relation, ...]:
        """Return both sides."""
        return (self.first, self.second)


def _common(first: Field, second: Field) -> Field:
    is_declared = first.made is None and second.made is None
    return evolve(
        first,
        bounds=first.bounds if first.bounds == second.bounds else None,
        dates=first.dates if first.dates == second.dates else None,
        keys=first.keys if is_declared and first.keys == second.keys else None,
        made=None if is_declared else OnBothSides(first, second),
        nullable=first.nullable or second.nullable,
        unit_part=first.unit_part if first.unit_part == second.unit_part else None,
        origin=None,
    )
