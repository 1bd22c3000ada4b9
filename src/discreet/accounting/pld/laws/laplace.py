"""The loss of continuous Laplace noise."""

import numpy as np
from attrs import frozen

from discreet.accounting.pld.grid import FloatArray
from discreet.accounting.pld.laws.law import Law, column
from discreet.accounting.pld.tails import Tails


@frozen
class LaplaceLaw(Law):
    r"""Two Laplace laws whose centres are :math:`t` scales apart.

    Guarantee:
        The loss is :math:`t` with probability 1/2 and :math:`-t` with probability
        :math:`e^{-t}/2`; between, :math:`P[Z \le z] = e^{-(t-z)/2}/2`. The pair is symmetric. A
        vector of independent entries that moves by :math:`t` in the L1 norm is no easier to tell:
        moving the entries one after the other is a group of moves, and in one entry a group of
        moves is one move [DRS22, section 2.5].
    """

    shift: FloatArray

    @property
    def infinite(self) -> FloatArray:
        """No outcome has an infinite loss."""
        return np.zeros(len(self.shift))

    @property
    def lattice(self) -> float | None:
        """Both atoms are multiples of the shift, if it is the same in all rows."""
        first = float(self.shift[0])
        return first if (self.shift == first).all() else None

    def span(self, tail: float) -> tuple[float, float]:
        """Return the support of the widest row."""
        high = float(self.shift.max())
        return -high, high

    def tails(self, losses: FloatArray) -> Tails:
        """Return exponential tails between the two atoms."""
        shift = column(self.shift)
        inside = np.clip(losses, -shift, shift)
        left_p = np.exp((inside - shift) / 2) / 2
        right_q = np.exp(-(inside + shift) / 2) / 2
        below, beyond = losses < -shift, losses >= shift
        left_p = np.where(below, 0.0, np.where(beyond, 1.0, left_p))
        right_q = np.where(below, 1.0, np.where(beyond, 0.0, right_q))
        return Tails(1 - left_p, right_q, left_p, 1 - right_q)
