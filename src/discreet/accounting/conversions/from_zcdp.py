r"""From zCDP: to :math:`(\varepsilon, \delta)` in six ways, and to the measures beside it."""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial

from attrs import frozen

from discreet.accounting.conversions.choose import (
    Candidates,
    choose,
    one_of,
    promises_nothing,
    refuse_parameters,
)
from discreet.accounting.conversions.from_pure import pure_to_approximate
from discreet.accounting.conversions.from_renyi import IMPROVED
from discreet.accounting.conversions.search import least_above
from discreet.accounting.curves.curve import RenyiCurve
from discreet.accounting.curves.line import Line
from discreet.accounting.losses.result import Result
from discreet.accounting.tails.normal_tail import log_tail_bounds, log_tail_estimate, pi_bounds
from discreet.core.errors import Unsupported
from discreet.core.loss import Approximate, ApproximateZcdp, MeanConcentrated, Pure, Zcdp
from discreet.core.numbers import Number, exact, float_up
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

_PI_LOW, _PI_HIGH = pi_bounds(BITS)


@frozen
class GapBound:
    r"""A bound on :math:`\delta` by the gap :math:`g = \varepsilon - \xi - \rho \ge 0`.

    It is :math:`\delta = e^{-g^2/4\rho}` times a factor. ``log_factor`` returns the logarithm of
    the factor rounded up, ``estimate`` about the same.
    """

    method: str
    theorem: str
    log_factor: Callable[[Fraction, Fraction], Fraction]
    estimate: Callable[[float, float], float]

    def log_delta(self, loss: Zcdp, epsilon: Fraction) -> Fraction:
        """Return a bound on the logarithm of δ."""
        gap = epsilon - loss.xi - loss.rho
        if gap < 0:
            raise Unsupported(
                f"The method '{self.method}' does not reach this ε",
                must="be at least ξ + ρ",
                got=f"ε = {epsilon}",
                next="Use the method 'cks', which has no such condition",
            )
        return self.log_factor(gap, loss.rho) - gap**2 / (4 * loss.rho)

    def epsilon(self, loss: Zcdp, delta: Fraction) -> Fraction:
        """Return an ε that is enough at ``delta``."""
        wanted = log_down(delta)
        level, rho = float(wanted), float_up(loss.rho)
        return least_above(
            loss.xi + loss.rho,
            estimate=lambda gap: self.estimate(gap, rho) - gap**2 / (4 * rho) - level,
            certain=lambda epsilon: self.log_delta(loss, epsilon) <= wanted,
        )

    def result(self, loss: Zcdp, delta: Fraction | None, epsilon: Fraction | None) -> Result:
        """Return the :math:`(ε, δ)` at the number that was given."""
        if delta is not None:
            found = Approximate(short_up(self.epsilon(loss, delta)), delta)
        else:
            assert epsilon is not None
            log_delta = self.log_delta(loss, epsilon)
            if log_delta >= 0:
                raise promises_nothing(self.method)
            found = Approximate(epsilon, exp_up(log_delta))
        return Result(loss=found, method=self.method, theorem=self.theorem)


class _Basic(GapBound):
    def epsilon(self, loss: Zcdp, delta: Fraction) -> Fraction:
        return loss.xi + loss.rho + 2 * sqrt_up(-loss.rho * log_down(delta))


class _SquareRoot(GapBound):
    def epsilon(self, loss: Zcdp, delta: Fraction) -> Fraction:
        excess = log_up(_PI_HIGH * loss.rho) / 2 - log_down(delta)
        return loss.xi + loss.rho + 2 * sqrt_up(loss.rho * max(Fraction(0), excess))


def _reciprocal(gap: Fraction, rho: Fraction) -> Fraction:
    return -log_down(1 + gap / (2 * rho))


def _mills(gap: Fraction, rho: Fraction) -> Fraction:
    u = short_down(1 + gap / (2 * rho), BITS)
    return log_up(Fraction(2)) - log_down(u + sqrt_down(u * u + 4 / (_PI_HIGH * rho)))


