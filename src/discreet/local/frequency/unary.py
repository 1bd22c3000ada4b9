"""Unary encoding: a coin for every value, with another probability for the one that is held."""

from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from attrs import field, frozen

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact
from discreet.core.protocols import IntArray, Rng
from discreet.local.coins import most_odds, part, threshold_below
from discreet.local.device.draws import UNIT
from discreet.local.frequency.bitmap_scheme import BitmapScheme
from discreet.local.report_numbers import Reports
from discreet.randomness.packed_bernoulli import packed_bernoulli
from discreet.randomness.samplers import bernoulli

MOST_CATEGORIES = 2**20
"""A report has a bit for each."""


@frozen(kw_only=True)
class UnaryEncoding(BitmapScheme):
    r"""Report a set of categories: the true one with one probability, each other with another.

    Guarantee:
        With :math:`p` for ``when_held / UNIT`` and :math:`q` for ``when_other / UNIT``, bits are
        independent coins, of which only two differ between two values: the ratio of a report that
        has the one and not the other is :math:`p(1-q)/(q(1-p))`, and no report has a larger one
        [WBLJ17, section 4.3]. *Optimised* is :math:`p = 1/2`, and the least :math:`q` that keeps
        the odds below :math:`e^\varepsilon`; *symmetric* (basic RAPPOR's) has :math:`q = 1 - p`.

    Assumes:
        The device's bytes are unpredictable to whoever reads the report. A coin is drawn for each
        category, in their order, whatever the value is.

    Utility:
        A report supports the values that it names. Optimised, the variance at a share of 0 is
        about :math:`4e^\varepsilon/(n(e^\varepsilon-1)^2)`, however many categories there are; a
        report has a bit for each of them.

    Example:
        >>> scheme = UnaryEncoding.optimised(categories=20, epsilon=1)
        >>> round(float(scheme.event().epsilon), 9), scheme.size, scheme.held
        (1.0, 3, Fraction(1, 2))
        >>> round(float(UnaryEncoding.symmetric(categories=20, epsilon=1).event().epsilon), 9)
        1.0
    """

    kind: ClassVar[str] = "unary"
    categories: int = field(converter=check.whole, validator=check.between(2, MOST_CATEGORIES))
    when_held: int = field(converter=check.whole, validator=check.between(1, UNIT - 1))
    when_other: int = field(converter=check.whole, validator=check.between(1, UNIT - 1))

    @when_other.validator
    def _less_than_held(self, _: object, when_other: int) -> None:
        if when_other >= self.when_held:
            raise InvalidArgument(
                "when_other is out of range",
                must="be below when_held: the value that is held is named more often",
                got=str(when_other),
            )

    @classmethod
    def optimised(cls, *, categories: int, epsilon: Number) -> Self:
        """Return the scheme of least variance that ``epsilon`` allows: the true bit is a fair coin.

        For an ``epsilon`` so small that no other threshold is left, it is refused.
        """
        odds = most_odds(epsilon)
        other = UNIT - threshold_below(odds / (odds + 1))
        return cls(categories=categories, when_held=UNIT // 2, when_other=other)

    @classmethod
    def symmetric(cls, *, categories: int, epsilon: Number) -> Self:
        """Return the scheme in which a bit is wrong with one probability, whatever it is."""
        odds = most_odds(exact(epsilon) / 2)
        held = threshold_below(odds / (odds + 1))
        return cls(categories=categories, when_held=held, when_other=UNIT - held)

    def recipe(self) -> dict[str, Any]:
        """Return the public part of the scheme."""
        return {
            "kind": self.kind,
            "categories": self.categories,
            "held": self.when_held,
            "other": self.when_other,
        }

    def odds(self) -> Fraction:
        """Return the largest ratio of the probabilities of a report under two values."""
        return self.held * (1 - self.other) / (self.other * (1 - self.held))

    @property
    def held(self) -> Fraction:
        """How likely a report names the value of its person."""
        return part(self.when_held)

    @property
    def other(self) -> Fraction:
        """How likely a report names any one other value."""
        return part(self.when_other)

    def randomise_many(self, values: IntArray, rng: Rng) -> Reports:
        """Return the report of each person; coins are drawn before a value is looked at."""
        held = self.check_values(values)
        bits = held.size * self.size
        coins = packed_bernoulli(self.other, -(-bits // 8), rng).astype("<u8", copy=False)
        reports = coins.view(np.uint8)[:bits].reshape(held.size, self.size)
        reports[:, -1] &= np.uint8(2 ** ((self.categories - 1) % 8 + 1) - 1)
        named = bernoulli(self.held, held.size, rng)
        people, column, place = np.arange(held.size), held // 8, (held % 8).astype(np.uint8)
        others = reports[people, column] & ~np.left_shift(np.uint8(1), place)
        reports[people, column] = others | np.left_shift(named.astype(np.uint8), place)
        return reports
