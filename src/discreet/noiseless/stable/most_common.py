"""Which category most rows have: an arg-max without noise."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

from attrs import field, frozen

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact, written
from discreet.core.rounding import exp_up, log_up, short_up, sqrt_down, sqrt_up
from discreet.noiseless.certifiable import BreakingPoint, NoiseInstead, PrivacyTarget, Way
from discreet.noiseless.counted_rows import KnownRowsLimits, noise_on_counts
from discreet.noiseless.stable.row_enumeration import (
    MOST_WORK,
    Counts,
    enumerated_deltas,
    work_of,
)
from discreet.noiseless.stable.stable_release import LARGEST_EPSILON
from discreet.noiseless.stable.two_values import two_value_delta

_MOST_ROWS = 1 << 40


def _shares(values: Sequence[Number]) -> tuple[Fraction, ...]:
    return tuple(exact(value) for value in values)


@frozen(kw_only=True)
class MostCommonRelease(KnownRowsLimits):
    r"""The category that most rows have; of several, the one that is listed first.

    Guarantee:
        ``SOURCE`` is the instability of theorem 6.1 [Gro14]: let :math:`w` be the likeliest
        category. If the outcome is :math:`w` with the row and without it, the row changed
        nothing. A category :math:`o` can win only if :math:`h_w - h_o \le L` among the hidden
        rows, or :math:`\le L + 1` with the person, for :math:`L` known rows. By Markov's inequality
        for :math:`\theta^{-(h_w - h_o)}` with :math:`\theta = \sqrt{p_w/p_o}` the chance is at most
        :math:`\theta^{d}(1 - (\sqrt{p_w} - \sqrt{p_o})^2)^{h}` for :math:`\le d`. Add over
        :math:`o`, for both. ``TIGHT`` is δ, by counts of two
        categories or by enumeration, where that is possible.

    Attributes:
        shares: The probability of each category, which add up to 1.
        rows: How many rows there are, the person's among them.
        known: How many of the other rows the adversary knows.

    Example:
        >>> vote = MostCommonRelease(shares=["0.5", "0.3", "0.2"], rows=1000)
        >>> float(vote.deltas(Fraction(0))[Way.SOURCE]) < 1e-9
        True
    """

    shares: tuple[Fraction, ...] = field(converter=_shares)
    rows: int = field(converter=check.whole, validator=check.between(1, _MOST_ROWS))
    known: int = field(default=0, converter=check.whole, validator=check.non_negative)

    def __attrs_post_init__(self) -> None:
        if len(self.shares) < 2 or min(self.shares) < 0 or sum(self.shares) != 1:
            raise InvalidArgument(
                "The law cannot be true",
                must="have two or more probabilities that add up to 1 exactly",
                got=f"a total of {sum(self.shares)}",
            )
        if self.known >= self.rows:
            raise InvalidArgument(
                "known is out of range",
                must=f"be below the number of rows, {self.rows}",
                got=str(self.known),
            )

    @property
    def statistic(self) -> str:
        """What is released, in words."""
        return f"which of {len(self.shares)} categories most rows have"

    @property
    def simulator(self) -> str:
        """What imitates the release without one person's row, in words."""
        return "the same choice from all rows but that one"

    @property
    def assumptions(self) -> tuple[str, ...]:
        """All that is assumed, a sentence each."""
        shares = ", ".join(written(share) for share in self.shares)
        return (
            f"The {self.rows} rows are independent, and have categories with probability {shares}.",
            f"The adversary knows at most {self.known} of the other rows, not chosen by the rest.",
        )

    def deltas(self, epsilon: Fraction) -> Mapping[Way, Fraction]:
        """Return upper bounds of δ at an ε."""
        return _deltas(self, min(exact(epsilon), LARGEST_EPSILON))

    def breaking_points(self, target: PrivacyTarget) -> tuple[BreakingPoint, ...]:
        """Return the most rows that may be known, and the least number of rows."""
        return (
            self.most_known(
                target, "Known rows can bring two categories so near that one more row decides."
            ),
            self.fewest_rows(
                target,
                "With fewer rows the lead of the first category is not safe.",
                most=_MOST_ROWS,
            ),
        )

    def noise_instead(self, target: PrivacyTarget) -> NoiseInstead | None:
        """Return the noise on each count before the largest is taken, for the same ε."""
        return noise_on_counts(
            target,
            moved=2,
            where="each count before the largest is taken",
            words=lambda error: f"; 95 of 100 are within {error}",
        )

    def to_json(self) -> dict[str, Any]:
        """Return all that is asserted."""
        return {
            "statistic": "most_common",
            "rows": self.rows,
            "known": self.known,
            "law": {"kind": "categories", "shares": [str(share) for share in self.shares]},
        }


def most_common(counts: Counts) -> int:
    """Return the first of the largest counts.

    Example:
        >>> most_common((2, 5, 5))
        1
    """
    return counts.index(max(counts))


@lru_cache(maxsize=512)
def _deltas(release: MostCommonRelease, epsilon: Fraction) -> dict[Way, Fraction]:
    others, known = release.rows - 1, release.known
    best = release.shares.index(max(release.shares))
    source = Fraction(0)
    for place, share in enumerate(release.shares):
        if place != best:
            source += _overtaken(release.shares[best], share, others - known, known)
            source += _overtaken(release.shares[best], share, others - known, known + 1)
    found = {Way.SOURCE: min(Fraction(1), short_up(source))}
    tight = _tight(release.shares, others, known, epsilon)
    if tight is not None:
        found[Way.TIGHT] = min(found[Way.SOURCE], tight)
    return found


def _tight(
    shares: Sequence[Fraction], others: int, known: int, epsilon: Fraction
) -> Fraction | None:
    """Return δ, rounded up, if it can be worked out."""
    if len(shares) == 2:
        counted = two_value_delta(most_common, shares[:1], others, known, epsilon)
        if counted is not None:
            return counted
    if work_of([shares], others, known) <= MOST_WORK:
        return enumerated_deltas([shares], most_common, others, known, epsilon)[1]
    return None


def _overtaken(best: Fraction, share: Fraction, hidden: int, lead: int) -> Fraction:
    """Bound the probability that the best one is ahead by at most ``lead``."""
    if share == 0:
        # The power with a tiny share q will do: 1 - p + sqrt(pq) <= 1 - p - q + 2 sqrt(pq).
        share = best / (4 * (hidden + lead + 1) ** 2)
    gap = sqrt_down(best) - sqrt_up(share)
    if gap <= 0:
        return Fraction(1)
    exponent = Fraction(lead, 2) * log_up(best / share)
    if gap < 1:
        exponent += hidden * log_up(1 - gap * gap)
    return min(Fraction(1), exp_up(min(short_up(exponent, 96), Fraction(1000))))