def _mills_estimate(gap: float, rho: float) -> float:
    u = 1 + gap / (2 * rho)
    return math.log(2) - math.log(u + math.sqrt(u * u + 4 / (math.pi * rho)))


def _integral(gap: Fraction, rho: Fraction) -> Fraction:
    tail = log_tail_bounds((gap + 2 * rho) ** 2 / (2 * rho))[1]
    scale = log_up(Fraction(2)) + log_up(_PI_HIGH * rho) / 2
    return gap + rho + scale + tail + gap**2 / (4 * rho)


def _integral_estimate(gap: float, rho: float) -> float:
    x = (gap + 2 * rho) / math.sqrt(2 * rho)
    tail = log_tail_estimate(x) + x * x / 2
    return math.log(2) + math.log(math.pi * rho) / 2 + tail


BASIC = _Basic(
    "basic",
    "BS16, Proposition 1.3 (Ste16, Lemma 2.3.6)",
    lambda gap, rho: Fraction(0),
    lambda gap, rho: 0.0,
)
SQUARE_ROOT = _SquareRoot(
    "square_root",
    "Ste16, Lemma 2.3.7, for δ at most √(πρ) (above it ε = ξ + ρ)",
    lambda gap, rho: log_up(_PI_HIGH * rho) / 2,
    lambda gap, rho: math.log(math.pi * rho) / 2,
)
RECIPROCAL = GapBound(
    "reciprocal",
    "Ste16, Lemma 2.3.8, third option",
    _reciprocal,
    lambda gap, rho: -math.log1p(gap / (2 * rho)),
)
MILLS = GapBound("mills", "Ste16, Lemma 2.3.8, fourth option", _mills, _mills_estimate)
INTEGRAL = GapBound("integral", "Ste16, proof of Lemma 2.3.8", _integral, _integral_estimate)
GAP_BOUNDS = (BASIC, SQUARE_ROOT, RECIPROCAL, MILLS, INTEGRAL)


def _cks(loss: Zcdp, delta: Fraction | None, epsilon: Fraction | None) -> Result:
    curve = RenyiCurve.of(Line(rho=loss.rho, xi=loss.xi))
    result = IMPROVED.result(curve, delta, epsilon)
    return Result(loss=result.loss, method="cks", theorem="CKS20, Corollary 13")


def candidates(loss: Zcdp, delta: Fraction | None, epsilon: Fraction | None) -> Candidates:
    """Return all ways to an (ε, δ), for a ρ above 0."""
    gaps: Candidates = {
        bound.method: partial(bound.result, loss, delta, epsilon) for bound in GAP_BOUNDS
    }
    return {**gaps, "cks": lambda: _cks(loss, delta, epsilon)}


