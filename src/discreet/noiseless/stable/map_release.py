"""MAP releases: which of several laws the rows are most likely from, and nothing else."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

from attrs import field, frozen

from discreet.core import check
from discreet.core.check import optional_exact
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact, written
from discreet.core.rounding import exp_down, log_up
from discreet.noiseless.certifiable import BreakingPoint, NoiseInstead, PrivacyTarget, Way
from discreet.noiseless.counted_rows import KnownRowsLimits
from discreet.noiseless.stable.map_bounds import (
    chernoff_instability,
    likeliest,
    pure_growth,
    uniform,
)
from discreet.noiseless.stable.row_enumeration import MOST_WORK, enumerated_deltas, work_of
from discreet.noiseless.stable.row_families import RowFamily
from discreet.noiseless.stable.stable_release import LARGEST_EPSILON
from discreet.noiseless.stable.two_values import two_value_delta

_MOST_ROWS = 1 << 40
_MOST_COMPARED = 200_000
"""So many rows of two values are compared exactly, where logarithms do not decide."""


def _weights(values: Sequence[Number] | None) -> tuple[Fraction, ...] | None:
    return None if values is None else tuple(exact(value) for value in values)


@frozen(kw_only=True)
class MapRelease(KnownRowsLimits):
    r"""The law that has the largest posterior probability, by declared weights.

    Guarantee:
        ``SOURCE``: the instability by Chernoff bounds with the best exponents [Gro14, theorem 6.3,
        tightened], as δ at every ε, and 0 from the ε of theorem 6.4 on if every law is asserted to
        have at least the probability ``least_share``. ``TIGHT``: δ by enumeration, where rows have
        finitely many values and there are few enough of them, or by counts where the values are two
        (:func:`~discreet.noiseless.stable.two_values.two_value_delta`). Proofs are with
        :mod:`discreet.noiseless.stable.map_bounds`.

    Attributes:
        family: The laws. Their values must be possible by all of them.
        rows: How many rows there are, the person's among them.
        known: How many of the other rows the adversary knows, in full.
        weights: Prior weights, as declared; equal ones if nothing is said.
        least_share: The least probability that any law is the true one, if that is asserted.

    Example:
        >>> from discreet.noiseless import finite_family
        >>> coins = finite_family({"a": ["0.4", "0.6"], "b": ["0.6", "0.4"]})
        >>> found = MapRelease(family=coins, rows=101).deltas(Fraction(0))
        >>> round(float(found[Way.TIGHT]), 4)
        0.0103
    """

    family: RowFamily
    rows: int = field(converter=check.whole, validator=check.between(1, _MOST_ROWS))
    known: int = field(default=0, converter=check.whole, validator=check.non_negative)
    weights: tuple[Fraction, ...] | None = field(default=None, converter=_weights)
    least_share: Fraction | None = field(default=None, converter=optional_exact)

    def __attrs_post_init__(self) -> None:
        if self.known >= self.rows:
            raise InvalidArgument(
                "known is out of range",
                must=f"be below the number of rows, {self.rows}",
                got=str(self.known),
            )
        weights = self.weights
        if weights is not None and (len(weights) != self.family.size or min(weights) <= 0):
            raise InvalidArgument(
                "The weights do not fit", must=f"be {self.family.size} numbers above 0"
            )
        share = self.least_share
        if share is not None and not 0 < share * self.family.size <= 1:
            raise InvalidArgument(
                "least_share is out of range",
                must=f"lie above 0, and be at most 1/{self.family.size}",
                got=str(share),
            )

    @property
    def statistic(self) -> str:
        """What is released, in words."""
        return f"which of {self.family.size} laws the rows are most likely from"

    @property
    def simulator(self) -> str:
        """What imitates the release without one person's row, in words."""
        return "the same choice from all rows but that one"

    @property
    def assumptions(self) -> tuple[str, ...]:
        """All that is assumed, a sentence each."""
        how = f"The {self.rows} rows are independent, and all from {self.family.words}."
        known = f"The adversary knows at most {self.known} of the other rows."
        chosen = "Which rows are known does not depend on what is in the others."
        if self.least_share is None:
            return how, known, chosen
        share = f"Each law is the true one with probability at least {written(self.least_share)}."
        return how, known, chosen, share

    def deltas(self, epsilon: Fraction) -> Mapping[Way, Fraction]:
        """Return upper bounds of δ at an ε."""
        at = exact(epsilon)
        if at < 0:
            raise InvalidArgument("epsilon is out of range", must="be at least 0", got=str(at))
        return _deltas(self, min(at, LARGEST_EPSILON))

    def breaking_points(self, target: PrivacyTarget) -> tuple[BreakingPoint, ...]:
        """Return the most rows that may be known, and the least number of rows."""
        return (
            self.most_known(
                target, "Known rows push the choice to where one more row may decide it."
            ),
            self.fewest_rows(
                target,
                "With fewer rows the choice is not settled without the last of them.",
                most=_MOST_ROWS,
            ),
        )

    def noise_instead(self, target: PrivacyTarget) -> NoiseInstead | None:
        """Return the noise on log-likelihoods before the largest is taken, for the same ε.

        One row moves the differences of any two by at most ln M, so each by ln M after a shift.
        """
        if exact(target.epsilon) <= 0:
            return None
        scale = 2 * log_up(self.family.ratio) / exact(target.epsilon)
        error = scale * log_up(Fraction(20))
        words = (
            f"Laplace noise of scale {float(scale):.3g} on each log-likelihood keeps one row "
            f"hidden whatever is known; 95 of 100 times it is within {float(error):.3g}."
        )
        return NoiseInstead(scale, error, words)

    def to_json(self) -> dict[str, Any]:
        """Return all that is asserted."""
        return {
            "statistic": "map",
            "rows": self.rows,
            "known": self.known,
            "weights": None if self.weights is None else [str(value) for value in self.weights],
            "least_share": None if self.least_share is None else str(self.least_share),
            "law": {
                "words": self.family.words,
                "ratio": str(self.family.ratio),
                "masses": [[str(value) for value in law] for law in self.family.masses],
            },
        }


@lru_cache(maxsize=512)
def _deltas(release: MapRelease, epsilon: Fraction) -> dict[Way, Fraction]:
    family, others, known = release.family, release.rows - 1, release.known
    weights = release.weights or uniform(family)
    source = chernoff_instability(family, others, known, weights)
    if release.least_share is not None:
        growth = pure_growth(family, others, known, weights, release.least_share)
        if growth is not None and growth <= exp_down(epsilon):
            source = Fraction(0)
    found = {Way.SOURCE: source}
    tight = _tight(family, others, known, weights, epsilon) if family.is_exact else None
    if tight is not None:
        found[Way.TIGHT] = min(source, tight)
    return found


def _tight(
    family: RowFamily, others: int, known: int, weights: Sequence[Fraction], epsilon: Fraction
) -> Fraction | None:
    """Return δ, rounded up, if it can be worked out."""
    decide = likeliest(family, weights)
    if len(family.masses[0]) == 2 and others <= _MOST_COMPARED:
        shares = [law[0] for law in family.masses]
        counted = two_value_delta(decide, shares, others, known, epsilon)
        if counted is not None:
            return counted
    if work_of(family.masses, others, known) <= MOST_WORK:
        return enumerated_deltas(family.masses, decide, others, known, epsilon)[1]
    return None
