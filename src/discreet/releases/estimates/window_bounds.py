"""Where each window function lies, given where the numbers of a partition do."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import accumulate, compress

from discreet.releases.estimates.groups import Frame
from discreet.releases.estimates.window_values import extreme
from discreet.tables.arithmetic.enclosures import Interval

Given = Sequence[tuple[Interval | None, bool]]
"""Where the argument of each row of a partition lies, and whether it surely has a value."""
Enclose = Callable[[Given, Sequence[Frame]], Iterable[Interval | None]]


def present(
    given: Given, frames: Sequence[Frame], possible: Sequence[bool]
) -> tuple[Given, list[Frame]]:
    """Return the numbers that may be there at all, and the frames among them."""
    before = list(accumulate(possible, initial=0))
    return list(compress(given, possible)), [(before[first], before[end]) for first, end in frames]


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
        extreme(min)(lows, frames),
        extreme(min)(sure_highs, frames),
        extreme(max)(highs, frames),
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


def _rank_within(given: Given, frames: Sequence[Frame]) -> Iterator[Interval]:
    others = [(first, end - 1) for first, end in frames]
    for (_, end), sure in zip(frames, _surely(given, others), strict=True):
        yield Fraction(sure + 1), Fraction(end)


WINDOW_ENCLOSURES: dict[str, Enclose] = {
    "sum": _sum_within,
    "avg": _mean_within,
    "count": _count_within,
    "min": _least_within,
    "max": _largest_within,
    "lag": _only_within,
    "lead": _only_within,
    "first_value": _only_within,
    "row_number": _rank_within,
    "rank": _rank_within,
}
