"""A grid of losses: whole multiples of one step."""

import math

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

_BITS = 34


@frozen
class Grid:
    """The losses ``first * step``, ..., ``last * step``; the step is short, so they are exact.

    Example:
        >>> Grid.covering(-0.3, 0.3, 0.25).losses()
        array([-0.5 , -0.25,  0.  ,  0.25,  0.5 ])
    """

    step: float
    first: int
    last: int

    @staticmethod
    def covering(low: float, high: float, step: float) -> "Grid":
        """Return the shortest grid that begins below ``low`` and reaches to ``high``.

        An atom at ``low`` itself is then in a cell, and not taken for something below the grid.
        """
        first = math.ceil(low / step) - 1
        return Grid(step, first, max(first + 1, math.ceil(high / step)))

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
