"""Rényi curves of mechanisms whose loss is bounded: pure ones, coins, responses and selections."""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Self

import numpy as np
from attrs import field, frozen

from discreet.accounting.curves.curve import CurvePiece, Estimator, require_order
from discreet.core import check
from discreet.core.errors import Unsupported
from discreet.core.numbers import exact, exp_bounds, float_up, log_bounds
from discreet.core.rounding import BITS, bits_above_one, exp_up, log_up, short_up

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


@frozen
class BinaryPiece(CurvePiece):
    r"""Yes with probability ``first`` on one data set and ``second`` on its neighbour.

    Guarantee:
        :math:`D_\alpha = \frac{1}{\alpha-1} \ln(p^\alpha q^{1-\alpha} +
        (1-p)^\alpha (1-q)^{1-\alpha})`, the larger of both directions, by definition.

    Example:
        >>> round(float(BinaryPiece(first="3/4", second="1/4").upper(Fraction(2))), 6)
        0.847298
    """

    kind = "binary"
    first: Fraction = field(converter=exact, validator=check.probability)
    second: Fraction = field(converter=exact, validator=check.probability)

    def __attrs_post_init__(self) -> None:
        """Refuse a coin that gives one data set away."""
        if self.first != self.second and {self.first, self.second} & {0, 1}:
            raise Unsupported(
                "This coin has no finite curve", must="have both probabilities between 0 and 1"
            )

    def upper(self, order: Fraction) -> Fraction:
        """Return the value, rounded up; at order 1, that of an order a little above."""
        require_order(order)
        if self.first == self.second:
            return Fraction(0)
        order = max(order, _LEAST_ORDER)
        return max(
            _direction(self.first, self.second, order), _direction(self.second, self.first, order)
        )

    def estimate(self, order: float) -> float:
        """Return about the same."""
        order = max(order, float(_LEAST_ORDER))
        pairs = (float(self.first), float(self.second)), (float(self.second), float(self.first))
        if self.first == self.second:
            return 0.0
        return max(_quickly(p, q, order) for p, q in pairs)


_LEAST_ORDER = 1 + Fraction(1, 1 << 20)


def _direction(p: Fraction, q: Fraction, order: Fraction) -> Fraction:
    # Two exponents, each rounded up; their log-sum-exp grows in both.
    larger, smaller = sorted((_exponent(p, q, order), _exponent(1 - p, 1 - q, order)), reverse=True)
    total = larger + log_up(1 + exp_up(smaller - larger))
    return short_up(max(Fraction(0), total / (order - 1)), BITS)


def _exponent(p: Fraction, q: Fraction, order: Fraction) -> Fraction:
    return order * log_bounds(p, BITS)[1] - (order - 1) * log_bounds(q, BITS)[0]


def _quickly(p: float, q: float, order: float) -> float:
    first = order * math.log(p) - (order - 1) * math.log(q)
    second = order * math.log1p(-p) - (order - 1) * math.log1p(-q)
    high, low = max(first, second), min(first, second)
    return (high + math.log1p(math.exp(low - high))) / (order - 1)


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


@frozen
class BoundedRangePiece(CurvePiece):
    r"""A mechanism whose privacy loss stays in an interval of width :math:`\varepsilon`.

    Guarantee:
        :math:`D_\alpha \le \alpha\varepsilon^2/8`, and the mechanism is :math:`\varepsilon`-DP.

        Proof. Let :math:`Z` be the loss, and :math:`K(\alpha) = \ln E_Q[e^{\alpha Z}]`, so that
        :math:`(\alpha - 1) D_\alpha = K(\alpha)` and :math:`K(0) = K(1) = 0`. :math:`K''` is the
        variance of :math:`Z` under a tilted law, at most :math:`\varepsilon^2/4` on an interval of
        that width. A function with this curvature and these zeros is at most
        :math:`\alpha(\alpha-1)\varepsilon^2/8` beyond 1. The interval contains 0, since
        :math:`E_Q[e^Z] = 1`, so :math:`|Z| \le \varepsilon` [CR21].

    Example:
        >>> BoundedRangePiece(epsilon=1).upper(Fraction(2))
        Fraction(1, 4)
    """

    kind = "bounded_range"
    epsilon: Fraction = field(converter=exact, validator=check.non_negative)

    def upper(self, order: Fraction) -> Fraction:
        """Return the smaller of the two bounds."""
        require_order(order)
        return min(self.epsilon**2 * order / 8, TightPure(self.epsilon).upper(order))

    def estimate(self, order: float) -> float:
        """Return about the same."""
        epsilon = float(self.epsilon)
        return min(epsilon**2 * order / 8, TightPure(self.epsilon).estimate(order))

    def line(self) -> tuple[Fraction, Fraction]:
        r"""Return :math:`\rho = \varepsilon^2/8`."""
        return Fraction(0), self.epsilon**2 / 8
