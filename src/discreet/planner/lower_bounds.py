r"""What nobody can do: lower bounds with explicit constants, for any mechanism whatever.

A mechanism gets rows of people and publishes :math:`d` counts, each of which shall be within
:math:`a` people of the truth, all at once, but for a chance of :math:`\beta`. Neighbours differ in
one person, who is added or removed. A bound that is proved for people who are *replaced* is used
with what that costs: removing one and adding another.

Only what is here may be called impossible. Rates without a constant are no bounds.
"""

import math
from fractions import Fraction
from typing import ClassVar, Protocol

from attrs import frozen

from discreet.core.loss import Approximate, PrivacyLoss, Pure, Zcdp
from discreet.core.rounding import exp_down, exp_up, log_down, short_up, sqrt_up


@frozen
class Wanted:
    """What is wanted of counts, in people.

    Attributes:
        people: How many people there are in all.
        error: How far each count may be from the truth.
        beta: The chance that some count is farther.
        loss: What may be lost about one person, who is added or removed.
    """

    people: int
    error: Fraction
    beta: Fraction
    loss: PrivacyLoss


class LowerBound(Protocol):
    """An argument that something is impossible."""

    name: ClassVar[str]
    source: ClassVar[str]

    def refutes(self, wanted: Wanted) -> bool | None:
        """Tell whether nobody can do that; None if the bound says nothing about such a loss."""


@frozen
class Packing:
    r"""Too many data sets that a right answer would tell apart, and all of them are near.

    Guarantee:
        Let :math:`k = \lfloor 2a\rfloor + 1` people join the rest, all alike, in one of :math:`T`
        ways, such that right answers for two ways are never the same: some count differs by
        :math:`k > 2a`. All :math:`T` data sets are at distance :math:`k` from the rest alone.

        *Pure.* The :math:`T` sets of right answers are disjoint, so their chances for the rest
        alone add up to at most 1, and each is at least :math:`e^{-k\varepsilon}(1 - \beta)`. So
        :math:`T(1 - \beta) \le e^{k\varepsilon}` [HT10].

        *zCDP.* Draw the way at random. The answer tells at most
        :math:`\max_t D_1(M(x_t) \| M(x)) \le \rho k^2` nats about it [BS16, proposition 27 and
        section 6], and by Fano's inequality a right answer with chance :math:`1 - \beta` tells at
        least :math:`(1 - \beta)\ln T - \ln 2`.

        *Approximate.* The data set with one of the ways and the rest alone have disjoint right
        answers, and are at distance :math:`k`. So
        :math:`1 - \beta \le e^{k\varepsilon}\beta + \delta_k` with
        :math:`\delta_k = \delta(e^{k\varepsilon} - 1)/(e^\varepsilon - 1)` [DR14, theorem 2.2]. For
        pure losses the same is asked with :math:`\delta = 0`.

        There must be :math:`k` people: a release of fewer than :math:`2a` people is always right
        within :math:`a`.

    Example:
        >>> packing = Packing(log_ways=log_down(Fraction(1024)))
        >>> packing.refutes(Wanted(1_000, Fraction(2), Fraction(1, 20), Pure(1)))
        True
        >>> packing.refutes(Wanted(1_000, Fraction(4), Fraction(1, 20), Pure(1)))
        False
    """

    log_ways: Fraction
    """The logarithm of the number of ways, rounded down."""
    name: ClassVar[str] = "packing"
    source: ClassVar[str] = "[HT10]; [BS16, section 6]"

    def refutes(self, wanted: Wanted) -> bool | None:
        """Tell whether the ways cannot be told apart."""
        joined = math.floor(2 * wanted.error) + 1
        if joined > wanted.people:
            return False
        loss, beta = wanted.loss, wanted.beta
        if isinstance(loss, Pure):
            two = joined * loss.epsilon < log_down((1 - beta) / beta)
            return two or self.log_ways + log_down(1 - beta) > joined * loss.epsilon
        if isinstance(loss, Zcdp):
            told = (1 - beta) * self.log_ways - _LOG_TWO_UP
            return told > loss.xi * joined * (1 + log_up_of(joined)) + loss.rho * joined**2
        if isinstance(loss, Approximate):
            if joined * loss.epsilon > 1_000:
                return False
            grown = exp_up(joined * loss.epsilon)
            return 1 - beta > grown * beta + loss.delta * _steps_up(loss.epsilon, joined)
        return None


