"""Whether a count is above a threshold: majorities, signs of sums of ±1, and tests."""

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from attrs import field, frozen

from discreet.core import check
from discreet.core.check import optional_exact
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import exact, written
from discreet.core.rounding import exp_down, short_up
from discreet.noiseless.certifiable import BreakingPoint, NoiseInstead, PrivacyTarget, Way
from discreet.noiseless.counted_rows import KnownRowsLimits, noise_on_counts
from discreet.noiseless.histograms.cell_terms import binomial_term_up, sum_of_products_down
from discreet.noiseless.stable.stable_release import LARGEST_EPSILON, stable_delta

MOST_ROWS = 1_000_000_000
_MOST_WORK = 400_000_000


@frozen(kw_only=True)
class ThresholdRelease(KnownRowsLimits):
    r"""Whether at least a number of the rows say yes.

    Guarantee:
        With :math:`B` the yeses among hidden rows and :math:`c` those among known ones, the release
        is :math:`[x_i + c + B \ge t_n]` and simulated :math:`[c + B \ge t_{n-1}]`. They differ for
        the values :math:`b` of :math:`B` from the smaller of :math:`t_n - x_i - c` and
        :math:`t_{n-1} - c` up to below the larger: for at most one of them here. ``SOURCE`` is
        :func:`discreet.noiseless.stable.stable_release.stable_delta` with the largest probability
        of such a value, for any probabilities between ``low`` and ``high``, which may differ
        from row to row, and any :math:`c`. Proof. By the law of total probability
        :math:`P[B = b]` is linear in the probability of each row, with slope
        :math:`P[B' = b-1] - P[B' = b]` for :math:`B'` the count of the others. :math:`B'` has one
        top, at its mean rounded down or up [Dar64]. So where :math:`b` is at most
        :math:`\lfloor (h-1)\,low \rfloor` no slope is above 0, and all rows at ``low`` are the
        worst; above :math:`\lceil (h-1)\,high \rceil` all rows at ``high`` are. In between the
        bound is 1 if the ends differ: rows of both kinds can make :math:`b` certain.
        ``TIGHT``, for one law: :math:`\max(0, P - e^\epsilon Q)` over both outcomes and both
        directions, which is :math:`P[B = b] - (e^\epsilon - 1)Q` with the tail :math:`Q` enclosed.

    Attributes:
        rows: How many rows there are, the person's among them.
        threshold: The least number of yeses; None means more than half of the rows.
        low: The least probability of a yes in a row.
        high: The largest.
        known: How many of the other rows the adversary knows.

    Example:
        >>> vote = ThresholdRelease(rows=1001, low="0.6", high="0.7")
        >>> float(vote.deltas(Fraction(0))[Way.SOURCE]) < 1e-10
        True
    """

    rows: int = field(converter=check.whole, validator=check.between(1, MOST_ROWS))
    threshold: int | None = field(default=None, converter=check.optional_whole)
    low: Fraction = field(converter=exact, validator=check.probability)
    high: Fraction | None = field(default=None, converter=optional_exact)
    known: int = field(default=0, converter=check.whole, validator=check.non_negative)

    def __attrs_post_init__(self) -> None:
        if not self.low <= self.most <= 1:
            raise InvalidArgument(
                "high is out of range", must="lie between low and 1", got=str(self.high)
            )
        if self.known >= self.rows:
            raise InvalidArgument(
                "known is out of range",
                must=f"be below the number of rows, {self.rows}",
                got=str(self.known),
            )

    @property
    def most(self) -> Fraction:
        """The largest probability of a yes."""
        return self.low if self.high is None else self.high

    @property
    def statistic(self) -> str:
        """What is released, in words."""
        wanted = "more than half" if self.threshold is None else f"at least {self.threshold}"
        return f"whether {wanted} of the rows say yes"

    @property
    def simulator(self) -> str:
        """What imitates the release without one person's row, in words."""
        return "the same comparison for all rows but that one"

    @property
    def assumptions(self) -> tuple[str, ...]:
        """All that is assumed, a sentence each."""
        shares = (
            f"exactly {written(self.low)}"
            if self.low == self.most
            else f"from {written(self.low)} to {written(self.most)}, each with its own"
        )
        return (
            f"The {self.rows} rows are independent, and each says yes with probability {shares}.",
            f"The adversary knows at most {self.known} of the other rows, not chosen by the rest.",
            "The threshold was fixed before anyone saw the rows.",
        )

    def deltas(self, epsilon: Fraction) -> Mapping[Way, Fraction]:
        """Return upper bounds of δ at an ε."""
        at = min(exact(epsilon), LARGEST_EPSILON)
        source = stable_delta(at, instability=max(self._term(b) for b in self._critical()))
        if self.low != self.most or (self.known + 1) ** 2 * self.rows > _MOST_WORK:
            return {Way.SOURCE: source}
        places = {b - yes for b in self._decided() for yes in range(self.known + 1)}
        tight = max((self._tight(b, at) for b in places), default=Fraction(0))
        return {Way.SOURCE: source, Way.TIGHT: min(source, tight)}

    def _critical(self) -> list[int]:
        """Return where the largest probability of a hidden count that decides must be.

        Known yeses are subtracted, so a range of counts decides. Below ``low`` the probability
        rises up to the top of that law, and above ``high`` it falls from the top of the other. In
        between it is taken to be 1, and the place of that range that is nearest to its first
        number is in between if any is. So the largest is at an end, or near one of the tops, or
        there.
        """
        hidden = self.rows - 1 - self.known
        places = set()
        for b in self._decided():
            least, most = b - self.known, b
            for share in (self.low, self.most):
                top = share * (hidden + 1)
                nearest = min(max(top.numerator // top.denominator, least), most)
                near = (nearest - 1, nearest, nearest + 1)
                places |= {place for place in near if least <= place <= most}
            places |= {least, most, min(max(self._between()[0], least), most)}
        return sorted(b for b in places if 0 <= b <= hidden) or [-1]

    def _decided(self) -> set[int]:
        """Return the numbers of other yeses with which the person decides."""
        now, before = self._limits()
        return {b for x in (0, 1) for b in range(min(now - x, before), max(now - x, before))}

    def _limits(self) -> tuple[int, int]:
        """Return the least numbers of yeses with all rows, and without one."""
        if self.threshold is not None:
            return self.threshold, self.threshold
        return self.rows // 2 + 1, (self.rows - 1) // 2 + 1

    def _between(self) -> tuple[int, int]:
        """Return the first and last count that rows of different probabilities can make likely."""
        others = max(0, self.rows - 2 - self.known)
        return math.floor(others * self.low) + 1, math.ceil(others * self.most)

    def _term(self, count: int) -> Fraction:
        """Return the largest probability of so many yeses, by any of the laws, rounded up."""
        hidden = self.rows - 1 - self.known
        if hidden <= 0 or count < 0:
            return Fraction(int(hidden == count))
        if self.low == self.most:
            return binomial_term_up(hidden, count, self.low)
        first, last = self._between()
        if count < first:
            return binomial_term_up(hidden, count, self.low)
        return binomial_term_up(hidden, count, self.most) if count > last else Fraction(1)

    def _tight(self, count: int, epsilon: Fraction) -> Fraction:
        """Return P[B = b] less what the outcome that it adds to has anyway."""
        hidden, share = self.rows - 1 - self.known, self.low
        if not 0 < share < 1 or not 0 <= count <= hidden:
            return self._term(count)
        if epsilon == 0:
            return self._term(count)
        yes, no = share.numerator, share.denominator - share.numerator
        above = sum_of_products_down(
            lambda i: ((hidden - count + 1 - i) * yes, (count + i) * no), hidden - count
        )
        below = sum_of_products_down(
            lambda i: ((count + 1 - i) * no, (hidden - count + i) * yes), count
        )
        factor = 1 - (exp_down(epsilon) - 1) * min(above, below)
        return max(Fraction(0), short_up(self._term(count) * factor))

    def breaking_points(self, target: PrivacyTarget) -> tuple[BreakingPoint, ...]:
        """Return the most rows that may be known."""
        words = "Who knows more rows knows how near the count is, and one row may decide."
        return (self.most_known(target, words),)

    def noise_instead(self, target: PrivacyTarget) -> NoiseInstead | None:
        """Return the noise on the count before it is compared, for the same ε."""
        return noise_on_counts(
            target,
            moved=1,
            where="the count before it is compared",
            words=lambda error: f"; 95 of 100 times it is within {error}",
        )

    def to_json(self) -> dict[str, Any]:
        """Return all that is asserted."""
        return {
            "statistic": "threshold",
            "rows": self.rows,
            "threshold": self.threshold,
            "known": self.known,
            "law": {"kind": "yes_or_no", "low": str(self.low), "high": str(self.most)},
        }
