"""The functions that may stand between noisy numbers: their types, values and enclosures."""

import operator
from collections.abc import Callable, Sequence
from fractions import Fraction

from attrs import frozen

from discreet.core.errors import RefusedQuery
from discreet.releases.estimates import enclosures, function_values
from discreet.releases.estimates.columns import constant, scalars
from discreet.releases.estimates.enclosures import Enclosure, Intervals
from discreet.releases.estimates.estimate import Calculation, Constant, Estimate
from discreet.releases.estimates.function_values import (
    ColumnFunction,
    comparison,
    kept_numbers,
    of_numbers,
    strict,
)
from discreet.releases.estimates.ratios import Ratios
from discreet.tables.column import ColumnType

Kind = ColumnType | None
"""The type of an argument, None for NULL, which goes with every type."""

_INTEGER, _DATE = ColumnType.INTEGER, ColumnType.DATE
_NUMBERS = (_INTEGER, ColumnType.REAL)


@frozen
class EstimateFunction:
    """One function: how many arguments, of which types, to which type, and how it is worked out.

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


def calculate(name: str, *arguments: Estimate) -> Estimate:
    """Return the function of the arguments; refuse types that do not fit.

    Example:
        >>> half = Constant(ColumnType.REAL, Fraction(1, 2))
        >>> calculate("+", half, half).type
        <ColumnType.REAL: 'real'>
    """
    function = FUNCTIONS[name]
    kinds = [_kind(argument) for argument in arguments]
    fits = function.least <= len(kinds) and (function.most is None or len(kinds) <= function.most)
    returned = function.returns(kinds) if fits else None
    if returned is None:
        raise RefusedQuery(
            f"'{name}' does not go with these values",
            got=", ".join("NULL" if kind is None else kind.value for kind in kinds) or "none",
        )
    if returned is ColumnType.REAL:
        name = _AMONG_REALS.get(name, name)
    constants = [constant(a.value, 1) for a in arguments if isinstance(a, Constant)]
    if len(constants) == len(arguments):
        (value,) = scalars(FUNCTIONS[name].value(*constants))
        return Constant(returned, value)
    return Calculation(returned, name, arguments)


_AMONG_REALS = {"//": "/"}
"""What a name means if a number that is not whole takes part, as DuckDB has it."""


def _kind(estimate: Estimate) -> Kind:
    is_null = isinstance(estimate, Constant) and estimate.value is None
    return None if is_null else estimate.type


def _number(kinds: Sequence[Kind]) -> ColumnType | None:
    if not all(kind is None or kind in _NUMBERS for kind in kinds):
        return None
    return ColumnType.REAL if ColumnType.REAL in kinds else ColumnType.INTEGER


def _always(kind: ColumnType) -> Callable[[Sequence[Kind]], ColumnType | None]:
    return lambda kinds: None if _number(kinds) is None else kind


def _rounded(kinds: Sequence[Kind]) -> ColumnType | None:
    return _number(kinds) if len(kinds) > 1 else _always(ColumnType.INTEGER)(kinds)


def _common(kinds: Sequence[Kind]) -> ColumnType | None:
    known = {kind for kind in kinds if kind is not None}
    if len(known) <= 1:
        return next(iter(known), ColumnType.REAL)
    return _number(kinds)


def _compared(kinds: Sequence[Kind]) -> ColumnType | None:
    return None if _common(kinds) is None else ColumnType.BOOLEAN


def _logical(kinds: Sequence[Kind]) -> ColumnType | None:
    fits = all(kind in (None, ColumnType.BOOLEAN) for kind in kinds)
    return ColumnType.BOOLEAN if fits else None


def _case(kinds: Sequence[Kind]) -> ColumnType | None:
    conditions, results = kinds[:-1:2], (*kinds[1::2], kinds[-1])
    is_whole = len(kinds) % 2 == 1 and _logical(conditions) is not None
    return _common(results) if is_whole else None


def _moved_day(kinds: Sequence[Kind]) -> ColumnType | None:
    """Return the type of a sum: of numbers, or of a day and a number of days."""
    is_day = kinds in ([_DATE, _INTEGER], [_DATE, None], [None, _DATE])
    return _DATE if is_day or kinds == [_INTEGER, _DATE] else _number(kinds)


def _distance(kinds: Sequence[Kind]) -> ColumnType | None:
    """Return the type of a difference: of numbers, of two days, or of a day and days."""
    if kinds == [_DATE, _DATE]:
        return _INTEGER
    return _DATE if kinds in ([_DATE, _INTEGER], [_DATE, None]) else _number(kinds)


def _numeric(
    work: Callable[..., Ratios], enclosure: Enclosure | None = None, *, count: int = 2
) -> EstimateFunction:
    return EstimateFunction(count, count, _number, kept_numbers(work), enclosure)


def _whole(work: Callable[[Ratios], Ratios]) -> EstimateFunction:
    """Return a function to whole numbers that never falls."""
    returned = _always(ColumnType.INTEGER)
    return EstimateFunction(1, 1, returned, kept_numbers(work), enclosures.rising(work))


def _real(value: ColumnFunction, enclosure: Enclosure, *, count: int = 1) -> EstimateFunction:
    return EstimateFunction(count, count, _always(ColumnType.REAL), value, enclosure)


def _each_real(
    work: Callable[..., Fraction | None],
    enclosure: Callable[..., enclosures.Interval | None],
    *,
    count: int = 1,
) -> EstimateFunction:
    """Return a function of single numbers, and of single intervals."""
    return _real(strict(work), enclosures.each_by_itself(enclosure), count=count)


def _comparison(relation: Callable[..., bool]) -> EstimateFunction:
    return EstimateFunction(2, 2, _compared, comparison(relation))


def _null_if(kinds: Sequence[Kind]) -> ColumnType | None:
    return _common(kinds) and _common(kinds[:1])


_PLUS = of_numbers(kept_numbers(Ratios.plus), strict(function_values.add_days))
_MINUS = of_numbers(kept_numbers(Ratios.minus), strict(function_values.subtract_days))
_ROUND = kept_numbers(function_values.rounded)

FUNCTIONS: dict[str, EstimateFunction] = {
    "+": EstimateFunction(2, 2, _moved_day, _PLUS, enclosures.plus),
    "-": EstimateFunction(2, 2, _distance, _MINUS, enclosures.minus),
    "*": _numeric(Ratios.times, enclosures.product_of),
    "%": _numeric(function_values.remainder),
    "neg": _numeric(Ratios.negative, Intervals.negative, count=1),
    "abs": _numeric(Ratios.absolute, enclosures.absolute, count=1),
    "/": _real(kept_numbers(Ratios.over), enclosures.ratio, count=2),
    "//": _numeric(function_values.whole_ratio, enclosures.whole_ratio),
    "floor": _whole(function_values.floor),
    "ceil": _whole(function_values.ceiling),
    "trunc": _whole(Ratios.truncated),
    "sign": _whole(function_values.sign),
    "round": EstimateFunction(1, 2, _rounded, _ROUND, enclosures.round_to),
    "integer": _whole(function_values.rounded),
    "real": _real(kept_numbers(lambda values: values), lambda inside: inside),
    "sqrt": _real(kept_numbers(function_values.root), enclosures.root),
    "ln": _each_real(function_values.logarithm, enclosures.logarithm),
    "log10": _each_real(function_values.logarithm_to(10), enclosures.logarithm_to(10)),
    "log2": _each_real(function_values.logarithm_to(2), enclosures.logarithm_to(2)),
    "exp": _each_real(function_values.exponential, enclosures.exponential),
    "power": _each_real(function_values.power, enclosures.power, count=2),
    "greatest": EstimateFunction(1, None, _common, function_values.GREATEST),
    "least": EstimateFunction(1, None, _common, function_values.LEAST),
    "=": _comparison(operator.eq),
    "<>": _comparison(operator.ne),
    "<": _comparison(operator.lt),
    "<=": _comparison(operator.le),
    ">": _comparison(operator.gt),
    ">=": _comparison(operator.ge),
    "in": EstimateFunction(2, None, _compared, function_values.among),
    "and": EstimateFunction(1, None, _logical, function_values.every),
    "or": EstimateFunction(1, None, _logical, function_values.some),
    "not": EstimateFunction(1, 1, _logical, strict(operator.not_)),
    "is_null": EstimateFunction(1, 1, lambda _: ColumnType.BOOLEAN, function_values.is_null),
    "nullif": EstimateFunction(2, 2, _null_if, function_values.null_if, enclosures.unless),
    "coalesce": EstimateFunction(1, None, _common, function_values.first_known),
    "case": EstimateFunction(3, None, _case, function_values.case),
}
"""Every function, by name. One that is not here has no meaning."""
