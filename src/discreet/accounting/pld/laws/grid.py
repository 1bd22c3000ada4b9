r"""A law of the loss on a grid, twice: above the truth, and below it except for known noise.

Both are *hat splits*. Outcomes whose loss lies in the cell between two neighbouring grid points,
with chances :math:`p` under :math:`P` and :math:`q` under :math:`Q`, are moved to these two points
so that both chances are kept: the share

.. math:: f = \frac{1 - e^{\varepsilon_k} q/p}{1 - e^{-h}}

goes to the upper point. In terms of :math:`X = e^{-Z}` that is a fair game, :math:`X W` with
:math:`E[W \mid X] = 1`, so every curve :math:`E(1 - e^\varepsilon X)_+` can only grow (Jensen);
it is the least such curve, exact at the grid points [DGKKM22]. How much it grows at most is proved
in ``docs/proofs/pld.md``; :mod:`discreet.accounting.pld.delta_curve` has the formula.
"""

import math

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from discreet.accounting.pld.laws.float_assumptions import RELATIVE, TINY, UNIT

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

_BITS = 34


@frozen
class LossGrid:
    """The losses ``first * step``, ..., ``last * step``; the step is short, so they are exact.

    Example:
        >>> LossGrid.covering(-0.3, 0.3, 0.25).losses()
        array([-0.5 , -0.25,  0.  ,  0.25,  0.5 ])
    """

    step: float
    first: int
    last: int

    @staticmethod
    def covering(low: float, high: float, step: float) -> "LossGrid":
        """Return the shortest grid that begins below ``low`` and reaches to ``high``.

        An atom at ``low`` itself is then in a cell, and not taken for something below the grid.
        """
        first = math.ceil(low / step) - 1
        return LossGrid(step, first, max(first + 1, math.ceil(high / step)))

    def losses(self) -> FloatArray:
        """Return the losses, without rounding: indices have at most 19 bits."""
        return indices(self.first, self.last + 1) * self.step


def short_step(step: float) -> float:
    """Round down to 34 significant bits, so that multiples with up to 19 bits are exact.

    Example:
        >>> 0.999999 < short_step(0.1) / 0.1 <= 1
        True
    """
    mantissa, exponent = math.frexp(step)
    return math.ldexp(math.floor(mantissa * 2**_BITS), exponent - _BITS)


def indices(start: int, stop: int) -> FloatArray:
    """Return the whole numbers from ``start`` up to ``stop`` as floats."""
    return np.arange(float(start), float(stop))


@frozen
class Tails:
    r"""For thresholds :math:`z`: the chances that the loss is finite and above, and that it is not.

    Rows are events, columns thresholds. The law of the outcome is :math:`P` on one data set and
    :math:`Q` on its neighbour; the loss is :math:`Z = \ln(dP/dQ)`.

    Guarantee:
        Each entry is right to a share ``machine.RELATIVE`` of itself, for a threshold that is
        within the law's slack of :math:`z`, the same for all four. Both sides are kept because
        the smaller of them tells small differences apart.
    """

    right_p: FloatArray
    """:math:`P[z < Z < \\infty]`"""
    right_q: FloatArray
    """:math:`Q[Z > z]`"""
    left_p: FloatArray
    """:math:`P[Z \\le z]`"""
    left_q: FloatArray
    """:math:`Q[Z \\le z]`"""

    def swapped(self, where: BoolArray, other: "Tails") -> "Tails":
        """Return these tails where ``where`` holds, and ``other`` elsewhere."""
        return Tails(
            np.where(where, self.right_p, other.right_p),
            np.where(where, self.right_q, other.right_q),
            np.where(where, self.left_p, other.left_p),
            np.where(where, self.left_q, other.left_q),
        )

    def mixed(self, weights: tuple[float, float], other: "Tails") -> "Tails":
        """Return the tails of a mixture of both."""
        mine, theirs = weights
        return Tails(
            mine * self.right_p + theirs * other.right_p,
            mine * self.right_q + theirs * other.right_q,
            mine * self.left_p + theirs * other.left_p,
            mine * self.left_q + theirs * other.left_q,
        )


