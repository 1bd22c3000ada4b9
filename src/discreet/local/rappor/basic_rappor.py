"""Basic RAPPOR: one bit for each of a few categories."""

from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from attrs import field, frozen

from discreet.core import check
from discreet.core.event import ComposedEvent
from discreet.core.protocols import IntArray, Rng
from discreet.core.stated_event import PureEvent
from discreet.local.frequency.bitmap_scheme import BitmapScheme
from discreet.local.rappor.bit_reports import packed, told_bits
from discreet.local.rappor.rappor_coins import RapporCoins
from discreet.local.report_numbers import Reports


@frozen(kw_only=True)
class BasicRappor(BitmapScheme):
    r"""Report one of ``categories`` by a bit for each: no filter, no cohorts [EPK14, section 4].

    With coins for one time (``p = 0`` and ``q = 1``) it is basic one-time RAPPOR.

    Guarantee:
        Two categories differ in two bits: the losses of :class:`.RapporCoins` with one hash.

    Assumes:
        The device keeps its permanent responses (:func:`discreet.local.device.rappor.remembered`).

    Utility:
        A bit of the value that is held is told as 1 with probability :math:`q^*`, any other with
        :math:`p^*`. From what is told shares and their intervals follow as for every scheme here.

    Example:
        >>> scheme = BasicRappor(categories=5, coins=RapporCoins.calibrate(epsilon=2))
        >>> round(float(scheme.event().epsilon), 9), scheme.size
        (2.0, 1)
    """

    kind: ClassVar[str] = "basic_rappor"
    categories: int = field(converter=check.whole, validator=check.above_one)
    coins: RapporCoins

    def recipe(self) -> dict[str, Any]:
        """Return the public part of the scheme."""
        coins = {"f": self.coins.f, "p": self.coins.p, "q": self.coins.q}
        return {"kind": self.kind, "bits": self.categories, **coins}

    def odds(self) -> Fraction:
        """Return the largest ratio of the probabilities of one report under two values."""
        return self.coins.odds(1)

    def kept_event(self) -> PureEvent:
        """Describe all reports of one value, whose permanent response is kept."""
        return self.coins.permanent_event(1)

    def lifetime(self, reports: int, *, values: int = 1) -> ComposedEvent:
        """Describe so many reports of a person who held so many values, each response kept."""
        return self.coins.lifetime(1, reports, values)

    def variation(self) -> Fraction:
        """Return the total variation between the reports of any two values."""
        return self.held - self.other

    @property
    def held(self) -> Fraction:
        """How likely the bit of the value that is held is told as 1."""
        return self.coins.told_one

    @property
    def other(self) -> Fraction:
        """How likely any other bit is told as 1."""
        return self.coins.told_zero

    def randomise_many(self, values: IntArray, rng: Rng) -> Reports:
        """Return the first report of each person."""
        held = self.check_values(values)
        ones = held[:, None] == np.arange(self.categories)[None, :]
        return packed(told_bits(self.coins, ones, rng))
