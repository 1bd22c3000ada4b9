"""The number of ones among fair bits: a statistic whose curve is known by enumeration."""

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from attrs import frozen

from discreet.core.rounding import exp_down
from discreet.noiseless.certifiable import BreakingPoint, NoiseInstead, PrivacyTarget, Way


def excess_of(first: Mapping[int, Fraction], second: Mapping[int, Fraction], factor: Fraction):
    """Return the exact hockey-stick divergence of two laws."""
    return sum(
        (max(Fraction(0), p - factor * second.get(t, Fraction(0))) for t, p in first.items()),
        Fraction(0),
    )


@frozen(kw_only=True)
class FairBits:
    """How many of some fair bits are 1; the simulator puts a fresh fair bit in the place of one."""

    rows: int
    known: int = 0
    law: str = "each row is 0 or 1, with probability 1/2 each"

    @property
    def statistic(self) -> str:
        """What is released."""
        return f"How many of {self.rows:,} rows are 1"

    @property
    def simulator(self) -> str:
        """What imitates it."""
        return "Counts the other rows, and a fresh fair bit in the place of the row."

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What is assumed."""
        return ("Rows are independent.",)

    def deltas(self, epsilon: Fraction) -> dict[Way, Fraction]:
        """Return the divergence itself, and twice that as a looser way."""
        hidden = self.rows - self.known - 1
        binomial = {k: Fraction(math.comb(hidden, k), 2**hidden) for k in range(hidden + 1)}
        zero: dict[int, Fraction] = binomial
        half = {
            k: (binomial.get(k, Fraction(0)) + binomial.get(k - 1, Fraction(0))) / 2
            for k in range(hidden + 2)
        }
        factor = exp_down(epsilon)
        delta = max(excess_of(zero, half, factor), excess_of(half, zero, factor))
        return {Way.SOURCE: min(Fraction(1), 2 * delta), Way.TIGHT: delta}

    def breaking_points(self, target: PrivacyTarget) -> tuple[BreakingPoint, ...]:
        """Return the one that there is."""
        most = [
            known
            for known in range(self.rows)
            if FairBits(rows=self.rows, known=known).deltas(target.epsilon)[Way.TIGHT]
            <= target.delta
        ]
        limit = Fraction(max(most)) if most else None
        return (BreakingPoint("rows that the adversary knows", limit, "One more, and it is lost."),)

    def noise_instead(self, target: PrivacyTarget) -> NoiseInstead | None:
        """Return what discrete Laplace noise would be."""
        if not target.epsilon:
            return None
        return NoiseInstead(1 / target.epsilon, 3 / target.epsilon, "Noise of a few units.")

    @property
    def span(self) -> Fraction:
        """From 0 to all rows."""
        return Fraction(self.rows)

    def to_json(self) -> dict[str, Any]:
        """Return what is asserted."""
        return {"statistic": "fair_bits", "rows": self.rows, "known": self.known}
