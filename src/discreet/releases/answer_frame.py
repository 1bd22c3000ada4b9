"""An answer as columns for other programs, with the ends of intervals in columns of their own."""

import json
from collections.abc import Collection, Mapping, Sequence
from enum import Enum
from itertools import chain
from typing import Any

from attrs import frozen

from discreet.core import check, optional
from discreet.releases.cells import Cell, arrow_table, pandas_column, plain_ends
from discreet.releases.left_out import Ends
from discreet.releases.view import Output
from discreet.tables.column import ColumnType

KEY = "discreet"
"""Where a frame keeps what must be known besides its numbers."""


class IntervalKind(Enum):
    """Of what an interval in a frame takes account."""

    TOTAL = "total"
    """Of noise, and of what limits left out."""
    NOISE = "noise"
    SAMPLING = "sampling"
    """Of noise, and of who is in the table."""


def interval_kind(value: IntervalKind | str) -> IntervalKind:
    """Return a kind of interval by its name."""
    return check.chosen(IntervalKind, value, noun="kind of interval")


@frozen(kw_only=True)
class AnswerFrame:
    """Columns with names and types, and what the columns of the ends are called."""

    names: tuple[str, ...]
    kinds: tuple[ColumnType, ...]
    columns: tuple[Sequence[Cell], ...]
    ends: Mapping[str, tuple[str, str]]
    """For each noisy output, the names of the columns with the lower and the upper end."""
    kind: IntervalKind = IntervalKind.TOTAL
    """Of what these intervals take account."""

    def without_ends(self) -> "AnswerFrame":
        """Return the columns without those of the ends."""
        ends = {name for pair in self.ends.values() for name in pair}
        kept = [place for place, name in enumerate(self.names) if name not in ends]
        return AnswerFrame(
            names=tuple(self.names[place] for place in kept),
            kinds=tuple(self.kinds[place] for place in kept),
            columns=tuple(self.columns[place] for place in kept),
            ends={},
            kind=self.kind,
        )

    def to_arrow(self, about: Mapping[str, Any]) -> Any:
        """Return an Arrow table; what is said about it is JSON in the metadata of its schema."""
        table = arrow_table(self.names, self.kinds, self.columns)
        return table.replace_schema_metadata({KEY: json.dumps(dict(about))})

    def to_pandas(self, about: Mapping[str, Any]) -> Any:
        """Return a pandas data frame; what is said about it is in its ``attrs``."""
        cells = map(pandas_column, self.columns, self.kinds)
        columns = dict(zip(self.names, cells, strict=True))
        frame = optional.load("pandas").DataFrame(columns, columns=list(self.names))
        frame.attrs[KEY] = dict(about)
        return frame


def answer_frame(
    outputs: Sequence[Output],
    columns: Sequence[Sequence[Cell]],
    ends: Mapping[str, Ends],
    kind: IntervalKind,
    sure: Mapping[str, Sequence[bool]] | None = None,
) -> AnswerFrame:
    """Return the outputs as columns, those in ``ends`` with two more: ``n``, ``n_low``, ``n_high``.

    Those in ``sure`` have one more, ``m_sure``: whether no other value may be right.
    A name that the query gave to another output already gets a number: ``n_low_2``.
    """
    found: dict[str, tuple[ColumnType, Sequence[Cell]]] = {}
    names = [output.name for output in outputs]
    named = end_names(names, ends)
    taken = {name.lower() for name in (*names, *chain.from_iterable(named.values()))}
    for output, cells in zip(outputs, columns, strict=True):
        of_values = output.estimate.type
        found[output.name] = of_values, cells
        if output.name in ends:
            pairs = plain_ends(ends[output.name].lows, ends[output.name].highs, of_values)
            for place, name in enumerate(named[output.name]):
                found[name] = of_values, [pair[place] for pair in pairs]
        if sure and output.name in sure:
            found[_free(f"{output.name}_sure", taken)] = ColumnType.BOOLEAN, sure[output.name]
    return AnswerFrame(
        names=tuple(found),
        kinds=tuple(of_values for of_values, _ in found.values()),
        columns=tuple(cells for _, cells in found.values()),
        ends=named,
        kind=kind,
    )


def end_names(names: Sequence[str], noisy: Collection[str]) -> dict[str, tuple[str, str]]:
    """Return what the columns with the ends of the noisy ones are called.

    Example:
        >>> end_names(["n", "n_low"], ["n"])
        {'n': ('n_low_2', 'n_high')}
    """
    taken = {name.lower() for name in names}
    return {
        name: (_free(f"{name}_low", taken), _free(f"{name}_high", taken))
        for name in names
        if name in noisy
    }


def _free(name: str, taken: set[str]) -> str:
    """Return the name, or the first with a number that nobody has yet; from then on it is taken."""
    number, found = 2, name
    while found.lower() in taken:
        number, found = number + 1, f"{name}_{number}"
    taken.add(found.lower())
    return found
