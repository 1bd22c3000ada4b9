"""From (ε, δ), one or a curve of them: to weaker ones, and to zCDP."""

from fractions import Fraction

from discreet.accounting.conversions.choose import (
    Candidates,
    choose,
    optional_delta,
    optional_epsilon,
    refuse_parameters,
)
from discreet.accounting.curves.bounded import pure_to_kl
from discreet.accounting.losses.result import Result
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.loss import Approximate, ApproximateZcdp, Zcdp
from discreet.core.numbers import Number, exact
from discreet.core.rounding import exp_down, log_up, short_up, sqrt_up

_COMPLETE = "KOV15 (Ste16, Lemma 2.8.6)"


def approximate_to_approximate(
    loss: Approximate,
    *,
    delta: Number | None = None,
    epsilon: Number | None = None,
    method: str = "auto",
) -> Result:
    r"""Return another :math:`(\varepsilon', \delta')` that ``loss`` implies; alone, itself.

    Guarantee:
        Every :math:`(\varepsilon, \delta)`-DP pair is a post-processing of one mechanism: tell the
        bit with probability :math:`\delta`, else answer by :math:`\varepsilon`-randomised response.
        So for :math:`\varepsilon' \le \varepsilon` the best :math:`\delta'` is
        :math:`\delta + (1-\delta)(e^\varepsilon - e^{\varepsilon'})/(1 + e^\varepsilon)`
        [KOV15; Ste16, Lemma 2.8.6], and for larger ones it is :math:`\delta`.

    Example:
        >>> round(float(approximate_to_approximate(Approximate(1, 0), epsilon=0).loss.delta), 12)
        0.46211715726
    """
    if delta is not None and epsilon is not None:
        raise InvalidArgument("Only one number can be chosen", must="be delta or epsilon, not both")
    found_delta = optional_delta(delta, least_is_valid=True)
    found_epsilon = optional_epsilon(epsilon)

    def complete() -> Result:
        if found_delta is not None:
            pair = Approximate(_epsilon(loss, found_delta), found_delta)
        elif found_epsilon is not None:
            pair = Approximate(found_epsilon, _delta(loss, found_epsilon))
        else:
            pair = loss
        return Result(loss=pair, method="complete", theorem=_COMPLETE)

    return choose({"complete": complete}, method, by="delta")


def _delta(loss: Approximate, epsilon: Fraction) -> Fraction:
    if epsilon >= loss.epsilon:
        return loss.delta
    fall = exp_down(epsilon - loss.epsilon)
    excess = (1 - fall) / (1 + exp_down(-loss.epsilon))
    return short_up(loss.delta + (1 - loss.delta) * excess)


def _epsilon(loss: Approximate, delta: Fraction) -> Fraction:
    if delta < loss.delta:
        raise Unsupported(
            "A smaller δ does not follow",
            must=f"be at least {loss.delta}",
            got=str(delta),
            next="Give a δ that is not below the loss's own",
        )
    share = (delta - loss.delta) / (1 - loss.delta)
    least = 1 - share * (1 + exp_down(-loss.epsilon))
    if least <= 0:
        return Fraction(0)
    return min(loss.epsilon, max(Fraction(0), short_up(loss.epsilon + log_up(least))))


def approximate_to_approximate_zcdp(
    loss: Approximate,
    *,
    delta: Number | None = None,
    epsilon: Number | None = None,
    method: str = "auto",
) -> Result:
    r"""Return a :math:`\delta`-approximate zCDP that ``loss`` implies, with the same δ.

    Guarantee:
        ``equivalent``: :math:`\delta`-approximate :math:`(\varepsilon, 0)`-zCDP is the same thing.
        ``half_square``: it implies :math:`\delta`-approximate :math:`\varepsilon^2/2`-zCDP
        [Ste16, Corollary 2.8.7 and Lemma 2.8.3]. ``tanh``: outside the exceptional events the pair
        is :math:`\varepsilon`-DP, so :math:`\rho = \varepsilon\tanh(\varepsilon/2)` will do
        (:func:`~discreet.accounting.curves.bounded.pure_to_kl`). ``auto`` keeps :math:`\xi = 0`.

    Example:
        >>> approximate_to_approximate_zcdp(Approximate(1, "1e-6"), method="half_square").loss
        ApproximateZcdp(ρ = 0.5, δ = 0.000001)
    """
    refuse_parameters(delta, epsilon)

    def with_line(name: str, theorem: str, rho: Fraction, xi: Fraction = Fraction(0)) -> Result:
        found = ApproximateZcdp(rho=rho, delta=loss.delta, xi=xi)
        return Result(loss=found, method=name, theorem=theorem)

    half, tight = loss.epsilon**2 / 2, pure_to_kl(loss.epsilon)
    ways: Candidates = {
        "half_square": lambda: with_line("half_square", "Ste16, Corollary 2.8.7", half),
        "tanh": lambda: with_line("tanh", "Ste16, Corollary 2.8.7, sharpened", tight),
    }
    same = with_line("equivalent", "Ste16, Lemma 2.8.6", Fraction(0), loss.epsilon)
    return choose(ways, method, by="rho", named={"equivalent": lambda: same})


def deltas_to_zcdp(*, xi: Number, rho: Number) -> Result:
    r"""Return the zCDP loss of a mechanism with a sub-Gaussian family of guarantees.

    Guarantee:
        If a mechanism is :math:`(\hat\xi + \sqrt{\hat\rho\ln(1/\delta)}, \delta)`-DP for *every*
        :math:`\delta > 0`, with :math:`\hat\xi, \hat\rho \in [0, 1]`, it is
        :math:`(\hat\xi - \hat\rho/4 + 5\hat\rho^{1/4}, \hat\rho/4)`-zCDP [Ste16, Lemma 2.3.9]. One
        :math:`(\varepsilon, \delta)` alone implies no zCDP at all.

    Example:
        >>> deltas_to_zcdp(xi="1/2", rho=0).loss
        Zcdp(ρ = 0, ξ = 0.5)
    """
    intercept, slope = exact(xi), exact(rho)
    for name, value in (("xi", intercept), ("rho", slope)):
        if not 0 <= value <= 1:
            raise InvalidArgument(f"{name} is out of range", must="lie in [0, 1]", got=str(value))
    root = short_up(sqrt_up(sqrt_up(slope)))
    found = Zcdp(rho=slope / 4, xi=max(Fraction(0), intercept - slope / 4 + 5 * root))
    return Result(loss=found, method="converse", theorem="Ste16, Lemma 2.3.9")
