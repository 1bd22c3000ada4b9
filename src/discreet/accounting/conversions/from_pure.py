"""From pure privacy: to every measure that it implies a loss in."""

import math
from fractions import Fraction
from statistics import NormalDist

from discreet.accounting.conversions.choose import Candidates, choose, refuse_parameters
from discreet.accounting.conversions.from_approximate import (
    approximate_to_approximate,
    approximate_to_approximate_zcdp,
)
from discreet.accounting.curves.bounded import TightPure, pure_to_kl
from discreet.accounting.curves.curve import RenyiCurve
from discreet.accounting.curves.line import Line
from discreet.accounting.losses.result import Result
from discreet.accounting.tails.normal_tail import normal_tail_bounds
from discreet.core.errors import Unsupported
from discreet.core.loss import Approximate, GaussianDp, MeanConcentrated, Pure, Zcdp
from discreet.core.numbers import Number, exp_bounds, float_up
from discreet.core.rounding import short_up


def pure_to_approximate(
    loss: Pure,
    *,
    delta: Number | None = None,
    epsilon: Number | None = None,
    method: str = "auto",
) -> Result:
    r"""Return an :math:`(\varepsilon', \delta')` that ``loss`` implies; alone, with δ = 0.

    Guarantee:
        The same, with :math:`\delta = 0`, as
        :func:`~discreet.accounting.conversions.from_approximate.approximate_to_approximate`.

    Example:
        >>> pure_to_approximate(Pure(1)).loss
        Approximate(ε = 1, δ = 0)
    """
    same = Approximate(loss.epsilon, 0)
    return approximate_to_approximate(same, delta=delta, epsilon=epsilon, method=method)


def pure_to_zcdp(
    loss: Pure,
    *,
    delta: Number | None = None,
    epsilon: Number | None = None,
    method: str = "auto",
) -> Result:
    r"""Return a zCDP loss that ``loss`` implies.

    Guarantee:
        ``equivalent``: :math:`(\varepsilon, 0)`-zCDP is the same thing [Ste16, Lemma 2.3.1].
        ``half_square``: :math:`\rho = \varepsilon^2/2` [BS16, Proposition 1.4]. ``tanh``:
        :math:`\rho = \varepsilon\tanh(\varepsilon/2)`, the least possible
        (:func:`~discreet.accounting.curves.bounded.pure_to_kl`). ``auto`` keeps
        :math:`\xi = 0`; ``equivalent`` must be asked for.

    Example:
        >>> pure_to_zcdp(Pure("1/2"), method="half_square").loss
        Zcdp(ρ = 0.125)
        >>> round(float(pure_to_zcdp(Pure("1/2")).loss.rho), 12)
        0.122459331202
    """
    refuse_parameters(delta, epsilon)

    def with_line(name: str, theorem: str, rho: Fraction, xi: Fraction = Fraction(0)) -> Result:
        return Result(loss=Zcdp(rho=rho, xi=xi), method=name, theorem=theorem)

    half, tight = loss.epsilon**2 / 2, pure_to_kl(loss.epsilon)
    ways: Candidates = {
        "half_square": lambda: with_line("half_square", "BS16, Proposition 1.4", half),
        "tanh": lambda: with_line("tanh", "BS16, Proposition 1.4, sharpened", tight),
    }
    same = with_line("equivalent", "Ste16, Lemma 2.3.1", Fraction(0), loss.epsilon)
    return choose(ways, method, by="rho", named={"equivalent": lambda: same})


def pure_to_approximate_zcdp(
    loss: Pure,
    *,
    delta: Number | None = None,
    epsilon: Number | None = None,
    method: str = "auto",
) -> Result:
    """Return the zCDP loss, with no exceptional event."""
    same = Approximate(loss.epsilon, 0)
    return approximate_to_approximate_zcdp(same, delta=delta, epsilon=epsilon, method=method)


def pure_to_renyi(
    loss: Pure,
    *,
    delta: Number | None = None,
    epsilon: Number | None = None,
    method: str = "auto",
) -> Result:
    r"""Return the tight Rényi curve of ``loss`` (``tight``), or a line above it (``line``).

    Guarantee:
        :class:`~discreet.accounting.curves.bounded.TightPure`; the line is
        :math:`\varepsilon^2\alpha/2` [BS16, Proposition 1.4]. ``auto`` is the tight one.

    Example:
        >>> curve = pure_to_renyi(Pure(1)).loss
        >>> round(float(curve.upper(2)), 12), float(curve.upper(1000)) < 1
        (0.735325664056, True)
    """
    refuse_parameters(delta, epsilon)
    tight = Result(
        loss=RenyiCurve.of(TightPure(epsilon=loss.epsilon)),
        method="tight",
        theorem="Ste16, proof of Proposition 2.3.2",
    )
    line = Result(
        loss=RenyiCurve.of(Line(rho=loss.epsilon**2 / 2)),
        method="line",
        theorem="BS16, Proposition 1.4",
    )
    return choose({"tight": lambda: tight}, method, by="limit", named={"line": lambda: line})


