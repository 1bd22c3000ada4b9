"""Windows: functions of the rows of an answer, worked out once for all of them."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import islice

import numpy as np
from attrs import evolve

from discreet.core.rounding import dyadic_down, dyadic_up
from discreet.releases.estimates.estimate import (
    Constant,
    Estimate,
    WindowOf,
    indices,
    is_noisy,
    parts,
)
from discreet.releases.estimates.groups import Frame, Groups, Rows, WindowColumn, WindowPartition
from discreet.releases.estimates.margins import Each
from discreet.releases.estimates.rules import (
    around_values,
    column_of,
    enclosed,
    is_there,
    may_be_there,
    truth_of,
)
from discreet.releases.estimates.window_bounds import WINDOW_ENCLOSURES, Given, present
from discreet.releases.estimates.window_values import WINDOW_VALUES
from discreet.tables.arithmetic.columns import Scalar, column, scalars, sorted_rows
from discreet.tables.arithmetic.enclosures import Interval, Intervals
from discreet.tables.arithmetic.ratios import KEPT, Mask, kept
from discreet.tables.column import ColumnType


def windows_in(estimates: Iterable[Estimate]) -> tuple[WindowOf, ...]:
    """Return the windows in some estimates, each once."""
    found = (part for estimate in estimates for part in parts(estimate))
    return tuple(dict.fromkeys(part for part in found if isinstance(part, WindowOf)))


def with_windows(
    groups: Groups, windows: Sequence[WindowOf], *, left: Rows | None = None
) -> Groups:
    """Return the groups with the value of each window in each of them.

    If HAVING left only some, ``left`` is where these are, and they are what is returned.
    """
    before, rows = groups, np.arange(groups.size) if left is None else left
    groups = groups if left is None else groups.take(left)
    found = {}
    for window in windows:
        partitions = _partitions(window, groups)
        sizes = [(row, end - first) for part in partitions for row, (first, end) in _framed(part)]
        is_by_noise = window.among is not None
        looked_at = np.full(groups.size, before.size if is_by_noise else 0, dtype=np.int64)
        if not is_by_noise and sizes:
            looked_at[[row for row, _ in sizes]] = [size for _, size in sizes]
        found[window] = WindowColumn(
            values=column(_values(window, groups, partitions)),
            beside=groups,
            partitions=partitions,
            places=np.arange(groups.size),
            looked_at=looked_at,
            before=before if is_by_noise else None,
            left=rows,
        )
    return evolve(groups, windows=found) if found else groups


def _framed(partition: WindowPartition) -> Iterator[tuple[int, Frame]]:
    return zip(partition.rows, partition.frames, strict=True)


def _partitions(window: WindowOf, groups: Groups) -> list[WindowPartition]:
    keys = [scalars(column_of(part, groups)) for part in window.partition]
    orders = [scalars(column_of(estimate, groups)) for estimate, _ in window.order]
    partitions: dict[tuple[Scalar | None, ...], list[int]] = {}
    for row in _in_order(window, groups):
        partitions.setdefault(tuple(key[row] for key in keys), []).append(row)
    reach, found = _REACH.get(window.function, _frames), []
    for rows in partitions.values():
        peers = _peers([[key[row] for key in orders] for row in rows])
        found.append(WindowPartition(rows, list(reach(window, peers))))
    return found


def _values(
    window: WindowOf, groups: Groups, partitions: Sequence[WindowPartition]
) -> list[Scalar | None]:
    argument = window.argument
    given = [None] * groups.size if argument is None else scalars(column_of(argument, groups))
    found: list[Scalar | None] = [None] * groups.size
    for part in partitions:
        values = WINDOW_VALUES[window.function]([given[row] for row in part.rows], part.frames)
        for row, value in zip(part.rows, values, strict=True):
            found[row] = kept(value) if isinstance(value, Fraction) else value
    return found


def _in_order(window: WindowOf, groups: Groups) -> list[int]:
    rows = list(range(groups.size))
    for estimate, down in reversed(window.order):  # sorting is stable: the first goes last
        values = scalars(column_of(estimate, groups))
        turned = sorted_rows(column([values[row] for row in rows]), descending=down)
        rows = [rows[place] for place in turned.tolist()]
    return rows


def _peers(keys: list[list[Scalar | None]]) -> list[Frame]:
    """Return for each row the rows that are its equals in the order."""
    found: list[Frame] = []
    first = 0
    for i in range(1, len(keys) + 1):
        if i == len(keys) or keys[i] != keys[first]:
            found += [(first, i)] * (i - first)
            first = i
    return found


def _frames(window: WindowOf, peers: list[Frame]) -> Iterator[Frame]:
    for i, (_, last) in enumerate(peers):
        if window.rows is None:
            yield 0, last
        else:
            before, after = window.rows
            first = 0 if before is None else max(0, i - before)
            yield first, len(peers) if after is None else min(len(peers), i + after + 1)


def _next_to(sign: int) -> Callable[[WindowOf, list[Frame]], Iterator[Frame]]:
    """Return the one row that LAG or LEAD is about, or none."""

    def reach(window: WindowOf, peers: list[Frame]) -> Iterator[Frame]:
        for i in range(len(peers)):
            place = i + sign * window.offset
            yield (place, place + 1) if 0 <= place < len(peers) else (0, 0)

    return reach


def _first_of(window: WindowOf, peers: list[Frame]) -> Iterator[Frame]:
    return ((first, first + 1) for first, _ in _frames(window, peers))


def _before(_: WindowOf, peers: list[Frame]) -> Iterator[Frame]:
    return ((0, i + 1) for i in range(len(peers)))


def _before_equals(_: WindowOf, peers: list[Frame]) -> Iterator[Frame]:
    return ((0, first + 1) for first, _ in peers)


_REACH: dict[str, Callable[[WindowOf, list[Frame]], Iterator[Frame]]] = {
    "lag": _next_to(-1),
    "lead": _next_to(1),
    "first_value": _first_of,
    "row_number": _before,
    "rank": _before_equals,
    "dense_rank": _before_equals,
}
"""The rows that a function looks at, where they are not those of its frame."""


# Where a window lies without the noise.


@enclosed.register(WindowOf)
def enclosed_window(window: WindowOf, groups: Groups, each: Each) -> Intervals:
    r"""Return where a window lies if every noisy number that it uses is within its margin.

    The value without noise is that of the same window over the exact numbers, in the same order,
    of the rows that HAVING leaves without noise. Nothing is known if noise decides on partitions or
    order: without it the window would be about other rows.

    Utility:
        With the margins of :func:`~discreet.releases.estimates.rules.intervals_of`, each row's
        interval holds that value with probability at least :math:`1 - \beta`.

        Proof. Keys and constants alone place a row, so which numbers a row's value is made from is
        known before any noise. The union bound is over all of them, and then each argument's exact
        value is in its interval. A sum of numbers is between the sums of the ends, and a number
        that may be missing without noise counts as 0 then, which is put into its interval. A mean
        of some numbers is between the smallest and the largest. A minimum is not below any lower
        end, and not above the upper end of a number that is surely there. A count is between the
        numbers that are surely there and those that may be.

        If HAVING looks at noisy numbers, which rows it leaves without noise is not known. Then the
        union bound is over the numbers of *all* rows before HAVING, those that it looks at and
        those of the argument: except with probability :math:`\beta` all are within their margins.
        Then by :func:`~discreet.releases.estimates.truths.truth` each row for which HAVING is
        surely true is left without noise, and none for which it never is. So the rows that are
        left are the sure ones and some of the possible ones, and a possible one is a number that
        may be missing. That is so for all rows of a partition, and for those up to a row or from
        it on. A row's number is one more than the rows before it. Of other frames, and for LAG,
        LEAD and FIRST_VALUE, one row that may be missing puts others in its place: they are known
        only if all rows of their partition that may be left surely are.

        All of this is about the private groups that are shown, given that they are. What is made of
        nothing but which groups these are, as their number, is unknown.
    """
    own, argument = groups.windows[window], window.argument
    if window.is_placed_by_noise():
        return Intervals.unknown(groups.size)
    if not is_noisy(window):
        return around_values(own.values, Fraction(0))
    if not indices(window) or window.function not in WINDOW_ENCLOSURES:
        return Intervals.unknown(groups.size)
    own, is_left, is_settled = _without_noise(window, own, each)
    pieces = _needed(own)
    rows = np.array([row for _, rows, _ in pieces for row in rows], dtype=int)
    looked_at, argument = own.beside.take(rows), argument or _ONE
    inside = _short(enclosed(argument, looked_at, each).each())
    sure = (is_there(argument, looked_at, each) & is_left[rows]).tolist()
    possible = iter(may_be_there(argument, looked_at, each).tolist())
    given = zip(inside, sure, strict=True)
    found: dict[int, Interval | None] = {}
    for wanted, seen, frames in pieces:
        numbers: Given = list(islice(given, len(seen)))
        if window.holds_its_row():
            numbers, frames = present(numbers, frames, list(islice(possible, len(seen))))
        bounds = WINDOW_ENCLOSURES[window.function](numbers, frames)
        for row, bound in zip(wanted, bounds, strict=True):
            found[row] = bound if is_settled[row] else None
    return Intervals.of([found[place] for place in own.places.tolist()])


_ONE = Constant(ColumnType.INTEGER, Fraction(1))
"""What ranks count."""


def _without_noise(
    window: WindowOf, own: WindowColumn, each: Each
) -> tuple[WindowColumn, Mask, Mask]:
    """Return a window over all rows that may be left without noise, and which of them surely are.

    The last tells of each whether its value can be known although others may be missing.
    """
    if window.among is None or own.before is None:
        always = np.ones(own.beside.size, dtype=np.bool_)
        return own, always, always
    known = truth_of(window.among, own.before, each)
    may_be_left = ~known.never
    may_be_left[own.left] = True
    rows = np.flatnonzero(may_be_left)
    beside, is_left = own.before.take(rows), known.surely[rows]
    partitions = _partitions(window, beside)
    is_settled = np.full(beside.size, window.may_miss_rows(), dtype=np.bool_)
    for part in partitions:
        is_settled[part.rows] |= is_left[part.rows].all()
    places = np.searchsorted(rows, own.left[own.places])
    return evolve(own, beside=beside, partitions=partitions, places=places), is_left, is_settled


def _needed(window: WindowColumn) -> list[tuple[list[int], Sequence[int], list[Frame]]]:
    """Return of each partition the rows that are asked for, those that they look at, and how."""
    places = set(window.places.tolist())
    pieces = []
    for part in window.partitions:
        wanted = [(row, frame) for row, frame in _framed(part) if row in places]
        filled = [frame for _, frame in wanted if frame[0] < frame[1]]
        first = min((start for start, _ in filled), default=0)
        last = max((end for _, end in filled), default=0)
        moved = [(a - first, b - first) if a < b else (0, 0) for _, (a, b) in wanted]
        if wanted:
            pieces.append(([row for row, _ in wanted], part.rows[first:last], moved))
    return pieces


_SHORT_BITS = 256


def _short(intervals: list[Interval | None]) -> list[Interval | None]:
    """Return intervals of which sums stay short: binary fractions, if others would grow long."""
    common = 1
    for interval in intervals:
        for end in interval or ():
            common = math.lcm(common, end.denominator)
        if common.bit_length() > _SHORT_BITS:
            return [
                pair and (dyadic_down(pair[0], KEPT), dyadic_up(pair[1], KEPT))
                for pair in intervals
            ]
    return intervals
