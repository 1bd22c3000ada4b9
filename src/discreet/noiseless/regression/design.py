"""The design of a regression as it is declared: columns, the law of a row, and what is related."""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from attrs import field, frozen

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact, written
from discreet.noiseless.regression.polynomial import Polynomial

Span = tuple[Fraction, Fraction]
"""The least and the largest value of something."""


@frozen
class MeasuredColumn:
    """A column of a regression: its public clamps, and where its law is asserted.

    Attributes:
        name: The column.
        low: Public clamp below. No value that is used is less.
        high: Public clamp above.
        box_low: Where the density of a row is asserted; the clamp if nothing is said.
        box_high: The same above.
        centre: A public constant that is subtracted; the middle of the box if nothing is said.
    """

    name: str
    low: Fraction = field(converter=exact)
    high: Fraction = field(converter=exact)
    box_low: Fraction = field(converter=exact)
    box_high: Fraction = field(converter=exact)
    centre: Fraction = field(converter=exact)

    @box_low.default
    def _(self) -> Fraction:
        return self.low

    @box_high.default
    def _(self) -> Fraction:
        return self.high

    @centre.default
    def _(self) -> Fraction:
        return (self.box_low + self.box_high) / 2

    def __attrs_post_init__(self) -> None:
        if not self.low <= self.box_low < self.box_high <= self.high:
            raise InvalidArgument(
                f"The box of {self.name!r} is out of range",
                must="lie inside the clamps, with its ends in order",
                got=f"{self.box_low} to {self.box_high} within {self.low} to {self.high}",
            )

    @property
    def box(self) -> Span:
        """The box, less the centre."""
        return self.box_low - self.centre, self.box_high - self.centre

    @property
    def clamped(self) -> Span:
        """The clamps, less the centre."""
        return self.low - self.centre, self.high - self.centre

    def to_json(self) -> dict[str, str]:
        """Return all of it as text."""
        names = ("low", "high", "box_low", "box_high", "centre")
        return {"name": self.name} | {name: written(getattr(self, name)) for name in names}


@frozen
class DeclaredRelation:
    """That a column follows from others, as the schema declares it.

    Attributes:
        column: The column that has no freedom of its own.
        equals: What it is, as a polynomial of other columns in their own units; None if it is known
            to follow from the others, and not how.
    """

    column: str
    equals: Polynomial | None


def _columns(values: Iterable[MeasuredColumn]) -> tuple[MeasuredColumn, ...]:
    return tuple(values)


def _relations(values: Iterable[DeclaredRelation]) -> tuple[DeclaredRelation, ...]:
    return tuple(values)


@frozen(kw_only=True)
class RegressionDesign:
    """Regressors, an outcome, and what the owner asserts of the law of one row.

    Attributes:
        regressors: The columns that explain.
        outcome: The column that is explained.
        density: The density of a row is at least this on the box of all free columns together.
        has_intercept: Whether the line has a constant term.
        relations: What the schema declares to follow from other columns.

    Example:
        >>> design = RegressionDesign.uniform({"g": (-1, 1)}, {"h": (-1, 1)})
        >>> design.density, design.weight
        (Fraction(1, 4), Fraction(1, 1))
    """

    regressors: tuple[MeasuredColumn, ...] = field(converter=_columns, validator=check.non_empty)
    outcome: MeasuredColumn
    density: Fraction = field(converter=exact, validator=check.positive)
    has_intercept: bool = True
    relations: tuple[DeclaredRelation, ...] = field(default=(), converter=_relations)

    def __attrs_post_init__(self) -> None:
        if not self.has_intercept and any(column.centre for column in self.columns):
            raise InvalidArgument(
                "A line through the origin has its columns as they are",
                must="have 0 as the centre of every column, or have an intercept",
            )
        names = [column.name for column in self.columns]
        if len(set(names)) < len(names) or "" in names:
            raise InvalidArgument("Columns need names of their own", must="be named once each")
        related = [one.column for one in self.relations]
        if len(set(related)) < len(related):
            raise InvalidArgument("A column is related twice", must="be declared once each")
        for one in self.relations:
            used = one.equals.columns if one.equals else frozenset()
            if one.column not in names or not used <= set(names) - set(related):
                raise InvalidArgument(
                    f"The relation of {one.column!r} does not fit",
                    must="be about columns of the design, and say it by columns that are free",
                )
        if not self.free or self.weight > 1:
            raise InvalidArgument(
                "Such a law cannot be true",
                must="leave a free column, and have a density times the box's volume of at most 1",
                got=f"density {self.density}, which makes {float(self.weight):.4g}",
            )

    @classmethod
    def uniform(
        cls,
        regressors: Mapping[str, tuple[Number, Number]],
        outcome: Mapping[str, tuple[Number, Number]],
        *,
        has_intercept: bool = True,
    ) -> "RegressionDesign":
        """Return the design whose rows are uniform between their clamps."""
        columns = [
            MeasuredColumn(name, *ends) if has_intercept else MeasuredColumn(name, *ends, centre=0)
            for name, ends in (*regressors.items(), *outcome.items())
        ]
        volume = Fraction(1)
        for column in columns:
            volume *= column.high - column.low
        if len(outcome) != 1:
            raise InvalidArgument("A regression has one outcome", must="name one column")
        return cls(
            regressors=columns[:-1],
            outcome=columns[-1],
            density=1 / volume if volume else Fraction(1),
            has_intercept=has_intercept,
        )

    @property
    def columns(self) -> tuple[MeasuredColumn, ...]:
        """The regressors, and then the outcome."""
        return (*self.regressors, self.outcome)

    @property
    def free(self) -> tuple[MeasuredColumn, ...]:
        """The columns that no relation fixes."""
        related = {one.column for one in self.relations}
        return tuple(column for column in self.columns if column.name not in related)

    @property
    def weight(self) -> Fraction:
        """The part of the law that is certainly uniform on the box."""
        return self.density_of(()) if self.free else Fraction(0)

    def density_of(self, columns: Iterable[str]) -> Fraction:
        """Return a lower bound of the joint density of some free columns, on their box.

        The others are integrated over their part of the box.
        """
        kept = set(columns)
        density = self.density
        for column in self.free:
            if column.name not in kept:
                density *= column.box_high - column.box_low
        return density

    def centred(self, name: str) -> Polynomial:
        """Return a column less its centre, as a polynomial of free columns less theirs.

        A column that follows from others in an unknown way cannot be written so, and is refused.
        """
        column = self.column(name)
        relation = next((one for one in self.relations if one.column == name), None)
        if relation is None:
            return Polynomial.of(name)
        if relation.equals is None:
            raise InvalidArgument(
                f"{name!r} follows from other columns in a way that is not declared",
                must="be declared as a polynomial of them, or be left out",
            )
        raw = {one.name: Polynomial.of(one.name) + one.centre for one in self.free}
        return relation.equals.with_columns(raw) + -column.centre

    def column(self, name: str) -> MeasuredColumn:
        """Return the column of a name."""
        return next(one for one in self.columns if one.name == name)

    def to_json(self) -> dict[str, Any]:
        """Return all that is declared, as text."""
        return {
            "regressors": [one.to_json() for one in self.regressors],
            "outcome": self.outcome.to_json(),
            "density": written(self.density),
            "intercept": self.has_intercept,
            "relations": [
                {"column": one.column, "equals": str(one.equals) if one.equals else None}
                for one in self.relations
            ],
        }
