"""A view: what is shown of an answer, and in which order. It is presentation, not plan."""

from collections.abc import Callable, Sequence
from enum import Enum
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from attrs import evolve, frozen

from discreet.mechanisms.selection.quantile import Quantile
from discreet.releases.accuracy import error_of
from discreet.releases.body import FROM_TEXT, Body, NoisyAggregate
from discreet.releases.estimates.estimate import (
    Estimate,
    KeyOf,
    QuantileOf,
    SelectedOf,
    TotalOf,
    WindowOf,
    is_noisy,
)
from discreet.releases.estimates.groups import Groups, Rows, ValueEnds
from discreet.releases.estimates.linear import half_width, linear
from discreet.releases.estimates.rules import column_of, intervals_of
from discreet.releases.estimates.windows import windows_in, with_windows
from discreet.releases.mode import Mode
from discreet.releases.rounding import Roundings
from discreet.tables.arithmetic.columns import Column, Scalar, is_true, scalars, sorted_rows
from discreet.tables.arithmetic.enclosures import Intervals
from discreet.tables.arithmetic.ratios import Ratios
from discreet.tables.column import Bounds, ColumnType, Key


class ClampSource(Enum):
    """Who chose the range and the grid of a value. Privacy is the same for all of them."""

    DECLARED = "declared"
    WRITTEN = "written in the query"
    PROPOSED = "proposed from the declared ranges"
    CHOSEN = "chosen from the profile"


@frozen
class Output:
    """One column of the answer."""

    name: str
    estimate: Estimate

    def is_noisy(self) -> bool:
        """Tell whether noise is in it; keys and constants have none."""
        return is_noisy(self.estimate)


@frozen
class Ordering:
    """One thing to sort by. Rows without a value come last, either way, if it is not said."""

    estimate: Estimate
    descending: bool = False
    nulls_first: bool = False


@frozen(kw_only=True)
class View:
    """The outputs of a query, and which rows of the answer to show in which order.

    Guarantee:
        Everything here is computed from the public body of a release: HAVING, ORDER BY and LIMIT
        look at noisy numbers only, so they cost nothing and are no part of what the plan means.
    """

    outputs: tuple[Output, ...]
    having: Estimate | None = None
    possible: tuple[frozenset[Key] | None, ...] = ()
    """For each grouped field the keys that WHERE leaves, if it rules some out."""
    qualify: Estimate | None = None
    """As ``having``, but after the windows."""
    order: tuple[Ordering, ...] = ()
    limit: int | None = None
    offset: int = 0
    clamps: tuple[ClampSource | None, ...] = ()
    """For each aggregate of the plan, who chose the clamp below it; None if it has none."""
    ranges: tuple[Bounds | None, ...] = ()
    """For each aggregate of the plan, into which range values are moved, if one can be outside."""
    missing_units: tuple[str, ...] = ()
    """The columns that say whose a row is and may be NULL, for rows without a unit are left out."""
    remarks: tuple[str, ...] = ()
    """What the plan does to values besides what is asked, in sentences."""
    roundings: Roundings = ()
    """For each aggregate of the plan how its value is rounded; None if it surely is not."""
    mode: Mode | None = None
    """Which output is chosen as the most frequent value, if one is."""
    has_chosen_limits: bool = False
    """Whether the limits were chosen from a profile."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the outputs, in order."""
        return tuple(output.name for output in self.outputs)

    def possible_groups(self, body: Body) -> Groups:
        """Return the groups of a body that WHERE does not rule out."""
        return _possible(self.possible, read_groups(body))

    def groups(self, body: Body) -> Groups:
        """Return the groups of a body that are shown, in the order in which they are."""
        shown = self.groups_with_windows(body)
        passing = _passing(self.qualify, shown)
        shown = shown if passing is None else shown.take(passing)
        rows = np.arange(shown.size)
        for ordering in reversed(self.order):  # sorting is stable: the first criterion goes last
            values = column_of(ordering.estimate, shown.take(rows))
            turned = sorted_rows(
                values, descending=ordering.descending, nulls_first=ordering.nulls_first
            )
            rows = rows[turned]
        last = None if self.limit is None else self.offset + self.limit
        return shown.take(rows[self.offset : last])

    def groups_with_windows(self, body: Body) -> Groups:
        """Return the groups of a body that HAVING leaves, with the windows over them."""
        everything = self.possible_groups(body)
        return with_windows(everything, self._windows(), left=_passing(self.having, everything))

    def choosing(self) -> list[Estimate]:
        """Return what chooses rows after HAVING: QUALIFY, and ORDER BY with LIMIT."""
        is_cut = self.limit is not None or self.offset > 0
        tests = [] if self.qualify is None else [self.qualify]
        return [*tests, *(ordering.estimate for ordering in self.order if is_cut)]

    def _windows(self) -> tuple[WindowOf, ...]:
        tests = () if self.qualify is None else (self.qualify,)
        orders = (ordering.estimate for ordering in self.order)
        return windows_in([*(output.estimate for output in self.outputs), *orders, *tests])

    def rows(self, body: Body) -> tuple[tuple[Scalar | None, ...], ...]:
        """Return the value of every output in every group that is shown."""
        groups = self.groups(body)
        columns = [scalars(column) for column in self.values(groups)]
        return tuple(zip(*columns, strict=True))

    def values(self, groups: Groups) -> tuple[Column, ...]:
        """Return the values of every output in the groups."""
        return tuple(column_of(output.estimate, groups) for output in self.outputs)


