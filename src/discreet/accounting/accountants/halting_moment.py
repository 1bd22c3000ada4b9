"""How long a Gaussian sparse vector machine can run: a moment of its stopping time, certified."""

from fractions import Fraction
from functools import lru_cache

from discreet.accounting.tails.mills import log_tail_bounds
from discreet.accounting.tails.normal_tail import normal_tail_bounds, pi_bounds
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.rounding import BITS, exp_up, log_down, log_up, short_down, short_up, sqrt_down

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
