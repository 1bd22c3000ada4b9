"""The mean from a place or a bit, whichever a coin says: good for small losses and for large."""

from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact
from discreet.core.protocols import IntArray, Rng
from discreet.local.coins import most_odds, part, threshold_below
from discreet.local.device.draws import UNIT
from discreet.local.numbers.number_scheme import NumberScheme
from discreet.local.numbers.one_bit_mean import OneBitMean
from discreet.local.numbers.piecewise import PiecewiseMean
from discreet.local.report_numbers import Reports, as_numbers, as_reports
from discreet.local.tails import Floats
from discreet.randomness.samplers import bernoulli

_FROM = Fraction(61, 100)
"""The loss above which places help at all [WXYZHSSY19, section III-C]."""


@frozen(kw_only=True)
class HybridMean(NumberScheme):
    r"""Report by ``places`` with the probability of a coin, else by ``bit``; the report shows it.

    Guarantee:
        The coin does not depend on the value, so the odds are the larger of the two schemes' odds,
        and the ends of the grid attain both.

    Utility:
        Both schemes are unbiased, so the variance is the mean of theirs. The coin is
        :math:`1 - e^{-\varepsilon/2}` for a loss above 0.61, where it makes the variance almost
        the same for all values, and 0 below [WXYZHSSY19, section III-C].

    Example:
        >>> scheme = HybridMean.calibrate(most=100, epsilon=2)
        >>> worst = float(scheme.worst_variance())
        >>> worst < float(scheme.bit.worst_variance())
        True
        >>> worst < float(scheme.places.worst_variance())
        True
    """

    kind: ClassVar[str] = "hybrid"
    places: PiecewiseMean
    bit: OneBitMean = field()
    wide: int = field(converter=check.whole)

    @bit.validator
    def _one_grid(self, _: object, bit: OneBitMean) -> None:
        if bit.most != self.places.most:
            raise InvalidArgument("The two schemes have different grids", must="have one most")

    @wide.validator
    def _a_coin(self, _: object, wide: int) -> None:
        if not 0 <= wide <= UNIT:
            raise InvalidArgument("wide is out of range", must="be 0 to UNIT", got=str(wide))

    @classmethod
    def calibrate(cls, *, most: int, epsilon: Number) -> Self:
        """Return the scheme whose reports tell as much as ``epsilon`` allows."""
        loss = exact(epsilon)
        wide = threshold_below(1 - 1 / most_odds(loss / 2)) if loss > _FROM else 0
        return cls(
            places=PiecewiseMean.calibrate(most=most, epsilon=loss),
            bit=OneBitMean.calibrate(most=most, epsilon=loss),
            wide=wide,
        )

    @property
    def most(self) -> int:  # type: ignore[override]
        """The largest value."""
        return self.places.most

    @property
    def outcomes(self) -> int:
        """How many different reports there are: all places, then the two bits."""
        return self.places.outcomes + 2

    def recipe(self) -> dict[str, Any]:
        """Return the public part of the scheme."""
        return {
            **self.places.recipe(),
            "kind": self.kind,
            "truth": self.bit.truth,
            "wide": self.wide,
        }

    def odds(self) -> Fraction:
        """Return the largest ratio of the probabilities of a report under two values."""
        used = [(self.places, self.wide), (self.bit, UNIT - self.wide)]
        return max(scheme.odds() for scheme, weight in used if weight)

    def worth(self, told: int) -> Fraction:
        """Return what a report counts for in the mean."""
        first = self.places.outcomes
        return self.places.worth(told) if told < first else self.bit.worth(told - first)

    def worths(self) -> Floats:
        """Return what each report counts for, as floats."""
        return np.concatenate([self.places.worths(), self.bit.worths()])

    def variance(self, value: int) -> Fraction:
        """Return the exact variance of the worth of one report of ``value``."""
        wide = part(self.wide)
        return wide * self.places.variance(value) + (1 - wide) * self.bit.variance(value)

    def possible(self, reports: Reports) -> NDArray[np.bool_]:
        """Tell which reports an honest device can make: of a scheme that its coin can choose."""
        told, places = as_numbers(self.check_reports(reports)), self.places.outcomes
        first = places if self.wide == 0 else 0
        last = places if self.wide == UNIT else self.outcomes
        return np.asarray((first <= told) & (told < last))

    def randomise_many(self, values: IntArray, rng: Rng) -> Reports:
        """Return the report of each person; the words used do not depend on the values."""
        held = self.check_values(values)
        wide = bernoulli(part(self.wide), held.size, rng)
        places = self.places.places(held, rng)
        bits = as_numbers(self.bit.randomise_many(held, rng))
        return as_reports(np.where(wide, places, bits + self.places.outcomes), self.outcomes)
