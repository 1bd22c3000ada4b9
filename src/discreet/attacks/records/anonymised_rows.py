"""A baseline to defeat: rows made k-anonymous with as little loss as their hierarchies allow."""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from attrs import field, frozen

from discreet.attacks.records.coded_rows import CodedColumn, CodedRows
from discreet.attacks.records.hierarchy import Hierarchy, forms
from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact
from discreet.core.protocols import IntArray

MOST_NODES = 200_000
"""How many combinations of steps are looked through, at most."""


@frozen(kw_only=True, eq=False, repr=False)
class AnonymisedRows:
    """Rows of which at least k agree in every class, and how they were made."""

    rows: CodedRows
    quasi: Mapping[str, Hierarchy]
    steps: Mapping[str, int]
    """How far each column was generalised."""
    k: int
    dropped: int
    """How many rows were left out."""
    kept: IntArray
    """Where the rows that were not stood before. Private."""
    loss: Fraction
    """The share of precision that is lost: 0 if nothing was changed, 1 if nothing is left."""

    def recode(self, people: CodedRows) -> CodedRows:
        """Return what others look like in the columns of this release: what an adversary does."""
        return CodedRows(
            columns={
                name: _recoded(people.column(name), hierarchy, self.steps[name])
                for name, hierarchy in self.quasi.items()
            },
            rows=people.rows,
        )

    def __str__(self) -> str:
        """Return how the rows were made."""
        levels = ", ".join(
            f"{name} by {step} of {self.quasi[name].steps} steps"
            for name, step in self.steps.items()
            if step
        )
        return (
            f"{self.rows.rows:,} rows are {self.k:,}-anonymous: "
            f"{levels or 'no column was generalised'}; {self.dropped:,} rows were left out. "
            f"{float(self.loss):.1%} of the precision is lost."
        )

    def to_json(self) -> dict[str, Any]:
        """Return how the rows were made, for other programs."""
        return {
            "k": self.k,
            "rows": self.rows.rows,
            "dropped": self.dropped,
            "steps": dict(self.steps),
            "loss": float(self.loss),
        }


def _recoded(column: CodedColumn, hierarchy: Hierarchy, step: int) -> CodedColumn:
    shown = forms(hierarchy, column.values, step)
    places: dict[Any, int] = {}
    codes = [places.setdefault(value, len(places)) for value in shown]
    return CodedColumn(codes=np.array(codes, dtype=np.int64)[column.codes], values=tuple(places))


@frozen(kw_only=True, eq=False)
class _Level:
    """One column at one step: the group of each different value, and how many are lost in it."""

    groups: IntArray
    lost: IntArray
    """For each different value, with how many others it shares its group."""
    width: int


@frozen(kw_only=True, eq=False)
class _Lattice:
    """All ways to generalise rows, of which each different one is kept once, with its count."""

    rows: CodedRows
    counts: IntArray
    names: tuple[str, ...]
    levels: Mapping[str, tuple[_Level, ...]]
    total: int = field(init=False)

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "total", int(self.counts.sum()))

    def sizes(self, node: Sequence[int]) -> IntArray:
        """Return for each different row how many rows share its class at these steps."""
        columns = {}
        for name, step in zip(self.names, node, strict=True):
            level = self.levels[name][step]
            codes = level.groups[self.rows.column(name).codes]
            columns[name] = CodedColumn(codes=codes, values=(None,) * level.width)
        keys = CodedRows(columns=columns, rows=self.rows.rows).keys(self.names)
        _, inverse = np.unique(keys, return_inverse=True)
        sizes = np.zeros(int(inverse.max()) + 1, dtype=np.int64)
        np.add.at(sizes, inverse, self.counts)
        found: IntArray = sizes[inverse]
        return found

    def small(self, node: Sequence[int], k: int) -> int:
        """Return how many rows are in classes of fewer than k."""
        return int(self.counts[self.sizes(node) < k].sum())

    def loss(self, node: Sequence[int], counts: IntArray) -> Fraction:
        """Return the loss of rows of which so many are kept; those that are not lose all."""
        lost = Fraction(self.total - int(counts.sum())) * len(self.names)
        for name, step in zip(self.names, node, strict=True):
            lost += self._lost(name, step, counts)
        return lost / (self.total * len(self.names))

    def _lost(self, name: str, step: int, counts: IntArray) -> Fraction:
        level = self.levels[name][step]
        shared = int((level.lost[self.rows.column(name).codes] * counts).sum())
        return Fraction(shared, max(1, level.groups.size - 1))

    def losses_of_all(self, ranges: Sequence[range]) -> list[tuple[Fraction, tuple[int, ...]]]:
        """Return the loss of all rows at all steps, least first: each column is counted once."""
        lost = [
            {step: self._lost(name, step, self.counts) for step in steps}
            for name, steps in zip(self.names, ranges, strict=True)
        ]
        scale = self.total * len(self.names)
        found = []
        for node in product(*ranges):
            parts = [one[step] for one, step in zip(lost, node, strict=True)]
            found.append((sum(parts, Fraction(0)) / scale, node))
        return sorted(found)


