"""What every law of the privacy loss can do."""

from abc import ABC, abstractmethod

import numpy as np

from discreet.accounting.pld.grid import FloatArray, Grid
from discreet.accounting.pld.machine import SLACK
from discreet.accounting.pld.split import Split, split_tails
from discreet.accounting.pld.tails import Tails


class Law(ABC):
    r"""The law of the loss :math:`Z = \ln(dP/dQ)` for some events of one kind, a row each.

    Subclasses say how far the loss reaches and what its tails are; a grid does the rest.
    """

    @property
    @abstractmethod
    def infinite(self) -> FloatArray:
        """The chance under P of an infinite loss, by row."""

    @abstractmethod
    def span(self, tail: float) -> tuple[float, float]:
        """Return losses such that under P and under Q at most ``tail`` is outside, in each row."""

    @abstractmethod
    def tails(self, losses: FloatArray) -> Tails:
        """Return the tails at ``losses``, one row or a row an event."""

    @property
    def lattice(self) -> float | None:
        """The unit of which every loss is a whole multiple, if there is one for all rows."""
        return None

    @property
    def dropped(self) -> float:
        """How much of P, and of Q, the tails leave out; it may have any loss."""
        return 0.0

    @property
    def rows(self) -> int:
        """How many events there are."""
        return len(self.infinite)

    def slack(self) -> float:
        """Return how far from its loss a threshold can be."""
        return SLACK * max(abs(end) for end in self.span(_FAR))

    def split(self, grid: Grid) -> Split:
        """Put the law on a grid."""
        tails = self.tails(grid.losses())
        return split_tails(tails, self.infinite, self.dropped, grid, self.slack())


_FAR = 1e-300


def column(values: FloatArray) -> FloatArray:
    """Return the values as a column, to be met by a row of losses."""
    return np.asarray(values, dtype=np.float64).reshape(-1, 1)
