"""The value of each window function, from the values of a partition and a frame for each row."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import accumulate
from typing import Any

from discreet.releases.estimates.groups import Frame
from discreet.tables.arithmetic.columns import Scalar

Values = Sequence[Scalar | None]
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


def extreme(choose: Callable[..., Any]) -> Work:
    """Return a function of the smallest or the largest value in a frame."""

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


WINDOW_VALUES: dict[str, Work] = {
    "sum": _added(lambda total, count: total if count else None),
    "avg": _added(lambda total, count: total / count if count else None),
    "count": _added(lambda _, count: Fraction(count)),
    "min": extreme(min),
    "max": extreme(max),
    "row_number": _rank,
    "rank": _rank,
    "dense_rank": _dense_rank,
    "lag": _only,
    "lead": _only,
    "first_value": _only,
}
