"""Read what an owner asserts, and refuse what cannot be, before anything is spent.

.. code-block:: text

    impossible=[{"sex": "m", "pregnant": True}, {"age": {"from": 0, "to": 11}, "married": True}]
    totals={"region": {"north": 1200, "south": 800}}
    rows=2000
"""

import datetime
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from attrs import evolve, frozen
from numpy.typing import NDArray

from discreet.core.errors import InvalidArgument
from discreet.synthesis.cell_groups import cell_values
from discreet.synthesis.counted.counted_rows import CountedColumn
from discreet.synthesis.counted.value_cells import ValueCells
from discreet.synthesis.marginals.coarse_values import CoarseValues, most_coarse
from discreet.synthesis.marginals.estimate import estimate
from discreet.synthesis.marginals.junction_tree import Columns, largest_clique
from discreet.synthesis.marginals.measurement import combined
from discreet.synthesis.public_facts import Impossible, PublicFacts, Totals
from discreet.tables.column import ColumnType, Key

MOST_COLUMNS = 3
"""How many columns a combination that cannot be may name."""

MOST_CELLS = 1_000_000
"""How many cells a clique may have for the sake of what cannot be."""

_NOTHING = "Nothing was charged"
_TOURS = 300


def read_facts(
    cells: Sequence[ValueCells],
    *,
    impossible: Iterable[Mapping[str, Any]] = (),
    totals: Mapping[str, Mapping[Any, int]] | None = None,
    rows: int | None = None,
) -> PublicFacts:
    """Return what is asserted of columns with these cells; refuse what is no assertion of them."""
    reader = _FactsReader(cells)
    found = PublicFacts(
        sizes=tuple(one.size for one in cells),
        impossible=tuple(map(reader.impossible, _listed("impossible", impossible))),
        totals=tuple(reader.totals(name, counts) for name, counts in _named(totals)),
        rows=None if rows is None else _count("rows", rows),
    )
    return evolve(found, rows=_all_rows(found))


GIVEN = "given"
"""Where a file says of which columns its rows have given values."""


def read_given(cells: Sequence[ValueCells], given: object) -> dict[int, NDArray[np.bool_]]:
    """Return for some columns which cells rows may have; refuse what is no condition on them."""
    if not isinstance(given, Mapping | None):
        raise InvalidArgument(
            "given is no condition on columns",
            must='be such as {"clinic": "north", "age": {"from": 60, "to": 79}}',
            got=type(given).__name__,
        )
    reader, found = _FactsReader(cells), {}
    for name, values in (given or {}).items():
        place = reader.place(name)
        found[place] = np.isin(np.arange(cells[place].size), reader.cells_of(place, values))
    if len(found) < len(given or {}):
        raise InvalidArgument("A column is named twice", must="be named once")
    return found


def given_note(names: Sequence[str]) -> str:
    """Say that rows were drawn with given values of some columns."""
    return f"only rows with given values of {', '.join(names)} were drawn, and no others"


def given_json(
    cells: Sequence[ValueCells], allowed: Mapping[int, NDArray[np.bool_]]
) -> dict[str, list[int]]:
    """Return which cells rows may have, as plain values."""
    return {cells[at].column.name: np.flatnonzero(one).tolist() for at, one in allowed.items()}


def given_from_json(
    cells: Sequence[ValueCells], data: Mapping[str, list[int]]
) -> dict[int, NDArray[np.bool_]]:
    """Read what :func:`given_json` wrote."""
    reader = _FactsReader(cells)
    places = {reader.place(name): numbers for name, numbers in data.items()}
    return {at: np.isin(np.arange(cells[at].size), numbers) for at, numbers in places.items()}


def _listed(what: str, given: object) -> list[Any]:
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise InvalidArgument(
            f"{what} is no list",
            must='be a list such as [{"sex": "m", "pregnant": True}]',
            got=type(given).__name__,
            next=_NOTHING,
        )
    return list(given)


def _named(given: object) -> list[tuple[str, Any]]:
    if given is None:
        return []
    if not isinstance(given, Mapping) or not all(isinstance(one, str) for one in given):
        raise InvalidArgument(
            "totals has no names of columns",
            must='be such as {"region": {"north": 1200}}',
            got=type(given).__name__,
            next=_NOTHING,
        )
    return list(given.items())


def _count(what: str, given: object) -> int:
    if isinstance(given, bool) or not isinstance(given, int) or not 0 <= given <= 100_000_000:
        raise InvalidArgument(
            f"{what} is no number of rows",
            must="be a whole number from 0 to 100,000,000",
            got=repr(given)[:40],
            next=_NOTHING,
        )
    return given


