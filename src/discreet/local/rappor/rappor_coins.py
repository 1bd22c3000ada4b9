"""The coins of RAPPOR: f, p and q as in the paper, and what they lose, exactly."""

from fractions import Fraction
from typing import Self

from attrs import field, frozen

from discreet.core import check
from discreet.core.contribution import Metric
from discreet.core.errors import InvalidArgument
from discreet.core.event import ComposedEvent
from discreet.core.numbers import Number, exact, exp_bounds
from discreet.core.stated_event import PureEvent
from discreet.local.coins import checked_epsilon, loss_of_odds, part, threshold_below
from discreet.local.device.draws import UNIT

_MOST_REPORTS = 4096
"""Powers of thresholds for more reports have too many digits."""


@frozen(kw_only=True)
class RapporCoins:
    r"""Thresholds of the permanent and of the instantaneous response, in parts of ``UNIT``.

    Guarantee:
        A bit of the permanent response tells the truth with probability :math:`a = 1 - f/2` and
        lies with :math:`b = f/2`. Two texts whose filters have :math:`h` bits each, none of them
        common, differ in :math:`2h` bits, so kept responses differ by a factor of at most
        :math:`(a/b)^{2h}`, attained: :math:`\varepsilon_\infty = 2h \ln\frac{1 - f/2}{f/2}`
        [EPK14, Theorem 1]. Texts with common bits, or in another cohort, differ in fewer.

        For :math:`r` reports of one kept response, a bit that is told as 1 each time is likelier by

        .. math:: \frac{a q^r + b p^r}{b q^r + a p^r},

        and a bit that is told as 0 alike with :math:`1-p` and :math:`1-q`. No other sequence is
        above these, since the ratio grows with the likelihood ratio of the sequence under a kept 1
        and a kept 0. The product, to the power :math:`h`, is ``odds`` for any number of reports;
        with one it is :math:`\varepsilon_1 = h \ln\frac{q^*(1-p^*)}{p^*(1-q^*)}` [EPK14, Theorem
        2]. As a function of :math:`r` its logarithm is concave, so that reports of several values
        lose most if they are divided evenly: ``lifetime``.

    Assumes:
        The permanent responses are kept for ever. Two histories that are compared change at the
        same times: *when* a value changes is not hidden, and no finite loss is claimed for it.

    Example:
        >>> coins = RapporCoins.declare(f="1/2", p="1/2", q="3/4")
        >>> round(float(coins.permanent_event(2).epsilon), 3)
        4.394
        >>> round(float(loss_of_odds(coins.odds(2))), 3)
        1.074
    """

    f: int = field(converter=check.whole)
    p: int = field(converter=check.whole)
    q: int = field(converter=check.whole)

    @f.validator
    def _some_noise(self, _: object, f: int) -> None:
        if not 0 < f < UNIT or f % 2:
            raise InvalidArgument(
                "f is out of range", must="be even, above 0 and below UNIT", got=str(f)
            )

    @q.validator
    def _ones_say_one(self, _: object, q: int) -> None:
        if not 0 <= self.p < q <= UNIT:
            raise InvalidArgument(
                "p and q are out of order",
                must="have 0 <= p < q <= 1: a kept 1 is told as 1 more often than a kept 0",
                got=f"p = {float(part(self.p)):g}, q = {float(part(q)):g}",
            )

    @classmethod
    def declare(cls, *, f: Number, p: Number = 0, q: Number = 1) -> Self:
        """Return the coins nearest to these probabilities; without p and q, for one time."""
        half = -threshold_below(-exact(f) / 2)
        return cls(f=2 * half, p=threshold_below(exact(p)), q=threshold_below(exact(q)))

    @classmethod
    def calibrate(cls, *, epsilon: Number, hashes: int = 1, p: Number = 0, q: Number = 1) -> Self:
        """Return the coins with the least f that keeps a value's loss to ``epsilon`` for ever."""
        wanted = checked_epsilon(epsilon)
        most = exp_bounds(wanted / (2 * check.at_least_one(hashes, "hashes")), 128)[0]
        return cls.declare(f=2 / (1 + most), p=p, q=q)

    @property
    def told_one(self) -> Fraction:
        r"""How likely a bit that is 1 is told as 1: :math:`q^* = f(p+q)/2 + (1-f)q`."""
        return self._told(part(self.q))

    @property
    def told_zero(self) -> Fraction:
        r"""How likely a bit that is 0 is told as 1: :math:`p^* = f(p+q)/2 + (1-f)p`."""
        return self._told(part(self.p))

    def _told(self, kept: Fraction) -> Fraction:
        f = part(self.f)
        return f * (part(self.p) + part(self.q)) / 2 + (1 - f) * kept

    def odds(self, hashes: int, *, reports: int = 1) -> Fraction:
        """Return the largest ratio of the chances of so many reports, of one value or another."""
        lie = part(self.f) / 2
        p, q = part(self.p) ** reports, part(self.q) ** reports
        no, yes = (1 - part(self.q)) ** reports, (1 - part(self.p)) ** reports
        ones = ((1 - lie) * q + lie * p) / (lie * q + (1 - lie) * p)
        zeros = ((1 - lie) * yes + lie * no) / (lie * yes + (1 - lie) * no)
        return (ones * zeros) ** hashes

    def permanent_odds(self, hashes: int) -> Fraction:
        """Return the largest ratio of the chances of a kept response: no reports exceed it."""
        lie = part(self.f) / 2
        return ((1 - lie) / lie) ** (2 * hashes)

    def permanent_event(self, hashes: int) -> PureEvent:
        """Describe all reports of one value, however many."""
        epsilon = loss_of_odds(self.permanent_odds(hashes))
        return PureEvent(epsilon=epsilon, metric=Metric.CHANGE_ONE)

    def lifetime(self, hashes: int, reports: int, values: int) -> ComposedEvent:
        """Describe so many reports of a person who held so many values, one after another.

        Beyond a few thousand reports of a value it is the loss of the kept response itself.
        """
        held = check.at_least_one(values, "values")
        each = -(-check.at_least_one(reports, "reports") // held)
        odds = (
            self.odds(hashes, reports=each)
            if each <= _MOST_REPORTS
            else self.permanent_odds(hashes)
        )
        return PureEvent(epsilon=loss_of_odds(odds), metric=Metric.CHANGE_ONE) * held
