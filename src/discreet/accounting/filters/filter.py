"""A filter that remembers what was spent, for losses that are chosen after seeing answers."""

from collections.abc import Callable
from fractions import Fraction

from attrs import define, field

from discreet.accounting.conversions.convert import convert
from discreet.accounting.conversions.from_gaussian import gaussian_log_delta
from discreet.accounting.conversions.from_zcdp import rho_for, zcdp_to_approximate
from discreet.accounting.filters.rules import admits, left
from discreet.core.errors import BudgetExhausted, InvalidArgument, Unsupported
from discreet.core.loss import (
    Approximate,
    GaussianDp,
    Measure,
    PrivacyLoss,
    Pure,
    Zcdp,
    measure_of,
)
from discreet.core.rounding import log_down, short_down

_STEPS = 30


def largest_rho(epsilon: Fraction, delta: Fraction) -> Fraction:
    r"""Return a ρ such that ρ-zCDP implies the :math:`(\varepsilon, \delta)`, nearly the largest.

    Guarantee:
        The conversion of the result is certified [CKS20, Corollary 13]; it is within a billionth
        of the largest ρ with that property.

    Example:
        >>> round(float(largest_rho(Fraction(1), Fraction("1e-6"))), 5)
        0.02436
    """

    def holds(rho: Fraction) -> bool:
        try:
            found = zcdp_to_approximate(Zcdp(rho=rho), delta=delta).loss
        except Unsupported:
            return False
        return isinstance(found, Approximate) and found.epsilon <= epsilon

    return _largest(holds, rho_for(epsilon, delta))


def largest_mu_squared(epsilon: Fraction, delta: Fraction) -> Fraction:
    r"""Return a μ² such that μ-Gaussian DP implies the :math:`(\varepsilon, \delta)`.

    Guarantee:
        The exact curve at ε is certified to be at most δ [BW18, Theorem 8]; nearly the largest.

    Example:
        >>> round(float(largest_mu_squared(Fraction(1), Fraction("1e-6"))) ** -0.5, 4)
        4.2247
    """
    wanted = log_down(delta)
    return _largest(
        lambda square: gaussian_log_delta(square, epsilon)[1] <= wanted,
        2 * rho_for(epsilon, delta),
    )


def _largest(holds: Callable[[Fraction], bool], start: Fraction) -> Fraction:
    """Return about the largest number at which ``holds`` does; it does at ``start``."""
    low, high = start, 2 * start
    while holds(high):
        low, high = high, 2 * high
    for _ in range(_STEPS):
        middle = short_down((low + high) / 2)
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def _measure(value: Measure | str | None) -> Measure | None:
    return None if value is None else measure_of(value)


def _loss(value: PrivacyLoss) -> PrivacyLoss:
    if isinstance(value, PrivacyLoss):
        return value
    raise InvalidArgument(
        "That is not a privacy loss",
        must="be one, such as Pure('0.1'), Zcdp('0.02') or Approximate(1, '1e-6')",
        got=type(value).__name__,
    )


@define(eq=False, repr=False)
class PrivacyFilter:
    r"""Admit losses one by one, as long as all of them together keep to ``cap``.

    Guarantee:
        If every mechanism runs only after :meth:`admit` took its loss in, all answers together
        satisfy ``cap``, even if each mechanism *and its loss* were chosen after seeing the answers
        before it: the proofs, a measure each, are with
        :func:`discreet.accounting.filters.rules.admits`.

        *An (ε, δ) kept in another measure* (``kept_as``): the cap is replaced, before the first
        loss, by the largest ρ, or μ², that implies it.

        A loss in another measure is converted where a theorem needs no choice to do so.

    Assumes:
        One filter a cap, and no answer before its loss was admitted. It is not durable: the ledger
        is.

    Example:
        >>> gate = PrivacyFilter(Approximate(1, "1e-6"), kept_as="zcdp")
        >>> gate.admit(Zcdp(rho="0.02"))
        >>> gate.admits(Zcdp(rho="0.005")), gate.admits(Zcdp(rho="0.004"))
        (False, True)
    """

    cap: PrivacyLoss = field(converter=_loss)
    kept_as: Measure | None = field(default=None, converter=_measure)
    _limit: PrivacyLoss = field(init=False)
    _spent: PrivacyLoss = field(init=False)

    def __attrs_post_init__(self) -> None:
        """Fix the measure in which is counted, before anything is admitted."""
        self._limit = _limit(self.cap, self.kept_as)
        self._spent = self._limit * 0
        self.admits(self._spent)

    def __repr__(self) -> str:
        """Show the cap, the measure in which is counted, and what was spent."""
        kept = "" if self.kept_as is None else f", kept_as={self.kept_as.value!r}"
        return f"PrivacyFilter({self.cap!r}{kept}): {self._spent} spent"

    @property
    def limit(self) -> PrivacyLoss:
        """What the sum of all losses must keep to, in the measure in which they are counted."""
        return self._limit

    @property
    def spent(self) -> PrivacyLoss:
        """The sum of all losses that were admitted."""
        return self._spent

    @property
    def left(self) -> PrivacyLoss:
        """The largest loss that is still admitted."""
        return left(self._limit, self._spent)

    def admits(self, loss: PrivacyLoss) -> bool:
        """Tell whether ``loss`` may be spent."""
        return admits(self._limit, self._spent, self._counted(loss))

    def admit(self, loss: PrivacyLoss) -> None:
        """Spend ``loss``, or refuse and spend nothing."""
        if not self.admits(loss):
            raise BudgetExhausted(
                "The budget does not cover this loss",
                must=f"be at most {self.left.shown(rounding='ROUND_FLOOR')}",
                got=str(loss),
            )
        self._spent = self._spent + self._counted(loss)

    def _counted(self, loss: PrivacyLoss) -> PrivacyLoss:
        if _loss(loss).measure is self._limit.measure:
            return loss
        if self._limit.measure is Measure.APPROXIMATE and not isinstance(loss, Pure):
            raise Unsupported(
                "Without a choice of ε or δ this loss is no (ε, δ)",
                must="be pure or approximate",
                got=str(loss),
                next="Keep the filter's cap in another measure, with kept_as='zcdp' or 'gaussian'",
            )
        return convert(loss, to=self._limit.measure).loss


def _limit(cap: PrivacyLoss, kept_as: Measure | None) -> PrivacyLoss:
    measure = cap.measure if kept_as is None else kept_as
    if measure is cap.measure:
        return cap
    if isinstance(cap, Approximate) and cap.delta > 0 and cap.epsilon > 0:
        if measure is Measure.ZCDP:
            return Zcdp(rho=largest_rho(cap.epsilon, cap.delta))
        if measure is Measure.GAUSSIAN:
            return GaussianDp(mu_squared=largest_mu_squared(cap.epsilon, cap.delta))
    raise Unsupported(
        "This cap cannot be kept in that measure",
        must="be an (ε, δ) above 0, kept as zcdp or gaussian",
        got=f"{cap.measure.value} as {measure.value}",
    )
