"""Straight Rényi curves, lines raised by a count of transcripts, and tables of stated points."""

import json
import math
from collections.abc import Iterable
from fractions import Fraction
from itertools import pairwise

from attrs import field, frozen

from discreet.accounting.curves.curve import CurvePiece, require_order
from discreet.core import check
from discreet.core.numbers import Number, exact, float_up, log_bounds
from discreet.core.rounding import BITS, short_up, sqrt_up


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


Points = tuple[tuple[Fraction, Fraction], ...]


def _points(value: "str | Iterable[tuple[Number, Number]]") -> Points:
    pairs = json.loads(value) if isinstance(value, str) else value
    return tuple(sorted((exact(order), exact(epsilon)) for order, epsilon in pairs))


@frozen
class StatedPiece(CurvePiece):
    r"""Divergences ``epsilon`` at some orders above 1.

    Guarantee:
        :math:`(\alpha - 1)D_\alpha` is convex in the order and 0 at 1, so between two stated
        orders it is at most the chord. Above the last one nothing is said.

    Example:
        >>> piece = StatedPiece([(2, "0.1"), (4, "0.3")])
        >>> piece.upper(Fraction(3)), piece.upper(Fraction("1.5"))
        (Fraction(1, 4), Fraction(1, 10))
    """

    kind = "stated"
    points: Points = field(converter=_points)

    @property
    def limit(self) -> Fraction:
        """The largest stated order; just below it the chord is as good."""
        return self.points[-1][0]

    def upper(self, order: Fraction) -> Fraction:
        """Return the chord."""
        require_order(order, self.limit)
        if order <= self.points[0][0]:
            return self.points[0][1]
        for (low, at_low), (high, at_high) in pairwise(self.points):
            if order <= high:
                share = (order - low) / (high - low)
                height = (1 - share) * (low - 1) * at_low + share * (high - 1) * at_high
                return height / (order - 1)
        raise AssertionError("the order is below the limit")

    def estimate(self, order: float) -> float:
        """Return about the same."""
        return float_up(self.upper(Fraction(order)))

    def to_json(self) -> dict[str, str]:
        """Return the kind and the points as text."""
        points = [[str(order), str(epsilon)] for order, epsilon in self.points]
        return {"kind": self.kind, "points": json.dumps(points)}
