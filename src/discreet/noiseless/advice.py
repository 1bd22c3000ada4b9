"""The verdict: what to do with an exact statistic, and the rule that decides it."""

from enum import Enum
from fractions import Fraction
from typing import Any, Protocol, runtime_checkable

from attrs import field, frozen

from discreet.core.check import chosen, optional_whole
from discreet.core.loss import short
from discreet.noiseless.certifiable import Certifiable, NoiseInstead, PrivacyTarget
from discreet.noiseless.inversion import decimal_up


class Advised(Enum):
    """What to do. The first of these that applies is advised."""

    PUBLISH = "publish"
    """The exact statistic keeps what was asked for, if all that is assumed is true."""
    SUPPRESS = "suppress"
    """It does so if cells with fewer rows are suppressed."""
    DISCARD = "discard"
    """It does so if that many rows are left out at random, as is said with the verdict."""
    ADD_NOISE = "add_noise"
    """No exact form does so; noise does, and what it costs is said."""
    DO_NOT_PUBLISH = "do_not_publish"
    """Noise would drown the statistic too, or cannot be bounded."""


def _advised(value: Advised | str) -> Advised:
    return chosen(Advised, value, noun="verdict")


@runtime_checkable
class Suppressible(Protocol):
    """A statistic of cells, of which small ones can be suppressed."""

    def least_truncation(self, target: PrivacyTarget) -> int | None:
        """Return the least k with which the target is kept; None if none does."""


@runtime_checkable
class Discardable(Protocol):
    """A statistic that is hidden better if some rows are left out at random."""

    def rows_to_discard(self, target: PrivacyTarget) -> int | None:
        """Return how many rows are left out, at most and usually; None if it does not help."""

    def how_to_discard(self, target: PrivacyTarget) -> str:
        """Return in a sentence how their number is drawn, if it helps."""


@runtime_checkable
class Spanned(Protocol):
    """A statistic that is known to lie between two ends."""

    @property
    def span(self) -> Fraction:
        """How far apart the least and the largest value are that it can have."""


@frozen
class Advice:
    """A verdict with its number and its reason.

    Attributes:
        verdict: What to do.
        amount: The k below which cells are suppressed, or how many rows are left out; else None.
        because: The reason, in a sentence.
    """

    verdict: Advised = field(converter=_advised)
    amount: int | None = field(converter=optional_whole)
    because: str

    def headline(self) -> str:
        """Return what to do, in a line.

        Example:
            >>> print(Advice(Advised.SUPPRESS, 12, "").headline())
            Suppress every cell with fewer than 12 rows, and publish the others exactly.
        """
        match self.verdict:
            case Advised.PUBLISH:
                return "Publish it exactly."
            case Advised.SUPPRESS:
                return (
                    f"Suppress every cell with fewer than {self.amount:,} rows, and publish the "
                    "others exactly."
                )
            case Advised.DISCARD:
                return f"Discard up to {self.amount:,} rows at random, then publish exactly."
            case Advised.ADD_NOISE:
                return "Add noise: no exact release is certified for what was asked for."
            case Advised.DO_NOT_PUBLISH:
                return "Do not publish it."

    def to_json(self) -> dict[str, Any]:
        """Return the verdict as it is stored."""
        return {"verdict": self.verdict.value, "amount": self.amount, "because": self.because}

    @staticmethod
    def from_json(stored: dict[str, Any]) -> "Advice":
        """Return what :meth:`to_json` stored."""
        return Advice(**stored)


def advise(subject: Certifiable, target: PrivacyTarget, certified: Fraction) -> Advice:
    """Return the verdict on a statistic of which ``certified`` is the least δ at the target's ε.

    The first that applies:

    1. *publish*, if the certified δ is at most the δ that was asked for;
    2. *suppress*, if there is a k with which the statistic without its small cells keeps the
       target: nothing else of it changes;
    3. *discard*, if leaving out rows at random does so: every count changes, a little;
    4. *add noise*, if differential privacy can do it with an error, in 95 of 100 releases, of at
       most half of what the statistic can span;
    5. *do not publish* otherwise. Of a statistic that nothing bounds, noise is never advised.
    """
    if certified <= target.delta:
        return Advice(
            Advised.PUBLISH,
            None,
            f"δ is at most {_shown(certified)} at ε = {short(target.epsilon)}, and "
            f"{short(target.delta)} was asked for.",
        )
    lacking = (
        f"Released as it is, only δ = {_shown(certified)} is certified at "
        f"ε = {short(target.epsilon)}, and {short(target.delta)} was asked for."
    )
    if isinstance(subject, Suppressible) and (k := subject.least_truncation(target)) is not None:
        return Advice(Advised.SUPPRESS, k, f"{lacking} Without the small cells it is kept.")
    if isinstance(subject, Discardable) and (n := subject.rows_to_discard(target)) is not None:
        how = subject.how_to_discard(target)
        return Advice(
            Advised.DISCARD, n, f"{lacking} With rows left out at random it is kept. {how}"
        )
    return _with_noise(subject, subject.noise_instead(target), lacking)


def _shown(delta: Fraction) -> str:
    return short(decimal_up(delta, 3))


def _with_noise(subject: Certifiable, noise: NoiseInstead | None, lacking: str) -> Advice:
    """Advise noise if it leaves something to be seen."""
    if noise is None:
        because = f"{lacking} Nothing bounds what one row does to it, so no noise hides that."
        return Advice(Advised.DO_NOT_PUBLISH, None, because)
    if isinstance(subject, Spanned) and 2 * noise.error > subject.span:
        because = (
            f"{lacking} Noise would be off by up to {short(noise.error)}, and the statistic itself "
            f"can span only {short(subject.span)}."
        )
        return Advice(Advised.DO_NOT_PUBLISH, None, because)
    return Advice(Advised.ADD_NOISE, None, f"{lacking} {noise.words}")
