"""What a model knows of columns that are asked for, and what it lacks: no error bar shows that."""

from collections.abc import Collection, Iterator, Sequence
from itertools import combinations

from attrs import frozen

from discreet.synthesis.counted.value_cells import ValueCells

REPEATS = 20
"""How often noise is drawn anew, to see what it may have done to an answer."""

_MOST_NAMED = 4
"""How many columns, or pairs of them, are named in one note."""


@frozen(kw_only=True)
class KnownColumns:
    """The columns of a model: their cells, and how they were measured together.

    Example:
        >>> from discreet.synthesis.counted.value_cells import value_cells
        >>> from discreet.tables.column import Bounds, Column, ColumnType
        >>> age = Column(name="age", type=ColumnType.INTEGER, bounds=Bounds(lower=0, upper=99))
        >>> well = Column(name="well", type=ColumnType.BOOLEAN)
        >>> known = KnownColumns(cells=[value_cells(age), value_cells(well)], together=[])
        >>> print(*known.lacking(["age", "well"]), sep="; ")
        not measured together here: age with well
    """

    cells: Sequence[ValueCells]
    together: Sequence[Collection[str]]
    """The columns of which a table was measured, by their names."""
    grouped: Collection[str] = ()
    """Those of which several values stand together in such tables."""
    noisy: Sequence[str] = ()
    """Those whose counts have more noise in them than there are rows."""

    def lacking(self, names: Collection[str]) -> Iterator[str]:
        """Say what is not known of columns that are asked for, by their names in small letters."""
        asked = [one for one in self.cells if one.column.name.lower() in names]
        for one in asked:
            if one.is_wide:
                yield (
                    f"{one.column.name} is known in cells only ({one.description()}): within a cell"
                    " all values are equally likely, and no ± shows that"
                )
        noisy = [one.column.name for one in asked if one.column.name in self.noisy]
        if noisy:
            yield f"{noise_note(noisy)}, and ± may be too small"
        pairs = list(combinations(dict.fromkeys(one.column.name for one in asked), 2))
        lost = [pair for pair in pairs if not any({*pair} <= {*some} for some in self.together)]
        if lost:
            yield f"not measured together here: {_few([' with '.join(pair) for pair in lost])}"
        measured = dict.fromkeys(name for pair in pairs if pair not in lost for name in pair)
        grouped = [name for name in measured if name in self.grouped]
        if grouped:
            yield (
                f"measured together in groups of values only: {_few(grouped)}; within a group they"
                " seem independent of all else, and no ± shows that"
            )


def noise_note(names: Sequence[str]) -> str:
    """Say of which columns nothing is known but noise, if of any."""
    return f"more noise than rows is in the counts of {_few(names)}: what is said of that is noise"


def _few(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join([*names[:_MOST_NAMED], *([f"{more} more"] if more > 0 else [])])
