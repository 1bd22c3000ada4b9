"""Sums of a table over some of its axes."""

from string import ascii_letters

import numpy as np

from discreet.synthesis.marginals.graphical_model import Table


def summed(table: Table, axes: tuple[int, ...]) -> Table:
    """Return the sums over some axes in a table of their own.

    For axes as short, ``einsum`` is a third quicker than ``sum``; but it knows no more than 52,
    and gives the table itself where there is nothing to add.
    """
    found: Table
    if not axes or table.ndim > len(ascii_letters):
        found = table.sum(axis=axes)
    else:
        names = ascii_letters[: table.ndim]
        kept = "".join(name for axis, name in enumerate(names) if axis not in axes)
        found = np.einsum(f"{names}->{kept}", table)
    return found
