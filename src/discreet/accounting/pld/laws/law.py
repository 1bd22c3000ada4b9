"""What every law of the privacy loss can do, and the pairs of laws that enclose one use."""

from abc import ABC, abstractmethod

import numpy as np
from attrs import frozen

from discreet.accounting.pld.laws.float_assumptions import SLACK
from discreet.accounting.pld.laws.grid import FloatArray, LossGrid, Split, Tails, split_tails


class LossLaw(ABC):
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

    def split(self, grid: LossGrid) -> Split:
        """Put the law on a grid."""
        tails = self.tails(grid.losses())
        return split_tails(tails, self.infinite, self.dropped, grid, self.slack())


_FAR = 1e-300


def column(values: FloatArray) -> FloatArray:
    """Return the values as a column, to be met by a row of losses."""
    return np.asarray(values, dtype=np.float64).reshape(-1, 1)


@frozen(eq=False)
class Pair:
    """What dominates a use when a unit is removed and when one is added, and what it can attain.

    Guarantee:
        The curve of a use is at most that of ``removal`` or ``addition``, by direction. The pairs
        of ``attained`` are reached by neighbours that stay the same for all uses together, so no
        accountant can be below their composition; ``None`` where no such pair is known.
    """

    removal: LossLaw
    addition: LossLaw
    attained: "tuple[LossLaw, LossLaw] | None"
    uses: int = 1
    """How many independent copies one event counts for."""

    @staticmethod
    def symmetric(law: LossLaw, *, uses: int = 1) -> "Pair":
        """Return the pair of a law that is dominating and attained in both directions."""
        return Pair(law, law, (law, law), uses)

    @property
    def is_symmetric(self) -> bool:
        """Whether both directions are the same."""
        same = self.attained is None or self.attained[0] is self.attained[1]
        return self.removal is self.addition and same
