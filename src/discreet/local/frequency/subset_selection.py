"""Subset selection: a set of fixed size, which holds the true value more often than others."""

from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number
from discreet.core.protocols import IntArray, Rng
from discreet.local.coins import most_odds, part, threshold_below
from discreet.local.device.draws import UNIT
from discreet.local.frequency.bitmap_scheme import BitmapScheme
from discreet.local.frequency.bitmaps import (
    bits_in_each,
    set_bits,
)
from discreet.local.report_numbers import Reports
from discreet.randomness.samplers import bernoulli, uniform_integers

MOST_CATEGORIES = 2**16
"""A report names a share of them, each drawn by itself."""

_CELLS = 1 << 21


@frozen(kw_only=True)
class SubsetSelection(BitmapScheme):
    r"""Report ``count`` of the ``categories``: the true one among them more often than not.

    Guarantee:
        With :math:`p` for ``truth / UNIT``, a set of :math:`d` of the :math:`k` categories that
        has the value is reported with probability :math:`p / \binom{k-1}{d-1}`, and one that has
        not with :math:`(1-p) / \binom{k-1}{d}`. The odds are their ratio, :math:`p(k-d)/((1-p)d)`;
        a set that has one of two values and not the other attains it [YB18].

    Assumes:
        The device's bytes are unpredictable to whoever reads the report. Whatever the value is,
        one coin is drawn and then ``count`` of the other categories, one after another.

    Utility:
        A report supports the values that it names: the one that is held with probability
        :math:`p`, any other with :math:`(p(d-1) + (1-p)d)/(k-1)`. For :math:`d` near
        :math:`k/(e^\varepsilon+1)` the worst-case squared error is the least that any scheme can
        have, for many people [YB18]; for many categories it is that of local hashing, at the
        price of a bit for each category.

    Example:
        >>> scheme = SubsetSelection.calibrate(categories=16, epsilon=1)
        >>> scheme.count, scheme.size, round(float(scheme.event().epsilon), 9)
        (4, 2, 1.0)
    """

    kind: ClassVar[str] = "subset_selection"
    categories: int = field(converter=check.whole, validator=check.between(2, MOST_CATEGORIES))
    count: int = field(converter=check.whole)
    truth: int = field(converter=check.whole)

    @count.validator
    def _some_not_all(self, _: object, count: int) -> None:
        if not 1 <= count < self.categories:
            raise InvalidArgument(
                "count is out of range", must="be at least 1 and below categories", got=str(count)
            )

    @truth.validator
    def _more_than_a_guess(self, _: object, truth: int) -> None:
        if not UNIT * self.count < truth * self.categories < UNIT * self.categories:
            raise InvalidArgument(
                "truth is out of range",
                must="be above UNIT * count / categories and below UNIT",
                got=str(truth),
            )

    @classmethod
    def calibrate(cls, *, categories: int, epsilon: Number, count: int | None = None) -> Self:
        """Return the scheme of least variance that ``epsilon`` allows, or that of so large sets."""
        odds, every = most_odds(epsilon), check.whole(categories)
        if not 2 <= every <= MOST_CATEGORIES:
            raise InvalidArgument(
                "categories is out of range", must=f"be from 2 to {MOST_CATEGORIES}", got=str(every)
            )
        near = int(every / (odds + 1))
        counts = {near, near + 1} if count is None else {check.whole(count)}
        offered = (
            cls(categories=every, count=d, truth=threshold_below(odds * d / (odds * d + every - d)))
            for d in sorted(counts)
            if 1 <= d < every or count is not None
        )
        return min(offered, key=lambda scheme: scheme.variance(1))

    def recipe(self) -> dict[str, Any]:
        """Return the public part of the scheme."""
        return {
            "kind": self.kind,
            "categories": self.categories,
            "count": self.count,
            "truth": self.truth,
        }

    def odds(self) -> Fraction:
        """Return the largest ratio of the probabilities of a report under two values."""
        return self.held * (self.categories - self.count) / ((1 - self.held) * self.count)

    @property
    def held(self) -> Fraction:
        """How likely a report names the value of its person."""
        return part(self.truth)

    @property
    def other(self) -> Fraction:
        """How likely a report names any one other value."""
        return (self.count - self.held) / (self.categories - 1)

    def randomise_many(self, values: IntArray, rng: Rng) -> Reports:
        """Return the report of each person; the words used do not depend on the values."""
        held = self.check_values(values)
        reports = np.zeros((held.size, self.size), dtype=np.uint8)
        chunk = max(1, _CELLS // self.categories)
        for start in range(0, held.size, chunk):
            self._fill(reports[start : start + chunk], held[start : start + chunk], rng)
        return reports

    def _fill(self, reports: Reports, held: IntArray, rng: Rng) -> None:
        """Name one category after another, by shuffling the first places of a list of the others.

        After each step all ordered choices so far are equally likely (Fisher and Yates), so the
        first ones are a uniform set of their number; the last gives way to the value, if it is
        told.
        """
        people, others = np.arange(held.size), self.categories - 1
        left = np.tile(np.arange(1, self.categories, dtype=np.int32)[:, None], held.size)
        tells = bernoulli(self.held, held.size, rng)
        for place in range(self.count):
            chosen = place + uniform_integers(others - place, held.size, rng)
            named = left[chosen, people].astype(np.int64)
            left[chosen, people] = left[place]
            if place == self.count - 1:
                named = np.where(tells, 0, named)
            set_bits(reports, people, (held + named) % self.categories)

    def possible(self, reports: Reports) -> NDArray[np.bool_]:
        """Tell which reports an honest device can make: those that name as many values."""
        return np.asarray(super().possible(reports) & (bits_in_each(reports) == self.count))
