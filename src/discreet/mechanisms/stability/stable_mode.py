"""The most frequent key, exactly, if no one unit could have changed which it is."""

import math
from collections.abc import Mapping
from typing import Any, Self

from attrs import frozen

from discreet.accounting.accountants.approximate import approximate_loss
from discreet.core.contribution import Contribution, Metric
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Approximate
from discreet.core.mechanism_event import StabilityTestEvent
from discreet.core.numbers import Number
from discreet.core.protocols import Rng
from discreet.mechanisms.stability.key_order import in_key_order
from discreet.mechanisms.stability.stability_test import StabilityTest

_SIDES = {Metric.ADD_REMOVE: 1, Metric.CHANGE_ONE: 2}
"""Adding a unit lowers no count; changing one may lower some and raise others."""


@frozen(kw_only=True)
class StableMode:
    r"""Return the key with the largest count if its lead passes a test, else nothing.

    Guarantee:
        The lead is the largest count minus the second largest, absent keys counting 0. If one
        unit moves each count by at most :math:`m`, let :math:`g = m` under *add or remove* (all
        moves have one sign) and :math:`g = 2m` under *change one*. The output is
        :math:`(g/scale,\, P[g + Z \ge threshold])`-DP.

        Proof. The largest and the second largest count each move by at most :math:`m`, up together
        or down together under *add or remove*, so the lead moves by at most :math:`g`. If two
        neighbours have the same winner, the output is a function of the noisy lead. If they have
        winners :math:`a` and :math:`b`, then :math:`c_a - c_b` and :math:`c'_b - c'_a` are at
        least the two leads, not negative, and their sum :math:`(c'_b - c_b) - (c'_a - c_a)` is at
        most :math:`g`: both leads are at most :math:`g`. The rest is
        :class:`~discreet.mechanisms.stability.stability_test.StabilityTest`; the test for a
        winner is stability-based selection [DR14, section 7.3; Ste16, section 2.6.2].

    Assumes:
        Under *add or remove*, adding a unit lowers no count. How *many* counts a unit moves does
        not matter. ``rng`` is unpredictable.

    Utility:
        The winner is exact, whatever the number of candidates, which need not be known;
        ``lead_needed`` says by how much it must lead.

    Example:
        >>> one = Contribution(l0=5, linf=1)
        >>> mode = StableMode.calibrate(d_in=one, loss=Approximate(1, "1e-6"))
        >>> mode.lead_needed("0.95")
        17
        >>> from discreet import SystemRng
        >>> mode.release({"tea": 5000, "coffee": 9000}, SystemRng())
        'coffee'
    """

    test: StabilityTest

    @classmethod
    def calibrate(cls, *, d_in: Contribution, loss: Approximate) -> Self:
        """Return the mode with exactly the ε of ``loss``, and the smallest threshold for its δ."""
        reach = _reach(d_in)
        return cls(test=StabilityTest.calibrate(distance=reach, unstable=reach, loss=loss))

    def event(self, d_in: Contribution) -> StabilityTestEvent:
        """Describe one use for the accountants."""
        reach = _reach(d_in)
        return self.test.event(distance=reach, unstable=reach, metric=d_in.metric)

    def loss(self, d_in: Contribution) -> Approximate:
        """Return the loss of one use."""
        return approximate_loss([self.event(d_in)])

    def release(self, counts: Mapping[Any, int], rng: Rng) -> Any | None:
        """Return the winner, or ``None`` if the test fails. Ties go to the first key in order."""
        if any(count < 0 for count in counts.values()):
            raise InvalidArgument("A count is out of range", must="be at least 0")
        present = [key for key, count in counts.items() if count]
        first, second = sorted([*(counts[key] for key in present), 0, 0], reverse=True)[:2]
        passed = self.test.passes(int(first) - int(second), rng)
        if not passed or not present:
            return None
        return in_key_order(key for key in present if counts[key] == first)[0]

    def lead_needed(self, probability: Number) -> int:
        """Return the lead at which the winner is released with at least this probability."""
        return self.test.margin_needed(probability)


def _reach(d_in: Contribution) -> int:
    return _SIDES[d_in.metric] * math.floor(d_in.bound("linf"))
