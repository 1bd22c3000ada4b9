"""What somebody asks to have certified, as it is written: names, numbers, and a law in words."""

from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from fractions import Fraction
from typing import Any

import attrs
from attrs import field, frozen

from discreet.core.check import at_least_one, chosen, whole
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact
from discreet.noiseless.advisor.asserted_laws import PublicEnds
from discreet.noiseless.advisor.law_of_columns import SEVERAL
from discreet.noiseless.advisor.law_text import WrittenLaw, law_of_table, read_law
from discreet.noiseless.certifiable import Certifiable
from discreet.noiseless.laws.hidden import Interval
from discreet.noiseless.sums.exact_sum import Chosen, KnownRows

Ranges = Interval | Mapping[str, Interval] | None
Grids = Fraction | Mapping[str, Fraction] | None

NOTHING_IS_READ = "A certificate follows from what is asserted: nothing about the data is read"


class Dependence(Enum):
    """How rows depend on one another, as the owner asserts it."""

    INDEPENDENT = "independent"
    MIXTURE = "mixture"
    """Independent given something unknown, which the law lists: one law for each case."""
    UNKNOWN = "unknown"


def _dependence(value: Dependence | str) -> Dependence:
    return chosen(Dependence, value, noun="kind of dependence")


def _rows(value: Number | None) -> int | None:
    refuse_data(value, "The number of rows")
    return None if value is None else at_least_one(value, "rows")


def _known(value: Number) -> int:
    refuse_data(value, "The number of known rows")
    found = whole(value)
    if found < 0:
        raise InvalidArgument("known is out of range", must="be at least 0", got=str(found))
    return found


def _grids(value: Number | Mapping[str, Number] | None) -> Grids:
    if isinstance(value, Mapping):
        return {str(name): _grid(one) for name, one in value.items()}
    return None if value is None else _grid(value)


def _grid(value: Number) -> Fraction:
    step = exact(value)
    if step <= 0:
        raise InvalidArgument("grid is out of range", must="be above 0", got=str(value)[:64])
    return step


def _words(value: Any) -> Any:
    refuse_data(value, "An answer of the owner")
    return value


def _ranges(value: Iterable[Number] | Mapping[str, Iterable[Number]] | None) -> Ranges:
    if isinstance(value, Mapping):
        return {str(name): _clamps(one) for name, one in value.items()}
    return None if value is None else _clamps(value)


def _clamps(value: Iterable[Number]) -> Interval:
    ends = list(value) if isinstance(value, Iterable) and not isinstance(value, str) else [value]
    if len(ends) != 2:
        raise InvalidArgument(
            "A range has two ends",
            must="be the least and the largest value, such as 0 and 100",
            got=f"{len(ends)} numbers",
        )
    low, high = exact(ends[0]), exact(ends[1])
    if not low < high:
        raise InvalidArgument(
            "The range is empty", must="have its lower end first", got=f"{low} to {high}"
        )
    return low, high


def _law(value: Any) -> Any:
    if isinstance(value, str):
        return read_law(value)
    if isinstance(value, Mapping):
        return law_of_table(value)
    refuse_data(value, "A law")
    return value


def refuse_data(value: Any, what: str) -> None:
    """Refuse what looks like rows: a list, an array, a column, a frame of data.

    Example:
        >>> refuse_data([3, 1, 4], "A law")
        Traceback (most recent call last):
        ...
        discreet.core.errors.InvalidArgument: A law is asserted, and not computed from rows...
    """
    is_text = isinstance(value, str | bytes)
    is_rows = isinstance(value, Iterable) and not is_text and not isinstance(value, Mapping)
    if is_rows or hasattr(value, "__array__") or hasattr(value, "__dataframe__"):
        raise InvalidArgument(
            f"{what} is asserted, and not computed from rows",
            must="come from public knowledge, such as 'uniform(0, 100)'",
            got=type(value).__name__,
            next=NOTHING_IS_READ,
        )


