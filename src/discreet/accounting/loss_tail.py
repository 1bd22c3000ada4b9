r"""How often the privacy loss of one output exceeds a threshold, at most."""

from fractions import Fraction
from functools import singledispatch

from discreet.core.errors import Unsupported
from discreet.core.loss import Approximate, PrivacyLoss, Pure, Zcdp
from discreet.core.numbers import Number, exact
from discreet.core.rounding import exp_up, short_up


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
