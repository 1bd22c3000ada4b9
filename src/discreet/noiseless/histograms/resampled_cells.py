r"""A histogram of a fixed number of rows: the simulator draws one of the other rows again.

With a fixed number of rows the histogram without one person has one row too few, and truncation
hides nothing: what is missing from the total is the cell that was left out. If the simulator counts
one of the other rows twice, drawn at random, no uncertainty about the number is needed.
"""

import math
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

from attrs import field, frozen

from discreet.core import check
from discreet.core.check import optional_exact
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact, written
from discreet.core.rounding import exp_down, exp_up, log_up, short_up
from discreet.core.search import smallest
from discreet.noiseless.certifiable import BreakingPoint, NoiseInstead, PrivacyTarget, Way
from discreet.noiseless.counted_rows import meets, noise_on_counts
from discreet.noiseless.histograms.cell_enumeration import count_line, share_of_rows
from discreet.noiseless.histograms.cell_terms import capped
from discreet.noiseless.histograms.poisson_cells import NOTHING_HIDDEN, TwoSides

MOST_ROWS = 10_000_000
_MOST_OUTCOMES = 25_000
_BITS = 96
_SPLITS = tuple(Fraction(step, 20) for step in range(4, 17))


@lru_cache(maxsize=4096)
def share_deviation(epsilon: Fraction, rows: int, share: Fraction) -> TwoSides:
    r"""Return how far a share of rows strays: both one-sided means, rounded up.

    With :math:`m \sim Bin(n, p)` these are :math:`E[(m/(np) - e^\epsilon)_+]` and
    :math:`E[(1 - e^\epsilon m/(np))_+]`: the divergences of one person in the cell and :math:`n-1`
    random rows from :math:`n` random rows, in both directions. Both fall in :math:`p`: if a count
    is thinned, the share that is kept has the old one as its mean, so that it strays more.

    Example:
        >>> sides = share_deviation(Fraction(0), 1, Fraction(1, 2))
        >>> float(sides.present), float(sides.absent)
        (0.5, 0.5)
    """
    line = count_line(share_of_rows(share), rows)
    bound, mean = exp_down(capped(epsilon)), rows * share
    growth = (bound.numerator << _BITS) // bound.denominator
    above, below = mean.denominator << _BITS, mean.numerator
    ahead = behind = 0
    for count, term in enumerate(line.terms, line.first):
        ahead += (term + line.error) * max(0, count * above - growth * below)
        behind += (term + line.error) * max(0, (below << _BITS) - growth * count * mean.denominator)
    unit = (line.total * below) << _BITS
    unlisted = line.error * rows / (share * line.total)
    return TwoSides(
        short_up(Fraction(ahead, unit) + unlisted), short_up(Fraction(behind, unit) + unlisted)
    )


