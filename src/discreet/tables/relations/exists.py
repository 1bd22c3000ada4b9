"""Exists: semi- and anti-joins, the rows that have (or lack) a partner."""

from typing import ClassVar

from attrs import frozen

from discreet.core.errors import RefusedQuery
from discreet.tables.expression import Expression
from discreet.tables.relations.relation import Field, Owner, Relation, common_owner


@frozen(kw_only=True)
class Exists(Relation):
    """The rows of ``left`` that have a partner in ``right`` (with ``lacks``: that have none).

    Guarantee:
        Partners of a private row are public rows, or rows of the same owner (engines add the
        equality of owners to the condition). So whether a row stays depends on its owner alone.
    """

    stored_as: ClassVar[str] = "Exists"
    left: Relation
    right: Relation
    condition: Expression | None
    """Over the fields of the left followed by those of the right."""
    lacks: bool = False
    partners: int | None = None
    """How many rows of a public right side are looked at for one of the left, where known."""

    def __attrs_post_init__(self) -> None:
        """Refuse partners of another owner."""
        if self.right.owner() is not None:
            if self.left.owner() is None:
                raise RefusedQuery(
                    "Rows of a public table are chosen by a private one",
                    must="have the private table outside",
                )
            common_owner(self.left, self.right)

    def fields(self) -> tuple[Field, ...]:
        """Return the fields of the left."""
        return self.left.fields()

    def owner(self) -> Owner | None:
        """Return the owner of the left."""
        return self.left.owner()

    def inputs(self) -> tuple[Relation, ...]:
        """Return both sides."""
        return (self.left, self.right)