def _lattice(rows: CodedRows, quasi: Mapping[str, Hierarchy]) -> _Lattice:
    names = tuple(quasi)
    _, first, counts = np.unique(rows.keys(names), return_index=True, return_counts=True)
    levels = {}
    for name, hierarchy in quasi.items():
        found = []
        for step in range(hierarchy.steps + 1):
            places: dict[Any, int] = {}
            shown = forms(hierarchy, rows.column(name).values, step)
            groups = np.array([places.setdefault(it, len(places)) for it in shown], dtype=np.int64)
            shared = np.bincount(groups)[groups].astype(np.int64) - 1
            found.append(_Level(groups=groups, lost=shared, width=len(places)))
        levels[name] = tuple(found)
    different = rows.take(first.astype(np.int64))
    return _Lattice(rows=different, counts=counts.astype(np.int64), names=names, levels=levels)


def anonymise(
    rows: CodedRows,
    *,
    quasi: Mapping[str, Hierarchy],
    k: int,
    most_dropped: Number = Fraction(1, 20),
    on_step: Callable[[int, int], None] | None = None,
) -> AnonymisedRows:
    r"""Return rows of which at least ``k`` agree in every class, and no promise beyond that.

    Every column is generalised by the same number of steps in all rows, and at most
    ``most_dropped`` of the rows are left out.

    Guarantee:
        Leaving out all rows of a small class changes no other, so every class that is left has
        ``k`` rows or more [Swe02]. Of all combinations of steps the one with the least loss is
        found. A value that shares its group with :math:`m - 1` of the :math:`M - 1` other values
        of its column loses :math:`(m - 1)/(M - 1)`, a row that is left out loses 1 in each column,
        and the loss is the mean. What a combination loses before rows are left out bounds its loss
        from below; combinations are tried in the order of this bound, until it reaches the best
        that was found. A column that is too precise while all others are suppressed stays so when
        they are not, because classes only grow by generalising: such steps are left out first.

        This is no privacy: a class may share one sensitive value
        (:func:`~discreet.attacks.records.class_report.find_homogeneous`), outside knowledge tells
        its rows apart (:mod:`~discreet.attacks.records.outside_knowledge`), and two such releases
        intersect (:func:`~discreet.attacks.records.intersection.intersect_releases`).

    Example:
        >>> from discreet.attacks.records.coded_rows import code_rows
        >>> from discreet.attacks.records.hierarchy import NumberIntervals, Prefixes
        >>> rows = code_rows({"zip": ["101", "101", "102", "209"], "age": [31, 38, 33, 36]})
        >>> quasi = {"zip": Prefixes(length=3), "age": NumberIntervals(widths=[10])}
        >>> made = anonymise(rows, quasi=quasi, k=3, most_dropped="0.25")
        >>> made.rows.values("zip", [0, 1, 2]), made.rows.values("age", [0]), made.dropped
        (['10*', '10*', '10*'], ['30 to below 40'], 1)
    """
    least, share = check.at_least_one(k, "k"), exact(most_dropped)
    if not 0 <= share <= 1 or not quasi:
        raise InvalidArgument(
            "This cannot be made k-anonymous",
            must="have a share from 0 to 1, and one quasi-identifier or more",
        )
    if rows.rows < least:
        raise InvalidArgument(
            "There are too few rows", must=f"be {least:,} or more", next="Choose a smaller k"
        )
    lattice = _lattice(rows, quasi)
    budget = int(share * rows.rows)
    node, loss = _best(lattice, _ranges(lattice, least, budget), least, budget, on_step)
    steps = dict(zip(lattice.names, node, strict=True))
    columns = {
        name: _recoded(column, quasi[name], steps[name]) if name in quasi else column
        for name, column in rows.columns.items()
    }
    changed = CodedRows(columns=columns, rows=rows.rows)
    kept = np.flatnonzero(changed.class_sizes(lattice.names) >= least)
    return AnonymisedRows(
        rows=changed.take(kept),
        quasi=dict(quasi),
        steps=steps,
        k=least,
        dropped=rows.rows - kept.size,
        kept=kept,
        loss=loss,
    )


def _ranges(lattice: _Lattice, k: int, budget: int) -> list[range]:
    """Return the steps of each column that pass while all other columns are suppressed."""
    last = [len(lattice.levels[name]) - 1 for name in lattice.names]
    found = []
    for place, most in enumerate(last):
        step = 0
        while step < most and (
            lattice.small([*last[:place], step, *last[place + 1 :]], k) > budget
        ):
            step += 1
        found.append(range(step, most + 1))
    return found


def _best(
    lattice: _Lattice,
    ranges: Sequence[range],
    k: int,
    budget: int,
    on_step: Callable[[int, int], None] | None,
) -> tuple[tuple[int, ...], Fraction]:
    count = int(np.prod([len(one) for one in ranges], dtype=object))
    if count > MOST_NODES:
        raise InvalidArgument(
            "There are too many combinations of steps",
            must=f"be at most {MOST_NODES:,}",
            got=f"{count:,}",
            next="Declare fewer steps, or fewer quasi-identifiers",
        )
    ordered = lattice.losses_of_all(ranges)
    best: tuple[Fraction, tuple[int, ...]] | None = None
    for tried, (bound, node) in enumerate(ordered):
        if on_step is not None:
            on_step(tried + 1, count)
        if best is not None and bound >= best[0]:
            break
        sizes = lattice.sizes(node)
        kept = np.where(sizes < k, 0, lattice.counts)
        if lattice.total - int(kept.sum()) > budget:
            continue
        found = (lattice.loss(node, kept), node)
        best = found if best is None else min(best, found)
    if best is None:  # all columns suppressed is one class, which has k rows
        raise InvalidArgument("This cannot be made k-anonymous", must="have k rows or more")
    return best[1], best[0]
