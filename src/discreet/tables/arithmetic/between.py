"""What a function is between the numbers of an answer: its type, its value and where it lies."""

from collections.abc import Callable, Sequence
from fractions import Fraction

from attrs import frozen

from discreet.tables.arithmetic import enclosures
from discreet.tables.arithmetic.enclosures import Enclosure
from discreet.tables.arithmetic.function_values import (
    ColumnFunction,
    comparison,
    kept_numbers,
    strict,
)
from discreet.tables.arithmetic.ratios import Ratios
from discreet.tables.column import ColumnType

Kind = ColumnType | None
"""The type of an argument, None for NULL, which goes with every type."""

_INTEGER, _DATE = ColumnType.INTEGER, ColumnType.DATE
_NUMBERS = (_INTEGER, ColumnType.REAL)


@frozen
class BetweenNumbers:
    """A function of noisy numbers: how many arguments, of which types, to which, and its value.

    It is worked out for all groups at once.
    """

    least: int
    most: int | None
    returns: Callable[[Sequence[Kind]], ColumnType | None]
    """The type of the result, or None if the arguments do not fit."""
    value: ColumnFunction
    enclosure: Enclosure | None = None
    """Where its values lie, for arguments that have a value without noise.

    None if nothing is known. What skips arguments without a value (COALESCE, GREATEST and the
    like) has its own rules, because it needs to know which have one.
    """


def _number(kinds: Sequence[Kind]) -> ColumnType | None:
    if not all(kind is None or kind in _NUMBERS for kind in kinds):
        return None
    return ColumnType.REAL if ColumnType.REAL in kinds else ColumnType.INTEGER


def _always(kind: ColumnType) -> Callable[[Sequence[Kind]], ColumnType | None]:
    return lambda kinds: None if _number(kinds) is None else kind


def of_round(kinds: Sequence[Kind]) -> ColumnType | None:
    """Return the type of a rounded number: whole unless digits are given."""
    return _number(kinds) if len(kinds) > 1 else _always(ColumnType.INTEGER)(kinds)


def of_one_type(kinds: Sequence[Kind]) -> ColumnType | None:
    """Return the type that all arguments have; of NULL alone a real number."""
    known = {kind for kind in kinds if kind is not None}
    if len(known) <= 1:
        return next(iter(known), ColumnType.REAL)
    return _number(kinds)


def of_comparison(kinds: Sequence[Kind]) -> ColumnType | None:
    """Return the type of a comparison of values of one type."""
    return None if of_one_type(kinds) is None else ColumnType.BOOLEAN


def of_truths(kinds: Sequence[Kind]) -> ColumnType | None:
    """Return the type of a function of truth values."""
    fits = all(kind in (None, ColumnType.BOOLEAN) for kind in kinds)
    return ColumnType.BOOLEAN if fits else None


def of_case(kinds: Sequence[Kind]) -> ColumnType | None:
    """Return the type of a choice: conditions and results in turn, then what is left."""
    conditions, results = kinds[:-1:2], (*kinds[1::2], kinds[-1])
    is_whole = len(kinds) % 2 == 1 and of_truths(conditions) is not None
    return of_one_type(results) if is_whole else None


def of_sum(kinds: Sequence[Kind]) -> ColumnType | None:
    """Return the type of a sum: of numbers, or of a day and a number of days."""
    is_day = kinds in ([_DATE, _INTEGER], [_DATE, None], [None, _DATE])
    return _DATE if is_day or kinds == [_INTEGER, _DATE] else _number(kinds)


def of_difference(kinds: Sequence[Kind]) -> ColumnType | None:
    """Return the type of a difference: of numbers, of two days, or of a day and days."""
    if kinds == [_DATE, _DATE]:
        return _INTEGER
    return _DATE if kinds in ([_DATE, _INTEGER], [_DATE, None]) else _number(kinds)


def of_nullif(kinds: Sequence[Kind]) -> ColumnType | None:
    """Return the type of the first of two that can be compared."""
    return of_one_type(kinds) and of_one_type(kinds[:1])


def numeric(
    work: Callable[..., Ratios], enclosure: Enclosure | None = None, *, count: int = 2
) -> BetweenNumbers:
    """Return a function of numbers that is whole if they are."""
    return BetweenNumbers(count, count, _number, kept_numbers(work), enclosure)


def to_whole(work: Callable[[Ratios], Ratios]) -> BetweenNumbers:
    """Return a function to whole numbers that never falls."""
    returned = _always(ColumnType.INTEGER)
    return BetweenNumbers(1, 1, returned, kept_numbers(work), enclosures.rising(work))


def to_real(work: Callable[..., Ratios], enclosure: Enclosure, *, count: int = 1) -> BetweenNumbers:
    """Return a function of columns to real numbers."""
    return BetweenNumbers(count, count, _always(ColumnType.REAL), kept_numbers(work), enclosure)


def each_to_real(
    work: Callable[..., Fraction | None],
    enclosure: Callable[..., enclosures.Interval | None],
    *,
    count: int = 1,
) -> BetweenNumbers:
    """Return a function of single numbers to real ones, and of single intervals."""
    within = enclosures.each_by_itself(enclosure)
    return BetweenNumbers(count, count, _always(ColumnType.REAL), strict(work), within)


def relation_of(relation: Callable[..., bool]) -> BetweenNumbers:
    """Return a comparison; where it holds for sure is told by truths, not by an enclosure."""
    return BetweenNumbers(2, 2, of_comparison, comparison(relation))
