"""What every exact statistic says of itself, so that one certificate serves them all."""

from collections.abc import Mapping
from enum import Enum
from fractions import Fraction
from typing import Any, Protocol

from attrs import frozen


class Way(Enum):
    """How a curve was computed; each later one is at most as large as the one before."""

    SOURCE = "source"
    """The formula of [Gro14], as corrected."""
    MIXTURE = "mixture"
    """The mean of the divergences over how many rows are hidden, by joint convexity."""
    TIGHT = "tight"
    """The divergence itself, enclosed and rounded up."""


@frozen
class PrivacyTarget:
    """What is wanted of a release: ε, and δ at that ε."""

    epsilon: Fraction
    delta: Fraction


@frozen
class BreakingPoint:
    """How far one assumption can be wrong before the certificate is.

    Attributes:
        what: The assumption, as a noun: ``rows that the adversary knows``.
        limit: The last value with which the target still holds; None if none does.
        words: What happens beyond it, in a sentence.
    """

    what: str
    limit: Fraction | None
    words: str


@frozen
class NoiseInstead:
    """What differential privacy would add to the same numbers, for the same ε.

    Attributes:
        scale: Of discrete Laplace noise, in units of the statistic.
        error: What the noise stays within, in 95 of 100 releases.
        words: The same in a sentence.
    """

    scale: Fraction
    error: Fraction
    words: str


class Certifiable(Protocol):
    """An exact statistic of rows, with the law that an owner asserts of them.

    Nothing here reads a row: all of it follows from what is declared.
    """

    @property
    def statistic(self) -> str:
        """What is released, in words."""

    @property
    def simulator(self) -> str:
        """What imitates the release without one person's row, in words."""

    @property
    def assumptions(self) -> tuple[str, ...]:
        """All that is assumed, a sentence each."""

    def deltas(self, epsilon: Fraction) -> Mapping[Way, Fraction]:
        """Return upper bounds of δ at an ε, by each way that there is for this statistic.

        Each falls as ε grows, and each is a bound of its own: the least of them holds.
        """

    def breaking_points(self, target: PrivacyTarget) -> tuple[BreakingPoint, ...]:
        """Return how far each assumption can be wrong."""

    def noise_instead(self, target: PrivacyTarget) -> NoiseInstead | None:
        """Return what noise would cost; None if the statistic has no bounded sensitivity."""

    def to_json(self) -> dict[str, Any]:
        """Return all that is asserted, as it is written to the ledger before a row is read."""
