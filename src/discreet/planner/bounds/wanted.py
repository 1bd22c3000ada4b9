"""What is wanted of a release, what a lower bound says about it, and how near neighbours are."""

from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, Protocol

from attrs import frozen

from discreet.accounting.conversions.convert import convert
from discreet.core.loss import (
    Approximate,
    ApproximateZcdp,
    GaussianDp,
    Measure,
    PrivacyLoss,
    Pure,
    Zcdp,
)
from discreet.core.rounding import exp_down, exp_up, log_up, short_up, sqrt_up

_LARGEST_EXPONENT = 200
"""Beyond that two data sets may be told apart for sure, as far as any bound here is concerned."""


@frozen
class Wanted:
    """What is wanted, in people.

    Attributes:
        people: How many people there are in all.
        error: How far each answer may be from the truth.
        beta: The chance that some answer is farther.
        loss: What may be lost about one person, who is added or removed.
    """

    people: int
    error: Fraction
    beta: Fraction
    loss: PrivacyLoss


@frozen
class Ruling:
    """What a lower bound says: that nobody can do it, or not; or why it does not apply.

    Attributes:
        refutes: Whether nobody can do what is wanted.
        why_not: Why the bound says nothing about it; empty if it applies.
    """

    refutes: bool
    why_not: str = ""


OTHER_MEASURE = Ruling(False, "it is for other measures of loss")
TOO_FEW = Ruling(False, "there are fewer people than it puts in")


class LowerBound(Protocol):
    """An argument that something is impossible, for every mechanism whatever."""

    name: ClassVar[str]
    source: ClassVar[str]

    def rule(self, wanted: Wanted) -> Ruling:
        """Say whether nobody can do that, or why the bound does not apply."""


@lru_cache(maxsize=1024)
def implied(loss: PrivacyLoss) -> tuple[PrivacyLoss, ...]:
    r"""Return losses that bounds are about, and that a loss implies: what refutes one refutes it.

    A :math:`\delta` of 0 is none. Approximate zCDP has no group privacy of its own, and is tried as
    :math:`(\varepsilon, \delta')` for several :math:`\delta'` [CKS20, corollary 13].

    Example:
        >>> implied(Approximate(1, 0)), implied(ApproximateZcdp(rho="0.1", delta=0))
        ((Pure(ε = 1),), (Zcdp(ρ = 0.1),))
    """
    if isinstance(loss, Approximate) and not loss.delta:
        return (Pure(loss.epsilon),)
    if isinstance(loss, GaussianDp):
        return (convert(loss, to=Measure.ZCDP).loss,)
    if not isinstance(loss, ApproximateZcdp):
        return (loss,)
    if not loss.delta:
        return (Zcdp(rho=loss.rho, xi=loss.xi),)
    deltas = (one for one in _DELTAS if one > loss.delta)
    return tuple(convert(loss, to=Measure.APPROXIMATE, delta=one).loss for one in deltas)


_DELTAS = tuple(Fraction(1, 10**place) for place in (1, 2, 3, 5, 8, 12))


