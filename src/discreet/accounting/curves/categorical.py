"""The Rényi curve of randomised response over several categories."""

import math
from fractions import Fraction

from attrs import field, frozen

from discreet.accounting.curves.piece import CurvePiece, require_order
from discreet.accounting.curves.tight_pure import TightPure
from discreet.core import check
from discreet.core.numbers import exact, exp_bounds, log_bounds
from discreet.core.rounding import BITS, bits_above_one, short_up


@frozen
class CategoricalPiece(CurvePiece):
    r"""Randomised response that tells the truth :math:`e^\varepsilon` times as often as each lie.

    Guarantee:
        With :math:`k` categories two laws differ in two of them, so

        .. math:: D_\alpha = \varepsilon + \frac{1}{\alpha-1} \ln\frac{
            1 + e^{-(2\alpha-1)\varepsilon} + (k-2)e^{-\alpha\varepsilon}}{
            1 + (k-1)e^{-\varepsilon}},

        which falls as :math:`k` grows; for :math:`k = 2` it is the largest that any
        :math:`\varepsilon`-DP mechanism can have.

    Example:
        >>> two, ten = (CategoricalPiece(epsilon=1, categories=k) for k in (2, 10))
        >>> ten.upper(Fraction(2)) < two.upper(Fraction(2))
        True
    """

    kind = "categorical"
    epsilon: Fraction = field(converter=exact, validator=check.non_negative)
    categories: int = field(converter=check.whole, validator=check.positive)

    def upper(self, order: Fraction) -> Fraction:
        """Return the value, rounded up, and never more than the tight pure curve."""
        require_order(order)
        pure = TightPure(self.epsilon).upper(order)
        if order == 1 or self.categories <= 2 or not self.epsilon:
            return pure
        others, power = self.categories - 2, order - 1
        bits = BITS + bits_above_one(1 / power) + 2 * bits_above_one(1 / self.epsilon)
        truth = exp_bounds(-(2 * order - 1) * self.epsilon, bits)[1]
        lies = others * exp_bounds(-order * self.epsilon, bits)[1]
        total = 1 + (others + 1) * exp_bounds(-self.epsilon, bits)[0]
        gain = log_bounds((1 + truth + lies) / total, bits)[1]
        return min(pure, short_up(self.epsilon + gain / power, BITS))

    def estimate(self, order: float) -> float:
        """Return about the same."""
        epsilon, others, power = float(self.epsilon), self.categories - 2, max(order - 1, 1e-7)
        top = 1 + math.exp(-(2 * order - 1) * epsilon) + others * math.exp(-order * epsilon)
        return epsilon + math.log(top / (1 + (others + 1) * math.exp(-epsilon))) / power

    def line(self) -> tuple[Fraction, Fraction]:
        """Return the line of the tight pure curve."""
        return TightPure(self.epsilon).line()
