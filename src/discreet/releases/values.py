r"""The values of one column: private histograms of units by their largest and smallest value.

A unit is in one bin of each: a clamp :math:`[l, h]` cuts a unit if its largest value is above
:math:`h` or its smallest one below :math:`l`, whatever its other values are. Each of the two is
read as a histogram of how far units reach on that side, so all that is known of how much units have
(:class:`~discreet.releases.histogram.Histogram`) holds of how far they reach.
"""

import datetime
import math
from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property
from typing import Any

from attrs import evolve, field, frozen

from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number
from discreet.mechanisms.noise_json import AggregateMechanism
from discreet.releases.cells import text
from discreet.releases.histogram import Histogram
from discreet.releases.value_bins import ABOVE, NO_VALUE, ValueBins

_FAINT = 0.05
"""How often noise alone may pass for units with a value."""

Bound = Number | datetime.date
"""An end of a clamp: a number, or a date."""


@frozen(kw_only=True, eq=False)
class Values:
    """How many units have their largest, and their smallest, value in each bin."""

    bins: ValueBins
    largest: tuple[int, ...] = field(repr=False)
    """Noisy numbers of units, first below the range, then of each bin, and last above it."""
    smallest: tuple[int, ...] = field(repr=False)
    without: tuple[int, int] = field(repr=False)
    """The noisy number of units that have no value at all, by either histogram."""
    noise: AggregateMechanism

    @cached_property
    def above(self) -> Histogram:
        """Units by how far up they reach: steps above the first one below the range."""
        first = self.bins.ends[0]
        return self._reaching([end - first for end in self.bins.ends[1:]], self.largest[1:])

    @cached_property
    def below(self) -> Histogram:
        """Units by how far down they reach: steps below the first one above the range."""
        last = self.bins.ends[-1]
        ends = [last - end for end in self.bins.ends[-2::-1]]
        return self._reaching(ends, self.smallest[-2::-1])

    def _reaching(self, ends: list[int], values: tuple[int, ...]) -> Histogram:
        most = ends[-1] if self.bins.is_declared else None
        found = Histogram(ends=tuple(ends), values=values, noise=self.noise, most=most)
        # What is declared is believed, unless the histogram itself shows that it is false.
        return evolve(found, most=None) if found.contradicts_most() else found

    @property
    def is_refuted(self) -> bool:
        """Whether units surely have values outside the declared range."""
        return self.bins.is_declared and None in (self.above.most, self.below.most)

    def steps_above(self, high: Bound) -> tuple[int, int]:
        """Return how far up the end of a clamp is, as :attr:`above` counts: rounded down and up."""
        exactly = self.bins.in_steps(high) - self.bins.ends[0]
        return math.floor(exactly), math.ceil(exactly)

    def steps_below(self, low: Bound) -> tuple[int, int]:
        """Return how far down the end of a clamp is, as :attr:`below` counts it."""
        exactly = self.bins.ends[-1] + 1 - self.bins.in_steps(low)
        return math.floor(exactly), math.ceil(exactly)

    def units(self, beta: float) -> tuple[float, float]:
        """Return bounds on how many units have a value."""
        each = [1] * len(self.largest)
        everybody = Histogram(ends=(), values=self.largest, noise=self.noise)
        return everybody.least(each, beta), everybody.largest(each, beta)

    @cached_property
    def is_faint(self) -> bool:
        """Whether so few units have a value that noise alone could have made them."""
        return self.units(_FAINT)[0] < 1

    def about(self) -> float:
        """Return about how many units have a value."""
        return float(max(sum(self.largest), 0))

    def units_cut(self, low: Bound, high: Bound, beta: float) -> tuple[float, float]:
        r"""Return bounds on how many units have a value outside a clamp.

        Proof. Those are the units that reach too far up or too far down. So they are at least as
        many as either, at most as many as both together, and not more than all units; each of the
        five bounds holds except with a fifth of the probability.
        """
        up, down = self.steps_above(high), self.steps_below(low)
        _require_order(up[0] + down[0], self.bins)
        above = self.above.number_beyond(up[1], beta / 5)[0]
        below = self.below.number_beyond(down[1], beta / 5)[0]
        most = self.most_above(high, beta / 5) + self.most_below(low, beta / 5)
        return max(above, below), min(most, self.units(beta / 5)[1])

    def most_above(self, high: Bound, beta: float) -> float:
        """Return how many units at most have a value above the end of a clamp."""
        return self._most_beyond(self.above, self.steps_above(high)[0], beta)

    def most_below(self, low: Bound, beta: float) -> float:
        """Return how many units at most have a value below the end of a clamp."""
        return self._most_beyond(self.below, self.steps_below(low)[0], beta)

    def _most_beyond(self, reaching: Histogram, limit: int, beta: float) -> float:
        # Of units on the far side of the range nothing more is known than that they are there.
        return self.units(beta)[1] if limit < 0 else reaching.number_beyond(limit, beta)[1]

    def about_cut(self, low: Bound, high: Bound) -> float:
        """Return about how many units have a value outside a clamp."""
        up, down = self.steps_above(high), self.steps_below(low)
        found = self.above.units_beyond(up[0]) + self.below.units_beyond(down[0])
        return min(found, self.about())

    def largest_quantile(self, share: float) -> Fraction | datetime.date | None:
        """Return what the largest value of that share of units does not exceed.

        None if it is beyond all bins, or if there are too few units to tell.
        """
        place = None if self.is_faint else _place(self.above, share, self.about())
        return None if place is None else self.bins.value(self.bins.ends[0] + place)

    def smallest_quantile(self, share: float) -> Fraction | datetime.date | None:
        """Return what the smallest value of that share of units does not go below."""
        place = None if self.is_faint else _place(self.below, share, self.about())
        return None if place is None else self.bins.value(self.bins.ends[-1] + 1 - place)

    def to_json(self) -> dict[str, Any]:
        """Return the histograms as plain values."""
        return {
            "up_to": [_plain(self.bins.value(end)) for end in self.bins.ends],
            "range_is_declared": self.bins.is_declared,
            "range_is_refuted": self.is_refuted,
            "largest": list(self.largest),
            "smallest": list(self.smallest),
            "no_value": list(self.without),
            "noise": self.noise.to_json(),
            "quantiles": {
                f"{share:g}": {
                    "no_value_above": _plain(self.largest_quantile(share)),
                    "no_value_below": _plain(self.smallest_quantile(share)),
                }
                for share in SHOWN_SHARES
            },
        }


