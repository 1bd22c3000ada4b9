"""The Rényi curve of a selection of bounded range, such as the exponential mechanism."""

from fractions import Fraction

from attrs import field, frozen

from discreet.accounting.curves.piece import CurvePiece, require_order
from discreet.accounting.curves.tight_pure import TightPure
from discreet.core import check
from discreet.core.numbers import exact


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