def _possible(possible: Sequence[frozenset[Key] | None], groups: Groups) -> Groups:
    """Return the groups whose keys are possible; what is rolled up has no key that could not be."""
    left = np.ones(groups.size, dtype=bool)
    for keys, column in zip(possible, groups.keys, strict=False):
        if keys is not None:
            left &= np.array([key is None or key in keys for key in column], dtype=bool)
    return groups if left.all() else groups.take(np.flatnonzero(left))


def _passing(condition: Estimate | None, groups: Groups) -> Rows | None:
    """Return the places of the groups that a condition leaves, if there is one."""
    if condition is None:
        return None
    return np.flatnonzero(is_true(column_of(condition, groups)))


def intervals(output: Output, groups: Groups, body: Body, *, beta: Fraction) -> Intervals:
    """Return for every group where the answer without noise lies, if known.

    Each holds by itself with probability at least ``1 - beta``:
    :func:`~discreet.releases.estimates.rules.intervals_of` has the proof.
    """
    return intervals_of(output.estimate, groups, margins(body), beta=beta)


def error_bar(output: Output, body: Body, *, beta: Fraction) -> Fraction | None:
    """Return the error bar that every row of an output has, if all have the same one."""
    coefficients = linear(output.estimate)
    if not coefficients:
        return None
    margin = margins(body)
    each = {index: margin(index, beta / len(coefficients)) for index in coefficients}
    return half_width(coefficients, each)


def margins(body: Body) -> Callable[[int, Fraction], Fraction]:
    """Return the error bar of each aggregate at a failure probability.

    For a quantile that is how far beyond its ends it can be: not at all, or anywhere in its range
    if they do not hold with that probability.
    """

    @cache
    def margin(index: int, beta: Fraction) -> Fraction:
        aggregate = body.aggregates[index]
        if isinstance(aggregate.noise, Quantile):
            range_ = aggregate.noise.upper - aggregate.noise.lower
            return Fraction(0) if aggregate.holds(beta) else range_ * aggregate.step
        return error_of(aggregate.noise, beta) * aggregate.step

    return margin


_CHOSE_KEYS = "COUNT(DISTINCT unit)"


def plain_view(body: Body) -> View:
    """Return the view of a body that shows its keys and its aggregates as they are."""
    keys = [
        Output(name, KeyOf(kind, place))
        for place, (name, kind) in enumerate(zip(body.keys.columns, body.keys.types, strict=True))
    ]
    is_selected = body.selection is not None
    totals = [
        Output(aggregate.text, _estimate(i, aggregate, is_selected=is_selected))
        for i, aggregate in enumerate(body.aggregates)
    ]
    return View(outputs=(*keys, *totals))


def _estimate(index: int, aggregate: NoisyAggregate, *, is_selected: bool) -> Estimate:
    is_whole = aggregate.step.denominator == 1
    kind = ColumnType.INTEGER if is_whole else ColumnType.REAL
    if isinstance(aggregate.noise, Quantile):
        return QuantileOf(kind, index, aggregate.noise.quantile, "QUANTILE")
    if is_selected and aggregate.text == _CHOSE_KEYS:
        return SelectedOf(kind, index)
    return TotalOf(kind, index)


def read_groups(body: Body) -> Groups:
    """Return the groups of a body, in its order."""
    keys, size = body.keys, len(body.keys.rows)
    columns = zip(*keys.rows, strict=True) if size else ((),) * len(keys.types)
    return Groups(
        size=size,
        keys=tuple(_read_keys(*pair) for pair in zip(columns, keys.types, strict=True)),
        places=keys.places,
        sets=np.array(keys.sets, dtype=np.int64),
        values=tuple(
            Ratios.steps(aggregate.values, aggregate.step) for aggregate in body.aggregates
        ),
        threshold=None if body.selection is None else body.selection.threshold,
        parts=_parts(body),
        ends={
            index: _ends(aggregate, aggregate.noise)
            for index, aggregate in enumerate(body.aggregates)
            if aggregate.ends and isinstance(aggregate.noise, Quantile)
        },
    )


def _ends(aggregate: NoisyAggregate, noise: Quantile) -> ValueEnds:
    low, high = (Ratios.steps(end.values, aggregate.step) for end in aggregate.ends)
    lower, upper = (end * aggregate.step for end in (noise.lower, noise.upper))
    return ValueEnds(lows=low, highs=high, lower=lower, upper=upper)


_WHOLES = {"count": "COUNT(*)", "count_units": _CHOSE_KEYS}
"""What the count of everything is called, by its kind; one with a condition has a longer name."""


def _parts(body: Body) -> frozenset[tuple[int, int]]:
    """Return which counts are of a part of what others count.

    One sample of rows serves all aggregates since the second version of the rules of bounding. Of
    an earlier release nothing is said.
    """
    if body.made is None or body.made.bounding < _ONE_SAMPLE:
        return frozenset()
    counts = [(i, part) for i, part in enumerate(body.aggregates) if part.kind in _WHOLES]
    return frozenset(
        (i, j)
        for i, part in counts
        for j, whole in counts
        if i == j or (part.kind == whole.kind and whole.text == _WHOLES[whole.kind])
    )


_ONE_SAMPLE = 2


def _read_keys(column: Sequence[Any], kind: ColumnType) -> Sequence[Key | None]:
    read = FROM_TEXT.get(kind)
    return column if read is None else [None if key is None else read(key) for key in column]


def with_remarks(view: View, remarks: Sequence[str]) -> View:
    """Return a view that says more of what every reader must know."""
    return evolve(view, remarks=(*view.remarks, *remarks)) if remarks else view