def zcdp_to_approximate(
    loss: Zcdp,
    *,
    delta: Number | None = None,
    epsilon: Number | None = None,
    method: str = "auto",
) -> Result:
    r"""Return an :math:`(\varepsilon, \delta)` that ``loss`` implies.

    Guarantee:
        With :math:`g = \varepsilon - \xi - \rho \ge 0` and :math:`u = 1 + g/2\rho`, each of these
        is a valid :math:`\delta` [Ste16, Lemmas 2.3.6 to 2.3.8]:

        * ``basic``: :math:`e^{-g^2/4\rho}`, that is
          :math:`\varepsilon = \xi + \rho + 2\sqrt{\rho\ln(1/\delta)}`;
        * ``square_root``: :math:`e^{-g^2/4\rho}\sqrt{\pi\rho}`. Printed for every
          :math:`\delta > 0`, but its closed form needs :math:`\delta \le \sqrt{\pi\rho}`; above
          that, :math:`\varepsilon = \xi + \rho` will do;
        * ``reciprocal``: :math:`e^{-g^2/4\rho}/u`;
        * ``mills``: :math:`e^{-g^2/4\rho}\cdot 2/(u + \sqrt{u^2 + 4/\pi\rho})`, never worse than
          the three above;
        * ``integral``: :math:`e^{\varepsilon-\xi}\,2\sqrt{\pi\rho}\,
          P[N > (\varepsilon+\rho-\xi)/\sqrt{2\rho}]`, the integral that the options bound.

        And for every :math:`\varepsilon \ge 0`, ``cks`` is the least over :math:`\alpha > 1` of
        :math:`e^{(\alpha-1)(\xi+\rho\alpha-\varepsilon)}(1-1/\alpha)^\alpha/(\alpha-1)`
        [CKS20, Corollary 13]. ``auto`` takes the best and says which it was.

    Example:
        >>> result = zcdp_to_approximate(Zcdp(rho="0.1"), delta="1e-6")
        >>> result.method, round(float(result.loss.epsilon), 6)
        ('cks', 2.141939)
        >>> [(r.method, round(float(r.loss.epsilon), 4)) for r in result.others]
        [('integral', 2.2286), ('mills', 2.2296), ('reciprocal', 2.2316), ('square_root', 2.401),
         ('basic', 2.4508)]
    """
    found_delta, found_epsilon = one_of(delta, epsilon)
    if loss.rho == 0:
        return pure_to_approximate(Pure(loss.xi), delta=delta, epsilon=epsilon)
    ways = candidates(loss, found_delta, found_epsilon)
    return choose(ways, method, by="epsilon" if found_epsilon is None else "delta")


def rho_for(epsilon: Number, delta: Number, *, xi: Number = 0) -> Fraction:
    r"""Return a :math:`\rho` with which ``basic`` promises :math:`(\varepsilon, \delta)`.

    Guarantee:
        :math:`\rho = (\sqrt{\varepsilon - \xi + L} - \sqrt L)^2` with :math:`L = \ln(1/\delta)`,
        rounded down, so that :math:`\xi + \rho + 2\sqrt{\rho L} \le \varepsilon`
        [BS16, Proposition 1.3, solved for ρ].

    Example:
        >>> round(float(rho_for(1, "1e-6")), 8)
        0.0174689
    """
    room = exact(epsilon) - exact(xi)
    log_high = -log_down(_checked(delta))
    if room < 0:
        raise Unsupported("No ρ is small enough", must="have an ε of at least ξ", got=str(epsilon))
    root = room / (sqrt_up(room + log_high) + sqrt_up(log_high))
    return short_down(root * root)


def _checked(delta: Number) -> Fraction:
    value, _ = one_of(delta, None)
    assert value is not None
    return value


def zcdp_to_pure(
    loss: Zcdp,
    *,
    delta: Number | None = None,
    epsilon: Number | None = None,
    method: str = "auto",
) -> Result:
    r"""Return the pure loss of a :math:`(\xi, 0)`-zCDP mechanism, which is the same thing.

    Guarantee:
        :math:`D_\alpha \le \xi` at every order is :math:`D_\infty \le \xi` [Ste16, Lemma 2.3.1].
        With :math:`\rho > 0` there is no pure loss: Gaussian noise has none.

    Example:
        >>> zcdp_to_pure(Zcdp(rho=0, xi=2)).loss
        Pure(ε = 2)
    """
    refuse_parameters(delta, epsilon)

    def equivalent() -> Result:
        if loss.rho > 0:
            raise Unsupported(
                "zCDP with a ρ above 0 implies no pure loss",
                must="have ρ = 0",
                got=f"ρ = {loss.rho}",
                next="Convert to approximate, with a δ",
            )
        return Result(loss=Pure(loss.xi), method="equivalent", theorem="Ste16, Lemma 2.3.1")

    return choose({"equivalent": equivalent}, method, by="epsilon")


