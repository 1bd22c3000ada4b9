r"""The plan of an exact release: which integers are added up, and what becomes public of them.

Guarantee:
    *One row a unit.* The limits are one group and one row: so the row that counts of a unit is all
    that it adds. Where rows are split, all parts are groups of the same plan, and a unit is in one
    of them, by the same keyed hash in every plan of a version: parts are disjoint in units, and not
    only in rows.

    *The number of rows is declared, and the release does not tell another one.* A total is
    :math:`n c + \sum_i (x_i - c)` with the declared :math:`n` and the middle :math:`c` of the
    clamps, on the grid. So a row that is not there, and a value that is missing, counts as
    :math:`c`: the release of the rows without one person *is* the release of a table in which that
    person has the middle. Nothing compares :math:`n` with the rows. If there are :math:`N \ge n` of
    them the certificate holds: the rows beyond :math:`n` are independent of the others, adding an
    independent number to both worlds is post-processing, and so no divergence grows. If there are
    fewer, what was assumed is false, and the breaking point for rows says how few will do. A mean
    is the total over the declared :math:`n`; a count takes a row that is not there for one that is
    not counted. A product of a regression counts it as the middle of all products. A histogram
    tells how many rows there are in the cells that it shows, so its law says how many there may be.
    A choice by counts is no sum: its number of rows is asserted exactly (``exact_choice``).
"""

from collections.abc import Collection, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from attrs import evolve, frozen

from discreet.core.canonical import digest
from discreet.core.numbers import written
from discreet.core.protocols import IntArray, Rng
from discreet.ledger.releases import ReleaseSize
from discreet.noiseless.exact.exact_choice import commonest, compared
from discreet.noiseless.exact.exact_feature import (
    ExactFeature,
    counted,
    regression_features,
    released_line,
    total,
)
from discreet.noiseless.histograms.random_discarding import RandomDiscarding
from discreet.noiseless.stable.most_common import most_common
from discreet.project.passage import KIND, StoredBody
from discreet.tables.catalog import Limits, Table
from discreet.tables.column import Column, ColumnType, Key
from discreet.tables.exact_declaration import ExactDeclaration, ExactKind
from discreet.tables.keyset import ONE_ROW, Keys, KeySet, PublicKeys
from discreet.tables.plans.aggregate import CountRows
from discreet.tables.plans.contain import contain
from discreet.tables.plans.plan import BOUNDING, BoundedPlan
from discreet.tables.plans.prune import prune
from discreet.tables.relations.scan import Scan

EXACT = "exact"
"""The kind of an order that paid for an exact release."""

VERSION = 1
"""The version of what is added up and shown: a release of another one is not taken for it."""

CHOICE_VERSION = 2
"""The version of stored choices, which older programs cannot read."""

ONE_OF_EACH = Limits(rows_per_group=1, groups_per_unit=1)

WHICH_ROWS = (
    "one row of each unit counts: of several a keyed hash draws one, and the others are left out, "
    "as are rows without a unit"
)
"""Which rows an exact number is of, as it is said beside every one of them."""


