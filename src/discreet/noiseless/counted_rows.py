"""What statistics of counted rows share: how far known rows may go, and the noise on a count."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Protocol

from attrs import evolve

from discreet.core.numbers import exact, written
from discreet.core.search import smallest
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.noiseless.certifiable import BreakingPoint, NoiseInstead, PrivacyTarget, Way

_ONE_IN_TWENTY = Fraction(1, 20)


class HasCurve(Protocol):
    """A statistic with bounds of δ."""

    def deltas(self, epsilon: Fraction) -> Mapping[Way, Fraction]:
        """Return upper bounds of δ at an ε."""


def meets(subject: HasCurve, target: PrivacyTarget) -> bool:
    """Tell whether a statistic keeps what is wanted."""
    return min(subject.deltas(target.epsilon).values()) <= target.delta


class KnownRowsLimits:
    """A statistic of ``rows``, of which an adversary knows ``known``: how many of each will do."""

    rows: int
    known: int

    def deltas(self, epsilon: Fraction) -> Mapping[Way, Fraction]:
        """Return upper bounds of δ at an ε."""
        raise NotImplementedError

    def most_known(self, target: PrivacyTarget, words: str) -> BreakingPoint:
        """Return how many rows may be known, at most."""
        too_many = smallest(
            lambda known: known >= self.rows or not meets(evolve(self, known=known), target),  # type: ignore[misc]
            near=self.known,
        )
        limit = Fraction(too_many - 1) if too_many else None
        return BreakingPoint("rows that the adversary knows", limit, words)

    def fewest_rows(self, target: PrivacyTarget, words: str, *, most: int) -> BreakingPoint:
        """Return how many rows there must be, at least; None if so many do not do."""
        fewest = smallest(
            lambda rows: rows > most or meets(evolve(self, rows=rows), target),  # type: ignore[misc]
            start=self.known + 1,
            near=self.rows,
        )
        return BreakingPoint(
            "the number of rows", None if fewest > most else Fraction(fewest), words
        )


def noise_on_counts(
    target: PrivacyTarget, *, moved: int, where: str, words: Callable[[str], str]
) -> NoiseInstead | None:
    """Return discrete Laplace noise on counts of which one row moves ``moved``; None if ε is 0.

    ``where`` says on what it is added, and ``words`` how near that stays, from how near it is.
    """
    epsilon = exact(target.epsilon)
    if epsilon <= 0:
        return None
    scale = moved / epsilon
    error = DiscreteLaplace(scale=scale).error_quantile(_ONE_IN_TWENTY)
    said = (
        f"Discrete Laplace noise of scale {written(scale)} on {where} keeps one row hidden "
        f"whatever is known{words(written(error))}."
    )
    return NoiseInstead(scale, error, said)
