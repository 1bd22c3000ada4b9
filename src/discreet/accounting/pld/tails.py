"""The two laws of a privacy loss, seen at some thresholds: what is beyond each, and what is not."""

import numpy as np
from attrs import frozen

from discreet.accounting.pld.grid import BoolArray, FloatArray


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
