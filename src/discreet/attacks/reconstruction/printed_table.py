"""A printed table of a block: counts, medians and means of ages, for groups of its people."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

from attrs import field, frozen

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import exact

MOST_KINDS = 200_000
"""How many kinds of people (an age and a value of each column) a table may have."""

MOST_PEOPLE = 10_000


Where = tuple[tuple[str, str], ...]
"""Columns, and the value that each must have."""


def _texts(values: Mapping[str, str] | Where) -> Where:
    if isinstance(values, tuple):
        return values
    if not isinstance(values, Mapping):
        raise InvalidArgument(
            "A group is not readable", must='say a value for columns, such as {"sex": "F"}'
        )
    return tuple((str(name), str(value)) for name, value in values.items())


@frozen(kw_only=True)
class PersonKind:
    """What a table tells people apart by: an age, and a value of each column."""

    age: int
    values: Where

    def to_json(self) -> dict[str, Any]:
        """Return the person for other programs."""
        return {"age": self.age, **dict(self.values)}

    def __str__(self) -> str:
        """Return the age and the values."""
        return ", ".join([str(self.age), *(value for _, value in self.values)])


@frozen(kw_only=True)
class PeopleGroup:
    """The people with these values, of these ages."""

    where: Where = field(default=(), converter=_texts)
    youngest: int | None = field(default=None, converter=check.optional_whole)
    oldest: int | None = field(default=None, converter=check.optional_whole)

    def holds(self, person: PersonKind) -> bool:
        """Tell whether a person is in the group.

        Example:
            >>> adults = PeopleGroup(where={"sex": "F"}, youngest=18)
            >>> adults.holds(PersonKind(age=17, values=(("sex", "F"),)))
            False
        """
        if self.youngest is not None and person.age < self.youngest:
            return False
        if self.oldest is not None and person.age > self.oldest:
            return False
        return self.fits(person.values)

    def fits(self, values: Where) -> bool:
        """Tell whether people with these values are in the group, at the right age."""
        found = dict(values)
        return all(found[name] == value for name, value in self.where)


@frozen(kw_only=True)
class PrintedStatistic:
    """A line of the table: what is printed of one group. ``None`` is a number that is withheld."""

    name: str
    group: PeopleGroup
    count: int | None = field(default=None, converter=check.optional_whole)
    median: Fraction | None = field(default=None, converter=check.optional_exact)
    mean: Fraction | None = field(default=None, converter=check.optional_exact)
    mean_step: Fraction = field(default=Fraction(1, 10), converter=exact)
    """A mean was rounded to a multiple of this; either way at a tie."""

    def __attrs_post_init__(self) -> None:
        if self.count is not None and not 0 <= self.count <= MOST_PEOPLE:
            raise InvalidArgument(
                f"The count of {self.name} is out of range",
                must=f"be from 0 to {MOST_PEOPLE:,}",
                got=str(self.count),
            )
        if (self.median is not None or self.mean is not None) and not self.count:
            raise InvalidArgument(
                f"{self.name} has a median or a mean, and no people",
                must="have a count of 1 or more beside them",
            )
        if self.mean_step < 0:
            raise InvalidArgument(
                f"The step of the mean of {self.name} is out of range",
                must="be at least 0",
                got=str(self.mean_step),
            )

    def is_met(self, people: Sequence[PersonKind]) -> bool:
        """Tell whether the line is true of these people, in exact numbers."""
        ages = sorted(person.age for person in people if self.group.holds(person))
        if self.count is not None and len(ages) != self.count:
            return False
        if self.median is not None:
            middle = ages[(len(ages) - 1) // 2] + ages[len(ages) // 2]
            if Fraction(middle, 2) != self.median:
                return False
        mean = self.mean
        return mean is None or abs(Fraction(sum(ages), len(ages)) - mean) <= self.mean_step / 2


@frozen(kw_only=True)
class AgeRule:
    """Something that is known of everybody: people of a group are at least so old."""

    where: Where = field(converter=_texts)
    youngest: int = field(converter=check.whole)

    def is_met(self, person: PersonKind) -> bool:
        """Tell whether one person obeys the rule."""
        return person.age >= self.youngest or not PeopleGroup(where=self.where).holds(person)


@frozen(kw_only=True)
class PrintedTable:
    """Everything that is printed of a block, and what is known of people anyway.

    One line is about everybody, and says how many there are.
    """

    columns: tuple[tuple[str, tuple[str, ...]], ...]
    ages: tuple[int, int]
    statistics: tuple[PrintedStatistic, ...]
    rules: tuple[AgeRule, ...] = ()

    def __attrs_post_init__(self) -> None:
        known = {name: set(values) for name, values in self.columns}
        if sum(map(len, known.values())) < sum(len(values) for _, values in self.columns) or len(
            {line.name for line in self.statistics}
        ) < len(self.statistics):
            raise InvalidArgument(
                "The table names something twice",
                must="have a name of its own for each line, and each value of a column once",
            )
        wheres = [(line.name, line.group.where) for line in self.statistics]
        wheres += [("A rule", rule.where) for rule in self.rules]
        for name, where in wheres:
            for column, value in where:
                if value not in known.get(column, ()):
                    raise InvalidArgument(
                        f"{name} is about a value that no column has", got=f"{column}: {value}"
                    )
        low, high = self.ages
        size = max(0, high - low + 1)
        for _, values in self.columns:
            size *= len(values)
        if low < 0 or not 0 < size <= MOST_KINDS:
            raise InvalidArgument(
                "The table tells too many kinds of people apart, or none",
                must=f"be from 1 to {MOST_KINDS:,}, of ages from 0 on",
                got=f"{size:,}",
            )
        if self._total() is None:
            raise InvalidArgument(
                "The table does not say how many people there are",
                must="have a line with a count and no group",
            )

    def _total(self) -> int | None:
        counts = (line.count for line in self.statistics if line.group == PeopleGroup())
        return next((count for count in counts if count is not None), None)

    @property
    def people(self) -> int:
        """How many people the block has."""
        return self._total() or 0

    def kinds(self) -> list[PersonKind]:
        """Return every kind of people that the rules allow, youngest first."""
        names = [name for name, _ in self.columns]
        choices = [
            tuple(zip(names, values, strict=True))
            for values in product(*(values for _, values in self.columns))
        ]
        low, high = self.ages
        every = (
            PersonKind(age=age, values=values) for age in range(low, high + 1) for values in choices
        )
        return [kind for kind in every if all(rule.is_met(kind) for rule in self.rules)]

    def is_met(self, people: Sequence[PersonKind]) -> bool:
        """Tell whether everything that is printed is true of these people."""
        return all(line.is_met(people) for line in self.statistics) and all(
            rule.is_met(person) for rule in self.rules for person in people
        )


_KEYS = {"name", "where", "youngest", "oldest", "count", "median", "mean", "mean_step"}


def read_table(written: Any) -> PrintedTable:
    """Return a table from what a JSON file holds.

    Example:
        >>> table = read_table({
        ...     "columns": {"sex": ["F", "M"]},
        ...     "ages": [0, 125],
        ...     "statistics": [
        ...         {"name": "all", "count": 2, "mean": "31"},
        ...         {"name": "men", "where": {"sex": "M"}, "count": 1, "median": 40},
        ...     ],
        ... })
        >>> table.people
        2
    """
    try:
        refuse_unknown(written, {"columns", "ages", "statistics", "rules"})
        for rule in written.get("rules", ()):
            refuse_unknown(rule, {"where", "youngest"})
        return PrintedTable(
            columns=tuple(
                (str(name), tuple(map(str, values))) for name, values in written["columns"].items()
            ),
            ages=tuple(check.whole(age) for age in written["ages"]),  # type: ignore[arg-type]
            statistics=tuple(_statistic(one) for one in written["statistics"]),
            rules=tuple(
                AgeRule(where=one["where"], youngest=one["youngest"])
                for one in written.get("rules", ())
            ),
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        raise InvalidArgument(
            "The printed table cannot be read",
            must="have columns, ages (two numbers) and statistics (a list), as the page on attacks"
            " shows them",
        ) from None


def refuse_unknown(written: Mapping[str, Any], known: set[str]) -> None:
    """Refuse an object of a file that says more than is looked at: a name may be misspelt.

    Example:
        >>> refuse_unknown({"counts": 3}, {"count", "of"})
        Traceback (most recent call last):
            ...
        discreet.core.errors.InvalidArgument: The file says something unknown. It must have some ...
    """
    unknown = sorted(map(str, set(written) - known))
    if unknown:
        raise InvalidArgument(
            "The file says something unknown",
            must=f"have some of {', '.join(sorted(known))}",
            got=", ".join(unknown),
        )


def read_number(value: Any) -> Fraction:
    """Return a number that a file holds; what is none is refused, and not said.

    Example:
        >>> read_number("Ann")
        Traceback (most recent call last):
            ...
        discreet.core.errors.InvalidArgument: A number cannot be read. It must be finite, ...
    """
    try:
        return exact(value)
    except InvalidArgument:
        raise InvalidArgument(
            "A number cannot be read", must="be finite, as in 2, 0.1 or 1/3"
        ) from None


def read_whole(value: Any) -> int:
    """Return a whole number that a file holds; what is none is refused, and not said.

    Example:
        >>> read_whole("7")
        7
    """
    number = read_number(value)
    if number.denominator != 1:
        raise InvalidArgument("A number cannot be read", must="be a whole number")
    return number.numerator


def _statistic(written: Mapping[str, Any]) -> PrintedStatistic:
    refuse_unknown(written, _KEYS)
    group = PeopleGroup(
        where=written.get("where", {}),
        youngest=written.get("youngest"),
        oldest=written.get("oldest"),
    )
    step = {"mean_step": written["mean_step"]} if "mean_step" in written else {}
    return PrintedStatistic(
        name=str(written["name"]),
        group=group,
        count=written.get("count"),
        median=written.get("median"),
        mean=written.get("mean"),
        **step,
    )
