"""One quantile of integers from a bounded domain, by the exponential mechanism over intervals."""

from fractions import Fraction
from typing import ClassVar, Self

import numpy as np
from attrs import Attribute, field, frozen

from discreet.accounting.accountants.pure import pure_loss
from discreet.core import check
from discreet.core.contribution import Contribution
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Pure, Zcdp
from discreet.core.mechanism_event import ExponentialSelectionEvent
from discreet.core.numbers import Number, exact
from discreet.core.protocols import IntArray, Rng
from discreet.mechanisms.noise.integers import LARGEST_VALUE
from discreet.mechanisms.noise.named_mechanism import NamedMechanism
from discreet.mechanisms.selection.rank_choice import LARGEST_DENOMINATOR, choose_by_rank
from discreet.mechanisms.selection.scores import bounded_range_scale, exponential_error


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
class Quantile(NamedMechanism):
    r"""Choose an integer ``v`` of a bounded domain with weight :math:`e^{-error(v)/scale}`.

    The *rank error* of ``v`` is how far :math:`qn` is from the interval
    :math:`[\#\{x < v\}, \#\{x \le v\}]`, in rows. ``scale`` is in rows too.

    Guarantee:
        If one unit adds or takes away at most ``d_in.l1`` rows, the choice is ε-DP with
        :math:`\varepsilon = 2 \max(q, 1-q) \cdot d_{in}.l1 / scale`, and
        :math:`\varepsilon^2/8`-zCDP. For the median that is :math:`d_{in}.l1 / scale`.

        Proof. :math:`error = \max(0,\; qn - \#\{x \le v\},\; \#\{x < v\} - qn)`. A row changes
        :math:`n` by 1 and each count by 0 or 1, so it changes both expressions by at most
        :math:`\max(q, 1-q)`, and so the error. Errors of two integers may move in opposite
        directions (rows far above help the larger candidates and harm the smaller), so this is
        the general price, :math:`spread = 2\Delta`, for every :math:`q`. The rest is the proof of
        the exponential mechanism, with the lengths of intervals as public weights (Smith,
        STOC 2011). ``n`` is not assumed to be known.

    Assumes:
        ``d_in.l1`` bounds the rows of one unit; if a unit is changed rather than added, it bounds
        the rows taken away plus those put in their place. The domain is public; values outside
        are moved to its ends. Real numbers go to a declared grid first: over an undivided interval
        no private quantile exists (Blum, Ligett and Roth, STOC 2008).

    Utility:
        Some integer has error 0, so of the ``D`` integers of the domain one with error above
        :math:`scale \cdot \ln(D/\beta)` is chosen with probability at most :math:`\beta`;
        ``error_quantile`` is the exact worst case.

    Example:
        >>> median = Quantile(quantile="1/2", lower=0, upper=120, scale=10)
        >>> median.loss(Contribution(l1=1))
        Pure(ε = 0.1)
        >>> float(median.error_quantile("0.05"))
        77.0
    """

    law: ClassVar[str] = "quantile"
    words: ClassVar[str] = "exponential mechanism"
    counts_ranks: ClassVar[bool] = True
    quantile: Fraction = field(converter=exact, validator=require_share)
    lower: int = field(converter=check.whole)
    upper: int = field(converter=check.whole, validator=require_domain)
    scale: Fraction = field(converter=exact, validator=check.positive)

    @classmethod
    def calibrate(
        cls,
        *,
        d_in: Contribution,
        loss: Pure | Zcdp,
        quantile: Number,
        lower: int,
        upper: int,
    ) -> Self:
        """Return the mechanism that spends ``loss``; for zCDP the scale is rounded up."""
        spread = rank_spread(exact(quantile)) * d_in.bound("l1")
        scale = bounded_range_scale([spread], loss)
        return cls(quantile=exact(quantile), lower=lower, upper=upper, scale=scale)

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

    def release(self, values: IntArray, rng: Rng) -> int:
        """Return the chosen integer. The gate already holds the loss."""
        return choose_by_rank(
            np.sort(in_domain(values, self.lower, self.upper)),
            lower=self.lower,
            upper=self.upper,
            share=self.quantile,
            scale=self.scale,
            rng=rng,
        )

    def error_quantile(self, beta: Number) -> Fraction:
        """Return a bound on the rank error, in rows, that fails with at most ``beta``."""
        denominator = self.quantile.denominator
        size = self.upper - self.lower + 1
        error = exponential_error(self.scale * denominator, beta, candidates=size)
        return Fraction(error, denominator)


def rank_spread(share: Fraction) -> Fraction:
    r"""Return how far one row can move the difference of two rank errors, :math:`2\max(q, 1-q)`.

    Example:
        >>> rank_spread(Fraction(1, 2)), rank_spread(Fraction(1, 4))
        (Fraction(1, 1), Fraction(3, 2))
    """
    return 2 * max(share, 1 - share)
