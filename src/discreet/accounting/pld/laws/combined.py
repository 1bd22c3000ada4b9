"""Laws of the loss made of others: of samples, of mixtures, and the worse one of two."""

import math
from functools import reduce

import numpy as np
from attrs import frozen

from discreet.accounting.pld.laws.float_assumptions import RELATIVE
from discreet.accounting.pld.laws.grid import FloatArray, Tails
from discreet.accounting.pld.laws.law import LossLaw


@frozen
class RemovalLaw(LossLaw):
    r"""A unit that may have been sampled is taken away: :math:`(1-r)Q + rP` against :math:`Q`.

    Guarantee:
        If :math:`(P, Q)` dominates the mechanism when a unit is removed, this pair dominates the
        sampled one [ZDW22]: the curve is :math:`r\,\delta((e - 1 + r)/r)` in
        :math:`e = e^\varepsilon`, so better curves stay better. The loss
        :math:`\ln(1 - r + r e^Z)` grows with :math:`Z` and no faster, so that thresholds map to
        thresholds and an inaccurate one stays as accurate.
    """

    inner: LossLaw
    rate: float
    """Above 0 and below 1."""
    alone: float = 0.0
    """The chance under Q of what P never gives: with a sample it has a loss of ln(1 - r)."""

    @property
    def infinite(self) -> FloatArray:
        """The unit must be sampled, and then give itself away."""
        return self.rate * self.inner.infinite

    @property
    def dropped(self) -> float:
        """As much as the mechanism itself."""
        return self.inner.dropped

    def span(self, tail: float) -> tuple[float, float]:
        """Map the span of the mechanism itself; what P never gives has the least loss."""
        low, high = self.inner.span(tail)
        least = math.log1p(-self.rate) if self.alone > tail else self.mapped(low)
        return least, self.mapped(high)

    def mapped(self, loss: float) -> float:
        """Return the loss that one of the mechanism itself becomes."""
        return _mapped(loss, self.rate)

    def slack(self) -> float:
        """Return what the mechanism has, and what mapping the thresholds adds."""
        low, high = self.span(1e-300)
        return self.inner.slack() + RELATIVE * (high + math.expm1(-low))

    def tails(self, losses: FloatArray) -> Tails:
        """Map the thresholds back, and mix the two laws."""
        with np.errstate(divide="ignore"):
            inner = np.log1p(np.maximum(np.expm1(losses) / self.rate, -1.0))
        found = self.inner.tails(inner)
        mine, theirs = self.rate, 1 - self.rate
        above = np.where(losses < math.log1p(-self.rate), self.alone, 0.0)
        right_q, left_q = found.right_q + above, found.left_q + (self.alone - above)
        return Tails(
            mine * found.right_p + theirs * right_q,
            right_q,
            mine * found.left_p + theirs * left_q,
            left_q,
        )


@frozen
class AdditionLaw(LossLaw):
    r"""A unit that may be sampled is added: :math:`P` against :math:`(1-r)P + rQ`.

    Guarantee:
        If :math:`(P, Q)` dominates the mechanism when a unit is added, this pair dominates the
        sampled one [ZDW22]. The loss is :math:`-\ln(1 - r + r e^{-Z})`.
    """

    inner: LossLaw
    rate: float
    """Above 0 and below 1."""
    alone: float = 0.0
    """The chance under Q of what P never gives."""

    @property
    def infinite(self) -> FloatArray:
        """Nothing gives itself away: it might not have been sampled."""
        return np.zeros(self.inner.rows)

    @property
    def dropped(self) -> float:
        """As much as the mechanism itself."""
        return self.inner.dropped

    def span(self, tail: float) -> tuple[float, float]:
        """Map the span of the mechanism itself; an infinite loss becomes a finite one."""
        low, high = self.inner.span(tail)
        if self.inner.infinite.any():
            high = math.inf
        return -_mapped(-low, self.rate), -_mapped(-high, self.rate)

    def slack(self) -> float:
        """Return what the mechanism has, and what mapping the thresholds adds."""
        low, high = self.span(1e-300)
        return self.inner.slack() + RELATIVE * (math.expm1(high) - low)

    def tails(self, losses: FloatArray) -> Tails:
        """Map the thresholds back, and mix the two laws."""
        with np.errstate(divide="ignore"):
            inner = -np.log1p(np.maximum(np.expm1(-losses) / self.rate, -1.0))
        found = self.inner.tails(inner)
        mine, theirs = self.rate, 1 - self.rate
        given_away = self.inner.infinite.reshape(-1, 1) * np.ones_like(losses)
        above = losses < -math.log1p(-self.rate)
        right_p = found.right_p + np.where(above, given_away, 0.0)
        left_p = found.left_p + np.where(above, 0.0, given_away)
        return Tails(
            right_p,
            mine * found.right_q + theirs * right_p,
            left_p,
            mine * (found.left_q + self.alone) + theirs * left_p,
        )


