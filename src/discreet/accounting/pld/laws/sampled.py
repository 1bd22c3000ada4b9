"""The loss of a mechanism that looks at each unit with a known probability only."""

import math

import numpy as np
from attrs import frozen

from discreet.accounting.pld.grid import FloatArray
from discreet.accounting.pld.laws.law import Law
from discreet.accounting.pld.machine import RELATIVE
from discreet.accounting.pld.tails import Tails


@frozen
class RemovalLaw(Law):
    r"""A unit that may have been sampled is taken away: :math:`(1-r)Q + rP` against :math:`Q`.

    Guarantee:
        If :math:`(P, Q)` dominates the mechanism when a unit is removed, this pair dominates the
        sampled one [ZDW22]: the curve is :math:`r\,\delta((e - 1 + r)/r)` in
        :math:`e = e^\varepsilon`, so better curves stay better. The loss
        :math:`\ln(1 - r + r e^Z)` grows with :math:`Z` and no faster, so that thresholds map to
        thresholds and an inaccurate one stays as accurate.
    """

    inner: Law
    rate: float
    """Above 0 and below 1."""

    @property
    def infinite(self) -> FloatArray:
        """The unit must be sampled, and then give itself away."""
        return self.rate * self.inner.infinite

    @property
    def dropped(self) -> float:
        """As much as the mechanism itself."""
        return self.inner.dropped

    def span(self, tail: float) -> tuple[float, float]:
        """Map the span of the mechanism itself."""
        low, high = self.inner.span(tail)
        return self.mapped(low), self.mapped(high)

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
        return Tails(
            mine * found.right_p + theirs * found.right_q,
            found.right_q,
            mine * found.left_p + theirs * found.left_q,
            found.left_q,
        )


@frozen
class AdditionLaw(Law):
    r"""A unit that may be sampled is added: :math:`P` against :math:`(1-r)P + rQ`.

    Guarantee:
        If :math:`(P, Q)` dominates the mechanism when a unit is added, this pair dominates the
        sampled one [ZDW22]. The loss is :math:`-\ln(1 - r + r e^{-Z})`.
    """

    inner: Law
    rate: float
    """Above 0 and below 1."""

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
            mine * found.left_q + theirs * left_p,
        )


def _mapped(loss: float, rate: float) -> float:
    """Return ln(1 - rate + rate e^loss), without overflow."""
    if loss < 1.0:
        return math.log1p(rate * math.expm1(loss))
    return loss + math.log(rate + (1 - rate) * math.exp(-loss))
