"""The worse one of two laws, at every ε."""

import numpy as np
from attrs import frozen

from discreet.accounting.pld.grid import FloatArray
from discreet.accounting.pld.laws.law import Law
from discreet.accounting.pld.tails import Tails


@frozen
class WorstLaw(Law):
    r"""A pair whose curve is the larger one of two curves everywhere.

    Guarantee:
        The larger of two convex curves is convex, so it is the curve of a pair, whose tails at a
        threshold are those of the pair that is worse there. It dominates a mechanism of which it
        is not known, use by use, in which of two directions it is used. Where the two are too
        close to tell apart, either one is within the errors of its tails, which the split adds.
    """

    first: Law
    second: Law

    @property
    def infinite(self) -> FloatArray:
        """The larger one."""
        return np.maximum(self.first.infinite, self.second.infinite)

    @property
    def dropped(self) -> float:
        """The larger one."""
        return max(self.first.dropped, self.second.dropped)

    def span(self, tail: float) -> tuple[float, float]:
        """Return the union."""
        spans = self.first.span(tail), self.second.span(tail)
        return min(low for low, _ in spans), max(high for _, high in spans)

    def slack(self) -> float:
        """Return the larger one."""
        return max(self.first.slack(), self.second.slack())

    def tails(self, losses: FloatArray) -> Tails:
        """Choose by the value of the curve."""
        first, second = self.first.tails(losses), self.second.tails(losses)
        exponential = np.exp(losses)
        one = first.right_p + _column(self.first) - exponential * first.right_q
        two = second.right_p + _column(self.second) - exponential * second.right_q
        return first.swapped(one >= two, second)


def _column(law: Law) -> FloatArray:
    return law.infinite.reshape(-1, 1)
