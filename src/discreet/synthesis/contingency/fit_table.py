"""A table of whole numbers from 0 that fits noisy contrasts: a linear programme, then rounding."""

import math
from collections.abc import Sequence

import numpy as np
from attrs import field, frozen

from discreet.core import optional
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.protocols import IntArray
from discreet.synthesis.contingency.contrasts import Reals, contrast_rows, spread_out
from discreet.synthesis.contingency.noisy_contrasts import NoisyContrasts
from discreet.synthesis.contingency.table_noise import variance
from discreet.synthesis.counted.counted_rows import Integers

MOST_ENTRIES = 4_000_000
"""How many numbers the programme may have: entries of contrasts times cells."""


@frozen(kw_only=True, eq=False)
class FittedTable:
    """A table of all columns that could be that of real rows, and how well it fits."""

    counts: IntArray = field(repr=False)
    """How many rows each cell has: one axis for each column."""
    misfit: float
    """How far a contrast is from what was measured, at most, in deviations of its noise."""

    def marginal(self, columns: Sequence[int]) -> IntArray:
        """Return the table of some columns: whole numbers from 0, and all tables agree."""
        others = tuple(axis for axis in range(self.counts.ndim) if axis not in columns)
        found: IntArray = self.counts.sum(axis=others)
        return found


def fit_table(method: NoisyContrasts, measured: Sequence[Integers]) -> FittedTable:
    r"""Return a table from 0 on whose contrasts are as near as can be to those measured, rounded.

    Guarantee:
        Post-processing of what was measured: it costs nothing [DR14, Proposition 2.1].

    Utility:
        The programme finds the :math:`w \ge 0` with the smallest largest misfit, in deviations of
        each contrast's noise. The true table is allowed, so if no noise exceeds ``z`` deviations,
        no misfit does, and no contrast of ``w`` is further than ``2z`` deviations from the truth
        [BCD07, Section 4]. The solution is a vertex, so no more of its cells are above 0 than
        there are entries and one more. Each of these moves by less than 1 when cells are rounded
        (down, and those with the largest remainders up, so that the total is kept), and the others
        stay 0.
    """
    method.require_measured(measured)
    cells = math.prod(method.sizes)
    entries = sum(contrast.size for contrast in measured)
    if cells * entries > MOST_ENTRIES:
        raise InvalidArgument(
            "The table of all columns is too large for a linear programme",
            must=f"have at most {MOST_ENTRIES // max(1, entries):,} cells",
            got=f"{cells:,}",
            next="Estimate each table alone, or use a graphical model",
        )
    matrix, wanted = _programme(method, measured)
    solution = _solved(matrix, wanted)
    counts = rounded(solution[:-1]).reshape(method.sizes)
    return FittedTable(counts=counts, misfit=float(solution[-1]))


def _programme(method: NoisyContrasts, measured: Sequence[Integers]) -> tuple[Reals, Reals]:
    """Return a row and a number for each entry, both in deviations of its noise."""
    rows, numbers = [], []
    for one, noise, contrast in zip(method.sets, method.noises, measured, strict=True):
        deviation = math.sqrt(variance(noise))
        rows.append(contrast_rows(method.sizes, one) / deviation)
        centred = spread_out(np.asarray(contrast, dtype=np.float64), method.shape(one))
        kept = tuple(slice(0, 1) if size == 2 else slice(None) for size in method.shape(one))
        numbers.append(centred[kept].ravel() / deviation)
    return np.concatenate(rows), np.concatenate(numbers)


def _solved(matrix: Reals, wanted: Reals) -> Reals:
    """Return the cells and the largest misfit, at a vertex (the dual simplex method)."""
    misfit = np.ones((len(matrix), 1))
    limits = np.block([[matrix, -misfit], [-matrix, -misfit]])
    aim = np.zeros(matrix.shape[1] + 1)
    aim[-1] = 1.0
    found = optional.load("scipy.optimize").linprog(
        aim, A_ub=limits, b_ub=np.concatenate([wanted, -wanted]), method="highs-ds"
    )
    if found.x is None:
        raise Unsupported(
            "The linear programme was not solved",
            got=str(found.message),
            next="What was measured is kept: try again, or estimate each table alone",
        )
    solution: Reals = np.maximum(found.x, 0.0)
    return solution


def rounded(cells: Reals) -> IntArray:
    """Return whole numbers: each next to its cell, and together the nearest to the sum.

    Example:
        >>> rounded(np.array([0.0, 1.4, 2.8, 0.7])).tolist()
        [0, 1, 3, 1]
    """
    near = np.round(cells)
    cells = np.where(np.abs(cells - near) < _TINY, near, cells)
    whole = np.floor(cells).astype(np.int64)
    missing = round(float(cells.sum())) - int(whole.sum())
    order = np.argsort(-(cells - whole), kind="stable")
    whole[order[:missing]] += 1
    return whole


_TINY = 1e-7
