"""A straight Rényi curve: what zCDP, bounded or not, says."""

from fractions import Fraction

from attrs import field, frozen

from discreet.accounting.curves.piece import CurvePiece, require_order
from discreet.core import check
from discreet.core.numbers import exact, float_up


@frozen
class Line(CurvePiece):
    r"""The line :math:`\xi + \rho\alpha` of a :math:`(\xi, \rho)`-zCDP mechanism.

    Guarantee:
        The definition of zCDP [BS16, Definition 1.1].

    Example:
        >>> Line(rho="1/2", xi=1).upper(Fraction(3))
        Fraction(5, 2)
    """

    kind = "line"
    rho: Fraction = field(converter=exact, validator=check.non_negative)
    xi: Fraction = field(default=Fraction(0), converter=exact, validator=check.non_negative)

    def upper(self, order: Fraction) -> Fraction:
        """Return the exact value."""
        require_order(order)
        return self.xi + self.rho * order

    def estimate(self, order: float) -> float:
        """Return about the same."""
        return float_up(self.xi) + float_up(self.rho) * order

    def line(self) -> tuple[Fraction, Fraction]:
        """Return itself."""
        return self.xi, self.rho


@frozen
class BoundedLine(CurvePiece):
    r"""The line :math:`\xi + \rho\alpha` of :math:`m`-bounded zCDP: only below ``order``.

    Guarantee:
        The definition [BS16, Definition 8.4]; at ``order`` and above nothing is said.
    """

    kind = "bounded_line"
    rho: Fraction = field(converter=exact, validator=check.non_negative)
    order: Fraction = field(converter=exact)
    xi: Fraction = field(default=Fraction(0), converter=exact, validator=check.non_negative)

    def upper(self, order: Fraction) -> Fraction:
        """Return the exact value."""
        require_order(order, self.order)
        return self.xi + self.rho * order

    def estimate(self, order: float) -> float:
        """Return about the same."""
        return float_up(self.xi) + float_up(self.rho) * order

    @property
    def limit(self) -> Fraction:
        """The order from which on nothing is said."""
        return self.order
