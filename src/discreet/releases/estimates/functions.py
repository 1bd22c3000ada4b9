"""The functions that may stand between noisy numbers: their types, and their values."""

import datetime
import math
import operator
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from attrs import frozen

from discreet.core.errors import RefusedQuery
from discreet.releases.estimates import numbers
from discreet.releases.estimates.estimate import Calculation, Constant, Estimate, Scalar
from discreet.tables.column import ColumnType

Kind = ColumnType | None
"""The type of an argument, None for NULL, which goes with every type."""
Values = Sequence[Scalar | None]

_INTEGER, _DATE = ColumnType.INTEGER, ColumnType.DATE
_NUMBERS = (_INTEGER, ColumnType.REAL)


@frozen
class Function:
    """One function: how many arguments, of which types, to which type, and how it is worked out."""

    least: int
    most: int | None
    returns: Callable[[Sequence[Kind]], ColumnType | None]
    """The type of the result, or None if the arguments do not fit."""
    value: Callable[[Values], Scalar | None]


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
    constants = [argument for argument in arguments if isinstance(argument, Constant)]
    if len(constants) == len(arguments):
        return Constant(returned, FUNCTIONS[name].value([constant.value for constant in constants]))
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


def _strict(work: Callable[..., Any]) -> Callable[[Values], Scalar | None]:
    """Return a function that is NULL if any argument is, and never a number without end."""

    def value(arguments: Values) -> Scalar | None:
        if any(argument is None for argument in arguments):
            return None
        result: Scalar | None = work(*arguments)
        return numbers.kept(result) if isinstance(result, Fraction) else result

    return value


def _and(arguments: Values) -> bool | None:
    return False if False in arguments else None if None in arguments else True


def _or(arguments: Values) -> bool | None:
    return True if True in arguments else None if None in arguments else False


def _case_value(arguments: Values) -> Scalar | None:
    for condition, result in zip(arguments[:-1:2], arguments[1::2], strict=True):
        if condition is True:
            return result
    return arguments[-1]


def _first(arguments: Values) -> Scalar | None:
    return next((argument for argument in arguments if argument is not None), None)


def _extreme(choose: Callable[[list[Any]], Scalar]) -> Callable[[Values], Scalar | None]:
    def value(arguments: Values) -> Scalar | None:
        known = [argument for argument in arguments if argument is not None]
        return choose(known) if known else None

    return value


def _among(arguments: Values) -> bool | None:
    wanted, *known = arguments
    return None if wanted is None else _or([None if k is None else k == wanted for k in known])


def _null_if(arguments: Values) -> Scalar | None:
    first, second = arguments
    return None if first is not None and first == second else first


def _moved_day(kinds: Sequence[Kind]) -> ColumnType | None:
    """Return the type of a sum: of numbers, or of a day and a number of days."""
    is_day = kinds in ([_DATE, _INTEGER], [_DATE, None], [None, _DATE])
    return _DATE if is_day or kinds == [_INTEGER, _DATE] else _number(kinds)


def _distance(kinds: Sequence[Kind]) -> ColumnType | None:
    """Return the type of a difference: of numbers, of two days, or of a day and days."""
    if kinds == [_DATE, _DATE]:
        return _INTEGER
    return _DATE if kinds in ([_DATE, _INTEGER], [_DATE, None]) else _number(kinds)


def _add(left: Any, right: Any) -> Scalar | None:
    if isinstance(right, datetime.date):
        left, right = right, left
    return _later(left, right) if isinstance(left, datetime.date) else left + right


def _subtract(left: Any, right: Any) -> Scalar | None:
    if isinstance(right, datetime.date):
        return Fraction((left - right).days)
    return _later(left, -right) if isinstance(left, datetime.date) else left - right


def _later(day: datetime.date, count: Fraction) -> datetime.date | None:
    """Return the day so many days later, if the calendar has it."""
    try:
        return day + datetime.timedelta(days=math.floor(count))
    except OverflowError:
        return None


def _numeric(work: Callable[..., Any], count: int = 2) -> Function:
    return Function(count, count, _number, _strict(work))


def _real(work: Callable[..., Any], count: int = 1) -> Function:
    return Function(count, count, _always(ColumnType.REAL), _strict(work))


def _whole(work: Callable[..., Any], count: int = 1) -> Function:
    return Function(count, count, _always(ColumnType.INTEGER), _strict(work))


def _comparison(work: Callable[..., Any]) -> Function:
    return Function(2, 2, _compared, _strict(work))


FUNCTIONS: dict[str, Function] = {
    "+": Function(2, 2, _moved_day, _strict(_add)),
    "-": Function(2, 2, _distance, _strict(_subtract)),
    "*": _numeric(operator.mul),
    "%": _numeric(numbers.remainder),
    "neg": _numeric(operator.neg, 1),
    "abs": _numeric(operator.abs, 1),
    "/": _real(numbers.divide, 2),
    "//": _numeric(numbers.whole_divide),
    "floor": _whole(lambda value: Fraction(math.floor(value))),
    "ceil": _whole(lambda value: Fraction(math.ceil(value))),
    "trunc": _whole(lambda value: Fraction(math.trunc(value))),
    "sign": _whole(numbers.sign),
    "round": Function(1, 2, _rounded, _strict(numbers.rounded)),
    "integer": _whole(numbers.rounded),
    "real": _real(lambda value: value),
    "sqrt": _real(numbers.root),
    "ln": _real(numbers.logarithm),
    "log10": _real(numbers.logarithm_to(10)),
    "log2": _real(numbers.logarithm_to(2)),
    "exp": _real(numbers.exponential),
    "power": _real(numbers.power, 2),
    "greatest": Function(1, None, _common, _extreme(max)),
    "least": Function(1, None, _common, _extreme(min)),
    "=": _comparison(operator.eq),
    "<>": _comparison(operator.ne),
    "<": _comparison(operator.lt),
    "<=": _comparison(operator.le),
    ">": _comparison(operator.gt),
    ">=": _comparison(operator.ge),
    "in": Function(2, None, _compared, _among),
    "and": Function(1, None, _logical, _and),
    "or": Function(1, None, _logical, _or),
    "not": Function(1, 1, _logical, _strict(operator.not_)),
    "is_null": Function(1, 1, lambda _: ColumnType.BOOLEAN, lambda arguments: arguments[0] is None),
    "nullif": Function(2, 2, lambda kinds: _common(kinds) and _common(kinds[:1]), _null_if),
    "coalesce": Function(1, None, _common, _first),
    "case": Function(3, None, _case, _case_value),
}
"""Every function, by name. One that is not here has no meaning."""
