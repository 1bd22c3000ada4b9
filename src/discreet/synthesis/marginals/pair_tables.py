r"""The tables of all pairs of columns in a model, each in a bounded number of steps.

Summing a model over all but two columns can need a table over many more, and the order in which
that is done decides how many. For a pair it is known: from a clique with the first column, go along
the tree, and carry the first column together with what two neighbours share. With the shared
columns :math:`S` before a clique and :math:`S'` behind it,

.. math:: P(a, S') = \sum_{S \setminus S'} P(a, S) \; P(S' \mid S) ,

so no step looks at more numbers than the values of one column times the cells of one clique.
"""

from collections.abc import Iterator, Sequence
from string import ascii_letters

import numpy as np

from discreet.synthesis.marginals.graphical_model import GraphicalModel, Table
from discreet.synthesis.marginals.junction_tree import Columns

Carried = tuple[Columns, Table]
"""The columns that a clique shares with the one before it, and their table with the first column,
which is the first axis; for a clique that has the first column itself, nothing is carried."""


def pair_tables(model: GraphicalModel) -> dict[Columns, Table]:
    """Return the probabilities of the cells of each pair of columns, the lower one first."""
    shares = _shares(model)
    return {
        (first, second): table
        for first in range(len(model.tree.sizes))
        for second, table in _with_first(model, shares, first, after=first)
    }


def tables_with(model: GraphicalModel, first: int) -> Iterator[tuple[int, Table]]:
    """Yield each other column with its table: the first column, and then the other one."""
    yield from _with_first(model, _shares(model), first)


def _shares(model: GraphicalModel) -> list[Table]:
    return [np.exp(belief) for belief in model.beliefs]


def _with_first(
    model: GraphicalModel, shares: Sequence[Table], first: int, after: int = -1
) -> Iterator[tuple[int, Table]]:
    """Return the table of one column with each other one ``after`` some number, once."""
    beside, seen = _neighbours(model), {first}
    home = model.tree.home((first,))
    assert home is not None
    waiting: list[tuple[int, int | None, Carried | None]] = [(home, None, None)]
    while waiting:
        place, before, carried = waiting.pop()
        columns = model.tree.branches[place].columns
        for other in columns:
            if other not in seen:
                seen.add(other)
                if other > after:
                    yield other, _carry(shares[place], columns, first, carried, (other,))
        for following, shared in beside[place]:
            if following == before:
                continue
            handed = None
            if first not in model.tree.branches[following].columns:
                handed = shared, _carry(shares[place], columns, first, carried, shared)
            waiting.append((following, place, handed))


def _neighbours(model: GraphicalModel) -> list[list[tuple[int, Columns]]]:
    """Return for each clique those beside it, with the columns that both have."""
    found: list[list[tuple[int, Columns]]] = [[] for _ in model.tree.branches]
    for place, branch in enumerate(model.tree.branches):
        if branch.above is not None:
            found[place].append((branch.above, branch.shared))
            found[branch.above].append((place, branch.shared))
    return found


def _carry(
    clique: Table, columns: Columns, first: int, carried: Carried | None, wanted: Columns
) -> Table:
    """Return the table of the first column with some of a clique."""
    if carried is None:
        return _summed(clique, columns, (first, *wanted))
    sizes = dict(zip(columns, clique.shape, strict=True))
    # Columns of one value are nothing to sum over, and a name is needed for each of the others.
    shared, asked = (tuple(one for one in some if sizes[one] > 1) for some in (carried[0], wanted))
    both = tuple(sorted({*shared, *asked}))
    names = dict(zip(both, ascii_letters[1:], strict=False))
    over, out, all_names = ("".join(names[one] for one in some) for some in (shared, asked, both))
    joint = _summed(clique, columns, both)
    base = np.einsum(f"{all_names}->{over}", joint)
    table = carried[1].reshape(-1, *(sizes[one] for one in shared))
    given = np.divide(table, base, out=np.zeros_like(table), where=base > 0)
    found: Table = np.einsum(f"a{over},{all_names}->a{out}", given, joint)
    return found.reshape(-1, *(sizes[one] for one in wanted))


def _summed(table: Table, columns: Columns, wanted: Columns) -> Table:
    """Return the sums over all but some columns, in the order in which these are given."""
    others = tuple(axis for axis, one in enumerate(columns) if one not in wanted)
    left = [one for one in columns if one in wanted]
    found: Table = table.sum(axis=others)
    return found.transpose([left.index(one) for one in wanted])
