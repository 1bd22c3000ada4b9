r"""From Gaussian privacy: its exact :math:`(\varepsilon, \delta)` curve, zCDP and Rényi."""

import math
from fractions import Fraction

from discreet.accounting.conversions.choose import (
    choose,
    one_of,
    promises_nothing,
    refuse_parameters,
)
from discreet.accounting.conversions.from_zcdp import zcdp_to_mean_concentrated
from discreet.accounting.conversions.search import least_above
from discreet.accounting.curves.curve import RenyiCurve
from discreet.accounting.curves.noise import GaussianPiece
from discreet.accounting.losses.result import Result
from discreet.accounting.tails.normal_tail import mills_bounds, mills_estimate, pi_bounds
from discreet.core.loss import Approximate, GaussianDp, Zcdp
from discreet.core.numbers import Number, exp_bounds, float_up, log_bounds, sqrt_bounds
from discreet.core.rounding import (
    BITS,
    Ends,
    exp_down,
    exp_up,
    log_down,
    log_up,
    short_down,
    short_up,
)

_THEOREM = "BW18, Theorem 8; DRS22, Corollary 1"
_FINE = Fraction(1, 2**40)
_MOST_BITS = 2048


def gaussian_log_delta(mu_squared: Fraction, epsilon: Fraction) -> Ends:
    r"""Enclose :math:`\ln\delta` of the exact curve of :math:`\mu`-Gaussian DP, for μ above 0.

    Guarantee:
        :math:`\delta(\varepsilon) = P[N > x_1] - e^\varepsilon P[N > x_2]` with
        :math:`x_{1,2} = \varepsilon/\mu \mp \mu/2` [BW18, Theorem 8]. The squares of both are
        rational. Where :math:`x_1 > 0`, :math:`e^\varepsilon\varphi(x_2) = \varphi(x_1)` makes it
        :math:`\varphi(x_1)` times the difference of two Mills ratios :math:`R`, and elsewhere
        :math:`1 - \varphi(x_1)(R(-x_1) + R(x_2))`, so that nothing underflows.

    Example:
        >>> low, high = gaussian_log_delta(Fraction("0.2"), Fraction("1.994527"))
        >>> float(high), high - low < Fraction(1, 2**30)
        (-13.8155..., True)
    """
    near = epsilon**2 / mu_squared - epsilon + mu_squared / 4
    far = near + 2 * epsilon
    bits = BITS
    while True:
        first, second = mills_bounds(near, bits), mills_bounds(far, bits)
        if 2 * epsilon <= mu_squared:
            low, high = _central(near, first, second, bits)
            shift = (Fraction(0), Fraction(0))
        else:
            low, high = first[0] - second[1], first[1] - second[0]
            shift = _log_density(near)
        if (low > 0 and (high - low) * 2**40 <= high) or bits >= _MOST_BITS:
            least = log_down(low) + shift[0] if low > 0 else Fraction(-(10**9))
            return least, log_up(high) + shift[1]
        bits *= 2


def _central(near: Fraction, first: Ends, second: Ends, bits: int) -> Ends:
    """Enclose the difference where the first threshold is at most 0: both tails are taken off 1."""
    density = exp_bounds(-near / 2, bits)
    pi_low, pi_high = pi_bounds(bits)
    scale_low, scale_high = sqrt_bounds(2 * pi_low, bits)[0], sqrt_bounds(2 * pi_high, bits)[1]
    low = 1 - density[1] / scale_low * (first[1] + second[1])
    high = 1 - density[0] / scale_high * (first[0] + second[0])
    return short_down(low, bits), short_up(high, bits)


def _log_density(square: Fraction) -> Ends:
    pi_low, pi_high = pi_bounds(BITS)
    low = -square / 2 - log_bounds(2 * pi_high, BITS)[1] / 2
    return low, -square / 2 - log_bounds(2 * pi_low, BITS)[0] / 2


def _estimate(mu: float, epsilon: float) -> float:
    """Return about the logarithm of δ."""
    first, second = epsilon / mu - mu / 2, epsilon / mu + mu / 2
    if first <= 0:
        density = math.exp(-first * first / 2) / math.sqrt(2 * math.pi)
        value = 1 - density * (mills_estimate(-first) + mills_estimate(second))
        return math.log(value) if value > 0 else -math.inf
    middle = epsilon / mu
    if mu < 1e-4:
        log_ratio = math.log(mu) + math.log(max(1e-300, _slope(middle)))
    else:
        log_ratio = math.log(max(1e-300, mills_estimate(first) - mills_estimate(second)))
    return log_ratio - first * first / 2 - math.log(2 * math.pi) / 2


def _slope(x: float) -> float:
    """Return about how fast the Mills ratio falls at ``x``."""
    return 1 - x * mills_estimate(x) if x < 25 else (1 - 3 / (x * x)) / (x * x)


