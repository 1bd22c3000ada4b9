"""The worst loss of a mechanism that sees a sample of fixed size, if one unit changes."""

from attrs import frozen

from discreet.accounting.pld.grid import FloatArray
from discreet.accounting.pld.laws.law import Law
from discreet.accounting.pld.laws.sampled import AdditionLaw, RemovalLaw
from discreet.accounting.pld.tails import Tails


@frozen
class FixedSizeLaw(Law):
    r"""Removal for positive losses, addition for negative ones.

    Guarantee:
        If :math:`(P, Q)` dominates a mechanism when one unit of its sample changes, in both
        directions, the curve of the mechanism on a sample without replacement of a share :math:`r`
        is at most that of :class:`RemovalLaw` for :math:`\varepsilon \ge 0` [BBG18]
        and at most that of :class:`AdditionLaw` for :math:`\varepsilon < 0`
        [ZDW22]. They agree at 0, and the second is the steeper there, so that
        together they are convex: the curve of a pair, with an atom at 0.
    """

    inner: Law
    rate: float

    @property
    def infinite(self) -> FloatArray:
        """As for a removal."""
        return RemovalLaw(self.inner, self.rate).infinite

    @property
    def dropped(self) -> float:
        """As much as the mechanism itself."""
        return self.inner.dropped

    def span(self, tail: float) -> tuple[float, float]:
        """Return the low end of the one and the high end of the other."""
        return (
            AdditionLaw(self.inner, self.rate).span(tail)[0],
            RemovalLaw(self.inner, self.rate).span(tail)[1],
        )

    def slack(self) -> float:
        """Return the larger one of both."""
        return max(law(self.inner, self.rate).slack() for law in (AdditionLaw, RemovalLaw))

    def tails(self, losses: FloatArray) -> Tails:
        """Choose by the sign of the threshold."""
        removal = RemovalLaw(self.inner, self.rate).tails(losses)
        return removal.swapped(losses >= 0, AdditionLaw(self.inner, self.rate).tails(losses))