@frozen(kw_only=True)
class ExactPlan:
    """What is read for an exact release, and what is shown of it. All of it is public."""

    declared: ExactDeclaration
    table: Table

    @property
    def is_histogram(self) -> bool:
        """Whether there is a number for each of several bins."""
        return self.declared.kind is ExactKind.HISTOGRAM

    @property
    def has_bins(self) -> bool:
        """Whether rows are counted by key: what is shown are the counts, or the key of most."""
        return self.is_histogram or self.declared.kind is ExactKind.ARGMAX

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The columns that are read: those of the statistic, and that of the split."""
        names = self.declared.columns + ((self.declared.split,) if self.declared.split else ())
        return tuple(self.table.column(name) for name in names)

    @cached_property
    def features(self) -> tuple[ExactFeature, ...]:
        """What is released, one entry a number of the engine's."""
        kind, columns = self.declared.kind, self.columns
        if kind is ExactKind.HISTOGRAM:
            how = digest([[str(key) for key in self.bins], self._discarding_json()])
            text = f"count by {columns[0].name}, {self.least} or more ({how[:16]})"
            return (ExactFeature(text=text, shown="rows", aggregate=CountRows()),)
        if kind is ExactKind.COUNT:
            return (counted(columns[0], self.declared.values),)
        if kind is ExactKind.ARGMAX:
            return (commonest(columns[0].name, self.bins),)
        if kind.is_choice:
            return (compared(self.compared, self.declared),)
        if kind is ExactKind.REGRESSION:
            return regression_features(self.declared, self.numbers)
        return tuple(total(column, place) for place, column in enumerate(self.numbers))

    @cached_property
    def compared(self) -> ExactFeature:
        """The count or total that a threshold is about; it never becomes public."""
        if self.declared.is_choice_by_counts:
            return counted(self.columns[0], self.declared.values)
        return total(self.columns[0], 0)

    @property
    def numbers(self) -> tuple[Column, ...]:
        """The columns of the statistic, without that of the split."""
        return self.columns[: len(self.declared.columns)]

    @property
    def least(self) -> int:
        """The smallest count that a histogram shows."""
        return self.declared.least or 0

    @cached_property
    def bins(self) -> tuple[Key, ...]:
        """The values that are counted, each by itself; none if there is one number for all rows."""
        return _keys(self.columns[0]) if self.has_bins else ()

    @cached_property
    def bounded(self) -> BoundedPlan:
        """The plan that an engine runs."""
        plan = BoundedPlan(
            relation=Scan(table=self.table, columns=self.columns),
            keys=self._grouping(),
            limits=ONE_OF_EACH,
            aggregates=tuple(feature.aggregate for feature in self.features),
        )
        return contain(prune(plan))

    def _grouping(self) -> Keys:
        """Return the parts of the split, all of them, and the bins."""
        places = [0] if self.has_bins else []
        rows: list[tuple[Key, ...]] = [(key,) for key in self.bins] or [()]
        if self.declared.split is not None:
            places.append(len(self.columns) - 1)
            rows = [(*row, part) for row in rows for part in _keys(self.columns[-1])]
        if not places:
            return ONE_ROW
        found = KeySet(places=tuple(range(len(places))), rows=tuple(rows))
        return PublicKeys(fields=tuple(places), sets=(found,))

    def name(self) -> str:
        """Return the name under which it is stored: equal for what is equal.

        The law is no part of it: what is public already does not become public again by another.
        """
        return digest(
            {
                "exact": VERSION,
                "plan": self.bounded.to_json(),
                "features": [feature.name for feature in self.features],
                "parts": sorted(self.declared.parts),
                "rows": self.declared.rows,
                "mean": self.declared.kind is ExactKind.MEAN,
                "least": self.declared.least,
                "discards": self._discarding_json(),
            }
        )

    def _discarding_json(self) -> dict[str, str] | None:
        found = self.discarding
        if found is None:
            return None
        return {"scale": written(found.scale), "shift": str(found.shift)}

    @cached_property
    def discarding(self) -> RandomDiscarding | None:
        """How many rows are left out at random first, if any are."""
        if self.declared.discards is None:
            return None
        epsilon, delta = self.declared.discards
        return RandomDiscarding.calibrate(rows=self.declared.rows, epsilon=epsilon, delta=delta)

    def largest_release(self) -> ReleaseSize:
        """Return the most that can be stored."""
        cells = (len(self.features) + len(self.declared.columns)) * max(1, len(self.bins))
        return ReleaseSize(bytes=200 * cells + 100_000, cells=2 * cells)

    def published(self, numbers: tuple[IntArray, ...], rng: Rng) -> StoredBody:
        """Return what becomes public of the engine's integers; what is too small stays here."""
        chosen = [
            self._in_parts(column, self.declared.parts if one.part is None else (one.part,))
            for one, column in zip(self.features, numbers, strict=True)
        ]
        is_choice = self.declared.kind.is_choice
        body = {
            KIND: EXACT,
            "version": CHOICE_VERSION if is_choice else VERSION,
            "bounding": BOUNDING,
            "name": self.declared.name,
            "table": self.table.name,
            "rows": self.declared.rows,
        }
        if is_choice:
            return body | {"choice": self._chosen(chosen[0])}
        return body | {
            "numbers": self._cells(chosen[0], rng) if self.is_histogram else self._shown(chosen)
        }

    def _chosen(self, counts: Sequence[int]) -> dict[str, Any]:
        """Return the outcome alone: the numbers that it is made of stay here."""
        (feature,) = self.features
        if self.has_bins:
            return {"of": feature.shown, "is": str(self.bins[most_common(tuple(counts))])}
        found = feature.step * (counts[0] + self.declared.rows * feature.middle)
        return {"of": feature.shown, "is": found >= self.declared.least_yes}

    def _in_parts(self, column: IntArray, meant: Collection[str]) -> list[int]:
        """Return the sum of each bin over the parts that are meant."""
        if self.declared.split is None:
            return [int(value) for value in column]
        parts = [str(key) for key in _keys(self.columns[-1])]
        by_bin = column.reshape(-1, len(parts))
        chosen = np.array([part in meant for part in parts])
        return [sum(map(int, row[chosen])) for row in by_bin]

    def _shown(self, chosen: Sequence[Sequence[int]]) -> list[dict[str, Any]]:
        """Return each number; of a regression also the line, which is a function of them."""
        rows = self.declared.rows
        divisor = rows if self.declared.kind is ExactKind.MEAN else 1
        values = [
            feature.step * (found + rows * feature.middle) / divisor
            for feature, (found,) in zip(self.features, chosen, strict=True)
        ]
        shown: dict[str, Fraction | None] = {}
        shown |= zip((one.shown for one in self.features), values, strict=True)
        if self.declared.kind is ExactKind.REGRESSION:
            shown |= released_line(self.declared, self.numbers, values)
        return [
            {"of": of, "value": None if value is None else written(value)}
            for of, value in shown.items()
        ]

    def _cells(self, counts: Sequence[int], rng: Rng) -> list[dict[str, Any]]:
        kept = counts if self.discarding is None else kept_counts(self.discarding, counts, rng)
        return [
            {"of": str(key), "value": written(count) if count >= self.least else None}
            for key, count in zip(self.bins, kept, strict=True)
        ]


def _keys(column: Column) -> tuple[Key, ...]:
    return (False, True) if column.type is ColumnType.BOOLEAN else column.keys or ()


def kept_counts(discarding: RandomDiscarding, counts: Sequence[int], rng: Rng) -> list[int]:
    """Return the counts of the rows that are kept, when random ones are thrown away.

    They are thrown away of the rows that there are, however many are declared.
    """
    total = sum(counts)
    if not total:
        return list(counts)
    gone = evolve(discarding, rows=total).discarded(rng)
    ends = np.cumsum(counts, dtype=np.int64)
    cells = np.searchsorted(ends, gone, side="right")
    lost = np.bincount(cells, minlength=len(counts))
    return [int(count) - int(less) for count, less in zip(counts, lost, strict=True)]
