"""Mutual information: answers tell more than a loss in zCDP allows."""

from fractions import Fraction
from typing import ClassVar

from attrs import frozen

from discreet.core.loss import Zcdp
from discreet.core.rounding import log_down, log_up
from discreet.planner.bounds.wanted import OTHER_MEASURE, GroupLoss, Ruling, Wanted


@frozen
class InformedMarginals:
    r"""For zCDP: mean error takes :math:`n \ge \sqrt{d(\ln2 - h(2\alpha))/\rho}`.

    Guarantee:
        All :math:`n` people have the same uniform row in :math:`\{0, 1\}^d`. The answers tell at
        most :math:`\rho n^2` nats of it [Ste16, theorem 2.1.10]. Rounding them to 0 and 1 makes at
        most :math:`2\alpha d` mistakes on average, where :math:`\alpha` is the mean error of
        shares, so they tell at least :math:`d(\ln2 - h(2\alpha))` with the entropy :math:`h` of a
        bit, for :math:`\alpha < 1/4`. Nobody at all is ``n`` people away.
    """

    columns: int
    name: ClassVar[str] = "mutual information"
    source: ClassVar[str] = "[Ste16, section 2.6.1]"

    def rule(self, wanted: Wanted) -> Ruling:
        """Say whether more is told than may be."""
        if not isinstance(wanted.loss, Zcdp):
            return Ruling(False, "it is for zCDP")
        wrong = 2 * (wanted.error / wanted.people + wanted.beta)
        if not 0 < wrong < Fraction(1, 2):
            return Ruling(False, "it needs a mean error of shares above 0 and below 1/4")
        entropy = wrong * log_up(1 / wrong) + (1 - wrong) * log_up(1 / (1 - wrong))
        told = self.columns * (log_down(Fraction(2)) - entropy)
        most = GroupLoss(wanted.loss, wanted.people).divergence
        assert most is not None
        return Ruling(told > most)


@frozen
class BlockPacking:
    r"""Groups of people in blocks: one histogram holds many independent choices.

    Guarantee:
        Let :math:`m` blocks of :math:`\ell = \lfloor 2a\rfloor + 1` people each choose one of
        :math:`\lfloor T/m\rfloor` groups of their own, uniformly. Right answers tell all choices.
        Blocks are independent, so the answers tell at most :math:`mD` nats, where :math:`D` is the
        divergence for :math:`\ell` people who come or go [Ste16, theorem 2.6.3], and by Fano's
        inequality at least :math:`(1 - \beta)m\ln\lfloor T/m\rfloor - \ln 2`. So

        .. math:: (1 - \beta)\ln\lfloor T/m\rfloor - (\ln2)/m > D

        is impossible, where :math:`m\ell \le n`. [Ste16, proposition 2.6.4] is this with
        :math:`m = 1/(10\alpha)`.
    """

    groups: int
    name: ClassVar[str] = "packing of blocks"
    source: ClassVar[str] = "[Ste16, theorem 2.6.3]"

    def rule(self, wanted: Wanted) -> Ruling:
        """Say whether more is told than may be, for some number of blocks."""
        size = int(2 * wanted.error) + 1
        divergence = GroupLoss(wanted.loss, size).divergence
        if divergence is None:
            return OTHER_MEASURE
        blocks = 1
        while blocks * size <= wanted.people and 2 * blocks <= self.groups:
            told = (1 - wanted.beta) * log_down(Fraction(self.groups // blocks))
            if told - log_up(Fraction(2)) / blocks > divergence:
                return Ruling(True)
            blocks *= 2
        return Ruling(False)
