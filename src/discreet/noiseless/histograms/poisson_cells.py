"""What a truncated Poisson count tells of one of those whom it counts: in closed form."""

from fractions import Fraction
from functools import lru_cache

from attrs import frozen

from discreet.core.rounding import exp_down, exp_up, short_up
from discreet.noiseless.histograms.cell_terms import (
    capped,
    poisson_term_up,
    sum_of_products_down,
)


@frozen
class TwoSides:
    """δ in both directions: of the true release beside the simulated one, and the reverse.

    Attributes:
        present: How much more likely the release can be than what the simulator says.
        absent: How much more likely what the simulator says can be than the release.
    """

    present: Fraction
    absent: Fraction

    @property
    def worst(self) -> Fraction:
        """The larger of both, at most 1."""
        return min(Fraction(1), max(self.present, self.absent))


NOTHING_HIDDEN = TwoSides(Fraction(1), Fraction(1))


@lru_cache(maxsize=4096)
def poisson_sides(epsilon: Fraction, truncation: int) -> TwoSides:
    r"""Return both δ of a cell with a Poisson number of other people, for the worst mean.

    The others in the cell of the person are :math:`T \sim Po(\mu)`; released is :math:`1 + T`
    (simulated: :math:`T`) if it is at least :math:`k`, and else 0. All other cells are the same in
    both worlds, and independent.

    Guarantee:
        The supremum over all :math:`\mu \ge 0`, rounded up. With
        :math:`x = (k-1)e^{-\epsilon}` and :math:`y = (k-1)e^{\epsilon}` it is

        .. math:: P[Po(x) \ge k-1] - e^\epsilon P[Po(x) \ge k] \quad\text{and}\quad
            P[Po(y) \le k-1] - e^\epsilon P[Po(y) \le k-2].

        Proof. The odds of a count :math:`m \ge k` are :math:`m/\mu`, which rise, and "less than k"
        is less likely with the person. So the first divergence is the largest of
        :math:`g_a(\mu) = P[T \ge a-1] - e^\epsilon P[T \ge a]` over :math:`a \ge k`. Since
        :math:`\frac{d}{d\mu} P[T \ge a] = P[T = a-1]`, the derivative of :math:`g_a` has the sign
        of :math:`(a-1) - e^\epsilon \mu`: the maximum is at :math:`(a-1)e^{-\epsilon}`. And
        :math:`P[T \ge a]` is the chance that the :math:`a`-th arrival of a unit process is before
        :math:`\mu`; as each arrival comes an exponential time :math:`E` after the one before,
        :math:`g_{a+1}(\mu) = E[g_a(\mu - E)] \le \sup g_a`, where :math:`g_a` is 0 below 0. So
        :math:`a = k` is the worst. Likewise the second divergence is the largest of
        :math:`f_b(\mu) = P[T \le b] - e^\epsilon P[T \le b-1]` over :math:`b \ge k-1`: if any
        count is worth having then all smaller ones and "less than k" are too, whose odds are
        larger. The sign of its derivative is that of :math:`b e^\epsilon - \mu`, and
        :math:`f_{b+1}(\mu) = E[f_b(\mu - E)]` with :math:`f_b < 0` below 0. ∎

        This is the theorem on truncated histograms [Gro14, theorem 6.5] for Poisson sizes, with
        its constant. One term is computed by logarithms rounded up, and what is subtracted from
        it by rational products rounded down.

    Example:
        >>> sides = poisson_sides(Fraction(3, 2), 13)
        >>> float(sides.worst) < 3e-6 < float(poisson_sides(Fraction(3, 2), 12).worst)
        True
    """
    epsilon = capped(epsilon)
    if truncation <= 1:
        return NOTHING_HIDDEN
    last = truncation - 1
    less = exp_down(epsilon) - 1
    low, high = last * exp_down(-epsilon), last * exp_up(-epsilon)
    above = sum_of_products_down(lambda i: (low.numerator, low.denominator * (last + i)))
    present = poisson_term_up(high, last) * max(Fraction(0), 1 - less * above)
    low, high = last * exp_down(epsilon), last * exp_up(epsilon)
    below = sum_of_products_down(
        lambda i: ((last + 1 - i) * high.denominator, high.numerator), last
    )
    absent = poisson_term_up(low, last) * max(Fraction(0), 1 - less * below)
    return TwoSides(short_up(present), short_up(absent))
