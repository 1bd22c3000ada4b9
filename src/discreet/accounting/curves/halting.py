"""The Rényi curve of a Gaussian sparse vector machine for queries that are never negative."""

from fractions import Fraction
from functools import lru_cache

from attrs import field, frozen

from discreet.accounting.accountants.halting_moment import log_halting_moment
from discreet.accounting.curves.counted_line import raised, raised_estimate
from discreet.accounting.curves.piece import CurvePiece, require_order
from discreet.core import check
from discreet.core.errors import Unsupported
from discreet.core.numbers import exact
from discreet.core.rounding import sqrt_up

POWERS = (Fraction(3, 2), Fraction(2), Fraction(3), Fraction(4))
"""The Hölder exponents that are tried."""

_ROOM = Fraction(9, 10)


@frozen
class HaltingPiece(CurvePiece):
    r"""Discrete Gaussian noise on threshold and queries, halting at the first query above.

    Guarantee:
        With :math:`\rho_1 = \Delta^2/2\sigma_1^2`, :math:`\rho_2 = (2\Delta)^2/2\sigma_2^2`, every
        :math:`\gamma > 1` and :math:`\gamma^* = \gamma/(\gamma - 1)`,

        .. math:: D_\alpha \le \rho_1 (1 + (\alpha - 1)\gamma^*) + \rho_2 \alpha
            + \frac{\ln E[E[K|z]^\gamma]}{\gamma(\alpha - 1)}.

        Proof. The moment of the likelihood ratio is at most
        :math:`e^{(\alpha-1)\rho_2\alpha} E_z[(p(z)/p(z+\Delta))^{\alpha-1} E[K|z]]`
        (:doc:`/proofs/thresholds`). Apply Hölder's inequality with :math:`\gamma` and
        :math:`\gamma^*` under :math:`p`: the first factor is :math:`e^{(\alpha-1) D_\beta}` at
        :math:`\beta = 1 + (\alpha-1)\gamma^*`. The moment is computed
        (:func:`~discreet.accounting.accountants.halting_moment.log_halting_moment`).

        [Das22, Theorem 9.9] has :math:`D_\beta` at :math:`\alpha\gamma^*` with a factor of
        :math:`(\alpha - 1/\gamma^*)/(\alpha - 1)` in front, which is larger; its Theorem 9.11
        leaves the factor out, which does not follow from it, and takes too small a moment.

    Example:
        >>> piece = HaltingPiece(
        ...     threshold_variance=400, query_variance=1200, distance=1, ceiling=0
        ... )
        >>> 0.16 < piece.upper(Fraction(30)) < 0.17
        True
    """

    kind = "halting"
    threshold_variance: Fraction = field(converter=exact, validator=check.positive)
    query_variance: Fraction = field(converter=exact, validator=check.positive)
    distance: Fraction = field(converter=exact, validator=check.non_negative)
    ceiling: int = field(converter=check.whole, validator=check.non_negative)

    def upper(self, order: Fraction) -> Fraction:
        """Return the least value over the exponents that are tried, rounded up."""
        require_order(order)
        return min(raised(order, rho=r, xi=x, log_count=c) for r, x, c in self._lines())

    def estimate(self, order: float) -> float:
        """Return about the same."""
        return min(
            raised_estimate(order, rho=float(r), xi=float(x), log_count=float(c))
            for r, x, c in self._lines()
        )

    def line(self) -> tuple[Fraction, Fraction]:
        """Return the line above the curve that is lowest at 1."""
        lines = [(max(Fraction(0), x + 2 * sqrt_up(r * c)), r) for r, x, c in self._lines()]
        return min(lines, key=sum)

    def _lines(self) -> tuple[tuple[Fraction, Fraction, Fraction], ...]:
        return _lines(self)


@lru_cache(maxsize=64)
def _lines(piece: HaltingPiece) -> tuple[tuple[Fraction, Fraction, Fraction], ...]:
    """Return slope, value at 0 and the logarithm of the count, for each exponent."""
    first, second = piece.threshold_variance, piece.query_variance
    powers = [power for power in POWERS if power * first <= _ROOM * second]
    if not powers:
        raise Unsupported(
            "The queries' noise is too small for this bound",
            must="have at least 5/3 of the variance of the threshold's",
            got=f"{second} and {first}",
            next="Raise query_noise, or limit the number of queries",
        )
    move = piece.distance**2 / (2 * first)
    rho = 2 * piece.distance**2 / second
    found = []
    for power in powers:
        conjugate = power / (power - 1)
        count = log_halting_moment(first, second, piece.ceiling, power) / power
        found.append((move * conjugate + rho, -move * (conjugate - 1), max(Fraction(0), count)))
    return tuple(found)