def pure_to_mean_concentrated(
    loss: Pure,
    *,
    delta: Number | None = None,
    epsilon: Number | None = None,
    method: str = "auto",
) -> Result:
    r"""Return a mean-concentrated loss that ``loss`` implies.

    Guarantee:
        :math:`\mu = \varepsilon\tanh(\varepsilon/2)` bounds the mean, and :math:`\tau =
        \varepsilon` by Hoeffding's lemma, because :math:`|Z| \le \varepsilon` [Hoe63, Lemma 1].
        It improves the :math:`\mu = \varepsilon(e^\varepsilon - 1)/2` of [DR16, Theorem 3.5].

    Example:
        >>> pure_to_mean_concentrated(Pure("1/2")).loss.tau_squared
        Fraction(1, 4)
    """
    refuse_parameters(delta, epsilon)
    found = MeanConcentrated(mu=pure_to_kl(loss.epsilon), tau_squared=loss.epsilon**2)
    result = Result(loss=found, method="hoeffding", theorem="DR16, Theorem 3.5, sharpened")
    return choose({"hoeffding": lambda: result}, method, by="tau_squared")


def pure_to_gaussian(
    loss: Pure,
    *,
    delta: Number | None = None,
    epsilon: Number | None = None,
    method: str = "auto",
) -> Result:
    r"""Return the Gaussian loss that ``loss`` implies.

    Guarantee:
        :math:`\mu = 2\Phi^{-1}(e^\varepsilon / (1 + e^\varepsilon))`, rounded up.
        The trade-off function of :math:`\varepsilon`-DP is two straight lines from (0, 1) and
        (1, 0) to :math:`(c, c)`, :math:`c = 1/(1 + e^\varepsilon)` [WZ10]. That of
        :math:`\mu`-Gaussian DP is convex, has the same ends, and passes :math:`(c, c)` if
        :math:`\Phi(-\mu/2) = c`: so it is nowhere above the lines [DRS22, section 2]. No smaller
        :math:`\mu` will do, because it would be above them there. The tail at the result is
        certified.

    Example:
        >>> round(float(pure_to_gaussian(Pure(1)).loss.mu_squared) ** 0.5, 6)
        1.232035
    """
    refuse_parameters(delta, epsilon)

    def kink() -> Result:
        found = GaussianDp(mu_squared=_square_of_kink(loss.epsilon))
        return Result(loss=found, method="kink", theorem="DRS22, section 2")

    return choose({"kink": kink}, method, by="mu_squared")


def _square_of_kink(epsilon: Fraction) -> Fraction:
    r"""Return a :math:`\mu^2` with :math:`P[N > \mu/2] \le 1/(1 + e^\varepsilon)`."""
    if epsilon == 0:
        return Fraction(0)
    if epsilon > _LARGEST_KINK:
        raise Unsupported("This loss is too large to convert", must=f"be at most {_LARGEST_KINK}")
    bits = 128 + 2 * math.ceil(epsilon) + 2 * math.ceil(1 / epsilon).bit_length()
    level = exp_bounds(-epsilon, bits)[0] / (1 + exp_bounds(-epsilon, bits)[0])
    guess = _near_square(epsilon)
    step = Fraction(1, 2**48)
    while normal_tail_bounds(guess * (1 + step), bits)[1] > level:
        step *= 4
    return 4 * short_up(guess * (1 + step))


def _near_square(epsilon: Fraction) -> Fraction:
    r"""Return about :math:`\mu^2/4`; near 0 the level is :math:`1/2 - \varepsilon/4`."""
    if epsilon < _SMALL_KINK:
        return epsilon**2 * Fraction(math.pi / 8)
    return Fraction(NormalDist().inv_cdf(1 / (1 + math.exp(float_up(epsilon)))) ** 2)


_LARGEST_KINK, _SMALL_KINK = 600, Fraction(1, 10**6)
