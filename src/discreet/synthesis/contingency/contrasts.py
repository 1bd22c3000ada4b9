r"""Contrasts of a table: whole numbers from which all tables below it follow.

Of a column with two values the contrast is the count of the first less that of the second, so that
over several such columns it is the un-normalised Walsh coefficient
:math:`\sum_x f(x) (-1)^{\langle S, x \rangle}`. Of a column with :math:`k > 2` values it is, for
each value, ``k`` times its count less the count of all. Both are exact; the usual ones have
factors of :math:`2^{-k/2}` in them, and noise on those would have to be rounded.

For the table of the columns ``W`` with :math:`K_W` cells,
:math:`f_W(v) = \frac{1}{K_W} \sum_{S \subseteq W} c_S(v_S)`, because the indicator of a value is
:math:`\frac1k (1 + (k\,1[x = v] - 1))`.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.core.contribution import Contribution
from discreet.synthesis.contingency.column_sets import ColumnSet
from discreet.synthesis.counted.counted_rows import CountedRows, Integers

Reals = NDArray[np.float64]

_MOST = 1 << 60


def contrast_of(rows: CountedRows, columns: ColumnSet) -> Integers:
    """Return the exact contrast of some columns, one axis for each: **private**.

    A cell beyond a public bound is moved there, so that nothing wraps around; that moves two counts
    no further apart.
    """
    table = rows.table(columns)
    table = np.minimum(table, _MOST // math.prod(size**2 for size in table.shape))
    for axis in range(len(columns)):
        table = _along(table, axis)
    return table


def _along(table: Integers, axis: int) -> Integers:
    if table.shape[axis] == 2:
        first, second = np.split(table, 2, axis=axis)
        return first - second
    centred: Integers = table.shape[axis] * table - table.sum(axis=axis, keepdims=True)
    return centred


def contrast_contribution(shape: Sequence[int], rows_per_unit: int) -> Contribution:
    r"""Return what a unit of so many rows can move in the contrast of columns of these sizes.

    Guarantee:
        A row adds the product, over the columns, of ±1 or of the vector with :math:`k - 1` at its
        value and -1 elsewhere. The norms of a product are the products of the norms:
        :math:`k - 1`, :math:`2(k - 1)` and :math:`k(k - 1)` for :math:`\ell_\infty`,
        :math:`\ell_1` and the square of :math:`\ell_2`. ``m`` rows move each norm by at most ``m``
        times as much (triangle inequality).

    Example:
        >>> contrast_contribution([2, 2, 5], 3)
        Contribution(l0=None, linf=12, l1=24, l2_squared=180, metric=add_remove)
    """
    large = [size for size in shape if size > 2]
    return Contribution(
        linf=rows_per_unit * math.prod(size - 1 for size in large),
        l1=rows_per_unit * math.prod(2 * (size - 1) for size in large),
        l2_squared=rows_per_unit**2 * math.prod(size * (size - 1) for size in large),
    )


def spread_out(contrast: Reals, shape: Sequence[int]) -> Reals:
    """Return a (noisy) contrast for each cell; what sums to 0 in the truth is made to sum to 0."""
    found = contrast
    for axis, size in enumerate(shape):
        if size == 2:
            found = np.concatenate([found, -found], axis=axis)
        else:
            found = found - found.mean(axis=axis, keepdims=True)
    return found


def kept_variance(shape: Sequence[int]) -> float:
    r"""Return how much of the variance of noise ``spread_out`` leaves: :math:`\prod(1 - 1/k)`."""
    return math.prod(1 - 1 / size for size in shape if size > 2)


def contrast_rows(shape: Sequence[int], columns: ColumnSet) -> Reals:
    """Return the contrast of each cell of the whole universe: a row for each entry."""
    found: Reals = np.ones((1, 1))
    for column, size in enumerate(shape):
        if column not in columns:
            part: Reals = np.ones((1, size))
        elif size == 2:
            part = np.array([[1.0, -1.0]])
        else:
            part = size * np.eye(size) - 1
        found = np.asarray(np.kron(found, part), dtype=np.float64)
    return found