@frozen(kw_only=True)
class StatisticQuestion:
    """A statistic by its name, and all that is said of its rows.

    Attributes:
        statistic: Its name.
        rows: How many rows there are.
        known: How many of them the adversary may know.
        law: What is asserted of a row.
        clamps: Public ends between which every value is put; of several columns by name, or the
            same for all.
        grid: The step of the public grid that values are on; None if they have a density. Likewise.
        suppress_below: The least count that is shown.
        at_least: How many rows must say yes.
        use: How rows serve the averages of a regression.
        known_rows: How the known rows were chosen.
        chosen: When law and statistic were chosen.
        dependence: How rows depend on one another.
    """

    statistic: str
    rows: int | None = field(default=None, converter=_rows)
    known: int = field(default=0, converter=_known)
    law: Any = field(default=None, converter=_law)
    clamps: Ranges = field(default=None, converter=_ranges)
    grid: Grids = field(default=None, converter=_grids)
    suppress_below: int | None = field(default=None, converter=attrs.converters.optional(whole))
    at_least: int | None = field(default=None, converter=attrs.converters.optional(whole))
    use: str | None = field(default=None, converter=_words)
    known_rows: KnownRows | str = field(default=KnownRows.UNRELATED, converter=_words)
    chosen: Chosen | str = field(default=Chosen.BEFOREHAND, converter=_words)
    dependence: Dependence = field(default=Dependence.INDEPENDENT, converter=_dependence)

    def __attrs_post_init__(self) -> None:
        if self.rows is not None and self.known >= self.rows:
            raise InvalidArgument(
                "Nothing is hidden from an adversary who knows every row",
                must="leave at least one row that is not known",
                got=f"{self.known:,} known of {self.rows:,}",
                next="Publish with noise: that holds whatever is known",
            )

    def ends(self) -> PublicEnds:
        """Return the public ends and the grid of the one column that there is."""
        if isinstance(self.clamps, Mapping) or isinstance(self.grid, Mapping):
            raise InvalidArgument(
                "Ranges and grids by column belong to a law of several columns",
                must=f"come with {' or '.join(f'{one}(...)' for one in SEVERAL)}",
            )
        return PublicEnds(self.clamps, self.grid)

    def ends_of(self, names: Iterable[str]) -> dict[str, PublicEnds]:
        """Return the public ends and the grid of each column."""
        wanted = list(names)
        for said in (self.clamps, self.grid):
            if isinstance(said, Mapping) and set(said) != set(wanted):
                raise InvalidArgument(
                    "Ranges and grids are of other columns than the law",
                    must=f"be of {', '.join(wanted)}",
                    got=", ".join(said),
                )
        return {
            name: PublicEnds(
                self.clamps[name] if isinstance(self.clamps, Mapping) else self.clamps,
                self.grid[name] if isinstance(self.grid, Mapping) else self.grid,
            )
            for name in wanted
        }

    def needed(self, name: str) -> Any:
        """Return something that this statistic cannot do without."""
        value = getattr(self, name)
        if value is None:
            raise InvalidArgument(
                f"A certificate of {self.statistic!r} needs {_WORDS[name]}",
                must="be declared by the owner, from public knowledge",
            )
        return value

    def written_law(self, kinds: Iterable[str]) -> WrittenLaw:
        """Return the law, which is written as one of some kinds."""
        law = self.needed("law")
        known = list(kinds)
        if not isinstance(law, WrittenLaw) or law.kind not in known:
            raise InvalidArgument(
                f"There is no such law for {self.statistic!r}",
                must=f"be one of {', '.join(known)}",
                got=law.kind if isinstance(law, WrittenLaw) else type(law).__name__,
            )
        return law


_WORDS = {
    "rows": "the number of rows",
    "law": "a law: what is asserted of one row",
    "clamps": "a range: public ends between which every value is put",
    "grid": "a grid: the step between two values",
    "suppress_below": "the least count that is shown",
    "at_least": "a number: how many rows must say yes at least",
}


def _names(values: Iterable[str]) -> frozenset[str]:
    return frozenset(values)


@frozen
class NamedStatistic:
    """A statistic that can be asked for by its name.

    Attributes:
        build: Makes it from what was said.
        words: What it is, for a list.
        uses: What may be said of it beside its name and its law.
    """

    build: Callable[[StatisticQuestion], Certifiable]
    words: str
    uses: frozenset[str] = field(converter=_names)

    def of(self, question: StatisticQuestion) -> Certifiable:
        """Return the statistic, refusing what has no meaning for it."""
        for part in attrs.fields(StatisticQuestion):
            is_said = getattr(question, part.name) != part.default
            if is_said and part.name not in {"statistic", "law", *self.uses}:
                raise InvalidArgument(
                    f"{_said(part.name)} means nothing for {question.statistic!r}",
                    must=f"be one of {', '.join(sorted(map(_said, {'law', *self.uses})))}",
                )
        return self.build(question)


def _said(name: str) -> str:
    """Return what a caller calls it."""
    return "range" if name == "clamps" else name
