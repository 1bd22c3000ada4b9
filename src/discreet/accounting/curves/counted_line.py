"""A Rényi line raised by a count of transcripts: what sparse vector machines have."""

import math
from fractions import Fraction

from attrs import field, frozen

from discreet.accounting.curves.piece import CurvePiece, require_order
from discreet.core import check
from discreet.core.numbers import exact, log_bounds
from discreet.core.rounding import BITS, short_up, sqrt_up


@frozen
class CountedLine(CurvePiece):
    r"""The curve :math:`\xi + \rho\alpha + \ln(count)/(\alpha - 1)`, where it is not improved.

    Guarantee:
        A machine whose transcripts number at most ``count``, and whose noise is
        :math:`(\xi, \rho)`-zCDP along each of them, has this curve [Das22, Theorems 9.9 and 9.12;
        proof in :class:`~discreet.mechanisms.thresholds.sparse_vector.SparseVector`]. Rényi
        divergences grow with the order, so a bound at a higher order holds at a lower one:
        the bound is lowest at :math:`\alpha^* = 1 + \sqrt{\ln(count)/\rho}`, and it is used below.
        Hence the curve lies below the line :math:`\xi + 2\sqrt{\rho\ln(count)} + \rho\alpha`.

    Example:
        >>> piece = CountedLine(rho="1/8", count=101)
        >>> round(float(piece.upper(Fraction(20))), 6)
        2.742901
        >>> piece.upper(Fraction(1)) == piece.upper(Fraction(3))
        True
    """

    kind = "counted_line"
    rho: Fraction = field(converter=exact, validator=check.non_negative)
    count: int = field(converter=check.whole, validator=check.positive)
    xi: Fraction = field(default=Fraction(0), converter=exact, validator=check.non_negative)

    def upper(self, order: Fraction) -> Fraction:
        """Return the value, rounded up."""
        require_order(order)
        return raised(order, rho=self.rho, xi=self.xi, log_count=self._log_count())

    def estimate(self, order: float) -> float:
        """Return about the same."""
        return raised_estimate(
            order, rho=float(self.rho), xi=float(self.xi), log_count=float(self._log_count())
        )

    def line(self) -> tuple[Fraction, Fraction]:
        """Return the line above the curve."""
        return self.xi + 2 * sqrt_up(self.rho * self._log_count()), self.rho

    def _log_count(self) -> Fraction:
        return short_up(log_bounds(Fraction(self.count), BITS)[1], BITS)


def raised(order: Fraction, *, rho: Fraction, xi: Fraction, log_count: Fraction) -> Fraction:
    r"""Return the least of :math:`\xi + \rho\beta + L/(\beta - 1)` at ``order`` and the best order.

    Any :math:`\beta \ge \alpha` above 1 is valid, so the best order may be rounded.
    """
    candidates = [order] if order > 1 else []
    if rho > 0 and log_count > 0:
        best = 1 + short_up(sqrt_up(log_count / rho))
        candidates.append(max(order, best, _LEAST))
    elif not candidates:
        candidates.append(_LEAST if rho else _HIGH)
    return short_up(min(xi + rho * b + log_count / (b - 1) for b in candidates), BITS)


def raised_estimate(order: float, *, rho: float, xi: float, log_count: float) -> float:
    """Return about the same."""
    best = 1 + math.sqrt(log_count / rho) if rho > 0 else order
    order = max(order, best, 1 + 1e-9)
    return xi + rho * order + log_count / (order - 1)


_LEAST = 1 + Fraction(1, 1 << 20)
_HIGH = Fraction(1 << 40)
