r"""The largest Rényi curve that an :math:`\varepsilon`-DP mechanism can have."""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Self

import numpy as np
from attrs import field, frozen

from discreet.accounting.curves.piece import CurvePiece, Estimator, require_order
from discreet.core import check
from discreet.core.numbers import exact, exp_bounds, float_up, log_bounds
from discreet.core.rounding import BITS, bits_above_one, short_up

_HUGE = Fraction(10) ** 100
"""Estimates go no farther: squares, and products with an order, stay within the floats."""
_NEAR_ONE, _SMALL = 1e-9, 1e-7
"""Closer to 1, or below, floats would cancel: the straight line is about as good there."""


@frozen
class TightPure(CurvePiece):
    r"""The curve of randomised response, which bounds that of every pure mechanism.

    Guarantee:
        For :math:`\varepsilon`-DP and every :math:`\alpha > 1`

        .. math:: D_\alpha \le \frac{1}{\alpha-1}
            \ln\frac{\sinh(\alpha\varepsilon) - \sinh((\alpha-1)\varepsilon)}{\sinh\varepsilon}
            = \varepsilon + \frac{1}{\alpha-1}
            \ln\frac{1 + e^{-(2\alpha-1)\varepsilon}}{1 + e^{-\varepsilon}},

        attained by randomised response, and at 1 it is :math:`\varepsilon\tanh(\varepsilon/2)`
        [Ste16, proof of Proposition 2.3.2; Das22, Lemma 9.7]. The quotient of hyperbolic sines is
        :math:`\cosh((\alpha-\frac12)\varepsilon) / \cosh(\varepsilon/2)`, hence the second form,
        which cannot overflow. It is below :math:`\min(\varepsilon, \varepsilon^2\alpha/2)`, so the
        result never exceeds that either.

    Example:
        >>> round(float(TightPure(epsilon=1).upper(Fraction(2))), 12)
        0.735325664056
    """

    kind = "tight_pure"
    epsilon: Fraction = field(converter=exact, validator=check.non_negative)

    def upper(self, order: Fraction) -> Fraction:
        """Return the value, rounded up."""
        require_order(order)
        if self.epsilon == 0:
            return Fraction(0)
        if order == 1:
            return pure_to_kl(self.epsilon)
        power = order - 1
        bits = BITS + 2 * bits_above_one(1 / self.epsilon) + bits_above_one(1 / power)
        far = exp_bounds(-(2 * order - 1) * self.epsilon, bits)[1]
        near = exp_bounds(-self.epsilon, bits)[0]
        gain = log_bounds(1 + far, bits)[1] - log_bounds(1 + near, bits)[0]
        value = short_up(self.epsilon + gain / power, BITS)
        return min(value, self.epsilon, self.epsilon**2 * order / 2)

    def estimate(self, order: float) -> float:
        """Return about the same."""
        epsilon = float_up(self.epsilon)
        if order - 1 < _NEAR_ONE or epsilon < _SMALL:
            return min(epsilon, epsilon**2 * order / 2)
        far = math.log1p(math.exp(-(2 * order - 1) * epsilon))
        return epsilon + (far - math.log1p(math.exp(-epsilon))) / (order - 1)

    @classmethod
    def estimator(cls, pieces: Sequence[tuple[Self, int]]) -> Estimator:
        """Return about the sum of ``pieces``, of which a composition may have hundreds."""
        epsilons = np.array([float(min(piece.epsilon, _HUGE)) for piece, _ in pieces])
        counts = np.array([float(count) for _, count in pieces])
        near, squares = np.log1p(np.exp(-epsilons)), epsilons**2 / 2

        def total(order: float) -> float:
            if order - 1 < _NEAR_ONE:
                return float(counts @ np.minimum(epsilons, squares * order))
            far = np.log1p(np.exp(-(2 * order - 1) * epsilons))
            values = epsilons + (far - near) / (order - 1)
            small = np.minimum(epsilons, squares * order)
            return float(counts @ np.where(epsilons < _SMALL, small, values))

        return total

    def line(self) -> tuple[Fraction, Fraction]:
        r"""Return :math:`\rho = \varepsilon\tanh(\varepsilon/2)` (:func:`pure_to_kl`)."""
        return Fraction(0), pure_to_kl(self.epsilon)


def pure_to_kl(epsilon: Fraction) -> Fraction:
    r"""Return :math:`\varepsilon \tanh(\varepsilon/2)`, rounded up.

    Guarantee:
        It bounds the KL divergence of every :math:`\varepsilon`-DP mechanism, and it is its best
        :math:`\rho`: :math:`\varepsilon`-DP implies
        :math:`\varepsilon\tanh(\varepsilon/2)`-zCDP, and randomised response no less.

        Proof. Put :math:`s = (\alpha - \frac12)^2`. The curve of :class:`TightPure`, times
        :math:`\alpha - 1`, is :math:`\ln\cosh(\varepsilon\sqrt s) - \ln\cosh(\varepsilon/2)`. It is
        concave in :math:`s`, because its slope
        :math:`\varepsilon\tanh(\varepsilon\sqrt s)/(2\sqrt s)` falls, so it is below its tangent at
        :math:`s = \frac14`, where the value is 0 and the slope
        :math:`\varepsilon\tanh(\varepsilon/2)`. As :math:`s - \frac14 = \alpha(\alpha-1)`, the
        tangent is :math:`\alpha(\alpha-1)\,\varepsilon\tanh(\varepsilon/2)`. The limit
        :math:`\alpha \to 1` shows that no smaller :math:`\rho` will do.

    Example:
        >>> round(float(pure_to_kl(Fraction(1))), 12)
        0.46211715726
    """
    if epsilon == 0:
        return Fraction(0)
    near = exp_bounds(-epsilon, BITS + bits_above_one(1 / epsilon))[0]
    value = short_up(epsilon * (1 - near) / (1 + near), BITS)
    return min(value, epsilon, epsilon**2 / 2)