@frozen
class GroupLoss:
    r"""What is told about a group of people who are added or removed together, from above.

    Guarantee:
        For a group of :math:`k`: :math:`(k\varepsilon, \delta_k)`-DP with
        :math:`\delta_k = \delta(e^{k\varepsilon} - 1)/(e^\varepsilon - 1)` [DR14, theorem 2.2;
        Ste16, fact 4.2.1], and :math:`(\xi k H_k, \rho k^2)`-zCDP [BS16, proposition 27].

    Example:
        >>> GroupLoss(Pure("0.1"), 3).epsilon, float(GroupLoss(Zcdp("0.1"), 3).divergence)
        (Fraction(3, 10), 0.9)
    """

    loss: PrivacyLoss
    size: int

    @property
    def epsilon(self) -> Fraction | None:
        """The ε of the group; None for other measures, and where it hides nothing."""
        if not isinstance(self.loss, Pure | Approximate):
            return None
        found = self.size * self.loss.epsilon
        return found if found <= _LARGEST_EXPONENT else None

    @property
    def delta(self) -> Fraction:
        r"""The δ of the group, rounded up; asked for where there is an ε.

        Of a tiny ε neither :math:`e^x - 1` can be told from 0: it is between :math:`x` and
        :math:`x + x^2` up to 1.
        """
        if not isinstance(self.loss, Approximate) or not self.loss.delta:
            return Fraction(0)
        one = self.loss.epsilon
        if one == 0:
            return self.size * self.loss.delta
        return short_up(self.loss.delta * _growth_up(self.size * one) / _growth_down(one))

    @property
    def divergence(self) -> Fraction | None:
        r"""The Kullback-Leibler divergence, rounded up; None where it has no bound.

        For ε it is at most :math:`\min(\varepsilon, \varepsilon^2/2)` [BS16, proposition 3.3].
        """
        if isinstance(self.loss, Zcdp):
            harmonic = 1 + log_up(Fraction(self.size)) if self.loss.xi else Fraction(0)
            return self.loss.xi * self.size * harmonic + self.loss.rho * self.size**2
        if isinstance(self.loss, Pure) or (
            isinstance(self.loss, Approximate) and not self.loss.delta
        ):
            epsilon = self.size * self.loss.epsilon
            return min(epsilon, epsilon**2 / 2)
        return None

    @property
    def distance(self) -> Fraction:
        r"""The total variation distance, rounded up; 1 where nothing is known.

        :math:`(e^\varepsilon - 1 + 2\delta)/(e^\varepsilon + 1)`, or Pinsker's
        :math:`\sqrt{D/2}`, or :math:`\sqrt{1 - e^{-D}}` of Bretagnolle and Huber, which is below 1
        for every :math:`D`.
        """
        found = Fraction(1)
        if self.epsilon is not None:
            grown = exp_up(self.epsilon)
            found = min(found, short_up((grown - 1 + 2 * self.delta) / (grown + 1)))
        if self.divergence is not None:
            found = min(found, sqrt_up(short_up(self.divergence / 2)))
            found = min(found, sqrt_up(short_up(1 - exp_down(-self.divergence))))
        return found


@lru_cache(maxsize=1 << 14)
def most_agreement(loss: PrivacyLoss, *, size: int = 1) -> Fraction:
    r"""Return the share of people's bits that an output can agree with on average, at most.

    Guarantee:
        Let bits be fair coins, and flipping one of them be ``size`` people who come or go. Whatever
        guesses bit :math:`i` from the output is right with a chance of at most half of 1 and the
        total variation distance of the two laws of the output, so that is also a bound on the mean
        share of right bits. So nobody publishes signs that agree with nearly all of them
        [Ste16, section 2.6.1 and fact 7.4.4].

    Example:
        >>> round(float(most_agreement(Pure(1))), 4), round(float(most_agreement(Zcdp("0.02"))), 4)
        (0.7311, 0.55)
    """
    return (1 + GroupLoss(loss, size).distance) / 2


def copies_to_try(wanted: Wanted) -> list[int]:
    """Return how often to put each person in: all small numbers, and then some of each size.

    More copies than that tell who is there: four over ε, or the logarithm of δ over it, or two over
    the root of ρ.
    """
    loss, most = wanted.loss, wanted.people
    if isinstance(loss, Pure | Approximate) and loss.epsilon:
        bits = loss.delta.denominator.bit_length() if isinstance(loss, Approximate) else 0
        most = min(most, _ceiling(max(4, bits) / loss.epsilon))
    if isinstance(loss, Zcdp) and loss.rho:
        most = min(most, _ceiling(2 / sqrt_up(loss.rho)))
    found, place = {max(1, most)}, 1
    while place < most:
        found.add(place)
        place = max(place + 1, place * 5 // 4)
    return sorted(found)


def _growth_up(x: Fraction) -> Fraction:
    """Return a number not below e^x - 1, for ``x`` above 0."""
    found = exp_up(x) - 1
    return min(found, short_up(x + x**2)) if x <= 1 else found


def _growth_down(x: Fraction) -> Fraction:
    """Return a number above 0 that is not above e^x - 1, for ``x`` above 0."""
    return max(exp_down(x) - 1, x)


def _ceiling(value: Fraction) -> int:
    return -(-value.numerator // value.denominator)
