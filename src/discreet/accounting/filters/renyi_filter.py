r"""A Rényi filter: a gate at one order that was fixed before the first answer."""

from fractions import Fraction
from functools import singledispatch

from attrs import Attribute, evolve, field, frozen

from discreet.accounting.curves.bounded import TightPure
from discreet.accounting.curves.curve import RenyiCurve
from discreet.accounting.curves.line import Line
from discreet.accounting.curves.noise import GaussianPiece
from discreet.core import check
from discreet.core.errors import BudgetExhausted, InvalidArgument, Unsupported
from discreet.core.loss import GaussianDp, PrivacyLoss, Pure, Zcdp
from discreet.core.numbers import Number, exact
from discreet.core.rounding import short_up


@frozen(kw_only=True)
class RenyiFilter:
    r"""Losses that add up at the order ``alpha`` to at most ``cap``, chosen as one goes.

    Guarantee:
        If every mechanism runs only after ``admits`` said yes to its loss, and ``after`` took it
        in, all answers together satisfy :math:`D_\alpha \le` ``cap``, even if each mechanism and
        its loss were chosen after seeing the answers before it [FZ21].

        Proof. Given the past, step :math:`t` multiplies :math:`E[(P/Q)^{\alpha-1}]` by at most
        :math:`e^{(\alpha-1) d_t}`, so that the moment over the product of these factors is a
        supermartingale that starts at 1; the factors stay below :math:`e^{(\alpha-1) cap}` on
        every path. At another order the losses may add up to more than any cap, so the order
        cannot be chosen afterwards.

    Example:
        >>> gate = RenyiFilter(alpha=2, cap=1)
        >>> gate = gate.after(Zcdp(rho="1/4"))
        >>> gate.admits(Zcdp(rho="1/4")), gate.admits(Zcdp(rho="0.2501"))
        (True, False)
    """

    alpha: Fraction = field(converter=exact)
    cap: Fraction = field(converter=exact, validator=check.non_negative)
    spent: Fraction = field(default=Fraction(0), converter=exact, validator=check.non_negative)

    @alpha.validator
    def _above_one(self, attribute: "Attribute[Fraction]", alpha: Fraction) -> None:
        if alpha <= 1:
            raise InvalidArgument("alpha is out of range", must="be greater than 1", got=str(alpha))

    @property
    def left(self) -> Fraction:
        """What may still be spent."""
        return max(Fraction(0), self.cap - self.spent)

    def admits(self, loss: PrivacyLoss | Number) -> bool:
        """Tell whether ``loss`` (or a bound at the order) may still be spent."""
        return self.spent + at_order(loss, self.alpha) <= self.cap

    def after(self, loss: PrivacyLoss | Number) -> "RenyiFilter":
        """Return the filter with ``loss`` spent, or refuse it."""
        cost = at_order(loss, self.alpha)
        if self.spent + cost > self.cap:
            raise BudgetExhausted(
                "The Rényi budget does not cover this loss",
                must=f"be at most {float(self.left):.6g} at the order {self.alpha}",
                got=f"{float(cost):.6g}",
            )
        return evolve(self, spent=self.spent + cost)


def at_order(loss: PrivacyLoss | Number, alpha: Number) -> Fraction:
    """Return a bound on the Rényi divergence at ``alpha``; a number is taken as one.

    Example:
        >>> at_order(Zcdp(rho="1/2", xi=1), 3)
        Fraction(5, 2)
    """
    order = exact(alpha)
    if isinstance(loss, PrivacyLoss):
        return _at(loss, order)
    value = exact(loss)
    if value < 0:
        raise InvalidArgument("A divergence is out of range", must="be at least 0", got=str(loss))
    return value


@singledispatch
def _at(loss: PrivacyLoss, order: Fraction) -> Fraction:
    raise Unsupported(
        "This loss says nothing at one Rényi order",
        must="be pure, zcdp, gaussian or renyi",
        got=loss.measure.value,
        next="Keep the budget as rho with delta, or convert the mechanism's own event",
    )


@_at.register
def _(loss: Pure, order: Fraction) -> Fraction:
    return short_up(TightPure(loss.epsilon).upper(order))


@_at.register
def _(loss: Zcdp, order: Fraction) -> Fraction:
    return Line(rho=loss.rho, xi=loss.xi).upper(order)


@_at.register
def _(loss: GaussianDp, order: Fraction) -> Fraction:
    return GaussianPiece(mu_squared=loss.mu_squared).upper(order)


@_at.register
def _(loss: RenyiCurve, order: Fraction) -> Fraction:
    return loss.upper(order)