SHOWN_SHARES = (0.5, 0.9, 0.95, 0.99)
"""Of which shares of units a profile shows how far their values reach."""


def _require_order(distance: int, bins: ValueBins) -> None:
    """Refuse ends in the wrong order; both distances together are the range, if they are equal."""
    if distance < bins.ends[-1] - bins.ends[0]:
        raise InvalidArgument("The clamp is empty", must="have its lower end below its upper end")


def _place(reaching: Histogram, share: float, units: float) -> int | None:
    """Return how far at most the rest of the units reach."""
    beyond = reaching.cleaned[::-1].cumsum()[::-1]
    allowed = (1 - share) * units + 1e-9
    pairs = zip(reaching.ends, beyond[1:], strict=True)
    return next((end for end, more in pairs if more <= allowed), None)


def _plain(value: Fraction | datetime.date | None) -> int | float | str | None:
    if isinstance(value, Fraction):
        return value.numerator if value.denominator == 1 else float(value)
    return None if value is None else value.isoformat()


def shown_value(value: Fraction | datetime.date | None) -> str:
    """Return a value for people."""
    return "unknown" if value is None else text(value)


def read_values(
    bins: ValueBins,
    largest: Mapping[int, int],
    smallest: Mapping[int, int],
    noise: AggregateMechanism,
) -> Values:
    """Return the values of a column; the keys of the numbers are the ends of bins.

    A range that is declared now says that nobody is beyond these ends only if it lies within them.
    """
    known = tuple(sorted(set(largest) - {ABOVE, NO_VALUE}))
    is_within = known[0] <= bins.ends[0] and bins.ends[-1] <= known[-1]
    bins = evolve(bins, ends=known, is_declared=bins.is_declared and is_within)
    each = (*known, ABOVE)
    return Values(
        bins=bins,
        largest=tuple(largest[end] for end in each),
        smallest=tuple(smallest[end] for end in each),
        without=(largest[NO_VALUE], smallest[NO_VALUE]),
        noise=noise,
    )
