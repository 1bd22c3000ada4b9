"""A mechanism that chooses one integer of a bounded domain by its rank among values."""

from fractions import Fraction
from typing import ClassVar

import numpy as np
from attrs import Attribute, field, frozen

from discreet.accounting.accountants.pure import pure_loss
from discreet.core import check
from discreet.core.contribution import Contribution
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Pure
from discreet.core.mechanism_event import ExponentialSelectionEvent
from discreet.core.numbers import Number, exact
from discreet.core.protocols import IntArray
from discreet.mechanisms.noise.integers import LARGEST_VALUE
from discreet.mechanisms.noise.named_mechanism import NamedMechanism
from discreet.mechanisms.selection.rank_choice import LARGEST_DENOMINATOR
from discreet.mechanisms.selection.scores import exponential_error


def require_share(_: object, attribute: "Attribute[Fraction]", share: Fraction) -> None:
    """Refuse a quantile outside 0..1, or one that is too finely given for exact ranks."""
    if not 0 <= share <= 1 or share.denominator > LARGEST_DENOMINATOR:
        raise InvalidArgument(
            f"{attribute.name} is out of range",
            must="lie between 0 and 1, with a denominator of at most 2**20",
            got=str(share),
        )


def require_domain(instance: object, _: "Attribute[int]", upper: int) -> None:
    """Refuse bounds in the wrong order, and those that leave no room in 64 bits."""
    lower = int(getattr(instance, "lower"))  # noqa: B009 - of any class with these two fields
    if not -LARGEST_VALUE <= lower <= upper <= LARGEST_VALUE:
        raise InvalidArgument(
            "The domain is out of range",
            must="have lower at most upper, both below 2**62 in size",
            got=f"{lower} to {upper}",
        )


def in_domain(values: IntArray, lower: int, upper: int) -> IntArray:
    """Return the values as one row, each moved into the domain. No error quotes a value.

    Example:
        >>> in_domain(np.array([[-5, 7]]), 0, 5).tolist()
        [0, 5]
    """
    array = np.asarray(values)
    if array.dtype != np.int64:
        raise InvalidArgument(
            "The values have the wrong type", must="be 64-bit integers", got=str(array.dtype)
        )
    moved: IntArray = np.clip(array.ravel(), lower, upper)
    return moved


@frozen(kw_only=True)
class RankMechanism(NamedMechanism):
    r"""The exponential mechanism over the integers of a domain, scored by how far a rank is off.

    Guarantee:
        If one row changes the score of every integer by at most :math:`\max(q, 1-q)`, and one unit
        adds or takes away at most ``d_in.l1`` rows, the choice is ε-DP with
        :math:`\varepsilon = 2 \max(q, 1-q) \cdot d_{in}.l1 / scale`, and
        :math:`\varepsilon^2/8`-zCDP. That rows do no more is for each kind of choice to prove.

        Proof. That of the exponential mechanism: differences of scores move by at most twice as
        much as scores, which is the spread of the event.

    Utility:
        Some integer has error 0, so of the ``D`` integers of the domain one with error above
        :math:`scale \cdot \ln(D/\beta)` is chosen with probability at most :math:`\beta`;
        ``error_quantile`` is the exact worst case.
    """

    words: ClassVar[str] = "exponential mechanism"
    counts_ranks: ClassVar[bool] = True
    quantile: Fraction = field(converter=exact, validator=require_share)
    lower: int = field(converter=check.whole)
    upper: int = field(converter=check.whole, validator=require_domain)
    scale: Fraction = field(converter=exact, validator=check.positive)
    """In rows."""

    @property
    def spread(self) -> Fraction:
        """The scale, in rows."""
        return self.scale

    def event(self, d_in: Contribution) -> ExponentialSelectionEvent:
        """Describe one use for the accountants; ``d_in.l1`` is in rows."""
        return ExponentialSelectionEvent(
            scale=self.scale,
            spread=rank_spread(self.quantile) * d_in.bound("l1"),
            metric=d_in.metric,
        )

    def loss(self, d_in: Contribution) -> Pure:
        """Return the pure loss of one use."""
        return pure_loss([self.event(d_in)])

    def error_quantile(self, beta: Number) -> Fraction:
        """Return a bound on the rank error, in rows, that fails with at most ``beta``."""
        return rank_error(self.quantile, self.scale, self.upper - self.lower + 1, beta)


def rank_error(share: Fraction, scale: Fraction, size: int, beta: Number) -> Fraction:
    """Return what the rank error exceeds with at most ``beta``, on a domain of so many integers."""
    error = exponential_error(scale * share.denominator, beta, candidates=size)
    return Fraction(error, share.denominator)


def rank_spread(share: Fraction) -> Fraction:
    r"""Return how far one row can move the difference of two rank errors, :math:`2\max(q, 1-q)`.

    Example:
        >>> rank_spread(Fraction(1, 2)), rank_spread(Fraction(1, 4))
        (Fraction(1, 1), Fraction(3, 2))
    """
    return 2 * max(share, 1 - share)
