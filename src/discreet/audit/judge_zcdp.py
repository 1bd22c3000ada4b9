"""Does a zCDP claim hold for two laws? At every order, not at some."""

import math
from collections import deque
from enum import Enum
from fractions import Fraction

from attrs import define, field, frozen

from discreet.audit.cumulant import Cumulant, Ends
from discreet.audit.interval import INFINITE, Interval
from discreet.audit.law import EnclosedLaw, Law, enclosed
from discreet.core.loss import Zcdp
from discreet.core.numbers import exp_bounds

BITS = 128
"""The precision of a cumulant. What is closer to the line than that is called undecided."""

MOST_ORDERS = 1000
"""How many orders are looked at before a claim is called undecided."""

LEAST_ORDER = Fraction(1, 1 << 60)
"""How near to order 1 the search goes."""

FEWER_BITS = 64
"""The precision for laws that are only known up to unlisted mass."""

_ORDERS = tuple(Fraction(2) ** power for power in (-6, 0, 1, 3, 5))
"""Where those are tried: one less than the order."""


class Line(Enum):
    """Where the Rényi divergences of a pair lie, relative to the line of a claim."""

    BELOW = "below"
    CROSSED = "crossed"
    UNKNOWN = "unknown"


@frozen
class Judged:
    """What was found, and where the line is crossed, if it is: the order and its divergence."""

    line: Line
    order: Fraction = Fraction(1)
    divergence: Interval = field(default=INFINITE)


def judge_line(p: Law, q: Law, loss: Zcdp) -> Judged:
    r"""Tell whether :math:`D_\alpha(P \| Q) \le \xi + \rho\alpha` at every :math:`\alpha > 1`.

    Guarantee:
        ``BELOW`` and ``CROSSED`` are proved. With :math:`t = \alpha - 1` the claim is
        :math:`K(t) \le R(t) = (\xi + \rho) t + \rho t^2` for the cumulant :math:`K` of the loss,
        which is convex.

        - *Large orders.* :math:`K(t) \le t D_\infty`, which is at most :math:`R(t)` from
          :math:`t = (D_\infty - \xi - \rho)/\rho` on.
        - *Orders near 1.* :math:`K(t)/t` does not fall, so :math:`K(b)/b \le \xi + \rho` settles
          all of :math:`0 < t \le b`.
        - *Between* two orders a convex function is below its chord; the least of
          :math:`R - chord` is that of a parabola.

        An interval that none of these settles is halved. If the line is crossed, it is crossed on
        an open set of orders, which halving meets; if :math:`K < R` everywhere and
        :math:`K'(0) < \xi + \rho`, short enough intervals are settled. What is left undecided is a
        curve that *touches* the line, or comes too near for ``BITS`` and ``MOST_ORDERS``, and laws
        that are only known up to unlisted mass.
    """
    cumulant = Cumulant.of(p, q, bits=BITS)
    if cumulant is None:
        return _some_orders(enclosed(p), enclosed(q), loss)
    if not loss.rho:
        return Judged(Line.UNKNOWN)
    far = (cumulant.largest - loss.xi - loss.rho) / loss.rho
    if far <= 0:
        return Judged(Line.BELOW)
    return _Search(loss, cumulant).run(Fraction(-(-far.numerator // far.denominator)))


def tanh_line(epsilon: Fraction) -> Fraction:
    r"""Return :math:`\varepsilon \tanh(\varepsilon/2)`, rounded up: the ρ of any pure pair."""
    low, _ = exp_bounds(-epsilon, BITS)
    return epsilon * (1 - low) / (1 + low)


@define
class _Search:
    loss: Zcdp
    cumulant: Cumulant
    known: dict[Fraction, Ends] = field(factory=dict)

    def run(self, far: Fraction) -> Judged:
        # The widest come first: beside a crossing, halving one interval alone would never end.
        open_ = deque([(Fraction(0), far)])
        while open_:
            start, stop = open_.popleft()
            if self._is_crossed(stop):
                low, high = self._at(stop)
                return Judged(Line.CROSSED, 1 + stop, Interval(low / stop, high / stop))
            if self._is_settled(start, stop):
                continue
            if len(self.known) >= MOST_ORDERS or stop < LEAST_ORDER:
                return Judged(Line.UNKNOWN)
            middle = (start + stop) / 2
            open_.extend([(start, middle), (middle, stop)])
        return Judged(Line.BELOW)

    def _at(self, t: Fraction) -> Ends:
        if t not in self.known:
            self.known[t] = self.cumulant.at(t)
        return self.known[t]

    def _line(self, t: Fraction) -> Fraction:
        return t * (self.loss.xi + self.loss.rho * (1 + t))

    def _is_crossed(self, t: Fraction) -> bool:
        return self._at(t)[0] > self._line(t)

    def _is_settled(self, start: Fraction, stop: Fraction) -> bool:
        """Tell whether the cumulant is certainly below the line between two points."""
        end = self._at(stop)[1]
        if not start:
            return end <= stop * (self.loss.xi + self.loss.rho)
        begin = self._at(start)[1]
        slope = (end - begin) / (stop - start)
        # The line minus the chord is rho t² + linear t + constant.
        linear = self.loss.xi + self.loss.rho - slope
        lowest = min(max(-linear / (2 * self.loss.rho), start), stop)
        return self._line(lowest) >= begin + slope * (lowest - start)


def _some_orders(p: EnclosedLaw, q: EnclosedLaw, loss: Zcdp) -> Judged:
    below = Cumulant.below(p, q, bits=FEWER_BITS)
    if below is None:
        return Judged(Line.CROSSED)
    for t in _ORDERS if below.cells else ():
        least = below.at(t)[0]
        if least > t * (loss.xi + loss.rho * (1 + t)):
            return Judged(Line.CROSSED, 1 + t, Interval(least / t, math.inf))
    return Judged(Line.UNKNOWN)
