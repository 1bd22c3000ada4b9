"""Shares of people who hold each value, with intervals that hold for every number of people."""

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number
from discreet.core.optional import load
from discreet.core.protocols import IntArray
from discreet.core.terminal_text import one_line
from discreet.local.tails import bennett_radius, read_level
from discreet.releases.release_picture import ReleasePicture

CONFIDENCE = Fraction(19, 20)
_OUTWARDS = 1e-9
"""By how much ends are moved outwards, because quantiles are computed in floating point."""

Floats = NDArray[np.float64]


@frozen(kw_only=True, eq=False)
class ShareEstimate:
    r"""The estimated share of the people who answered that hold each value.

    Guarantee:
        Let :math:`C` be the number of reports that support a value. Given what people hold, it is a
        sum of :math:`n` independent coins, :math:`p` for each person who holds it and :math:`q`
        for each other, so its mean is :math:`n\mu` with :math:`\mu = q + f (p - q)` for the share
        :math:`f`. ``shares`` is :math:`(C/n - q)/(p - q)`, unbiased. The interval is that of
        Clopper and Pearson for :math:`\mu`, carried over, with each end :math:`1/n` further out. It
        is valid although the coins differ. Proof for the upper end, with :math:`\beta < 1/2` for
        a tail: it is too small only if :math:`C \le c` for the largest :math:`c` with
        :math:`P[Bin(n, \mu - 1/n) \le c] \le \beta`. As the median of a binomial law is at most
        its mean rounded up, :math:`c \le n\mu - 1`; there the tail of :math:`C` is not heavier
        than that of :math:`Bin(n, \mu)` [Hoe56, Theorem 4], which is at most :math:`\beta`.

        If one device may have made several of the reports, with answers that it keeps, the coins
        are not independent, and the interval is that of :func:`.bennett_radius`.

    Assumes:
        Devices draw independently, and report as the scheme says.

    Utility:
        ``errors`` are standard deviations for people whose values are fixed:
        :math:`\sqrt{(f p(1-p) + (1-f) q(1-q))/n}/(p-q)` at the estimate, held to [0, 1].
    """

    shares: Floats
    low: Floats
    high: Floats
    errors: Floats
    people: int
    confidence: Fraction

    def counts(self) -> Floats:
        """Return the estimated number of people who hold each value."""
        return self.shares * self.people

    def consistent(self) -> Floats:
        r"""Return the nearest shares that are not negative and sum to 1.

        The projection onto the simplex: :math:`\max(f - \gamma, 0)` with the one
        :math:`\gamma` that gives the sum. It is free, and no longer unbiased.
        """
        ordered = np.sort(self.shares)[::-1]
        excess = np.cumsum(ordered) - 1.0
        places = np.arange(1, len(ordered) + 1, dtype=np.float64)
        kept = int(np.flatnonzero(ordered * places > excess)[-1])
        nearest: Floats = np.maximum(self.shares - excess[kept] / places[kept], 0.0)
        return nearest

    def table(self, names: Sequence[str] | None = None, *, most: int = 20) -> str:
        """Return the values with the largest shares, with their intervals, as aligned text.

        ``names`` has a name for each value. The largest of many are chosen by their noise too: let
        intervals hold ``together`` if they are read for values that were not named before.
        """
        rows: list[Sequence[str]] = [("value", "share", "low", "high", "error")]
        for place in self._largest(most):
            numbers = (part[place] for part in (self.shares, self.low, self.high, self.errors))
            rows.append((_name_of(place, names), *(f"{100 * x:.2f} %" for x in numbers)))
        return aligned(rows)

    def plot(
        self,
        path: str | Path | None = None,
        *,
        names: Sequence[str] | None = None,
        most: int = 20,
        axes: Any = None,
    ) -> Any:
        """Draw the largest shares as bars with their intervals, and return the axes.

        What is said of the largest at :meth:`table` is true here too.
        """
        shown = self._largest(most)
        percent = f"{float(100 * self.confidence):g} %"
        picture = ReleasePicture(
            over=("value",),
            keys=[(_name_of(place, names),) for place in shown],
            title=f"share of {self.people:,} people",
            values=[float(self.shares[place]) for place in shown],
            intervals=[(float(self.low[place]), float(self.high[place])) for place in shown],
            lines=f"intervals at {percent}",
        )
        return picture.draw(axes, None if path is None else Path(path))

    def _largest(self, most: int) -> list[int]:
        order = np.argsort(-self.shares, kind="stable")
        return [int(place) for place in order[:most]]


def _name_of(place: int, names: Sequence[str] | None) -> str:
    return str(place) if names is None else one_line(names[place])


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Return rows of text as columns: the first to the left, all others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            [row[0].ljust(widths[0])]
            + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        )
        for row in rows
    )


def answered(people: int) -> int:
    """Return the number of people, refusing none: nothing can be estimated."""
    if people < 1:
        raise InvalidArgument("There are no reports", must="give at least one report")
    return people


def estimate_shares(
    supports: IntArray,
    people: int,
    *,
    held: Fraction,
    other: Fraction,
    confidence: Number = CONFIDENCE,
    together: bool = False,
    repeats: int = 1,
) -> ShareEstimate:
    """Return the estimate from the number of reports that support each value.

    If ``together``, all intervals hold at once with the confidence; else each by itself. Up to
    ``repeats`` of the reports may be of one device and repeat answers that it keeps.
    """
    level = read_level(confidence)
    beta = float(1 - level) / (2 * (len(supports) if together else 1))
    counted = supports.astype(np.float64)
    if supports.size and not 0 <= supports.min() <= supports.max() <= answered(people):
        raise InvalidArgument(
            "The tally is not of so many people",
            must="support no value less than 0 times or more often than there are people",
        )
    p, q = float(held), float(other)
    if repeats == 1:
        low, high = _clopper_pearson(counted, people, beta)
    else:
        # Of any coin between both: numbers that are rounded at random have such.
        spread = np.array([0.25 if q <= 0.5 <= p else max(p * (1.0 - p), q * (1.0 - q))])
        radius = bennett_radius(spread, np.ones(1), people, beta, repeats=repeats)
        low, high = counted / people - radius, counted / people + radius
    raw = (counted / people - q) / (p - q)
    mean = np.clip(raw, 0.0, 1.0)
    variance = (mean * p * (1.0 - p) + (1.0 - mean) * q * (1.0 - q)) * repeats / people
    return ShareEstimate(
        shares=raw,
        low=np.clip((low - 1.0 / people - q) / (p - q) - _OUTWARDS, 0.0, 1.0),
        high=np.clip((high + 1.0 / people - q) / (p - q) + _OUTWARDS, 0.0, 1.0),
        errors=np.sqrt(variance) / (p - q),
        people=people,
        confidence=level,
    )


def _clopper_pearson(counted: Floats, people: int, beta: float) -> tuple[Floats, Floats]:
    special = load("scipy.special")
    rest = people - counted
    low = np.where(counted > 0, special.betaincinv(np.maximum(counted, 1), rest + 1, beta), 0.0)
    high = np.where(rest > 0, special.betainccinv(counted + 1, np.maximum(rest, 1), beta), 1.0)
    return low, high
