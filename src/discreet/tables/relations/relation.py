"""A relation: rows of typed fields, and the owner of each row if they are private."""

from attrs import field, frozen

from discreet.core.errors import RefusedQuery
from discreet.tables.catalog import PrivacyUnit
from discreet.tables.column import Bounds, ColumnType, DateRange, Key
from discreet.tables.expression import Expression


@frozen(kw_only=True)
class Owner:
    r"""Who owns each row of a private relation: a unit of an id space.

    Guarantee:
        In every engine the owner is a hidden column that no query can name, rename or compute.
        A scan sets it from the declared unit and drops rows without one; every operator passes it
        on, and the ones that put rows together (join, semi-join, distinct, window, inner
        aggregate) only put together rows of *one* owner. By induction over the tree, the rows of
        one owner depend on its own rows in the sources and on public data alone: the relation is
        owner-local.
    """

    unit: PrivacyUnit
    type: ColumnType
    """The type of the unit's column, for comparing owners of two tables; integer for rows."""


@frozen(kw_only=True)
class Field:
    """One field of a relation, and what the public knows about its values.

    Nothing here is relied on for privacy: ranges only propose a clamp, and ``unit_part`` only tells
    whether the query names the whole unit where it must.
    """

    name: str
    type: ColumnType
    bounds: Bounds | None = None
    dates: DateRange | None = None
    keys: tuple[Key, ...] | None = None
    nullable: bool = True
    unit_part: int | None = None
    """Which part of the unit's key this is (0 the person, 1 the period), if it is one unchanged."""
    origin: "Origin | None" = field(default=None, repr=False)
    """Where the value comes from, if from a public relation: its values are public keys."""
    made: "Computed | OnBothSides | None" = field(default=None, repr=False, eq=False)
    """How its keys can be worked out, if there are none here and somebody groups by it."""


@frozen(eq=False)
class Computed:
    """A value over other fields: its keys follow from theirs, and are worked out when needed."""

    value: Expression
    fields: tuple[Field, ...]


@frozen(eq=False)
class OnBothSides:
    """A field of two relations, one below the other: its keys are those of both, if they agree."""

    first: Field
    second: Field


@frozen(kw_only=True)
class Relation:
    """Rows of typed fields. Private if it has an owner, public otherwise."""

    def fields(self) -> tuple[Field, ...]:
        """Return the fields, in order."""
        raise NotImplementedError

    def owner(self) -> Owner | None:
        """Return who owns the rows, or None if they are public."""
        raise NotImplementedError

    def inputs(self) -> tuple["Relation", ...]:
        """Return the relations that this one reads."""
        raise NotImplementedError


@frozen(kw_only=True)
class OneSource(Relation):
    """A relation over one other, with its owner; with its fields too, unless it says otherwise."""

    source: Relation

    def fields(self) -> tuple[Field, ...]:
        """Return the fields of the source."""
        return self.source.fields()

    def owner(self) -> Owner | None:
        """Return the owner of the source."""
        return self.source.owner()

    def inputs(self) -> tuple[Relation, ...]:
        """Return the source."""
        return (self.source,)


@frozen
class Origin:
    """A field of a public relation that was joined in."""

    relation: Relation
    index: int


def common_owner(left: Relation, right: Relation) -> Owner:
    """Return the owner of two private relations that are put together by owner."""
    first, second = left.owner(), right.owner()
    assert first is not None
    assert second is not None
    if not _is_one_kind(first, second):
        raise RefusedQuery(
            "Two private tables with different units cannot be put together",
            must="be about the same id space, with the same kind of unit",
            got=f"{_shown(first)}, {_shown(second)}",
        )
    if first.unit.column is None:
        raise RefusedQuery(
            "A table whose unit is a row cannot be joined with a private one",
            must="have an owner that both tables name",
            next="Declare a unit column, if the rows belong to people",
        )
    return first


def _is_one_kind(first: Owner, second: Owner) -> bool:
    lengths = [owner.unit.period and owner.unit.period.length for owner in (first, second)]
    return (
        first.unit.id_space == second.unit.id_space
        and first.type is second.type
        and (first.unit.column is None) == (second.unit.column is None)
        and lengths[0] == lengths[1]
    )


def _shown(owner: Owner) -> str:
    unit = owner.unit
    if unit.column is None:
        return f"a row of {unit.id_space}"
    period = "" if unit.period is None else f" and {unit.period.length.value}"
    return f"{unit.column} ({owner.type.value}){period} of {unit.id_space}"
