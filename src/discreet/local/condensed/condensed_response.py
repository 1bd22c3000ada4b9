"""A report that is more likely the nearer it is to the value."""

from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from attrs import field, frozen

from discreet.core.errors import InvalidArgument
from discreet.core.loss import short
from discreet.core.numbers import Number, exact, exp_bounds
from discreet.core.protocols import IntArray, Rng
from discreet.local.coins import loss_of_odds
from discreet.local.condensed.distance import Distance
from discreet.local.device.draws import UNIT
from discreet.local.frequency.share_estimate import CONFIDENCE
from discreet.local.numbers.linear import LinearEstimate, linear_estimate
from discreet.local.report_numbers import Reports, as_numbers, as_reports, bytes_below
from discreet.local.scheme import Scheme
from discreet.local.tails import Floats

_BITS = 128
_RARE = 2**12
"""How many units a report has at least: rounding to whole units is then small beside it."""


@frozen(kw_only=True)
class CondensedResponse(Scheme):
    r"""Report :math:`z` with probability close to :math:`e^{-\alpha d(x,z)/2}/N_x`.

    ``weights[x][z] / UNIT`` is the probability, exactly; :math:`N_x` is what makes a row sum to 1.

    Guarantee:
        For any two values and any report the ratio of probabilities is at most
        :math:`e^{\alpha d(x,y)}`: condensed privacy [GTTWL21], which is metric privacy
        [CABP13]. For real numbers: :math:`d(y,z) - d(x,z) \le d(x,y)`, and for the same
        reason :math:`N_y/N_x \le e^{\alpha d(x,y)/2}`. Rounded to whole units that is no
        proof, so a response is only made once every ratio of its weights, a rational number, was
        compared with a number below :math:`e^{\alpha d(x,y)}`. ``tightest`` names the pair that
        comes nearest. As a plain local loss the response has the logarithm of ``odds``, which is
        at most :math:`\alpha` times the largest distance, for any two values whatever.

    Assumes:
        People accept that values near to each other are hidden well, and values far from each other
        hardly: ``meaning`` says so in words.

    Utility:
        Shares follow by inverting the known law of reports, with intervals
        (:class:`~discreet.local.numbers.linear.LinearEstimate`).

    Example:
        >>> response = CondensedResponse.calibrate(distance=Distance.numeric(5), alpha=1)
        >>> response.meaning().split(". ")[1]
        'Neighbours at distance 1: a factor of at most 2.72'
        >>> round(float(response.event().epsilon), 2), response.tightest()[:2]
        (2.0, (4, 3))
    """

    kind: ClassVar[str] = "table"
    distance: Distance
    alpha: Fraction = field(converter=exact)
    weights: tuple[tuple[int, ...], ...] = field()

    @weights.validator
    def _certified(self, _: object, weights: tuple[tuple[int, ...], ...]) -> None:
        if self.alpha <= 0:
            raise InvalidArgument("alpha is out of range", must="be above 0", got=str(self.alpha))
        values = self.distance.values
        if len(weights) != values or any(len(row) != values for row in weights):
            raise InvalidArgument(
                "The weights have another form", must=f"be a square of {values} rows"
            )
        if any(sum(row) != UNIT or min(row) < _RARE for row in weights):
            raise InvalidArgument(
                "A report would be too rare",
                must=f"have at least {_RARE} of {UNIT} units of its row",
                next="declare a smaller alpha, or smaller distances",
            )
        allowed: dict[Fraction, Fraction] = {}
        for x, y, ratio in self._ratios():
            apart = self.distance.rows[x][y]
            if apart not in allowed:
                allowed[apart] = exp_bounds(self.alpha * apart, _BITS)[0]
            if ratio > allowed[apart]:
                raise InvalidArgument(
                    "The weights tell two values apart better than alpha allows",
                    must=f"have ratios of at most e^(alpha * {apart})",
                    got=f"values {x} and {y}",
                )

    @classmethod
    def calibrate(cls, *, distance: Distance, alpha: Number) -> Self:
        """Return the response whose weights are the exponentials, rounded to whole units."""
        rate = exact(alpha)
        if not 0 < rate * max(max(row) for row in distance.rows) <= _BITS:
            raise InvalidArgument(
                "alpha is out of range",
                must=f"be above 0, and with the largest distance at most {_BITS}",
                got=str(alpha),
            )
        known = {entry for row in distance.rows for entry in row}
        near = {apart: exp_bounds(-rate * apart / 2, _BITS)[0] for apart in known}
        return cls(
            distance=distance,
            alpha=rate,
            weights=tuple(
                _in_units([near[apart] for apart in row], place)
                for place, row in enumerate(distance.rows)
            ),
        )

    @property
    def size(self) -> int:
        """How many bytes a report has."""
        return bytes_below(self.distance.values)

    def recipe(self) -> dict[str, Any]:
        """Return the public part of the scheme: where each row's weights end, without the last."""
        rows = [np.cumsum(row, dtype=np.int64)[:-1].tolist() for row in self.weights]
        return {"kind": self.kind, "rows": rows}

    def odds(self) -> Fraction:
        """Return the largest ratio of the probabilities of a report under two values."""
        return max(ratio for _, _, ratio in self._ratios())

    def worst_pair(self) -> tuple[int, int]:
        """Return the two values that are told apart best."""
        x, y, _ = max(self._ratios(), key=lambda found: found[2])
        return x, y

    def tightest(self) -> tuple[int, int, float]:
        """Return the two values that come nearest to what alpha allows, and how near: 1 is all."""
        near = [
            (float(loss_of_odds(ratio) / (self.alpha * self.distance.rows[x][y])), x, y)
            for x, y, ratio in self._ratios()
        ]
        share, x, y = max(near)
        return x, y, share

    def meaning(self) -> str:
        """Say in words what alpha hides, and what the loss is in the plain sense."""
        apart = min(entry for row in self.distance.rows for entry in row if entry)
        x, y = self.worst_pair()
        odds = self.odds()
        factor = exp_bounds(self.alpha * apart, _BITS)[1]
        return (
            f"Two values at distance d look alike up to a factor of e^({short(self.alpha)} d). "
            f"Neighbours at distance {short(apart)}: a factor of at most {float(factor):.3g}. "
            f"The values that are told apart best, at distance {short(self.distance.rows[x][y])}: "
            f"a factor of {float(odds):.3g}, which is a loss of {float(loss_of_odds(odds)):.3g} "
            "in the plain sense."
        )

    def law(self) -> Floats:
        """Return the probability of each report (columns) for each value (rows)."""
        return np.array(self.weights, dtype=np.float64) / UNIT

    def randomise_many(self, values: IntArray, rng: Rng) -> Reports:
        """Return the report of each person; the words used do not depend on the values."""
        held = np.asarray(values)
        if held.dtype != np.int64 or held.ndim != 1:
            raise InvalidArgument(
                "The values have another form", must="be a flat array of 64-bit integers"
            )
        if held.size and not 0 <= held.min() <= held.max() < self.distance.values:
            raise InvalidArgument(
                "A value is out of range", must=f"be 0 to {self.distance.values - 1}"
            )
        ends = np.array([np.cumsum(row, dtype=np.int64) for row in self.weights])
        starts = np.arange(self.distance.values, dtype=np.int64) * UNIT
        drawn = (rng.words(held.size) >> np.uint64(12)).astype(np.int64)
        found = np.searchsorted((ends + starts[:, None]).ravel(), drawn + starts[held], "right")
        return as_reports(found - held * self.distance.values, self.distance.values)

    def told_below(self) -> int:
        """Return how many different reports there are."""
        return self.distance.values

    def tally(self, reports: Reports) -> IntArray:
        """Return how many reports name each value."""
        told = as_numbers(self.check_possible(reports))
        return np.bincount(told, minlength=self.distance.values)

    def estimate(
        self, reports: Reports, *, confidence: Number = CONFIDENCE, together: bool = False
    ) -> LinearEstimate:
        """Return the share of each value among the people who reported."""
        return linear_estimate(
            self.law(),
            np.eye(self.distance.values),
            self.tally(reports),
            confidence=confidence,
            together=together,
        )

    def _ratios(self) -> list[tuple[int, int, Fraction]]:
        """Return for any two values the largest ratio of the probabilities of a report.

        Floats only choose which ratios are compared exactly: all that are near to the largest.
        """
        table = np.array(self.weights, dtype=np.float64)
        found = []
        for x, first in enumerate(self.weights):
            for y, second in enumerate(self.weights):
                if x == y:
                    continue
                rough = table[x] / table[y]
                places = np.flatnonzero(rough >= rough.max() * (1 - 1e-12))
                found.append((x, y, max(Fraction(first[z], second[z]) for z in places)))
        return found


def _in_units(near: list[Fraction], place: int) -> tuple[int, ...]:
    total = sum(near)
    units = [int(weight * UNIT / total) for weight in near]
    units[place] += UNIT - sum(units)
    return tuple(units)