@frozen
class _FactsReader:
    """Reads names and values as columns and cells."""

    cells: Sequence[ValueCells]

    def impossible(self, given: object) -> Impossible:
        """Return a combination: for each column a value, several, or a range of them."""
        if not isinstance(given, Mapping) or not 1 <= len(given) <= MOST_COLUMNS:
            raise InvalidArgument(
                "That is no combination of values",
                must=f'name from 1 to {MOST_COLUMNS} columns, as {{"sex": "m", "pregnant": True}}',
                got=repr(given)[:60],
                next=_NOTHING,
            )
        found = {self.place(name): value for name, value in given.items()}
        columns = tuple(sorted(found))
        if len(columns) < len(given):
            raise InvalidArgument("A column is named twice", must="be named once", next=_NOTHING)
        return Impossible(columns, tuple(self.cells_of(one, found[one]) for one in columns))

    def totals(self, name: str, given: object) -> Totals:
        """Return how many rows some values of a column have."""
        place = self.place(name)
        if not isinstance(given, Mapping) or not given:
            raise InvalidArgument(
                f"The totals of '{name}' are no numbers of rows",
                must='be such as {"north": 1200}',
                got=repr(given)[:40],
                next=_NOTHING,
            )
        counts: dict[int, int] = {}
        for value, count in given.items():
            cells = self.cells_of(place, value)
            if len(cells) > 1 or cells[0] in counts:
                raise InvalidArgument(f"A total of '{name}' is of one value", next=_NOTHING)
            counts[cells[0]] = _count(f"The total of a value of '{name}'", count)
        return Totals(place, tuple(sorted(counts.items())))

    def place(self, name: object) -> int:
        """Return the place of a column that has declared values."""
        names = [one.column.name for one in self.cells]
        found = [at for at, one in enumerate(names) if str(name).lower() == one.lower()]
        if not found:
            raise InvalidArgument(
                f"'{name}' is not one of the columns", must=f"be among {', '.join(names)}"
            )
        if cell_values(self.cells[found[0]]) is None or self.cells[found[0]].is_open:
            raise InvalidArgument(
                f"The values of '{name}' cannot be named",
                must="be declared keys, whole numbers by 1, days, or true and false",
                next=_NOTHING,
            )
        return found[0]

    def cells_of(self, place: int, given: object) -> tuple[int, ...]:
        """Return the cells of a value, of several, or of all from one to another."""
        cells = self.cells[place]
        known = cell_values(cells) or []
        if isinstance(given, Mapping):
            named = self._between(cells, [value for value, _ in known], given)
        elif isinstance(given, Iterable) and not isinstance(given, str | bytes):
            named = [_value(cells, one) for one in given]
        else:
            named = [_value(cells, given)]
        wanted = set(named)
        found = {cell for value, cell in known if value in wanted}
        missing = wanted - {value for value, _ in known} - {None}
        cut = [value for value, cell in known if cell in found and value not in wanted]
        if not wanted or missing or (None in wanted and not cells.column.nullable):
            raise InvalidArgument(
                f"'{cells.column.name}' has no such value",
                must="have declared ones",
                got=", ".join(sorted(map(repr, missing)))[:60] or "none",
                next=_NOTHING,
            )
        if cut:
            raise InvalidArgument(
                f"A cell of '{cells.column.name}' has other values besides",
                must=f"be whole: there are {cells.description()}",
                got=f"without {cut[0]}",
                next=_NOTHING,
            )
        null = (cells.inner,) if None in wanted else ()
        return (*sorted(found), *null)

    @staticmethod
    def _between(
        cells: ValueCells, known: Sequence[Key], given: Mapping[str, Any]
    ) -> list[Key | None]:
        if set(given) != {"from", "to"} or cells.column.type in (
            ColumnType.TEXT,
            ColumnType.BOOLEAN,
        ):
            raise InvalidArgument(
                f"That is no range of '{cells.column.name}'",
                must='be such as {"from": 0, "to": 11}, of numbers or days',
                got=repr(dict(given))[:60],
                next=_NOTHING,
            )
        low, high = (_value(cells, given[name]) for name in ("from", "to"))
        return [value for value in known if low <= value <= high]  # type: ignore[operator]


def _value(cells: ValueCells, given: object) -> Key | None:
    """Return a value as the column has it; a file may have it as a text."""
    kind = cells.column.type
    if given is None:
        return None
    if isinstance(given, str) and kind is not ColumnType.TEXT:
        given = _FROM_TEXT.get(kind, str)(given)
    if type(given) not in _TYPES.get(kind, ()):
        raise InvalidArgument(
            f"'{cells.column.name}' has no such value",
            must=f"be of type {kind.value}",
            got=repr(given)[:40],
            next=_NOTHING,
        )
    found: Key = given  # type: ignore[assignment]
    return found


