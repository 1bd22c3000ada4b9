"""Windows: functions of the rows of an answer, worked out once for all of them."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import accumulate, islice
from typing import Any

import numpy as np
from attrs import evolve

from discreet.core.rounding import dyadic_down, dyadic_up
from discreet.releases.estimates.columns import column, scalars, sorted_rows
from discreet.releases.estimates.enclosures import Interval, Intervals
from discreet.releases.estimates.estimate import Estimate, Scalar, WindowOf, indices, parts
from discreet.releases.estimates.groups import Frame, Groups, WindowColumn, WindowPartition
from discreet.releases.estimates.margins import Each
from discreet.releases.estimates.ratios import KEPT, kept
from discreet.releases.estimates.rules import around_values, column_of, enclosed, is_there

Values = Sequence[Scalar | None]


def windows_in(estimates: Iterable[Estimate]) -> tuple[WindowOf, ...]:
    """Return the windows in some estimates, each once."""
    found = (part for estimate in estimates for part in parts(estimate))
    return tuple(dict.fromkeys(part for part in found if isinstance(part, WindowOf)))


def with_windows(
    groups: Groups, windows: Sequence[WindowOf], *, chosen_from: int | None = None
) -> Groups:
    """Return the groups with the value of each window in each of them.

    ``chosen_from`` is of how many rows their noisy numbers chose these, if they did.
    """
    places = np.arange(groups.size)
    found = {}
    for window in windows:
        partitions = _partitions(window, groups)
        sizes = [(row, end - first) for part in partitions for row, (first, end) in _framed(part)]
        looked_at = np.full(groups.size, chosen_from or 0, dtype=np.int64)
        if chosen_from is None and sizes:
            looked_at[[row for row, _ in sizes]] = [size for _, size in sizes]
        found[window] = WindowColumn(
            values=column(_values(window, groups, partitions)),
            beside=groups,
            partitions=partitions,
            places=places,
            looked_at=looked_at,
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
        values = _FUNCTIONS[window.function]([given[row] for row in part.rows], part.frames)
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


Work = Callable[[Values, Sequence[Frame]], Iterable[Scalar | None]]


def _added(of: Callable[[Fraction, int], Fraction | None]) -> Work:
    """Return a function of the sum and the number of the values in a frame."""

    def work(values: Values, frames: Sequence[Frame]) -> Iterator[Scalar | None]:
        numbers = [value if isinstance(value, Fraction) else Fraction(0) for value in values]
        sums = list(accumulate(numbers, initial=Fraction(0)))
        counts = list(accumulate((value is not None for value in values), initial=0))
        for first, end in frames:
            yield of(sums[end] - sums[first], counts[end] - counts[first])

    return work


def _extreme(choose: Callable[..., Any]) -> Work:
    def better(first: Any, second: Any) -> Any:
        known = [value for value in (first, second) if value is not None]
        return choose(known) if known else None

    def work(values: Values, frames: Sequence[Frame]) -> Iterator[Scalar | None]:
        running = [None, *accumulate(values, better)]
        for first, end in frames:
            if first == 0:
                yield running[end]
            else:
                yield choose((v for v in values[first:end] if v is not None), default=None)

    return work


def _rank(_: Values, frames: Sequence[Frame]) -> Iterator[Scalar | None]:
    return (Fraction(end) for _, end in frames)


def _dense_rank(_: Values, frames: Sequence[Frame]) -> Iterator[Scalar | None]:
    starts = accumulate(int(end == i) for i, (_, end) in enumerate(frames, start=1))
    return (Fraction(number) for number in starts)


def _only(values: Values, frames: Sequence[Frame]) -> Iterator[Scalar | None]:
    return (values[first] if first < end else None for first, end in frames)


_FUNCTIONS: dict[str, Work] = {
    "sum": _added(lambda total, count: total if count else None),
    "avg": _added(lambda total, count: total / count if count else None),
    "count": _added(lambda _, count: Fraction(count)),
    "min": _extreme(min),
    "max": _extreme(max),
    "row_number": _rank,
    "rank": _rank,
    "dense_rank": _dense_rank,
    "lag": _only,
    "lead": _only,
    "first_value": _only,
}


# Where a window lies without the noise.


@enclosed.register(WindowOf)
def enclosed_window(window: WindowOf, groups: Groups, each: Each) -> Intervals:
    r"""Return where a window lies if every noisy number that it uses is within its margin.

    The value without noise is that of the same window over the exact numbers of *the rows that
    HAVING left*, in the same order. Nothing is known if noise decides on partitions or order:
    without it the window would be about other rows.

    Utility:
        With the margins of :func:`~discreet.releases.estimates.rules.intervals_of`, each row's
        interval holds that value with probability at least :math:`1 - \beta`.

        Proof. Keys and constants alone place a row, so which numbers a row's value is made from is
        known before any noise. The union bound is over all of them, and then each argument's exact
        value is in its interval. A sum of numbers is between the sums of the ends, and a number
        that may be missing without noise counts as 0 then, which is put into its interval. A mean
        of some numbers is between the smallest and the largest. A minimum is not below any lower
        end, and not above the upper end of a number that is surely there. A count is between the
        numbers that are surely there and all of them.

        If HAVING looked at noisy numbers, which rows are left depends on noise. Then the union
        bound is over the numbers of *all* rows, before HAVING: except with probability
        :math:`\beta` all of them are within their margins, and so the interval holds for whichever
        rows are left. It is about these rows. Those that are missing by their noise are not in it.
    """
    own, argument = groups.windows[window], window.argument
    if window.is_placed_by_noise():
        return Intervals.unknown(groups.size)
    if argument is None or not indices(argument):
        return around_values(own.values, Fraction(0))
    pieces = _needed(own)
    looked_at = own.beside.take(np.array([row for _, rows, _ in pieces for row in rows], dtype=int))
    inside = _short(enclosed(argument, looked_at, each).each())
    given = iter(zip(inside, is_there(argument, looked_at, each).tolist(), strict=True))
    found: dict[int, Interval | None] = {}
    for wanted, rows, frames in pieces:
        bounds = _ENCLOSURES[window.function](list(islice(given, len(rows))), frames)
        found |= dict(zip(wanted, bounds, strict=True))
    return Intervals.of([found[place] for place in own.places.tolist()])


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


Given = Sequence[tuple[Interval | None, bool]]
"""Where the argument of each row of a partition lies, and whether it surely has a value."""
Enclose = Callable[[Given, Sequence[Frame]], Iterable[Interval | None]]


def _all_known(given: Given, frames: Sequence[Frame]) -> list[bool]:
    missing = list(accumulate((interval is None for interval, _ in given), initial=0))
    return [missing[first] == missing[end] for first, end in frames]


def _surely(given: Given, frames: Sequence[Frame]) -> list[int]:
    """Return how many numbers of each frame surely have a value."""
    there = list(accumulate((sure for _, sure in given), initial=0))
    return [there[end] - there[first] for first, end in frames]


def _sum_within(given: Given, frames: Sequence[Frame]) -> Iterator[Interval | None]:
    pairs = [
        (low, high) if sure else (min(low, _ZERO), max(high, _ZERO))
        for (low, high), sure in ((pair or (_ZERO, _ZERO), sure) for pair, sure in given)
    ]
    lows = list(accumulate((low for low, _ in pairs), initial=_ZERO))
    highs = list(accumulate((high for _, high in pairs), initial=_ZERO))
    for (first, end), known in zip(frames, _all_known(given, frames), strict=True):
        yield (lows[end] - lows[first], highs[end] - highs[first]) if known else None


_ZERO = Fraction(0)


def _count_within(given: Given, frames: Sequence[Frame]) -> Iterator[Interval]:
    for (first, end), sure in zip(frames, _surely(given, frames), strict=True):
        yield Fraction(sure), Fraction(end - first)


def _mean_within(given: Given, frames: Sequence[Frame]) -> Iterator[Interval | None]:
    least, largest = _least_within(given, frames), _largest_within(given, frames)
    rows = zip(frames, _surely(given, frames), _sum_within(given, frames), strict=True)
    for ((first, end), sure, total), low, high in zip(rows, least, largest, strict=True):
        if total is None or low is None or high is None:
            yield None
        elif sure == end - first:
            yield total[0] / sure, total[1] / sure
        else:
            yield low[0], high[1]


def _least_within(given: Given, frames: Sequence[Frame]) -> Iterator[Interval | None]:
    lows = [pair and pair[0] for pair, _ in given]
    highs, sure_highs = (
        [pair[1] if pair and (sure or not only) else None for pair, sure in given]
        for only in (False, True)
    )
    ends = zip(
        _all_known(given, frames),
        _extreme(min)(lows, frames),
        _extreme(min)(sure_highs, frames),
        _extreme(max)(highs, frames),
        strict=True,
    )
    for known, low, sure, any_high in ends:
        high = any_high if sure is None else sure
        if known and isinstance(low, Fraction) and isinstance(high, Fraction):
            yield low, high
        else:
            yield None


def _largest_within(given: Given, frames: Sequence[Frame]) -> Iterator[Interval | None]:
    turned = [(pair and (-pair[1], -pair[0]), sure) for pair, sure in given]
    return (pair and (-pair[1], -pair[0]) for pair in _least_within(turned, frames))


def _only_within(given: Given, frames: Sequence[Frame]) -> Iterator[Interval | None]:
    return (given[first][0] if first < end else None for first, end in frames)


_ENCLOSURES: dict[str, Enclose] = {
    "sum": _sum_within,
    "avg": _mean_within,
    "count": _count_within,
    "min": _least_within,
    "max": _largest_within,
    "lag": _only_within,
    "lead": _only_within,
    "first_value": _only_within,
}
