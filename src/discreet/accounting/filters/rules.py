r"""Privacy filters: may this loss still be spent, when each loss was chosen after seeing answers?

Composition theorems fix the losses beforehand; an analyst does not. A *filter* is a rule that looks
at the losses so far and the next one, and says yes or no, such that whatever it lets through keeps
the cap [RRUV16]. Each measure has its own theorem; a measure without one is refused.

Each filter here adds exact coordinates of the losses and compares them with those of the cap, so
that the last part of a split budget can always be spent, and nothing after it.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from attrs import frozen

from discreet.core.errors import Unsupported
from discreet.core.loss import (
    Approximate,
    ApproximateZcdp,
    GaussianDp,
    Measure,
    PrivacyLoss,
    Pure,
    Zcdp,
)

Coordinates = tuple[Fraction, ...]
"""The numbers of a loss that add up and are capped one by one."""


def admits(cap: PrivacyLoss, spent: PrivacyLoss | None, loss: PrivacyLoss) -> bool:
    r"""Tell whether ``loss`` may be spent when ``spent`` is gone (``None``: nothing yet).

    Guarantee:
        If every mechanism is run only after ``admits`` said yes, with ``spent`` at least the sum of
        the losses let through before, then all answers together satisfy ``cap``, even if each
        mechanism *and its loss* were chosen after seeing the answers before it.

        *Pure.* Along any transcript the likelihood ratio is a product of factors
        :math:`e^{\pm\varepsilon_i}`, and :math:`\sum \varepsilon_i` is at most the cap on every
        transcript [RRUV16].

        *Approximate.* Plain sums of both numbers. Let :math:`E, D` be what is left, :math:`S` an
        event. After the first answer :math:`y`, at :math:`(\varepsilon_1, \delta_1)`, induction
        gives :math:`P_y(S) \le e^{E - \varepsilon_1} Q_y(S) + D - \delta_1`; with
        :math:`g(y) = \min(1, e^{E - \varepsilon_1} Q_y(S))`, a test between 0 and 1,
        :math:`P(S) \le \int g\,dP + D - \delta_1 \le e^{\varepsilon_1}\int g\,dQ + D
        \le e^{E} Q(S) + D` [RRUV16]. No better sum is allowed here: advanced composition is for
        losses that were fixed beforehand.

        *zCDP.* Fix an order :math:`\alpha`. Conditioned on the past, step :math:`t` multiplies the
        moment :math:`E[(P/Q)^{\alpha - 1}]` by at most
        :math:`e^{(\alpha - 1)(\xi_t + \rho_t \alpha)}`, so the moment divided by these factors is
        a supermartingale, and the factors together stay below the cap's on every transcript: a
        filter at that order [FZ21]. The rule holds at every order at once, because two
        lines are ordered on :math:`(1, \infty)` if their slopes and their values at 1 are.

        *Approximate zCDP.* The same outside exceptional events, whose conditional probabilities
        :math:`\delta_t` sum to at most the cap's on every transcript [WRRW23].

        *Gaussian.* The squares :math:`\mu_t^2` add up to at most the cap's, for :math:`\mu_t` that
        are chosen by the answers before [ST22, on fully adaptive composition; KTH22, on filters].
        Proof. What is no easier to tell apart than :math:`N(0, 1)` and :math:`N(\mu_t, 1)` is a
        post-processing of one draw of them (Blackwell). Draw it as the increment of a Brownian
        motion with drift 0 or 1 over a time :math:`\mu_t^2`, divided by :math:`\mu_t`. The times
        may be chosen by the increments before, and they add up to at most the cap on every path, so
        all answers are a function of the path up to the cap's time. Its likelihood ratio depends on
        its end alone, which is :math:`N(0, \mu^2)` or :math:`N(\mu^2, \mu^2)`.

    Example:
        >>> admits(Pure(1), Pure("2/3"), Pure("1/3"))
        True
        >>> admits(Pure(1), Pure("2/3"), Pure("0.3334"))
        False
    """
    rule = _rule(cap)
    gone = _coordinates(rule, cap, spent)
    asked = _coordinates(rule, cap, loss)
    limits = rule.coordinates(cap)
    return all(g + a <= limit for g, a, limit in zip(gone, asked, limits, strict=True))


def left(cap: PrivacyLoss, spent: PrivacyLoss | None) -> PrivacyLoss:
    """Return the largest loss that ``cap`` admits when ``spent`` is gone, or zero if none is.

    Guarantee:
        Exactly the losses that imply the result are admitted, unless ``spent`` is above ``cap``
        already (an owner lowered it): then none is, and the result is zero.

    Example:
        >>> left(Zcdp(rho=1), Zcdp(rho="1/2", xi="1/4"))
        Zcdp(ρ = 0.25)
    """
    rule = _rule(cap)
    gone = _coordinates(rule, cap, spent)
    rest = [limit - g for g, limit in zip(gone, rule.coordinates(cap), strict=True)]
    return rule.loss(*rest) if min(rest) >= 0 else rule.loss(*(Fraction(0) for _ in rest))


def common(first: PrivacyLoss, second: PrivacyLoss) -> PrivacyLoss:
    """Return the largest loss that implies both.

    Example:
        >>> common(Pure(2), Pure(1))
        Pure(ε = 1)
    """
    rule = _rule(first)
    pairs = zip(rule.coordinates(first), _coordinates(rule, first, second), strict=True)
    return rule.loss(*(min(pair) for pair in pairs))


def require_filter(cap: PrivacyLoss) -> None:
    """Refuse ``cap`` if no filter is known for its measure."""
    _rule(cap)


@frozen
class _Rule:
    coordinates: Callable[[Any], Coordinates]
    loss: Callable[..., PrivacyLoss]


def _zcdp(slope: Fraction, value_at_one: Fraction) -> Zcdp:
    rho = min(slope, value_at_one)
    return Zcdp(rho=rho, xi=value_at_one - rho)


def _approximate_zcdp(slope: Fraction, value_at_one: Fraction, delta: Fraction) -> ApproximateZcdp:
    line = _zcdp(slope, value_at_one)
    return ApproximateZcdp(rho=line.rho, delta=delta, xi=line.xi)


_RULES: dict[Measure, _Rule] = {
    Measure.PURE: _Rule(lambda loss: (loss.epsilon,), Pure),
    Measure.APPROXIMATE: _Rule(lambda loss: (loss.epsilon, loss.delta), Approximate),
    Measure.ZCDP: _Rule(lambda loss: (loss.rho, loss.rho + loss.xi), _zcdp),
    Measure.APPROXIMATE_ZCDP: _Rule(
        lambda loss: (loss.rho, loss.rho + loss.xi, loss.delta), _approximate_zcdp
    ),
    Measure.GAUSSIAN: _Rule(lambda loss: (loss.mu_squared,), GaussianDp),
}


def _rule(cap: PrivacyLoss) -> _Rule:
    rule = _RULES.get(cap.measure)
    if rule is None:
        known = ", ".join(measure.value for measure in _RULES)
        raise Unsupported(
            "No filter with exact sums is known for this measure",
            must=f"be one of {known}",
            got=cap.measure.value,
            next="Declare the budget as epsilon, epsilon with delta, rho with delta, or mu",
        )
    return rule


def _coordinates(rule: _Rule, cap: PrivacyLoss, loss: PrivacyLoss | None) -> Coordinates:
    if loss is None:
        return tuple(Fraction(0) for _ in rule.coordinates(cap))
    if loss.measure is not cap.measure:
        raise Unsupported(
            "The budget is kept in another measure",
            must=f"be {cap.measure.value}",
            got=loss.measure.value,
            next="Ask in the measure of the budget; nothing is converted silently",
        )
    return rule.coordinates(loss)