def zcdp_to_renyi(
    loss: Zcdp,
    *,
    delta: Number | None = None,
    epsilon: Number | None = None,
    method: str = "auto",
) -> Result:
    """Return the line as a Rényi curve, which it is by definition."""
    refuse_parameters(delta, epsilon)
    curve = RenyiCurve.of(Line(rho=loss.rho, xi=loss.xi))
    result = Result(loss=curve, method="line", theorem="BS16, Definition 1.1")
    return choose({"line": lambda: result}, method, by="limit")


def zcdp_to_approximate_zcdp(
    loss: Zcdp,
    *,
    delta: Number | None = None,
    epsilon: Number | None = None,
    method: str = "auto",
) -> Result:
    """Return the same loss with no exceptional event."""
    refuse_parameters(delta, epsilon)
    same = ApproximateZcdp(rho=loss.rho, delta=0, xi=loss.xi)
    result = Result(loss=same, method="no_exception", theorem="BS16, Definition 8.1")
    return choose({"no_exception": lambda: result}, method, by="rho")


def zcdp_to_mean_concentrated(
    loss: Zcdp,
    *,
    delta: Number | None = None,
    epsilon: Number | None = None,
    method: str = "auto",
) -> Result:
    r"""Return a mean-concentrated loss that ``loss`` implies.

    Guarantee:
        :math:`(\xi, \rho)`-zCDP in both directions implies :math:`(\mu, \tau)`-mCDP with
        :math:`\mu = \xi + \rho` and :math:`\tau^2 = c\,(e^{\xi+2\rho} - 1)`, for :math:`c = 8`
        (``safe``: what the proof of [Ste16, Lemma 2.4.3] gives) and for :math:`c = 4` (``sharp``).
        The lemma as printed, :math:`\tau^2 = O(\xi+2\rho)`, is false for large :math:`\xi+2\rho`.

        Proof for 4. Let :math:`b = \xi + 2\rho`. For :math:`|\lambda| \le \frac12`,
        :math:`E[e^{\lambda(Z-EZ)}] \le E[\cosh(2\lambda Z)]` [Ste16, Lemma 2.4.4]
        :math:`\le 1 + 4\lambda^2 (E[\cosh Z] - 1)`, as :math:`|2\lambda| \le 1`; and
        :math:`E[e^Z] \le e^b`, :math:`E[e^{-Z}] \le 1`, so this is at most
        :math:`1 + 2\lambda^2(e^b - 1) \le e^{\lambda^2\tau^2/2}`. For :math:`\lambda > \frac12`,
        :math:`E[e^{\lambda(Z-EZ)}] \le e^{\lambda(\xi+\rho+\rho\lambda)}
        \le e^{\lambda^2(2\xi+3\rho)}`. For :math:`\lambda = -a < -\frac12`, the factor
        :math:`e^{aEZ} \le e^{a(\xi+\rho)}` meets :math:`E[e^{-aZ}] \le 1` if :math:`a \le 1` and
        :math:`\le e^{(a-1)(\xi+\rho a)}` otherwise; either way the exponent is at most
        :math:`2a^2(\xi+\rho)`. All are at most :math:`2\lambda^2 b \le 2\lambda^2(e^b-1)`.

    Example:
        >>> result = zcdp_to_mean_concentrated(Zcdp(rho="1/2"))
        >>> result.method, float(result.loss.mu), round(float(result.loss.tau_squared), 4)
        ('sharp', 0.5, 6.8731)
    """
    refuse_parameters(delta, epsilon)
    growth = exp_up(loss.xi + 2 * loss.rho) - 1

    def with_factor(factor: int, name: str, theorem: str) -> Result:
        found = MeanConcentrated(mu=loss.xi + loss.rho, tau_squared=short_up(factor * growth))
        return Result(loss=found, method=name, theorem=theorem)

    ways: Candidates = {
        "safe": lambda: with_factor(8, "safe", "Ste16, Lemma 2.4.3, corrected"),
        "sharp": lambda: with_factor(4, "sharp", "Ste16, Lemma 2.4.3, corrected and sharpened"),
    }
    return choose(ways, method, by="tau_squared")
