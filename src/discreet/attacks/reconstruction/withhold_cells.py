"""A baseline to defeat: small cells are withheld, and others so that totals do not tell them."""

from collections.abc import Callable
from typing import Any

from attrs import frozen

from discreet.attacks.reconstruction.withheld_cells import (
    CellTable,
    Place,
    WithheldSums,
)
from discreet.core import check
from discreet.core.errors import InvalidArgument


@frozen(kw_only=True)
class WithheldTable:
    """A table as it is printed, and why each cell is withheld."""

    table: CellTable
    small: tuple[Place, ...]
    """The cells that are too small."""
    others: tuple[Place, ...]
    """Those that are withheld for the sake of the small ones."""

    def __str__(self) -> str:
        """Return how many cells are withheld, and the table."""
        return (
            f"{len(self.small):,} small cells are withheld, and {len(self.others):,} others "
            f"because of them.\n\n{self.table}"
        )

    def to_json(self) -> dict[str, Any]:
        """Return the cells for other programs."""
        named = {"small": self.small, "others": self.others}
        return {key: [self.table.name(one) for one in places] for key, places in named.items()}


def withhold_small(table: CellTable, *, below: int) -> WithheldTable:
    """Withhold every count from 1 to less than ``below``, and nothing else.

    That is no protection: where one cell of a row or column is withheld, its total less the others
    is the cell (:func:`~discreet.attacks.reconstruction.withheld_cells.audit_cells`).

    Example:
        >>> from discreet.attacks.reconstruction.withheld_cells import count_cells
        >>> table = count_cells(["a", "b"], ["x", "y"], [[1, 20], [30, 40]])
        >>> withhold_small(table, below=3).small
        ((0, 0),)
    """
    least = check.at_least_one(below, "below")
    small = tuple(
        (row, column)
        for row, cells in enumerate(table.cells)
        for column, value in enumerate(cells)
        if value is not None and 0 < value < least
    )
    return WithheldTable(table=table.with_cells(dict.fromkeys(small)), small=small, others=())


def withhold_more(
    table: CellTable,
    *,
    below: int,
    width: int | None = None,
    on_step: Callable[[int, int], None] | None = None,
) -> WithheldTable:
    r"""Withhold small cells, and others until no small one is known within ``width``.

    Guarantee:
        At the end the table is audited exactly: the range of every small cell is at least ``width``
        wide (``below - 1`` if it is not said), for somebody who knows the printed table and nothing
        else. Three cells that make a rectangle with a small one, all four of them withheld, leave
        its value open by :math:`\min(a, d) + \min(b, c)`: :math:`a` and the opposite corner
        :math:`d` may fall while :math:`b` and :math:`c` rise, and the other way round, and no total
        changes. The cheapest such rectangle is taken, by the counts that are lost with it. The
        choice is not the least possible.

        This is no privacy. Whoever knows one of the cells knows more of the others; of a
        cell with two people each of them does.

    Example:
        >>> from discreet.attacks.reconstruction.withheld_cells import count_cells
        >>> table = count_cells(["a", "b"], ["x", "y"], [[1, 20], [30, 40]])
        >>> withhold_more(table, below=3).others
        ((0, 1), (1, 0), (1, 1))
    """
    wanted = check.whole(below) - 1 if width is None else check.at_least_one(width, "width")
    first = withhold_small(table, below=below)
    if table.withheld:
        raise InvalidArgument(
            "Cells are withheld already", must="be a whole table", next="Audit it as it is"
        )
    withheld = set(first.small)
    for number, place in enumerate(first.small):
        while not _is_open(table, withheld, place, wanted):
            more = _rectangle(table, withheld, place, wanted) or _beside(table, withheld, place)
            if not more:
                raise InvalidArgument(
                    "A small cell cannot be hidden in this table",
                    must="have other cells in its row and column that are large enough",
                    next="Print fewer totals, or join rows or columns",
                )
            withheld |= more
        if on_step is not None:
            on_step(number + 1, len(first.small))
    others = tuple(sorted(withheld - set(first.small)))
    return WithheldTable(
        table=table.with_cells(dict.fromkeys(withheld)), small=first.small, others=others
    )


def _is_open(table: CellTable, withheld: set[Place], place: Place, width: int) -> bool:
    # Cells that are withheld later make a range wider, never narrower: nobody is asked twice.
    found = WithheldSums(table.with_cells(dict.fromkeys(withheld))).range_of(place)
    return found.width is None or found.width >= width


def _rectangle(
    table: CellTable, withheld: set[Place], place: Place, width: int
) -> set[Place] | None:
    """Return the cheapest corners that leave a cell open by the width, if there are any."""
    row, column = place
    best: tuple[int, list[Place]] | None = None
    for other in range(len(table.rows)):
        for across in range(len(table.columns)):
            if other == row or across == column:
                continue
            corners = [(row, across), (other, column), (other, across)]
            beside, below, opposite = (table.cells[one][two] or 0 for one, two in corners)
            if min(table.cells[row][column] or 0, opposite) + min(beside, below) < width:
                continue
            cost = sum(table.cells[one][two] or 0 for one, two in set(corners) - withheld)
            if best is None or (cost, corners) < best:
                best = (cost, corners)
    return None if best is None else set(best[1]) - withheld


def _beside(table: CellTable, withheld: set[Place], place: Place) -> set[Place]:
    """Return the smallest printed cell above 0 that shares the row or the column, if any."""
    row, column = place
    shared = [(row, across) for across in range(len(table.columns))]
    shared += [(other, column) for other in range(len(table.rows))]
    left = [one for one in shared if one not in withheld and table.cells[one[0]][one[1]]]
    return {min(left, key=lambda one: table.cells[one[0]][one[1]] or 0)} if left else set()