@lru_cache(maxsize=1024)
def resampled_sides(epsilon: Fraction, rows: int, least_share: Fraction) -> TwoSides:
    r"""Return both δ for any law in which every cell has at least a given share.

    Guarantee:
        Upper bounds. Let :math:`n` be the rows, :math:`p` the least share, :math:`F` the law of the
        histogram of :math:`n` independent rows, :math:`P` that with the person's row in cell
        :math:`j`, and :math:`Q` that of :math:`n-1` independent rows of which one counts twice.
        Then :math:`P/F = t_j/(np_j)` and
        :math:`Q/F = U = \frac{1}{n(n-1)} \sum_l t_l(t_l-1)/p_l`.

        *The release beside the simulator.* By Cauchy's inequality :math:`\sum t_l^2/p_l \ge n^2`,
        and :math:`\sum t_l/p_l \le n/p`; so :math:`U \ge (n - 1/p)/(n-1)` whatever is counted, and
        :math:`D_\epsilon(P\|Q) \le D_{\epsilon'}(P\|F)` with
        :math:`\epsilon' = \epsilon - \ln\frac{n-1}{n-1/p}`.

        *The simulator beside the release.* For every split of ε,
        :math:`D_\epsilon(Q\|P) \le D_{a}(Q\|F) + e^{a} D_{\epsilon-a}(F\|P)`. :math:`U` is the mean
        over pairs of rows of :math:`1/p_l` if both are in cell :math:`l`, else 0; so it is a mean
        of means over :math:`\lfloor n/2 \rfloor` disjoint, independent pairs, and by Jensen's
        inequality strays no more than one of these. A pair's number is from 0 to :math:`1/p` with
        mean 1, so it strays no more than :math:`1/p` times a coin of :math:`p`. ∎

    Example:
        >>> float(resampled_sides(Fraction(1), 2000, Fraction(1, 10)).worst) < 1e-6
        True
    """
    at = capped(epsilon)
    if rows * least_share <= 1 or rows < 4:
        return NOTHING_HIDDEN
    if least_share >= 1:
        return TwoSides(Fraction(0), Fraction(0))
    lost = log_up((rows - 1) / (rows - 1 / least_share))
    present = Fraction(1)
    if at > lost:
        present = share_deviation(_rounded(at - lost), rows, least_share).present
    absent = Fraction(1)
    for part in _SPLITS:
        first = _rounded(at * part)
        strayed = share_deviation(first, rows // 2, least_share).present
        if strayed < absent:
            second = share_deviation(_rounded(at - first), rows, least_share).absent
            absent = min(absent, strayed + exp_up(first) * second)
    return TwoSides(short_up(present), short_up(absent))


def _rounded(epsilon: Fraction) -> Fraction:
    """Return a smaller ε with few digits: its δ is larger."""
    return Fraction(epsilon.numerator * 10**9 // epsilon.denominator, 10**9)


def resampled_exactly(
    epsilon: Fraction, rows: int, shares: tuple[Fraction, ...]
) -> tuple[TwoSides, ...]:
    """Return both δ for the person in each of the cells, by enumeration of all histograms.

    Example:
        >>> cells = resampled_exactly(Fraction(0), 2, (Fraction(1, 2), Fraction(1, 2)))
        >>> float(cells[0].present)
        0.5
    """
    scale = math.lcm(*(share.denominator for share in shares))
    weights = [int(share * scale) for share in shares]
    common = math.lcm(*weights)
    per_row = [scale * common // weight for weight in weights]
    bound = exp_down(capped(epsilon))
    growth = (bound.numerator << _BITS) // bound.denominator
    ahead, behind = [0] * len(shares), [0] * len(shares)
    for counts in histograms(rows, len(shares)):
        left, ways = rows, 1
        for count, weight in zip(counts, weights, strict=True):
            ways *= math.comb(left, count) * weight**count
            left -= count
        simulated = sum(t * (t - 1) * p for t, p in zip(counts, per_row, strict=True))
        for place, (count, part) in enumerate(zip(counts, per_row, strict=True)):
            released = count * part * (rows - 1)
            ahead[place] += ways * max(0, (released << _BITS) - growth * simulated)
            behind[place] += ways * max(0, (simulated << _BITS) - growth * released)
    unit = (scale**rows * common * rows * (rows - 1)) << _BITS
    return tuple(
        TwoSides(short_up(Fraction(a, unit)), short_up(Fraction(b, unit)))
        for a, b in zip(ahead, behind, strict=True)
    )


def histograms(rows: int, cells: int) -> list[tuple[int, ...]]:
    """Return all histograms of a number of rows.

    Example:
        >>> histograms(1, 3)
        [(0, 0, 1), (0, 1, 0), (1, 0, 0)]
    """
    if cells == 1:
        return [(rows,)]
    return [
        (first, *rest) for first in range(rows + 1) for rest in histograms(rows - first, cells - 1)
    ]


def _shares(values: Any) -> tuple[Fraction, ...] | None:
    return None if values is None else tuple(exact(value) for value in values)


@frozen(kw_only=True)
class FixedHistogram:
    r"""A histogram of a known number of rows, all counts shown.

    Guarantee:
        ``MIXTURE``: :func:`resampled_sides` of the rows that are not known, for every law in which
        no cell is rarer than the least share. ``TIGHT``: :func:`resampled_exactly`, if all shares
        are asserted, no row is known and there are few enough histograms.

        *Known rows.* The simulator cannot tell which rows are known, so the row that counts twice
        may be one of them. What it says is then a mixture of :math:`Q`, of unknown rows alone, and
        of :math:`P_c`, the histogram with a known row's cell :math:`c` in place of the person's.
        Divergences are jointly convex, so that the largest of both counts. And
        :math:`D_\epsilon(P_j\|P_c) \le D_a(P_j\|F) + e^a D_{\epsilon-a}(F\|P_c)`, which is no
        more than the bound of :math:`D_\epsilon(Q\|P)`: a pair's number strays more than a share.

    Attributes:
        rows: How many rows there are; everybody may know it.
        known: How many of the other rows the adversary knows.
        shares: The probability of each cell, if that is asserted. They add up to 1.
        least_share: Else the least probability of any cell.

    Example:
        >>> found = FixedHistogram(rows=2000, least_share="0.1").deltas(Fraction(1))
        >>> float(found[Way.MIXTURE]) < 1e-6
        True
    """

    kind: ClassVar[str] = "fixed"
    rows: int = field(converter=check.whole, validator=check.between(1, MOST_ROWS))
    known: int = field(default=0, converter=check.whole, validator=check.non_negative)
    shares: tuple[Fraction, ...] | None = field(default=None, converter=_shares)
    least_share: Fraction | None = field(default=None, converter=optional_exact)

    def __attrs_post_init__(self) -> None:
        shares = self.shares
        if (shares is None) == (self.least_share is None):
            raise InvalidArgument(
                "The law of the cells is not clear", must="have shares, or else a least share"
            )
        if shares is not None and (len(shares) < 2 or min(shares) <= 0 or sum(shares) != 1):
            raise InvalidArgument(
                "The law of the cells cannot be true",
                must="have two or more shares above 0 that add up to 1 exactly",
                got=f"a total of {sum(shares)}",
            )
        if not 0 < self.least <= Fraction(1, 2):
            raise InvalidArgument(
                "least_share is out of range",
                must="be above 0 and at most 1/2: there are two cells or more",
                got=str(self.least),
            )
        if self.known >= self.rows:
            raise InvalidArgument(
                "The adversary knows all rows",
                must="leave at least one row unknown",
                got=f"{self.known} of {self.rows}",
            )

    @property
    def least(self) -> Fraction:
        """The least probability of any cell."""
        return min(self.shares) if self.shares is not None else exact(self.least_share or 0)

    @property
    def statistic(self) -> str:
        """What is released, in words."""
        return f"the counts of all cells of {self.rows} rows"

    @property
    def simulator(self) -> str:
        """What imitates the release without one person's row, in words."""
        return "the histogram of all rows but that one, with one of the others counted twice"

    @property
    def assumptions(self) -> tuple[str, ...]:
        """All that is assumed, a sentence each."""
        return (
            f"The {self.rows} rows are independent and have one law.",
            f"No cell has a probability below {written(self.least)}.",
            (
                f"The adversary knows at most {self.known} of the other rows, not chosen by the "
                "rest."
                if self.known
                else "The adversary knows none of the other rows."
            ),
            "The cells were fixed before anyone saw the rows.",
        )

    def deltas(self, epsilon: Fraction) -> dict[Way, Fraction]:
        """Return upper bounds of δ at an ε."""
        at = exact(epsilon)
        found = {Way.MIXTURE: resampled_sides(at, self.rows - self.known, self.least).worst}
        shares = None if self.known else self.shares
        if shares is not None and self._outcomes <= _MOST_OUTCOMES and self.rows > 1:
            tight = max(one.worst for one in _exactly(at, self.rows, shares))
            found[Way.TIGHT] = min(found[Way.MIXTURE], tight)
        return found

    @property
    def _outcomes(self) -> int:
        return math.comb(self.rows + len(self.shares or ()) - 1, self.rows)

    def breaking_points(self, target: PrivacyTarget) -> tuple[BreakingPoint, ...]:
        """Return the least number of rows, and the least share of a cell to a thousandth."""

        def holds(rows: int, share: Number) -> bool:
            delta = resampled_sides(exact(target.epsilon), rows, exact(share)).worst
            return delta <= target.delta

        hidden = self.rows - self.known
        needed = smallest(
            lambda rows: rows > MOST_ROWS or holds(rows, self.least), start=1, near=hidden
        )
        rarest = smallest(
            lambda step: step > 500 or holds(hidden, Fraction(step, 1000)), start=1, near=250
        )
        share = None if rarest > 500 else Fraction(rarest, 1000)
        if meets(self, target):
            # An enumeration of the asserted shares can be better than what holds for all shares.
            needed = min(needed, hidden)
            share = self.least if share is None else min(share, self.least)
        fewest, most = needed + self.known, self.rows - needed
        return (
            BreakingPoint(
                "the number of rows",
                None if fewest > MOST_ROWS else Fraction(fewest),
                "With fewer rows a count moves visibly by one.",
            ),
            BreakingPoint(
                "the probability of the rarest cell",
                share,
                "Who is in a rarer cell is seen in its count.",
            ),
            BreakingPoint(
                "rows that the adversary knows",
                None if most < 0 else Fraction(most),
                "Who knows more of them subtracts them, and too few are left.",
            ),
        )

    def noise_instead(self, target: PrivacyTarget) -> NoiseInstead | None:
        """Return what discrete Laplace noise on every count would cost, for the same ε."""
        return noise_on_counts(
            target,
            moved=2,
            where="every count",
            words=lambda error: f", and 95 of 100 counts would be within {error}",
        )

    def to_json(self) -> dict[str, Any]:
        """Return all that is asserted."""
        shares = None if self.shares is None else [str(share) for share in self.shares]
        return {
            "statistic": "histogram",
            "rows": self.rows,
            **({"known": self.known} if self.known else {}),
            "law": {"kind": self.kind, "shares": shares, "least_share": str(self.least)},
        }


@lru_cache(maxsize=64)
def _exactly(epsilon: Fraction, rows: int, shares: tuple[Fraction, ...]) -> tuple[TwoSides, ...]:
    return resampled_exactly(epsilon, rows, shares)
