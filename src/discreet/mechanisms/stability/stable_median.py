"""The median with noise for the gap around it, after a private test that the gap is small."""

from fractions import Fraction
from typing import Self

import numpy as np
from attrs import field, frozen

from discreet.core import check
from discreet.core.contribution import Contribution
from discreet.core.errors import InvalidArgument
from discreet.core.event import ComposedEvent
from discreet.core.loss import Approximate
from discreet.core.numbers import Number
from discreet.core.protocols import IntArray, Rng
from discreet.mechanisms.noise.integers import LARGEST_VALUE, integers
from discreet.mechanisms.stability.propose_test_release import ProposeTestRelease


@frozen(kw_only=True)
class StableMedian:
    r"""Release the lower median of whole numbers in ``lower..upper``, or nothing.

    Noise for the global sensitivity would be as wide as the range. Here the noise is for a move of
    ``proposed`` only, after a test that one row more or less moves the median by no more.

    Guarantee:
        That of :class:`~discreet.mechanisms.stability.propose_test_release.ProposeTestRelease`
        with ``d_in.l1`` the number of rows that a unit adds, removes or, counted twice, changes
        (the L1 distance of the histograms of values).

        Proof. Sort the :math:`n` values, clamped to the range, as :math:`x_1 \le \dots \le x_n`;
        :math:`x_0` is the lower and :math:`x_{n+1}` the upper limit. The median is :math:`x_r` with
        :math:`r = \lceil n/2 \rceil`, and the lower limit if there is none. One row more or less
        keeps it between :math:`x_L` and :math:`x_{L+1}` with :math:`L = \lfloor n/2 \rfloor`, so
        the local sensitivity is at most the *critical gap* :math:`x_{L+1} - x_L`. The margin
        is the exact number of steps to data with a larger critical gap than proposed,

        .. math:: \min_{a < b,\; x_b - x_a > proposed}
            (b - a - 1) + \mathrm{dist}(n + 1 - a - b, \{0, 1\}).

        For :math:`\le`: remove the values between; the critical gap is the one with as many values
        on its right as on its left, or one more, and each value added at a limit moves that
        difference by 1. For :math:`\ge`: let data :math:`y` have the critical gap
        :math:`(l, u)`, and let :math:`a` values of :math:`x` be at most :math:`l` and all from
        the :math:`b`-th be at least :math:`u`. The values between must go, and the numbers on
        the two sides must get a difference of 0 or 1, which a step moves by at most 1. A distance
        to a set moves by at most 1 a step. For fixed :math:`a` no summand falls faster than the
        other rises in :math:`b`, so the first :math:`b` will do.

    Assumes:
        Range and ``proposed`` are public, and the values are on a declared grid. ``rng`` is
        unpredictable.

    Utility:
        If every stretch of length ``proposed`` that is within :math:`t` ranks of the median holds
        :math:`t` values, the margin is about :math:`t`; from the mechanism's ``margin_needed`` on
        a number comes, within ``error_quantile`` of the median.

    Example:
        >>> median = StableMedian.calibrate(
        ...     lower=0, upper=10**6, proposed=50, d_in=Contribution(l1=1),
        ...     loss=Approximate(1, "1e-6"),
        ... )
        >>> median.margin(np.arange(30_000, 40_000)) >= median.mechanism.margin_needed("0.95")
        True
        >>> median.error_quantile("0.05")
        Fraction(300, 1)
    """

    lower: int = field(converter=check.whole)
    upper: int = field(converter=check.whole)
    mechanism: ProposeTestRelease

    def __attrs_post_init__(self) -> None:
        """Refuse an empty or too wide range."""
        if not -LARGEST_VALUE // 4 <= self.lower < self.upper <= LARGEST_VALUE // 4:
            raise InvalidArgument(
                "The range is not one",
                must="have a lower end below the upper one, both below 2**60 in size",
                got=f"{self.lower} to {self.upper}",
            )

    @classmethod
    def calibrate(
        cls, *, lower: int, upper: int, proposed: int, d_in: Contribution, loss: Approximate
    ) -> Self:
        """Return the median that spends ``loss``, half of its ε on the test."""
        mechanism = ProposeTestRelease.calibrate(proposed=proposed, d_in=d_in, loss=loss)
        return cls(lower=lower, upper=upper, mechanism=mechanism)

    def event(self, d_in: Contribution) -> ComposedEvent:
        """Describe one use for the accountants."""
        return self.mechanism.event(d_in)

    def loss(self, d_in: Contribution) -> Approximate:
        """Return the loss of one use."""
        return self.mechanism.loss(d_in)

    def release(self, exact_values: IntArray, rng: Rng) -> int | None:
        """Return the median plus noise, moved into the range, or ``None`` if the test fails."""
        values = self._sorted(exact_values)
        rank = (values.size - 1) // 2
        # Both ends of the row are limits: rank 0 is the lower one, for no values at all.
        middle = int(values[rank])
        noisy = self.mechanism.release(middle, self._margin(values), rng)
        return None if noisy is None else max(self.lower, min(self.upper, noisy))

    def margin(self, exact_values: IntArray) -> int:
        """Return the steps to data whose critical gap is more than proposed. It is private."""
        return self._margin(self._sorted(exact_values))

    def error_quantile(self, beta: Number) -> Fraction:
        """Return a bound on the error of what is released, but for a probability of ``beta``."""
        return self.mechanism.error_quantile(beta)

    def _sorted(self, exact_values: IntArray) -> IntArray:
        """Return the clamped values in order, with the two limits around them."""
        values = np.clip(integers(exact_values).ravel(), self.lower, self.upper)
        return np.concatenate(([self.lower], np.sort(values), [self.upper])).astype(np.int64)

    def _margin(self, values: IntArray) -> int:
        count = values.size - 2
        proposed = min(self.mechanism.proposed, self.upper - self.lower)
        after = np.searchsorted(values, values + proposed, side="right")
        before = np.flatnonzero(after <= count + 1)
        if not before.size:
            return _NEVER
        after = after[before]
        balance = count + 1 - before - after
        apart = np.maximum(balance - 1, -balance)
        return int((after - before - 1 + np.maximum(apart, 0)).min())


_NEVER = 1 << 61
"""The margin where no data has too large a gap: the range is no wider than proposed."""
