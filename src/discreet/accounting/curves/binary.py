"""The Rényi curve of a coin that is thrown with one of two probabilities."""

import math
from fractions import Fraction

from attrs import field, frozen

from discreet.accounting.curves.piece import CurvePiece, require_order
from discreet.core import check
from discreet.core.errors import Unsupported
from discreet.core.numbers import exact, log_bounds
from discreet.core.rounding import BITS, exp_up, log_up, short_up


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
        order = max(order, _LEAST)
        return max(
            _direction(self.first, self.second, order), _direction(self.second, self.first, order)
        )

    def estimate(self, order: float) -> float:
        """Return about the same."""
        order = max(order, float(_LEAST))
        pairs = (float(self.first), float(self.second)), (float(self.second), float(self.first))
        if self.first == self.second:
            return 0.0
        return max(_quickly(p, q, order) for p, q in pairs)


_LEAST = 1 + Fraction(1, 1 << 20)


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
