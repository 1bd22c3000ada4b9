"""Windows: functions of the rows of an answer, worked out once for all of them."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import accumulate
from typing import Any

from attrs import evolve

from discreet.releases.estimates.columns import column, scalars, sorted_rows
from discreet.releases.estimates.estimate import Estimate, Scalar, WindowOf, parts
from discreet.releases.estimates.groups import Groups
from discreet.releases.estimates.ratios import kept
from discreet.releases.estimates.rules import column_of

Values = Sequence[Scalar | None]
Frame = tuple[int, int]
"""The first row that counts, and the one after the last."""


def windows_in(estimates: Iterable[Estimate]) -> tuple[WindowOf, ...]:
    """Return the windows in some estimates, each once."""
    found = (part for estimate in estimates for part in parts(estimate))
    return tuple(dict.fromkeys(part for part in found if isinstance(part, WindowOf)))


def with_windows(groups: Groups, windows: Sequence[WindowOf]) -> Groups:
    """Return the groups with the value of each window in each of them."""
    found = {window: column(_values(window, groups)) for window in windows}
    return evolve(groups, windows=found) if found else groups


def _values(window: WindowOf, groups: Groups) -> list[Scalar | None]:
    order = _in_order(window, groups)
    keys = [scalars(column_of(part, groups)) for part in window.partition]
    orders = [scalars(column_of(estimate, groups)) for estimate, _ in window.order]
    argument = window.argument
    given = [None] * groups.size if argument is None else scalars(column_of(argument, groups))
    partitions: dict[tuple[Scalar | None, ...], list[int]] = {}
    for row in order:
        partitions.setdefault(tuple(key[row] for key in keys), []).append(row)
    found: list[Scalar | None] = [None] * groups.size
    for rows in partitions.values():
        peers = _peers([[key[row] for key in orders] for row in rows])
        values = _FUNCTIONS[window.function](window, [given[row] for row in rows], peers)
        for row, value in zip(rows, values, strict=True):
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


Work = Callable[[WindowOf, Values, list[Frame]], Iterable[Scalar | None]]


def _added(of: Callable[[Fraction, int], Fraction | None]) -> Work:
    """Return a function of the sum and the number of the values in a frame."""

    def work(window: WindowOf, values: Values, peers: list[Frame]) -> Iterator[Scalar | None]:
        numbers = [value if isinstance(value, Fraction) else Fraction(0) for value in values]
        sums = list(accumulate(numbers, initial=Fraction(0)))
        counts = list(accumulate((value is not None for value in values), initial=0))
        for first, end in _frames(window, peers):
            yield of(sums[end] - sums[first], counts[end] - counts[first])

    return work


def _extreme(choose: Callable[..., Any]) -> Work:
    def better(first: Any, second: Any) -> Any:
        known = [value for value in (first, second) if value is not None]
        return choose(known) if known else None

    def work(window: WindowOf, values: Values, peers: list[Frame]) -> Iterator[Scalar | None]:
        running = [None, *accumulate(values, better)]
        for first, end in _frames(window, peers):
            if first == 0:
                yield running[end]
            else:
                yield choose((v for v in values[first:end] if v is not None), default=None)

    return work


def _row_number(_: WindowOf, values: Values, __: list[Frame]) -> Iterator[Scalar | None]:
    return (Fraction(i) for i in range(1, len(values) + 1))


def _rank(_: WindowOf, __: Values, peers: list[Frame]) -> Iterator[Scalar | None]:
    return (Fraction(first + 1) for first, _ in peers)


def _dense_rank(_: WindowOf, __: Values, peers: list[Frame]) -> Iterator[Scalar | None]:
    starts = accumulate(int(first == i) for i, (first, _) in enumerate(peers))
    return (Fraction(number) for number in starts)


def _away(sign: int) -> Work:
    def work(window: WindowOf, values: Values, _: list[Frame]) -> Iterator[Scalar | None]:
        for i in range(len(values)):
            place = i + sign * window.offset
            yield values[place] if 0 <= place < len(values) else None

    return work


def _first(window: WindowOf, values: Values, peers: list[Frame]) -> Iterator[Scalar | None]:
    return (values[first] for first, _ in _frames(window, peers))


_FUNCTIONS: dict[str, Work] = {
    "sum": _added(lambda total, count: total if count else None),
    "avg": _added(lambda total, count: total / count if count else None),
    "count": _added(lambda _, count: Fraction(count)),
    "min": _extreme(min),
    "max": _extreme(max),
    "row_number": _row_number,
    "rank": _rank,
    "dense_rank": _dense_rank,
    "lag": _away(-1),
    "lead": _away(1),
    "first_value": _first,
}