@frozen
class Fingerprinting:
    r"""Answers about many columns are traced back to people, whoever answers and however.

    Guarantee:
        Let :math:`M` be :math:`(\varepsilon', \delta')`-DP for people who are replaced, of rows in
        :math:`\{\pm1\}^d`, and :math:`m` people whose columns have means :math:`p` that are uniform
        in [-1, 1]. Then
        :math:`m(e^{\varepsilon'}\sqrt d + 2\delta' d) + 2E\|M - \bar x\|_1 \ge 2d/3` [Ste16,
        theorem 4.3.3; the constant 2/3 for 1/3 is the exact minimum of the fingerprinting lemma, by
        enumeration in the tests].

        Each of the :math:`m` is put in :math:`j` times, and the other :math:`n - mj` people are all
        alike and known. Replacing one of the :math:`m` replaces :math:`j` people, which is
        :math:`(2j\varepsilon, \delta_{2j})`-DP if adding or removing one is
        :math:`(\varepsilon, \delta)`-DP, with
        :math:`\delta_i = \delta(e^{i\varepsilon} - 1)/(e^\varepsilon - 1)`. A count within
        :math:`a` says the mean of :math:`\pm1` within :math:`2a/(mj)`, and cut to [-1, 1] it is
        never off by more than 2. So if for some :math:`m` and :math:`j` with :math:`mj \le n`

        .. math:: m(e^{2j\varepsilon}\sqrt d + 2\delta_{2j}d) + 4d(a/(mj) + \beta) < 2d/3,

        nobody can do that. Given :math:`j`, the best :math:`m` is the whole number next to
        :math:`\sqrt{4da/(j(e^{2j\varepsilon}\sqrt d + 2\delta_{2j}d))}`.

    Assumes:
        The copies do not need :math:`\alpha \le 0.072`, as [Ste16, fact 4.2.2] does as printed.

    Example:
        >>> bound = Fingerprinting(columns=10**6)
        >>> bound.refutes(Wanted(10_000, Fraction(1), Fraction(1, 20), Approximate(1, "1e-9")))
        True
    """

    columns: int
    name: ClassVar[str] = "fingerprinting"
    source: ClassVar[str] = "[Ste16, theorem 4.3.3], sharpened"

    def refutes(self, wanted: Wanted) -> bool | None:
        """Tell whether some number of people and of copies leads to a contradiction."""
        loss = wanted.loss
        if isinstance(loss, Pure):
            loss = Approximate(loss.epsilon, 0)
        if not isinstance(loss, Approximate):
            return None
        most = min(wanted.people, math.ceil(4 / loss.epsilon) if loss.epsilon else wanted.people)
        return any(self._contradicts(wanted, loss, copies) for copies in _scales(most))

    def _contradicts(self, wanted: Wanted, loss: Approximate, copies: int) -> bool:
        d = self.columns
        if 2 * copies * loss.epsilon > 200:
            return False
        each = exp_up(2 * copies * loss.epsilon) * sqrt_up(Fraction(d))
        each += 2 * d * loss.delta * _steps_up(loss.epsilon, 2 * copies)
        guess = math.sqrt(4 * d * float(wanted.error) / (copies * float(each)))
        for people in {max(1, math.floor(guess)), math.ceil(guess) or 1, wanted.people // copies}:
            if people * copies > wanted.people or people < 1:
                continue
            off = 4 * d * (wanted.error / (people * copies) + wanted.beta)
            if people * each + off < Fraction(2 * d, 3):
                return True
        return False


_LOG_TWO_UP = -log_down(Fraction(1, 2))


def log_up_of(count: int) -> Fraction:
    """Return a number that is not below the logarithm."""
    return -log_down(Fraction(1, count))


def _steps_up(epsilon: Fraction, count: int) -> Fraction:
    r"""Return :math:`(e^{k\varepsilon} - 1)/(e^\varepsilon - 1)`, rounded up."""
    if epsilon == 0:
        return Fraction(count)
    return short_up((exp_up(count * epsilon) - 1) / (exp_down(epsilon) - 1))


def _scales(most: int) -> list[int]:
    """Return whole numbers up to ``most``, all small ones and then some of each size."""
    found = {most} if most >= 1 else set()
    place = 1
    while place < most:
        found.add(place)
        place = max(place + 1, place * 5 // 4)
    return sorted(found)


def log_of_pairs(count: int) -> Fraction:
    """Return the logarithm of two to the power of ``count``, rounded down."""
    return count * log_down(Fraction(2))