def gaussian_to_approximate(
    loss: GaussianDp,
    *,
    delta: Number | None = None,
    epsilon: Number | None = None,
    method: str = "auto",
) -> Result:
    r"""Return the point of the exact curve at the number given; ``lower`` is just below it.

    Guarantee:
        :math:`\mu`-Gaussian DP is the curve of :func:`gaussian_log_delta` for every
        :math:`\varepsilon \ge 0`, no more and no less [DRS22, Corollary 1].

    Example:
        >>> result = gaussian_to_approximate(GaussianDp(mu_squared="0.2"), delta="1e-6")
        >>> round(float(result.loss.epsilon), 6), round(float(result.lower.epsilon), 6)
        (1.994527, 1.994527)
    """
    found_delta, found_epsilon = one_of(delta, epsilon)

    def exactly() -> Result:
        if loss.mu_squared == 0:
            pair = low = Approximate(found_epsilon or 0, 0)
        elif found_delta is not None:
            pair, low = _at_delta(loss.mu_squared, found_delta)
        else:
            assert found_epsilon is not None
            ends = gaussian_log_delta(loss.mu_squared, found_epsilon)
            if ends[1] >= 0:
                raise promises_nothing("exact")
            pair = Approximate(found_epsilon, exp_up(ends[1]))
            low = Approximate(found_epsilon, exp_down(ends[0]))
        return Result(loss=pair, lower=low, method="exact", theorem=_THEOREM)

    return choose({"exact": exactly}, method, by="epsilon" if found_epsilon is None else "delta")


def _at_delta(mu_squared: Fraction, delta: Fraction) -> tuple[Approximate, Approximate]:
    wanted, mu = log_bounds(delta, BITS), math.sqrt(float_up(mu_squared))
    level = float(wanted[0])
    found = least_above(
        Fraction(0),
        estimate=lambda epsilon: _estimate(mu, epsilon) - level,
        certain=lambda epsilon: gaussian_log_delta(mu_squared, epsilon)[1] <= wanted[0],
    )
    step, below = _FINE, found
    while below > 0 and gaussian_log_delta(mu_squared, below)[0] <= wanted[1]:
        below, step = max(Fraction(0), short_down(found * (1 - step), 48)), step * 16
    return Approximate(found, delta), Approximate(below, delta)


def gaussian_to_zcdp(
    loss: GaussianDp,
    *,
    delta: Number | None = None,
    epsilon: Number | None = None,
    method: str = "auto",
) -> Result:
    r"""Return :math:`\rho = \mu^2/2`.

    Guarantee:
        The two normal laws have :math:`D_\alpha = \alpha\mu^2/2` [BS16, Lemma 2.4], and a pair that
        is no easier to tell apart is a post-processing of them [DRS22, section 2].

    Example:
        >>> gaussian_to_zcdp(GaussianDp(mu_squared="1/2")).loss
        Zcdp(ρ = 0.25)
    """
    refuse_parameters(delta, epsilon)
    line = Zcdp(rho=loss.mu_squared / 2)
    result = Result(loss=line, method="line", theorem="BS16, Lemma 2.4")
    return choose({"line": lambda: result}, method, by="rho")


def gaussian_to_renyi(
    loss: GaussianDp,
    *,
    delta: Number | None = None,
    epsilon: Number | None = None,
    method: str = "auto",
) -> Result:
    """Return the Rényi curve of the two normal laws."""
    refuse_parameters(delta, epsilon)
    curve = RenyiCurve.of(GaussianPiece(mu_squared=loss.mu_squared))
    result = Result(loss=curve, method="line", theorem="BS16, Lemma 2.4")
    return choose({"line": lambda: result}, method, by="limit")


def gaussian_to_mean_concentrated(
    loss: GaussianDp,
    *,
    delta: Number | None = None,
    epsilon: Number | None = None,
    method: str = "auto",
) -> Result:
    r"""Return a mean-concentrated loss that ``loss`` implies, by way of zCDP.

    Guarantee:
        Gaussian noise itself has :math:`(\mu^2/2, \mu)`-mCDP. A mechanism that is merely no
        easier to tell apart need not: mCDP is not closed under post-processing
        [BS16, section 4.1]. So the bound goes through :math:`\mu^2/2`-zCDP, which is
        (:func:`~discreet.accounting.conversions.from_zcdp.zcdp_to_mean_concentrated`).

    Example:
        >>> found = gaussian_to_mean_concentrated(GaussianDp(mu_squared=1)).loss
        >>> float(found.mu), round(float(found.tau_squared), 4)
        (0.5, 6.8731)
    """
    refuse_parameters(delta, epsilon)
    return zcdp_to_mean_concentrated(Zcdp(rho=loss.mu_squared / 2), method=method)
