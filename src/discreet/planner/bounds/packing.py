"""Packing: too many data sets that a right answer would tell apart, and all of them are near."""

from fractions import Fraction
from math import floor
from typing import ClassVar

from attrs import frozen

from discreet.core.loss import Approximate, Pure
from discreet.core.rounding import log_down, log_up
from discreet.planner.bounds.wanted import OTHER_MEASURE, TOO_FEW, GroupLoss, Ruling, Wanted

LOG_TWO = log_down(Fraction(2))
_LOG_TWO_UP = log_up(Fraction(2))


@frozen
class Packing:
    r"""Data sets near one another whose right answers are never the same.

    Guarantee:
        Let :math:`k = \lfloor 2a\rfloor + 1` people join the rest, all alike, in one of :math:`T`
        ways, such that right answers for two ways are never the same: some answer differs by
        :math:`k > 2a`. Right answers for the rest alone differ from all of these.

        *Pure and approximate.* The :math:`T` sets of right answers are disjoint, and the rest alone
        gives one of them with a chance of at most :math:`\beta`; each has at least
        :math:`e^{-k\varepsilon}(1 - \beta - \delta_k)` there. So
        :math:`T(1 - \beta - \delta_k) \le \beta e^{k\varepsilon}` [HT10].

        *zCDP.* Whether the answer is right for the way that was drawn is a bit whose chance is
        :math:`1 - \beta` or more with it, and :math:`\beta/T` or less on average for the rest
        alone. By joint convexity the divergence :math:`\rho k^2` is at least that of these two
        bits, so at least :math:`(1 - \beta)\ln(T(1 - \beta)/\beta) + \beta\ln\beta`
        [BS16, section 6, with Fano's inequality].

        *Means.* Where the number of people is fixed, nothing is promised for the rest alone. Then
        its sets of right answers have a chance of 1 together; or another way takes its place, at
        distance :math:`2k`, with :math:`T - 1 \ge T/2` ways to go.

        There must be :math:`k` people: a release of fewer than :math:`2a` people is always right
        within :math:`a`.

    Example:
        >>> packing = Packing(log_down(Fraction(1024)))
        >>> packing.rule(Wanted(1_000, Fraction(4), Fraction(1, 20), Pure(1))).refutes
        True
        >>> packing.rule(Wanted(1_000, Fraction(5), Fraction(1, 20), Pure(1))).refutes
        False
    """

    log_ways: Fraction
    """The logarithm of the number of ways, rounded down."""
    is_of_fixed_size: bool = False
    """Whether answers are promised for so many people alone, and not for fewer."""
    name: ClassVar[str] = "packing"
    source: ClassVar[str] = "[HT10]; [BS16, section 6]"

    def rule(self, wanted: Wanted) -> Ruling:
        """Say whether the ways cannot be told apart."""
        return packed(
            self.log_ways,
            joined=floor(2 * wanted.error) + 1,
            wanted=wanted,
            is_of_fixed_size=self.is_of_fixed_size,
        )


def packed(log_ways: Fraction, *, joined: int, wanted: Wanted, is_of_fixed_size: bool) -> Ruling:
    """Say whether so many ways for ``joined`` people cannot be told apart."""
    if joined > wanted.people:
        return TOO_FEW
    sides = [(log_ways, joined, Fraction(1) if is_of_fixed_size else wanted.beta)]
    if is_of_fixed_size and log_ways >= LOG_TWO:  # of one way there is no other
        sides.append((log_ways - _LOG_TWO_UP, 2 * joined, wanted.beta))
    told = [tells_apart(ways, GroupLoss(wanted.loss, k), rest, wanted) for ways, k, rest in sides]
    if None in told:
        return OTHER_MEASURE
    return Ruling(any(told))


def tells_apart(
    log_ways: Fraction, group: GroupLoss, rest: Fraction, wanted: Wanted
) -> bool | None:
    """Tell whether more is told than may be; the rest has a chance ``rest`` of all right answers.

    None if the bound is for other measures.
    """
    beta = wanted.beta
    if isinstance(wanted.loss, Pure | Approximate):
        exponent, has_delta = group.size * wanted.loss.epsilon, getattr(wanted.loss, "delta", 0)
        if has_delta and group.epsilon is None:
            return False
        right = 1 - beta - (group.delta if has_delta else 0)
        return right > 0 and log_ways + log_down(right / rest) > exponent
    if group.divergence is None:
        return None
    if log_ways + log_down((1 - beta) / rest) <= 0:
        return False
    bits = (1 - beta) * (log_ways + log_down((1 - beta) / rest)) + beta * log_down(beta)
    return bits > group.divergence


@frozen
class RankPacking:
    r"""Medians and other quantiles: half of the people sit at the ends, the others at one value.

    Guarantee:
        For the share :math:`q` let :math:`\lceil qn - a\rceil - 1` people have the smallest of
        :math:`T` values, :math:`\lceil(1 - q)n - a\rceil - 1` the largest, and the other
        :math:`k` one of them all. Fewer than :math:`qn - a` people are below it and fewer than
        :math:`(1 - q)n - a` above, so no other value has a rank within :math:`a`: the right
        answers of the :math:`T` ways are disjoint, and :math:`k` is near :math:`2a`. The rest is
        :class:`Packing` for a fixed number of people [Ste16, lemma 7.5.6, which has
        :math:`n \ge (\ln((1 - \beta)(T - 1)/\beta) - 2\varepsilon)/(2\alpha\varepsilon)` for the
        median and people who are replaced].

        *The continuum.* With infinitely many values every finite number of ways is there, so ε and
        ρ answer nothing within any :math:`a < n/2`, for any number of people [BLR13].

    Example:
        >>> median = RankPacking(log_down(Fraction(10**6)))
        >>> median.rule(Wanted(1_000, Fraction(5), Fraction(1, 20), Pure(1))).refutes
        True
        >>> RankPacking(None).rule(Wanted(10**9, Fraction(10**8), Fraction(1, 2), Pure(9))).refutes
        True
    """

    log_values: Fraction | None
    """The logarithm of the number of values, rounded down; None if there are infinitely many."""
    share: Fraction = Fraction(1, 2)
    name: ClassVar[str] = "packing of ranks"
    source: ClassVar[str] = "[Ste16, lemma 7.5.6]; [BLR13]"

    def rule(self, wanted: Wanted) -> Ruling:
        """Say whether the value in the middle cannot be told."""
        people, error = wanted.people, wanted.error
        ends = [_below(side * people - error) for side in (self.share, 1 - self.share)]
        if min(ends) < 0:
            return Ruling(False, "every value is within so many ranks of some data")
        if self.log_values is not None:
            joined = people - sum(ends)
            return packed(self.log_values, joined=joined, wanted=wanted, is_of_fixed_size=True)
        if GroupLoss(wanted.loss, people).divergence is None:
            return Ruling(False, "with a δ the continuum is refuted by a rate alone, log*")
        return Ruling(True)


def _below(value: Fraction) -> int:
    """Return the largest whole number below ``value``."""
    return -(-value.numerator // value.denominator) - 1
