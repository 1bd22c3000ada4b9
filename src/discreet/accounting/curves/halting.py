"""The Rényi curve of a Gaussian sparse vector machine for queries that are never negative."""

from fractions import Fraction
from functools import lru_cache

from attrs import field, frozen

from discreet.accounting.curves.curve import CurvePiece, require_order
from discreet.accounting.curves.line import raised, raised_estimate
from discreet.accounting.tails.normal_tail import log_tail_bounds, normal_tail_bounds, pi_bounds
from discreet.core import check
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.numbers import exact
from discreet.core.rounding import (
    BITS,
    exp_up,
    log_down,
    log_up,
    short_down,
    short_up,
    sqrt_down,
    sqrt_up,
)

CELLS_PER_SIGMA = 32
"""How finely the threshold's noise is divided; more cells give a lower bound, never a wrong one."""

FURTHEST = 64
"""Thresholds further away, in standard deviations, have moments that are of no use."""

_LEFT = 9
_NEGLIGIBLE = Fraction(1, 1 << 30)


@lru_cache(maxsize=256)
def log_halting_moment(
    threshold_variance: Fraction, query_variance: Fraction, ceiling: int, power: Fraction
) -> Fraction:
    r"""Return a bound on :math:`\ln E_z[\,E[K \mid z]^\gamma]`, rounded up.

    :math:`K` is the number of queries until the first is above, :math:`z` the noise of the
    threshold, and no query is negative.

    Guarantee:
        Each query is above with probability at least :math:`P[\nu \ge T + z]`, whatever was
        answered before, so :math:`E[K | z] \le 1 / P[\nu \ge T + z]`. For discrete Gaussian noise
        that probability is at least the normal one, :math:`\bar\Phi((T+z)/\sigma_2)`, up to a
        factor of :math:`1 + 3e^{-19\sigma_2^2}`: weights that fall are summed to more than their
        integral from :math:`m` and to less than that from :math:`m - 1`, and all of them to
        :math:`\sigma_2\sqrt{2\pi}` times at most that factor (Poisson). Likewise
        :math:`P[z] \le e^{-z^2/2\sigma_1^2} / (\sigma_1\sqrt{2\pi})`. The expectation is summed
        over cells of :math:`z`, each with its largest weight and its last tail, which is the
        smallest. To the left of all cells, :math:`P[z \le -t] \le e^{-t^2/2\sigma_1^2}`; to the
        right, :math:`\bar\Phi(x) \ge \varphi(x)/(2x)` for :math:`x \ge 1` makes the logarithm of a
        term concave, so that the rest is below a geometric series.

        [Das22, Theorem 9.11] prints a closed form that is too small for a small :math:`T`: for
        :math:`\sigma_2^2 = 3\sigma_1^2` and :math:`T = 0` the second moment is 12.96 and not
        11.88.

    Example:
        >>> import math
        >>> bound = log_halting_moment(Fraction(400), Fraction(1200), 0, Fraction(2))
        >>> 12.96 < math.exp(bound) < 14
        True
    """
    _require(threshold_variance, query_variance, power)
    if ceiling**2 > FURTHEST**2 * threshold_variance:
        raise Unsupported(
            "The threshold is too far from 0 for its noise",
            must=f"be at most {FURTHEST} of its standard deviations away",
            next="Raise the noise, or limit the number of queries",
        )
    pi_low, _ = pi_bounds(BITS)
    height = 1 / sqrt_down(2 * pi_low * threshold_variance)
    slack = 3 * exp_up(-19 * query_variance)
    sigma = int(sqrt_down(threshold_variance))
    width = max(1, sigma // CELLS_PER_SIGMA)
    start = -_LEFT * (sigma + 1)

    def fails(z: int) -> Fraction:
        return power * (slack - _log_tail(query_variance, ceiling + z))

    total = exp_up(-Fraction(start**2) / (2 * threshold_variance) + fails(start))
    z = start
    while True:
        last = z + width - 1
        nearest = max(0, z, -last)
        weight = -Fraction(nearest**2) / (2 * threshold_variance)
        total += width * height * exp_up(short_up(weight + fails(last), BITS))
        z += width
        if (rest := _rest(threshold_variance, query_variance, ceiling, power, z)) is not None:
            rest *= height * exp_up(power * slack)
            if rest <= _NEGLIGIBLE * total:
                return log_up(short_up(total + rest, BITS))


@lru_cache(maxsize=1 << 14)
def _log_tail(variance: Fraction, start: int) -> Fraction:
    r"""Return :math:`\ln \bar\Phi(start/\sigma)`, rounded down."""
    square = Fraction(start * start) / variance
    if start >= 0:
        return short_down(log_tail_bounds(short_up(square, BITS))[0], BITS)
    return log_down(1 - normal_tail_bounds(short_down(square, BITS))[1])


def _rest(
    first: Fraction, second: Fraction, ceiling: int, power: Fraction, z: int
) -> Fraction | None:
    """Bound the terms from ``z`` on, without their common height, if they fall from there."""
    if z <= 0 or (ceiling + z) ** 2 < second:
        return None
    fall = z / first - power * (ceiling + z) / second - power / Fraction(ceiling + z)
    if fall <= 0:
        return None
    _, pi_high = pi_bounds(BITS)
    # ln(2 x sqrt(2 pi)) with x² = (T + z)² / second.
    root = log_up(8 * pi_high * (ceiling + z) ** 2 / second) / 2
    exponent = -Fraction(z * z) / (2 * first) + power * (
        Fraction((ceiling + z) ** 2) / (2 * second) + root
    )
    return exp_up(short_up(exponent, BITS)) * (1 + 1 / fall)


def _require(first: Fraction, second: Fraction, power: Fraction) -> None:
    if power <= 1 or power * first >= second or second < Fraction(1, 4):
        raise InvalidArgument(
            "This moment has no bound",
            must="have a power above 1, query noise of more than that many times the variance of "
            "the threshold's, and a variance of at least 1/4",
            got=f"power = {power}, variances = {first} and {second}",
        )


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
        (:func:`~discreet.accounting.curves.halting.log_halting_moment`).

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
