"""A relation: rows of typed fields, and the owner of each row if they are private.

The operators here look at one row, or put rows of several relations side by side.
"""

from typing import ClassVar

from attrs import evolve, field, frozen

from discreet.core.canonical import PRESENTATION
from discreet.core.errors import RefusedQuery
from discreet.tables.catalog import PrivacyUnit
from discreet.tables.column import Bounds, ColumnType, DateRange, Key
from discreet.tables.expression import Expression


@frozen(kw_only=True)
class RowOwner:
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
    others: tuple[ColumnType, ...] = ()
    """The types of the other columns, where several name the unit together."""


@frozen(kw_only=True)
class Field:
    """One field of a relation, and what the public knows about its values.

    Nothing here is relied on for privacy: ranges only propose a clamp, ``unit_part`` only tells
    whether the query names the whole unit where it must, and ``zone`` what AT TIME ZONE means.
    """

    name: str
    type: ColumnType
    bounds: Bounds | None = None
    dates: DateRange | None = None
    keys: tuple[Key, ...] | None = None
    nullable: bool = True
    unit_part: int | None = None
    """Which part of the unit's key this is (0 the person, 1 the period), if it is one unchanged."""
    zone: str | None = None
    """On whose wall a timestamp is read, if that is declared."""
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

    def owner(self) -> RowOwner | None:
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

    def owner(self) -> RowOwner | None:
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
    may_lack: bool = False
    """Whether a row may have met none of the relation, and then has NULL in all of its fields."""


def common_owner(left: Relation, right: Relation) -> RowOwner:
    """Return the owner of two private relations that are put together by owner."""
    first, second = left.owner(), right.owner()
    assert first is not None
    assert second is not None
    if not is_one_kind(first, second):
        raise RefusedQuery(
            "Two private tables with different units cannot be put together",
            must="be about the same id space, with the same kind of unit",
            got=f"{_shown(first)}, {_shown(second)}",
        )
    if first.unit.column is None:
        raise RefusedQuery(
            "A table whose unit is a row cannot be joined with a private one",
            must="have an owner that both tables name",
            next="Declare a unit column, if several rows belong together",
        )
    return first


def is_one_kind(first: RowOwner, second: RowOwner) -> bool:
    """Tell whether two owners can be compared: units of one id space, said in the same way."""
    lengths = [owner.unit.period and owner.unit.period.length for owner in (first, second)]
    return (
        first.unit.id_space == second.unit.id_space
        and (first.type, first.others) == (second.type, second.others)
        and (first.unit.column is None) == (second.unit.column is None)
        and lengths[0] == lengths[1]
    )


def _shown(owner: RowOwner) -> str:
    unit = owner.unit
    if unit.column is None:
        return f"a row of {unit.id_space}"
    period = "" if unit.period is None else f" and {unit.period.length.value}"
    types = " and ".join(kind.value for kind in (owner.type, *owner.others))
    return f"{unit.owner_text()} ({types}){period} of {unit.id_space}"


# ---- Filter: the rows for which a condition is true.


@frozen(kw_only=True)
class Filter(OneSource):
    """The rows of ``source`` for which ``condition`` is true (not NULL). Each row for itself."""

    stored_as: ClassVar[str] = "Filter"
    condition: Expression


# ---- Projection: new fields, each computed from one row.


@frozen(kw_only=True)
class Projection(OneSource):
    """The rows of ``source`` with other fields. The owner is not among them, so it stays."""

    stored_as: ClassVar[str] = "Project"
    values: tuple[Expression, ...]
    shape: tuple[Field, ...] = field(metadata=PRESENTATION)
    """The new fields, one for each value."""

    def fields(self) -> tuple[Field, ...]:
        """Return the new fields."""
        return self.shape


# ---- Distinct: each combination of owner and fields once.


@frozen(kw_only=True)
class Distinct(OneSource):
    """The different rows of each owner. Equal rows of two owners both stay."""

    stored_as: ClassVar[str] = "Distinct"


# ---- Row limit: at most so many rows of each owner, before rows are paired or are much work.


@frozen(kw_only=True)
class RowLimit(OneSource):
    """At most ``rows`` rows of each owner: a fair sample, by a keyed hash.

    Pairs of rows multiply, and an analyst chooses how often. Without a limit, whether an answer
    comes at all could be made to depend on the rows of one person. Where there are long texts, the
    choice also ends when their ``characters`` are used up: a limit of rows alone would have to
    allow for texts that are as long as they may be, and almost none are.

    Guarantee:
        Which rows of an owner stay depends on that owner's rows and the secret salt alone: what
        is hashed is a row's fields and its number among identical rows, and of identical rows it
        does not matter which has which number. They are the first ones in this order, as many as
        have no more characters in all. So the operator is owner-local. Where characters run out the
        sample is not fair: rows with long texts are less likely to be in it.
    """

    stored_as: ClassVar[str] = "RowLimit"
    rows: int
    texts: tuple[int, ...] = ()
    """The fields whose characters count."""
    characters: int = 0
    """How many characters in all, if there are such fields."""


# ---- Union all: the rows of several relations, each with its owner.


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

    def owner(self) -> RowOwner | None:
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
        zone=first.zone if first.zone == second.zone else None,
        origin=None,
    )
