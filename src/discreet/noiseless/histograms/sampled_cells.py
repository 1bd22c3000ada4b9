"""What a truncated count tells if each person of a population was sampled by a coin."""

from fractions import Fraction
from functools import lru_cache

from discreet.core.rounding import exp_down, exp_up, short_up
from discreet.noiseless.histograms.cell_terms import (
    binomial_term_up,
    capped,
    sum_of_products_down,
)
from discreet.noiseless.histograms.poisson_cells import NOTHING_HIDDEN, TwoSides


@lru_cache(maxsize=4096)
def sampled_sides(
    epsilon: Fraction, truncation: int, share: Fraction, largest: int | None = None
) -> TwoSides:
    r"""Return both δ of a cell of a population that was sampled by coins, for the worst cell.

    Of :math:`M` others in the cell each is in the sample with probability :math:`\pi`
    (``share``), so the released count is :math:`1 + Bin(M, \pi)` beside :math:`Bin(M, \pi)`.

    Guarantee:
        The supremum over all :math:`M`, or those below ``largest`` (the most people that a cell of
        the population has), rounded up. Proof. As for Poisson counts, the divergences are the
        largest of :math:`g_a(M) = P[T_M \ge a-1] - e^\epsilon P[T_M \ge a]`, :math:`a \ge k`, and
        of :math:`f_b(M) = P[T_M \le b] - e^\epsilon P[T_M \le b-1]`, :math:`b \ge k-1`, because
        the odds :math:`m(1-\pi)/((M-m+1)\pi)` rise in :math:`m`. A person more adds
        :math:`P[T_{M+1} \ge a] - P[T_M \ge a] = \pi P[T_M = a-1]`, so :math:`g_a` grows with
        :math:`M` exactly while :math:`(a-1)(1-\pi) > e^\epsilon (M-a+2)\pi`, and :math:`f_b` while
        :math:`(M-b+1)\pi < e^\epsilon b(1-\pi)`: each has one top. The number of people until the
        :math:`a`-th sampled one is a sum of independent geometric numbers :math:`G`, so
        :math:`g_{a+1}(M) = E[g_a(M - G)]`, which is at most the top of :math:`g_a`, and likewise
        :math:`f`: so :math:`a = k` and :math:`b = k-1` are the worst. ∎ If a top's place depends
        on the rounding of :math:`e^\epsilon`, both places are looked at; below ``largest`` a
        function with one top is largest at the top or at the end, and for larger :math:`a` the
        same expectation is over smaller :math:`M` only.

        Here the unsampled part needs no condition of its own: at the top of :math:`g_k` the cell
        has about :math:`(k-1)(1-\pi)/(\pi e^\epsilon)` people who were not sampled, and their
        number is what the bound is made of. With :math:`\pi = 1` nothing is hidden.

    Example:
        >>> float(sampled_sides(Fraction(3, 2), 13, Fraction(1, 100)).worst) < 3e-6
        True
        >>> sampled_sides(Fraction(3, 2), 13, Fraction(1)).worst
        Fraction(1, 1)
    """
    epsilon = capped(epsilon)
    if truncation <= 1 or share >= 1:
        return NOTHING_HIDDEN
    if share <= 0:
        return TwoSides(Fraction(0), Fraction(0))
    last = truncation - 1
    most = None if largest is None else largest - 1
    odds = (1 - share) / share
    tops = {_ceiling(last * odds / e) + last - 1 for e in (exp_down(epsilon), exp_up(epsilon))}
    present = max(_present(epsilon, share, last, _at_most(top, most)) for top in tops)
    tops = {_ceiling(last * odds * e) + last - 1 for e in (exp_down(epsilon), exp_up(epsilon))}
    absent = max(_absent(epsilon, share, last, _at_most(top, most)) for top in tops)
    return TwoSides(short_up(present), short_up(absent))


def _ceiling(value: Fraction) -> int:
    return -(-value.numerator // value.denominator)


def _at_most(top: int, most: int | None) -> int:
    return top if most is None else max(0, min(top, most))


def _present(epsilon: Fraction, share: Fraction, last: int, others: int) -> Fraction:
    """Return g at a number of others: the term of ``last``, less what is subtracted."""
    yes, no = share.numerator, share.denominator - share.numerator
    above = sum_of_products_down(
        lambda i: ((others - last + 1 - i) * yes, (last + i) * no), max(0, others - last)
    )
    factor = max(Fraction(0), 1 - (exp_down(epsilon) - 1) * above)
    return binomial_term_up(others, last, share) * factor


def _absent(epsilon: Fraction, share: Fraction, last: int, others: int) -> Fraction:
    """Return f at a number of others."""
    if others < last:
        # Then no count reaches k, and both worlds show nothing.
        return Fraction(0)
    yes, no = share.numerator, share.denominator - share.numerator
    below = sum_of_products_down(lambda i: ((last + 1 - i) * no, (others - last + i) * yes), last)
    factor = max(Fraction(0), 1 - (exp_down(epsilon) - 1) * below)
    return binomial_term_up(others, last, share) * factor
