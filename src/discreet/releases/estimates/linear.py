"""Which estimates are sums of multiples of noisy numbers, so that every group has one error bar."""

from collections.abc import Callable, Mapping
from fractions import Fraction

from discreet.releases.estimates.estimate import (
    Calculation,
    Constant,
    Estimate,
    GroupingOf,
    KeyOf,
    SelectedOf,
    TotalOf,
)
from discreet.tables.arithmetic.ratios import kept

Coefficients = dict[int, Fraction]


def linear(estimate: Estimate) -> Coefficients | None:
    """Return the multiple of each aggregate, or None if the estimate is no such sum.

    Example:
        >>> from discreet.tables.column import ColumnType
        >>> count = TotalOf(ColumnType.INTEGER, 0)
        >>> linear(Calculation(ColumnType.INTEGER, "+", (count, count)))
        {0: Fraction(2, 1)}
    """
    if isinstance(estimate, TotalOf):
        return {estimate.index: Fraction(1)}
    if isinstance(estimate, Constant | KeyOf | GroupingOf):
        return {}
    if not isinstance(estimate, Calculation) or estimate.function not in _RULES:
        return None
    return _RULES[estimate.function](*estimate.arguments)


def half_width(coefficients: Coefficients, margins: Mapping[int, Fraction]) -> Fraction | None:
    """Return the error bar of a sum of multiples: the multiples of the error bars, added.

    None if it is out of range.
    """
    return kept(sum((abs(c) * margins[i] for i, c in coefficients.items()), Fraction(0)))


def is_sure(estimate: Estimate) -> bool:
    """Tell whether an estimate has a value in every group, with noise and without."""
    if isinstance(estimate, Constant):
        return estimate.value is not None
    if isinstance(estimate, Calculation):
        return estimate.function in TOTAL and all(map(is_sure, estimate.arguments))
    return isinstance(estimate, TotalOf | SelectedOf | GroupingOf)


TOTAL = {"+", "-", "*", "neg", "abs", "floor", "ceil", "trunc", "sign", "round", "integer", "real"}
"""The functions that have a value wherever all of their arguments have one."""


def _scaled(estimate: Estimate, factor: Fraction) -> Coefficients | None:
    inner = linear(estimate)
    if inner is None:
        return None
    return {index: factor * multiple for index, multiple in inner.items()}


def _plus(left: Estimate, right: Estimate, factor: Fraction = Fraction(1)) -> Coefficients | None:
    first, second = linear(left), _scaled(right, factor)
    if first is None or second is None:
        return None
    both = {i: first.get(i, Fraction(0)) + second.get(i, Fraction(0)) for i in (*first, *second)}
    return {index: multiple for index, multiple in sorted(both.items()) if multiple}


def _times(left: Estimate, right: Estimate) -> Coefficients | None:
    for one, other in ((left, right), (right, left)):
        factor = _number(one)
        if factor is not None:
            return _scaled(other, factor)
    return None


def _over(left: Estimate, right: Estimate) -> Coefficients | None:
    divisor = _number(right)
    return _scaled(left, 1 / divisor) if divisor else None


def _number(estimate: Estimate) -> Fraction | None:
    value = estimate.value if isinstance(estimate, Constant) else None
    return value if isinstance(value, Fraction) else None


_RULES: dict[str, Callable[..., Coefficients | None]] = {
    "+": _plus,
    "-": lambda left, right: _plus(left, right, Fraction(-1)),
    "neg": lambda inner: _scaled(inner, Fraction(-1)),
    "*": _times,
    "/": _over,
    "real": linear,
}
