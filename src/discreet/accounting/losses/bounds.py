"""What a loss says about other distances: total variation, KL divergence, and its own tail."""

from fractions import Fraction
from functools import singledispatch

from discreet.accounting.curves.bounded import pure_to_kl
from discreet.core.errors import Unsupported
from discreet.core.loss import Approximate, PrivacyLoss, Pure, Zcdp
from discreet.core.numbers import Number, exact
from discreet.core.rounding import exp_down, exp_up, short_up, sqrt_up


@singledispatch
def total_variation_bound(loss: PrivacyLoss) -> Fraction:
    r"""Return a bound on :math:`|P[M(x) \in S] - P[M(x') \in S]|` for neighbours, rounded up.

    Guarantee:
        *Pure and approximate*: :math:`(e^\varepsilon - 1 + 2\delta)/(e^\varepsilon + 1)`, attained
        by the complete mechanism [KOV15; Ste16, Lemma 2.8.6]. *zCDP*:
        :math:`\sqrt{(\xi+\rho)/2}`, by Pinsker's inequality [Ste16, Lemma 2.7.6].

    Example:
        >>> round(float(total_variation_bound(Pure(1))), 9)
        0.462117157
    """
    raise _unknown(loss)


@total_variation_bound.register
def _(loss: Pure) -> Fraction:
    return total_variation_bound(Approximate(loss.epsilon, 0))


@total_variation_bound.register
def _(loss: Approximate) -> Fraction:
    fall = exp_down(-loss.epsilon)
    return short_up(loss.delta + (1 - loss.delta) * (1 - fall) / (1 + fall))


@total_variation_bound.register
def _(loss: Zcdp) -> Fraction:
    return min(Fraction(1), short_up(sqrt_up((loss.xi + loss.rho) / 2)))


@singledispatch
def kl_bound(loss: PrivacyLoss) -> Fraction:
    r"""Return a bound on :math:`D_1(M(x) \| M(x'))` for neighbours, rounded up.

    Guarantee:
        *Pure*: :math:`\varepsilon\tanh(\varepsilon/2)`, attained by randomised response, where
        :math:`\varepsilon(e^\varepsilon-1)` is usually printed [DR14, Lemma 3.18]. *zCDP*:
        :math:`\xi + \rho`, as divergences grow with the order. An approximate loss bounds none:
        the outputs may have different supports.

    Example:
        >>> kl_bound(Zcdp(rho="1/2", xi="1/4"))
        Fraction(3, 4)
    """
    raise _unknown(loss)


@kl_bound.register
def _(loss: Pure) -> Fraction:
    return pure_to_kl(loss.epsilon)


@kl_bound.register
def _(loss: Zcdp) -> Fraction:
    return loss.xi + loss.rho


def _unknown(loss: PrivacyLoss) -> Unsupported:
    return Unsupported(
        "No such bound is known for this measure",
        got=getattr(getattr(loss, "measure", None), "value", type(loss).__name__),
        next="Convert it first",
    )


@singledispatch
def loss_tail(loss: PrivacyLoss, above: Number) -> Fraction:
    r"""Return a bound on :math:`P[Z > t]`, the privacy loss being above ``above``.

    Guarantee:
        *Pure*: 0 from :math:`\varepsilon` on. *zCDP*:
        :math:`e^{-(t-\xi-\rho)^2/4\rho}` for :math:`t > \xi + \rho` [Ste16, section 2.1]: the loss
        looks like :math:`N(\xi+\rho, 2\rho)`. *Approximate*:
        :math:`\delta/(1 - e^{\varepsilon-t})` for :math:`t > \varepsilon` [Ste16, proof of Lemma
        2.3.9], because :math:`\delta \ge E[\max(0, 1 - e^{\varepsilon-Z})] \ge
        (1 - e^{\varepsilon-t})\,P[Z > t]`; at :math:`\varepsilon` itself it says nothing. Elsewhere
        the bound is 1, and it is rounded up.

    Example:
        >>> loss_tail(Pure(1), 1), float(loss_tail(Approximate(1, "0.01"), 2))
        (Fraction(0, 1), 0.0158197...)
    """
    raise Unsupported(
        "No tail bound is known for this measure",
        must="be pure, approximate or zCDP",
        got=getattr(getattr(loss, "measure", None), "value", type(loss).__name__),
        next="Convert it first",
    )


@loss_tail.register
def _(loss: Pure, above: Number) -> Fraction:
    return Fraction(exact(above) < loss.epsilon)


@loss_tail.register
def _(loss: Zcdp, above: Number) -> Fraction:
    gap = exact(above) - loss.xi - loss.rho
    if loss.rho == 0:
        return Fraction(gap < 0)
    return Fraction(1) if gap <= 0 else short_up(exp_up(-(gap**2) / (4 * loss.rho)))


@loss_tail.register
def _(loss: Approximate, above: Number) -> Fraction:
    threshold = exact(above)
    if threshold <= loss.epsilon:
        return Fraction(threshold < loss.epsilon or loss.delta > 0)
    rest = 1 - exp_up(loss.epsilon - threshold)
    return min(Fraction(1), short_up(loss.delta / rest)) if rest > 0 else Fraction(1)
