"""Weighted microdata: no table without negative counts has good groups and a good sum."""

from fractions import Fraction
from math import ceil, floor
from typing import ClassVar

from attrs import frozen

from discreet.core.rounding import log_down, log_up
from discreet.planner.bounds.packing import tells_apart
from discreet.planner.bounds.wanted import OTHER_MEASURE, TOO_FEW, GroupLoss, Ruling, Wanted

_PARTS = (Fraction(101, 100), Fraction(11, 10), Fraction(5, 4), Fraction(3, 2), Fraction(2))


@frozen
class WeightedMicrodata:
    r"""Weights, none negative, of people in groups: a good sum leaves room for few of them.

    Guarantee:
        All :math:`n` people are in the first of :math:`d` groups, but for :math:`m > a` who are in
        one of the others. If a release is right, that group has at least :math:`m - a`, the
        first one :math:`n - m - a`, and all together at most :math:`n + a`. Where the first
        one has so many and the sum is no more, the others have :math:`m + 2a` together, for
        nothing is negative; so at most :math:`c = (m + 2a)/(m - a)` of them have
        :math:`m - a`. So on the :math:`n - m` people of the first group alone, of whom nothing is
        promised, the :math:`d - 1` sets of right answers have a chance of :math:`c` together. For
        a group of :math:`m` people who come

        .. math:: (d - 1)(1 - \beta - \delta_m) \le c\,e^{m\varepsilon},

        and for ρ what :class:`~discreet.planner.bounds.packing.Packing` has for :math:`(d - 1)/c`
        ways. As :math:`m` may be near :math:`a`, where packing alone needs :math:`2a`, this says
        about twice as much. [Das22, theorem 9.3] is for squared errors, by Markov's inequality
        and with :math:`2m` people who are replaced.

    Example:
        >>> from discreet import Pure
        >>> bound = WeightedMicrodata(10**6)
        >>> [bound.rule(Wanted(900, Fraction(a), Fraction(1, 20), Pure(1))).refutes
        ...  for a in (8, 9, 10)]
        [True, True, False]
    """

    groups: int
    name: ClassVar[str] = "weighted microdata"
    source: ClassVar[str] = "[Das22, theorem 9.3], sharpened"

    def rule(self, wanted: Wanted) -> Ruling:
        """Say whether more groups would be right at once than there is room for."""
        if self.groups < 2:
            return Ruling(False, "there is one group, which is the sum")
        error = wanted.error
        sizes = {max(floor(error) + 1, ceil(part * error)) for part in _PARTS}
        told = [self._refutes(size, wanted) for size in sorted(sizes) if size <= wanted.people]
        if not told:
            return TOO_FEW
        return OTHER_MEASURE if None in told else Ruling(any(told))

    def _refutes(self, size: int, wanted: Wanted) -> bool | None:
        crowded = (size + 2 * wanted.error) / (size - wanted.error)
        ways = log_down(Fraction(self.groups - 1)) - log_up(crowded)
        return tells_apart(ways, GroupLoss(wanted.loss, size), Fraction(1), wanted)
