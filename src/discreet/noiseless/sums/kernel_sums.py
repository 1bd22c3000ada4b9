"""Sums of rows with a kernel of density: each hidden row is a cell under it, and uniform in it."""

import math
from fractions import Fraction
from functools import lru_cache

from discreet.core.numbers import exp_bounds
from discreet.core.rounding import short_up
from discreet.noiseless.laws.grid_law import DiscreteLaw
from discreet.noiseless.laws.hidden import Hidden
from discreet.noiseless.laws.kernel_density import CellsUnder, KernelDensity
from discreet.noiseless.sums.known_law import sum_masses
from discreet.noiseless.sums.mixture import BLOCKS, mixture_delta

_FINE, _COARSE = 9, 6
"""Numbers of rows are taken with so many bits, so that they come again: fewer hide less."""


def kernel_delta(
    law: KernelDensity, rows: int, epsilon: Fraction, *, blocks: int = BLOCKS
) -> Fraction:
    r"""Return an upper bound of δ for a sum of ``rows`` rows with a kernel of density.

    Guarantee:
        With cells of width s and k = ⌈D / s⌉, where D is how far a clamp is from the simulator's
        value, it is at least :math:`E_{M \sim Bin(n - 1, w)}[\delta_M(\varepsilon)]`. Here w is
        the mass of the cells, and :math:`\delta_M` the hockey-stick divergence of the number of
        the cell, summed over M rows, from itself moved by k.

        Proof. As for :func:`~.mixture.mixture_delta`, other rows show whether they are drawn from
        the kernel, and their values if not. Kernels are log-concave, and so are their sums: the
        best set is a half-line, and a larger shift has a larger divergence. So a row that moves the
        sum by at most D is no worse than one that moves it by k s. Then the kernel is divided:
        its density is at least that of the cells, so each hidden row shows, by rejection, whether
        it is uniform on a cell, and the divergence is jointly convex again. Its place within the
        cell is independent of which cell it is, is the same for both sums, and is added to what is
        left: post-processing, because k s is a whole number of cells.

    Utility:
        Cells are lower than the kernel, which costs about the mass of the two cells at its peak.

    Example:
        >>> from discreet.noiseless import NormalKernel
        >>> law = NormalKernel("0.39", base=(-3, 3), scale=1, clamps=(-3, 3))
        >>> float(kernel_delta(law, 400, Fraction(1))) < 1e-6
        True
    """
    bits = _FINE if blocks >= BLOCKS else _COARSE
    # As for the next power of four: numbers of rows that are tried in turn share their cells.
    cells = cells_of(law, 4 ** ((rows.bit_length() + 1) // 2))
    low, high = law.clamps[0]
    shift = math.ceil((high - low) / 2 / cells.width)
    return mixture_delta(
        rows - 1,
        Hidden(cells.mass, (None,), (Fraction(shift),)),
        lambda count: cell_delta(cells.law, _rounded(count, bits), shift, epsilon),
        blocks=blocks,
    )


@lru_cache(maxsize=64)
def cells_of(law: KernelDensity, rows: int) -> CellsUnder:
    """Return the cells under a kernel, remembered."""
    return law.cells(rows)


@lru_cache(maxsize=4096)
def cell_delta(cells: DiscreteLaw, count: int, shift: int, epsilon: Fraction) -> Fraction:
    """Return an upper bound of δ for the summed numbers of cells, moved by so many of them."""
    if count == 0:
        return Fraction(1)
    masses = sum_masses(cells, count, float(epsilon), shift)
    if masses is None:
        return Fraction(1)
    factor = exp_bounds(epsilon)[0]
    worst = max(masses.excess(side * shift, factor) for side in (1, -1))
    return min(Fraction(1), short_up(Fraction(worst)))


def _rounded(count: int, bits: int) -> int:
    left_out = max(0, count.bit_length() - bits)
    return count >> left_out << left_out
