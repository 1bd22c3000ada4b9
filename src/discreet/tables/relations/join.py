"""Pairs of rows: joins, and rows with a partner. Two private rows must have the same owner."""

from typing import ClassVar

from attrs import evolve, frozen

from discreet.core.errors import RefusedQuery
from discreet.tables.expression import Call, Expression, FieldValue
from discreet.tables.relations.relation import Field, Origin, Relation, RowOwner, common_owner


@frozen(kw_only=True)
class Join(Relation):
    """Pairs of rows of ``left`` and ``right`` for which ``condition`` is true.

    Guarantee:
        Private with public: a pair belongs to the owner of its private row, and which pairs that
        row makes depends on public data alone. Private with private: engines add the equality of
        owners to the condition, so a pair has one owner. With ``keep_left`` a row of the left that
        makes no pair stays, with NULL on the right, and so with the owner of the left. A public
        left side of a private right one is refused, so a public row never shows whether
        anybody matched it.
    """

    stored_as: ClassVar[str] = "Join"
    left: Relation
    right: Relation
    condition: Expression | None
    """Over the fields of the left followed by those of the right."""
    keep_left: bool = False
    partners: int | None = None
    """How many rows of a public right side can meet one row of the left, where that is known."""

    def __attrs_post_init__(self) -> None:
        """Refuse pairs that have no single owner."""
        if self.right.owner() is not None:
            if self.left.owner() is None:
                raise RefusedQuery(
                    "A public table stands on the left of a private one",
                    must="have the private table first",
                    next="Write FROM private JOIN public (a public side is never preserved)",
                )
            common_owner(self.left, self.right)

    def fields(self) -> tuple[Field, ...]:
        """Return the fields of the left, then those of the right."""
        left, right = list(self.left.fields()), self._right_fields()
        if not self.keep_left:
            for mine, theirs in equal_fields(self.condition, len(left)):
                origin = right[theirs].origin
                if origin is not None and left[mine].type is right[theirs].type:
                    # Equal to a value of a public row, so it is one of the public values.
                    left[mine] = evolve(left[mine], origin=origin)
        return (*left, *right)

    def _right_fields(self) -> list[Field]:
        fields = list(self.right.fields())
        if self.right.owner() is None and self.left.owner() is not None:
            fields = [evolve(field, origin=Origin(self.right, i)) for i, field in enumerate(fields)]
        if self.keep_left:
            fields = [
                evolve(field, nullable=True, unit_part=None, origin=_lacking(field.origin))
                for field in fields
            ]
        return fields

    def owner(self) -> RowOwner | None:
        """Return the owner of the left."""
        return self.left.owner()

    def inputs(self) -> tuple[Relation, ...]:
        """Return both sides."""
        return (self.left, self.right)


def _lacking(origin: Origin | None) -> Origin | None:
    return None if origin is None else evolve(origin, may_lack=True)


def equal_fields(condition: Expression | None, width: int) -> list[tuple[int, int]]:
    """Return the pairs of fields, of the left and of the right, that a condition makes equal."""
    found = []
    waiting = [condition]
    while waiting:
        part = waiting.pop()
        if not isinstance(part, Call):
            continue
        if part.function == "and":
            waiting += part.arguments
        elif part.function == "=":
            fields = [side.index for side in part.arguments if isinstance(side, FieldValue)]
            if len(fields) == 2 and min(fields) < width <= max(fields):
                found.append((min(fields), max(fields) - width))
    return found


# ---- Exists: semi- and anti-joins, the rows that have (or lack) a partner.


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

    def owner(self) -> RowOwner | None:
        """Return the owner of the left."""
        return self.left.owner()

    def inputs(self) -> tuple[Relation, ...]:
        """Return both sides."""
        return (self.left, self.right)