def _mapped(loss: float, rate: float) -> float:
    """Return ln(1 - rate + rate e^loss), without overflow."""
    if loss < 1.0:
        return math.log1p(rate * math.expm1(loss))
    return loss + math.log(rate + (1 - rate) * math.exp(-loss))


def sampled_laws(
    removal: LossLaw, addition: LossLaw, rate: float
) -> tuple[RemovalLaw, AdditionLaw]:
    r"""Return the laws of a sample, from those of a removal and of its reverse.

    Guarantee:
        What has an infinite loss in one direction is what the other never gives, so that no mass
        is forgotten: after sampling, an outcome of :math:`Q` alone has
        :math:`P' = (1-r)Q` there, which together with another loss may be above any ε. For laws
        that only bound, more of it is safe.
    """
    alone = [float(law.infinite.max()) for law in (addition, removal)]
    return RemovalLaw(removal, rate, alone[0]), AdditionLaw(addition, rate, alone[1])


@frozen
class FixedSizeLaw(LossLaw):
    r"""Removal for positive losses, addition for negative ones.

    Guarantee:
        If :math:`(P, Q)` dominates a mechanism when one unit of its sample changes, in both
        directions, the curve of the mechanism on a sample without replacement of a share :math:`r`
        is at most that of :class:`RemovalLaw` for :math:`\varepsilon \ge 0` [BBG18]
        and at most that of :class:`AdditionLaw` for :math:`\varepsilon < 0`
        [ZDW22]. They agree at 0, and the second is the steeper there, so that
        together they are convex: the curve of a pair, with an atom at 0.
    """

    inner: LossLaw
    """Its own reverse at most, so that Q alone has what has an infinite loss under P."""
    rate: float

    @property
    def _removal(self) -> RemovalLaw:
        return RemovalLaw(self.inner, self.rate, float(self.inner.infinite.max()))

    @property
    def _addition(self) -> AdditionLaw:
        return AdditionLaw(self.inner, self.rate, float(self.inner.infinite.max()))

    @property
    def infinite(self) -> FloatArray:
        """As for a removal."""
        return self._removal.infinite

    @property
    def dropped(self) -> float:
        """As much as the mechanism itself."""
        return self.inner.dropped

    def span(self, tail: float) -> tuple[float, float]:
        """Return the low end of the one and the high end of the other."""
        return (
            self._addition.span(tail)[0],
            self._removal.span(tail)[1],
        )

    def slack(self) -> float:
        """Return the larger one of both."""
        return max(law.slack() for law in (self._addition, self._removal))

    def tails(self, losses: FloatArray) -> Tails:
        """Choose by the sign of the threshold."""
        removal = self._removal.tails(losses)
        return removal.swapped(losses >= 0, self._addition.tails(losses))


@frozen
class MixtureLaw(LossLaw):
    r"""Laws with weights that add up to 1.

    Guarantee:
        The outcome tells which mechanism was drawn, so :math:`\delta(\varepsilon) = \sum w_i
        \delta_i(\varepsilon)`: the loss is drawn in the same way.
    """

    laws: tuple[LossLaw, ...]
    weights: tuple[float, ...]

    @property
    def infinite(self) -> FloatArray:
        """The mean."""
        pairs = zip(self.weights, self.laws, strict=True)
        return np.asarray(sum(weight * law.infinite for weight, law in pairs))

    @property
    def dropped(self) -> float:
        """At most the largest one."""
        return max(law.dropped for law in self.laws)

    def span(self, tail: float) -> tuple[float, float]:
        """Return the union."""
        spans = [law.span(tail) for law in self.laws]
        return min(low for low, _ in spans), max(high for _, high in spans)

    def slack(self) -> float:
        """Return the largest one."""
        return max(law.slack() for law in self.laws)

    def tails(self, losses: FloatArray) -> Tails:
        """Return the mean."""
        zero = Tails(*(np.zeros((1, 1)),) * 4)
        pairs = zip(self.weights, self.laws, strict=True)
        return reduce(
            lambda total, pair: total.mixed((1.0, pair[0]), pair[1].tails(losses)), pairs, zero
        )


@frozen
class WorstLaw(LossLaw):
    r"""A pair whose curve is the larger one of two curves everywhere.

    Guarantee:
        The larger of two convex curves is convex, so it is the curve of a pair, whose tails at a
        threshold are those of the pair that is worse there. It dominates a mechanism of which it
        is not known, use by use, in which of two directions it is used. Where the two are too
        close to tell apart, either one is within the errors of its tails, which the split adds.
    """

    first: LossLaw
    second: LossLaw

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
        exponential = np.exp(np.minimum(losses, _BEYOND))
        one = first.right_p + _column(self.first) - exponential * first.right_q
        two = second.right_p + _column(self.second) - exponential * second.right_q
        return first.swapped(one >= two, second)


_BEYOND = 700.0
"""Above every loss on a grid: nothing has a larger one, and floats hold its exponential."""


def _column(law: LossLaw) -> FloatArray:
    return law.infinite.reshape(-1, 1)
