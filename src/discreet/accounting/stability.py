r"""How far a loss lets two outputs be apart, in total variation and in KL divergence."""

from fractions import Fraction
from functools import singledispatch

from discreet.accounting.curves.tight_pure import pure_to_kl
from discreet.core.errors import Unsupported
from discreet.core.loss import Approximate, PrivacyLoss, Pure, Zcdp
from discreet.core.rounding import exp_down, short_up, sqrt_up


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
