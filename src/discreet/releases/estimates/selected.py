"""The estimate of the counts that chose private groups, in the place of an ordinary total."""

from functools import singledispatch

from attrs import evolve

from discreet.releases.estimates.estimate import (
    Calculation,
    Estimate,
    SelectedOf,
    TotalOf,
    WindowOf,
)


@singledispatch
def with_selected(estimate: Estimate, index: int) -> Estimate:
    """Return the estimate with aggregate ``index`` as the count that chose the groups, throughout.

    Example:
        >>> from discreet.tables.column import ColumnType
        >>> with_selected(TotalOf(ColumnType.INTEGER, 0), 0)
        SelectedOf(type=<ColumnType.INTEGER: 'integer'>, index=0)
    """
    return estimate


@with_selected.register
def _(estimate: TotalOf, index: int) -> Estimate:
    return SelectedOf(estimate.type, index) if estimate.index == index else estimate


@with_selected.register
def _(estimate: Calculation, index: int) -> Estimate:
    return evolve(estimate, arguments=_all(estimate.arguments, index))


@with_selected.register
def _(estimate: WindowOf, index: int) -> Estimate:
    argument = estimate.argument
    return evolve(
        estimate,
        argument=None if argument is None else with_selected(argument, index),
        partition=_all(estimate.partition, index),
        order=tuple((with_selected(inner, index), down) for inner, down in estimate.order),
    )


def _all(estimates: tuple[Estimate, ...], index: int) -> tuple[Estimate, ...]:
    return tuple(with_selected(estimate, index) for estimate in estimates)
