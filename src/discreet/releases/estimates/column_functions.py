"""Functions of whole columns of numbers: the same values as one by one, for all groups at once."""

import math
import operator
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np

from discreet.releases.estimates.estimate import Scalar
from discreet.releases.estimates.numbers import LARGEST_POWER
from discreet.releases.estimates.ratios import Mask, Ratios, TooLong, add, choose, times, whole

Column = Ratios | Sequence[Scalar | None]
"""The values of one estimate in all groups: numbers, or values of another type."""

ColumnFunction = Callable[..., Column | None]
"""A function of columns; None if it is not for columns like these."""


def scalars(values: Column) -> list[Scalar | None]:
    """Return the values one by one."""
    return list(values.scalars() if isinstance(values, Ratios) else values)


def _numeric(work: Callable[..., Column]) -> ColumnFunction:
    """Return a function that leaves alone what is no number."""

    def numeric(*columns: Column) -> Column | None:
        return work(*columns) if all(isinstance(part, Ratios) for part in columns) else None

    return numeric


def rounded(values: Ratios, decimals: Ratios | None = None) -> Ratios:
    """Return the values to so many decimals, halves away from zero."""
    places = 0 if decimals is None else _only(decimals)
    if abs(places) > LARGEST_POWER:
        raise TooLong
    up, down = (whole([10 ** max(0, power)]) for power in (places, -places))
    bottoms = times(values.bottoms, down)
    half_up = add(times(abs(values.tops), 2 * up), bottoms) // times(bottoms, whole([2]))
    tops = times(times(half_up, down), np.where(values.tops < 0, -1, 1))
    return Ratios(tops, np.broadcast_to(up, tops.shape), values.known)


def _only(column: Ratios) -> int:
    """Return the one whole number that a column holds, rounded down."""
    found = set(column.rounded_down().tolist())
    if len(found) != 1 or not column.known.all():
        raise TooLong
    return int(found.pop())


def root(values: Ratios) -> Ratios:
    """Return the square roots as :func:`~discreet.releases.estimates.numbers.root` has them."""
    known = values.where_known(values.tops >= 0)
    return roots(known, [64 + length for length in known.lengths()])


def roots(values: Ratios, bits: Sequence[int], *, round_up: bool = False) -> Ratios:
    """Return the square roots of numbers that are not negative, each to so many bits."""
    tops = []
    for (top, bottom, _), places in zip(values.pairs(), bits, strict=True):
        square = top << (2 * places)
        found = math.isqrt(square // bottom)
        tops.append(found + (round_up and found * found * bottom < square))
    return Ratios(whole(tops), whole([1 << places for places in bits]), values.known)


def larger(first: Ratios, second: Ratios) -> Ratios:
    """Return the larger one, where both are known."""
    return choose(first.compared(second, operator.ge), first, second)


def smaller(first: Ratios, second: Ratios) -> Ratios:
    """Return the smaller one, where both are known."""
    return choose(first.compared(second, operator.le), first, second)


def within(values: Ratios, lower: Ratios, upper: Ratios) -> Ratios:
    """Return the values moved into a range."""
    return smaller(larger(values, lower), upper)


def _extreme(pick: Callable[[Ratios, Ratios], Ratios]) -> Callable[..., Ratios]:
    """Return the extreme of what is known, as SQL has it."""

    def both(first: Ratios, second: Ratios) -> Ratios:
        picked = pick(first, second)
        return choose(first.known & second.known, picked, choose(first.known, first, second))

    return lambda *columns: reduce(both, columns)


def _first_known(*columns: Ratios) -> Ratios:
    return reduce(lambda first, second: choose(first.known, first, second), columns)


def case(*columns: Column) -> Ratios | None:
    """Return the first result whose condition holds, or None if the results are no numbers."""
    *pairs, otherwise = columns
    found = otherwise
    for condition, result in zip(pairs[-2::-2], pairs[::-2], strict=True):
        if not isinstance(result, Ratios) or not isinstance(found, Ratios):
            return None
        holds = np.array([truth is True for truth in scalars(condition)], dtype=np.bool_)
        found = choose(holds, result, found)
    return found if isinstance(found, Ratios) else None


def _null_if(first: Ratios, second: Ratios) -> Ratios:
    same = first.compared(second, operator.eq) & first.known & second.known
    return first.where_known(~same)


def _comparison(relation: Callable[[Any, Any], Any]) -> Callable[..., Column]:
    def work(first: Ratios, second: Ratios) -> list[Scalar | None]:
        return truths(first.compared(second, relation), first.known & second.known)

    return work


def truths(mask: Mask, known: Mask) -> list[Scalar | None]:
    """Return truth values one by one, None where they are not known."""
    found = mask.tolist()
    if known.all():
        return list(found)
    return [truth if is_known else None for truth, is_known in zip(found, known, strict=True)]


_OF_NUMBERS: dict[str, Callable[..., Column]] = {
    "+": Ratios.plus,
    "-": Ratios.minus,
    "*": Ratios.times,
    "/": Ratios.over,
    "neg": Ratios.negative,
    "abs": Ratios.absolute,
    "real": lambda values: values,
    "round": rounded,
    "integer": rounded,
    "sqrt": root,
    "greatest": _extreme(larger),
    "least": _extreme(smaller),
    "coalesce": _first_known,
    "nullif": _null_if,
    "=": _comparison(operator.eq),
    "<>": _comparison(operator.ne),
    "<": _comparison(operator.lt),
    "<=": _comparison(operator.le),
    ">": _comparison(operator.gt),
    ">=": _comparison(operator.ge),
}

COLUMN_FUNCTIONS: dict[str, ColumnFunction] = {
    "case": case,
    **{name: _numeric(work) for name, work in _OF_NUMBERS.items()},
}
"""The functions that go by columns; all others are worked out group by group."""
