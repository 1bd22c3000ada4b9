"""Quantiles of what people hold, from shares of people at or below each value."""

from fractions import Fraction

import numpy as np
from attrs import frozen

from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact
from discreet.core.protocols import IntArray
from discreet.local.frequency.frequency_scheme import FrequencyScheme
from discreet.local.frequency.share_estimate import CONFIDENCE
from discreet.local.tails import OUTWARDS, Floats


@frozen(kw_only=True)
class QuantileEstimate:
    """A quantile of the people who answered, between ``low`` and ``high`` with the confidence."""

    value: int
    low: int
    high: int
    confidence: Fraction


@frozen(kw_only=True, eq=False)
class CumulativeEstimate:
    """The share of people at or below each value; all intervals hold at once.

    Guarantee:
        If every share is in its interval, the quantile, which is the first value that so many
        people are at or below, is not before the first value whose upper end reaches the share,
        and not after the first whose lower end does. So ``quantile`` holds with the same
        confidence, and for all shares at once.

    Example:
        >>> ends = np.array([0.2, 0.6, 1.0])
        >>> cumulative = CumulativeEstimate(
        ...     shares=ends, low=np.array([0.1, 0.4, 1.0]), high=np.array([0.5, 0.9, 1.0]),
        ...     people=10, confidence=CONFIDENCE)
        >>> median = cumulative.quantile("1/2")
        >>> median.value, median.low, median.high
        (1, 0, 2)
    """

    shares: Floats
    low: Floats
    high: Floats
    people: int
    confidence: Fraction

    def quantile(self, share: Number) -> QuantileEstimate:
        """Return the first value that at least this share of people is at or below."""
        wanted = exact(share)
        if not 0 < wanted <= 1:
            raise InvalidArgument(
                "share is out of range", must="be above 0 and at most 1", got=str(share)
            )
        low = self._first(self.high, float(wanted))
        high = self._first(self.low, float(wanted))
        value = min(max(self._first(self.shares, float(wanted)), low), high)
        return QuantileEstimate(value=value, low=low, high=high, confidence=self.confidence)

    def _first(self, shares: Floats, wanted: float) -> int:
        return int(np.argmax(np.append(shares[:-1], 1.0) >= wanted))


def cumulative_shares(
    scheme: FrequencyScheme, tally: IntArray, people: int, *, confidence: Number = CONFIDENCE
) -> CumulativeEstimate:
    """Return the share at or below each value from a scheme for shares, values in their order.

    Intervals of single shares that hold at once are added up, from below and from above; they are
    valid, and wide where there are many values.
    """
    each = scheme.estimate_tally(tally, people, confidence=confidence, together=True)
    from_low, from_high = np.cumsum(each.low), np.cumsum(each.high)
    above_low, above_high = from_low[-1] - from_low, from_high[-1] - from_high
    low, high = np.maximum(from_low, 1.0 - above_high), np.minimum(from_high, 1.0 - above_low)
    return CumulativeEstimate(
        shares=np.cumsum(each.shares),
        low=np.clip(low - OUTWARDS, 0.0, 1.0),
        high=np.clip(high + OUTWARDS, 0.0, 1.0),
        people=people,
        confidence=each.confidence,
    )
