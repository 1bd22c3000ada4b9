"""The mean from values with Laplace noise: the baseline that other schemes are held against."""

from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from attrs import field, frozen

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number
from discreet.core.protocols import IntArray, Rng
from discreet.local.coins import most_odds
from discreet.local.numbers.number_scheme import NumberScheme, check_most, grid
from discreet.local.report_numbers import Reports, as_reports
from discreet.local.tails import Floats
from discreet.randomness.samplers import bernoulli

_MOST_VALUE = 1024
_MOST_DECAY = 2**31


@frozen(kw_only=True)
class LocalLaplace(NumberScheme):
    r"""Report the value with two-sided geometric noise, clamped to the grid.

    With :math:`r = (d-1)/d` for ``decay``, :math:`d`, the noise is :math:`k` with probability
    :math:`r^{|k|}(1-r)/(1+r)`, drawn by fair choices of :math:`2d-1` and of :math:`d` alone.

    Guarantee:
        A report's probabilities under two values differ by at most :math:`r^{-m}`, as the values
        differ by at most :math:`m`; the report 0 attains it under 0 and under the most.
        Calibration takes the least decay that keeps that below :math:`e^\varepsilon`.

    Assumes:
        A device draws ``most + 1`` times, whatever happens; so grids are short here.

    Utility:
        Given that noise went to an end or beyond, how far beyond it would have gone is geometric
        with mean :math:`r/(1-r)`, whatever the value. So an end is worth that much more, and
        clamped reports are exactly unbiased. Clamping makes the variance smaller: it is
        :math:`2r/(1-r)^2`, which that of a Laplace law of scale :math:`m/\varepsilon` comes near
        to, less :math:`r/(1-r)^2` times the probability of an end.

    Example:
        >>> scheme = LocalLaplace.calibrate(most=20, epsilon=1)
        >>> scheme.decay, round(float(scheme.event().epsilon), 3)
        (21, 0.976)
    """

    kind: ClassVar[str] = "local_laplace"
    most: int = field(converter=check.whole)
    decay: int = field(converter=check.whole)

    @most.validator
    def _on_a_short_grid(self, _: object, most: int) -> None:
        check_most(most, largest=_MOST_VALUE)

    @decay.validator
    def _slow_enough(self, _: object, decay: int) -> None:
        if not 2 <= decay <= _MOST_DECAY:
            raise InvalidArgument(
                "decay is out of range", must="be at least 2 and at most 2**31", got=str(decay)
            )

    @classmethod
    def calibrate(cls, *, most: int, epsilon: Number) -> Self:
        """Return the scheme whose reports tell as much as ``epsilon`` allows, on whole decays."""
        every, odds = grid(most, largest=_MOST_VALUE), most_odds(epsilon)
        low, high = 1, 2
        while high <= _MOST_DECAY and Fraction(high, high - 1) ** every > odds:
            low, high = high, 2 * high
        while high - low > 1 and high <= _MOST_DECAY:
            middle = (low + high) // 2
            enough = Fraction(middle, middle - 1) ** every <= odds
            low, high = (low, middle) if enough else (middle, high)
        return cls(most=every, decay=high)

    @property
    def outcomes(self) -> int:
        """How many different reports there are."""
        return self.most + 1

    def recipe(self) -> dict[str, Any]:
        """Return the public part of the scheme."""
        return {"kind": self.kind, "most": self.most, "decay": self.decay}

    def odds(self) -> Fraction:
        """Return the largest ratio of the probabilities of a report under two values."""
        return Fraction(self.decay, self.decay - 1) ** self.most

    def worth(self, told: int) -> Fraction:
        """Return what a report counts for in the mean."""
        beyond = self.decay - 1
        return Fraction(told + beyond * (told == self.most) - beyond * (told == 0))

    def worths(self) -> Floats:
        """Return what each report counts for, as floats."""
        found = np.arange(self.outcomes, dtype=np.float64)
        found[0] -= self.decay - 1
        found[-1] += self.decay - 1
        return found

    def variance(self, value: int) -> Fraction:
        """Return the exact variance of the worth of one report of ``value``."""
        rate = Fraction(self.decay - 1, self.decay)
        ends = (rate**value + rate ** (self.most - value)) / (1 + rate)
        return (2 - ends) * rate / (1 - rate) ** 2

    def randomise_many(self, values: IntArray, rng: Rng) -> Reports:
        """Return the report of each person; the words used do not depend on the values.

        The binary digits of a geometric number are independent coins.
        """
        held = self.check_values(values)
        upward = bernoulli(Fraction(self.decay, 2 * self.decay - 1), held.size, rng)
        rate = Fraction(self.decay - 1, self.decay)
        steps = np.zeros(held.size, dtype=np.int64)
        for digit in range(self.most.bit_length()):
            odds = rate ** (1 << digit)
            steps += bernoulli(odds / (1 + odds), held.size, rng).astype(np.int64) << digit
        beyond = bernoulli(rate ** (1 << self.most.bit_length()), held.size, rng)
        steps = np.where(beyond, self.most, np.minimum(steps, self.most))
        told = np.where(upward, held + steps, held - 1 - steps)
        return as_reports(np.clip(told, 0, self.most), self.outcomes)