def _of_text(read: Callable[[str], Key]) -> Callable[[str], object]:
    def reading(text: str) -> object:
        try:
            return read(text)
        except (ValueError, KeyError):
            return text

    return reading


_FROM_TEXT: Mapping[ColumnType, Callable[[str], object]] = {
    ColumnType.INTEGER: _of_text(int),
    ColumnType.BOOLEAN: _of_text(lambda text: {"true": True, "false": False}[text.lower()]),
    ColumnType.DATE: _of_text(datetime.date.fromisoformat),
}

_TYPES: Mapping[ColumnType, tuple[type, ...]] = {
    ColumnType.TEXT: (str,),
    ColumnType.INTEGER: (int,),
    ColumnType.BOOLEAN: (bool,),
    ColumnType.DATE: (datetime.date,),
}


# ---- What cannot be.


def _all_rows(facts: PublicFacts) -> int | None:
    """Return how many rows there are, if it is said or follows; refuse what disagrees."""
    sums = {one.column: sum(count for _, count in one.counts) for one in facts.totals}
    whole = {
        one.column: sums[one.column]
        for one in facts.totals
        if len(one.counts) == facts.sizes[one.column]
    }
    said = {*whole.values(), *(() if facts.rows is None else (facts.rows,))}
    if len(said) > 1 or 0 in said or (said and max(sums.values(), default=0) > max(said)):
        raise InvalidArgument(
            "The totals do not add up to one number of rows",
            must="be the same for all columns, above 0, and no more than the rows there are",
            got=", ".join(f"{one:,}" for one in sorted({*said, *sums.values()})),
            next=_NOTHING,
        )
    if len({one.column for one in facts.totals}) < len(facts.totals):
        raise InvalidArgument("A column has totals twice", must="have them once", next=_NOTHING)
    return max(said) if said else None


def require_room(
    facts: PublicFacts, columns: Sequence[CountedColumn], tables: Iterable[Columns], most: int
) -> None:
    """Refuse what no model could be worked out with, however coarse values turn out to be.

    ``tables`` are those that are named, and ``most`` is how many coarse values there are at most.
    """
    sizes = [
        min(
            one.size,
            most_coarse(one.size, has_order=one.has_order, has_null=one.has_null, most=most)
            + int(numbers.max()),
        )
        for one, numbers in zip(columns, facts.divisions, strict=True)
    ]
    largest = largest_clique(sizes, [*facts.groups, *tables])
    if facts.groups and largest > MOST_CELLS:
        raise InvalidArgument(
            "What cannot be joins too many columns to be put together",
            must=f"need at most {MOST_CELLS:,} cells at once",
            got=f"{largest:,}",
            next=f"{_NOTHING}. Name fewer combinations, or columns with fewer values",
        )


def require_possible(facts: PublicFacts) -> None:
    """Refuse what no rows can hold to.

    Whether totals can be had with what cannot be is found out by fitting them alone.
    """
    values = [CoarseValues(one) for one in facts.divisions]
    sizes = [one.size for one in values]
    if facts.is_empty:
        return
    try:
        found = estimate(
            sizes,
            combined(facts.measurements(values)),
            impossible=facts.masks(values),
            most_tours=_TOURS,
        )
    except InvalidArgument:
        raise _contradiction() from None
    for total in facts.totals:
        shares = found.model.marginal((total.column,))
        for value, count in facts.wanted(total, values[total.column]).items():
            if abs(found.total * shares[value] - count) > max(0.5, found.total / 200):
                raise _contradiction()


def _contradiction() -> InvalidArgument:
    return InvalidArgument(
        "No rows can be as all of this says",
        must="leave some combination of values possible, and totals that can be had with these",
        next=f"{_NOTHING}. Look for a value that has a total and no combination that is possible",
    )


# ---- A file.


def facts_of_file(path: str | Path) -> dict[str, Any]:
    """Return what a file of TOML asserts: ``rows``, ``[[impossible]]`` and ``[totals.column]``."""
    try:
        data = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as cause:
        raise InvalidArgument(
            f"{path} cannot be read",
            must="be a file of TOML",
            got=type(cause).__name__,
            next=_NOTHING,
        ) from None
    unknown = sorted(set(data) - {"impossible", "totals", "rows"})
    if unknown:
        raise InvalidArgument(
            f"{path} says something else",
            must="have rows, [[impossible]] and [totals.column]",
            got=", ".join(unknown)[:60],
            next=_NOTHING,
        )
    return data