@frozen
class Split:
    """Masses on a grid, a row an event.

    Guarantee:
        ``upper`` (with ``upper_infinite`` at an infinite loss) are masses of a pair of measures
        whose curve is nowhere below that of the event. ``lower`` are the masses of an exact hat
        split of a pair whose curve is nowhere above it.
    """

    grid: LossGrid
    upper: FloatArray
    lower: FloatArray
    upper_infinite: FloatArray
    lower_infinite: FloatArray
    noisy: bool
    """Whether the split moved anything from one side of a cell to the other."""
    moved: float = 0.0
    """How far losses were moved to lie on the grid, up or down, before they were split."""


def split_tails(
    tails: Tails, infinite: FloatArray, dropped: float, grid: LossGrid, slack: float
) -> Split:
    r"""Split a law that is known by its tails at the grid points.

    Guarantee:
        *Upper*: with :math:`p' \ge p` and a share :math:`f' \ge f` at the top of each cell, the
        curve of the cell, :math:`p' - e q'` left of it, is at least :math:`p - e q`: it is at
        :math:`e = 0` (the mass) and at the lower end (the mass at the top), and both are lines.
        What is below the grid moves up to its first point, what is beyond it, and what the tails
        leave out, to infinity.
        *Lower*: :math:`p' \le p` and :math:`f' \le f` are the exact split of a pair with
        :math:`dP' \le dP` whose losses are nowhere larger. What is below the grid is dropped,
        what is beyond it moves down to its last point.

        The errors of the tails enter the bounds of :math:`p` and :math:`f`. A loss that is outside
        its cell, by at most ``slack`` because the thresholds are inexact, is first moved to the
        end of the cell; whoever uses the masses moves ε by as much.
    """
    exponential = np.exp(grid.losses()[:-1])
    width = -math.expm1(-grid.step)
    p, p_error = _cells(tails.right_p, tails.left_p)
    q, q_error = _cells(tails.right_q, tails.left_q)
    q, q_error = q * exponential, (q_error + 2 * slack * q) * exponential
    top = (p - q) / width
    top_error = (p_error + q_error + 8 * UNIT * (p + q)) / width

    less, more = np.maximum(p - p_error, 0.0), p + p_error
    share = np.clip((top - top_error) / np.maximum(more, TINY), 0.0, 1.0)
    lower = _placed(less * (1 - 8 * UNIT), share)
    lower[:, -1] += tails.right_p[:, -1] * (1 - RELATIVE)

    sure = less > TINY
    share = np.where(sure, (top + top_error) / np.where(sure, less, 1.0), 1.0)
    upper = _placed(more * (1 + 8 * UNIT), np.clip(share, 0.0, 1.0))
    upper[:, 0] += tails.left_p[:, 0] * (1 + RELATIVE)
    beyond = tails.right_p[:, -1] * (1 + RELATIVE) + (dropped + TINY)
    return Split(
        grid,
        upper,
        lower,
        beyond + infinite * (1 + RELATIVE),
        infinite * (1 - RELATIVE),
        noisy=True,
    )


def _cells(right: FloatArray, left: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the masses of the cells from the better side, and a bound on their errors."""
    from_right, from_left = right[:, :-1] - right[:, 1:], left[:, 1:] - left[:, :-1]
    right_error, left_error = right[:, :-1] + right[:, 1:], left[:, 1:] + left[:, :-1]
    use_right = right_error <= left_error
    masses = np.maximum(np.where(use_right, from_right, from_left), 0.0)
    return masses, (RELATIVE * 1.01) * np.where(use_right, right_error, left_error) + TINY


def _placed(masses: FloatArray, share: FloatArray) -> FloatArray:
    top = masses * share
    placed = np.zeros((masses.shape[0], masses.shape[1] + 1))
    placed[:, 1:] += top
    placed[:, :-1] += masses - top
    return placed
