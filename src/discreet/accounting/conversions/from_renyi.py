"""From Rényi curves, bounded zCDP among them."""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial

from attrs import frozen

from discreet.accounting.conversions.choose import (
    choose,
    one_of,
    promises_nothing,
    refuse_parameters,
)
from discreet.accounting.conversions.search import best_order
from discreet.accounting.curves.curve import RenyiCurve
from discreet.accounting.curves.line import BoundedLine
from discreet.accounting.losses.result import Result
from discreet.core.errors import Unsupported
from discreet.core.loss import Approximate, BoundedZcdp, Zcdp
from discreet.core.numbers import Number, float_up, log_bounds
from discreet.core.rounding import BITS, exp_up, log_down, short_up

Correction = Callable[[Fraction, int], Fraction]


@frozen
class TailBound:
    r"""A theorem :math:`\ln\delta = (\alpha-1)(D_\alpha - \varepsilon) + c(\alpha)`.

    ``correction`` returns :math:`c(\alpha)` rounded up, ``estimate`` about the same.
    """

    method: str
    theorem: str
    correction: Correction
    estimate: Callable[[float], float]

    def epsilon(self, curve: RenyiCurve, delta: Fraction) -> Fraction:
        r"""Return an ε that is enough at ``delta``: the bound solved for ε, at a good order."""
        log_delta = log_down(delta)
        wanted, height = float(log_delta), curve.estimator()

        def objective(order: float) -> float:
            return height(order) + (self.estimate(order) - wanted) / (order - 1)

        order = best_order(objective, curve.limit)
        rest = (self.correction(order, _bits(order)) - log_delta) / (order - 1)
        return max(Fraction(0), short_up(curve.upper(order) + rest))

    def log_delta(self, curve: RenyiCurve, epsilon: Fraction) -> Fraction:
        r"""Return a bound on :math:`\ln\delta` at ``epsilon``, at a good order."""
        wanted, height = float_up(epsilon), curve.estimator()

        def objective(order: float) -> float:
            return (order - 1) * (height(order) - wanted) + self.estimate(order)

        order = best_order(objective, curve.limit)
        exponent = (order - 1) * (curve.upper(order) - epsilon)
        return exponent + self.correction(order, _bits(order))

    def result(self, curve: RenyiCurve, delta: Fraction | None, epsilon: Fraction | None) -> Result:
        """Return the :math:`(ε, δ)` at the number that was given."""
        if delta is not None:
            loss = Approximate(self.epsilon(curve, delta), delta)
        else:
            assert epsilon is not None
            log_delta = self.log_delta(curve, epsilon)
            if log_delta >= 0:
                raise promises_nothing(self.method)
            loss = Approximate(epsilon, exp_up(log_delta))
        return Result(loss=loss, method=self.method, theorem=self.theorem)


def _improved(order: Fraction, bits: int) -> Fraction:
    r"""Return :math:`(\alpha-1)\ln(1-1/\alpha) - \ln\alpha`, rounded up."""
    shrink = log_bounds(1 - 1 / order, bits)[1]
    return (order - 1) * shrink - log_bounds(order, bits)[0]


def _improved_estimate(order: float) -> float:
    return (order - 1) * math.log1p(-1 / order) - math.log(order)


MIRONOV = TailBound(
    "mironov",
    "Mir17, Proposition 3",
    lambda order, bits: Fraction(0),
    lambda order: 0.0,
)
r""":math:`\delta = e^{(\alpha-1)(D_\alpha - \varepsilon)}`: Markov's inequality."""

IMPROVED = TailBound(
    "improved",
    "CKS20, Proposition 12; BBGHS20, Theorem 21",
    _improved,
    _improved_estimate,
)
r""":math:`\delta = e^{(\alpha-1)(D_\alpha-\varepsilon)} (1-1/\alpha)^\alpha / (\alpha-1)`."""


def renyi_to_approximate(
    curve: RenyiCurve,
    *,
    delta: Number | None = None,
    epsilon: Number | None = None,
    method: str = "auto",
) -> Result:
    r"""Return an :math:`(\varepsilon, \delta)` that the curve implies.

    Guarantee:
        At every order :math:`\alpha > 1` below the curve's limit, ``mironov`` is
        :math:`\delta = e^{(\alpha-1)(D_\alpha-\varepsilon)}` [Mir17, Proposition 3] and
        ``improved`` multiplies it by :math:`(1-1/\alpha)^\alpha/(\alpha-1)`, the largest value of
        :math:`(1 - e^{\varepsilon - z})\,e^{-(\alpha-1)(z-\varepsilon)}`
        [CKS20, Proposition 12; BBGHS20, Theorem 21]. The order is looked for with floats and the
        bound at it is rounded up.

    Example:
        >>> from discreet.accounting import Line
        >>> result = renyi_to_approximate(RenyiCurve.of(Line(rho="0.1")), delta="1e-6")
        >>> print(result)
        ε = 2.142, δ = 0.000001 (improved: CKS20, Proposition 12; BBGHS20, Theorem 21)
    """
    found_delta, found_epsilon = one_of(delta, epsilon)
    if not curve.pieces:
        return Result(loss=Approximate(0, 0), method="nothing", theorem="an empty curve")
    return choose(
        {
            bound.method: partial(bound.result, curve, found_delta, found_epsilon)
            for bound in (MIRONOV, IMPROVED)
        },
        method,
        by="epsilon" if found_epsilon is None else "delta",
    )


def renyi_to_zcdp(
    curve: RenyiCurve,
    *,
    delta: Number | None = None,
    epsilon: Number | None = None,
    method: str = "auto",
) -> Result:
    r"""Return the line above the curve, if each of its pieces has one.

    Guarantee:
        zCDP is the statement that the curve lies below the line [BS16, Definition 1.1].

    Example:
        >>> from discreet.accounting import GaussianPiece
        >>> renyi_to_zcdp(2 * RenyiCurve.of(GaussianPiece(mu_squared=1))).loss
        Zcdp(ρ = 1)
    """
    refuse_parameters(delta, epsilon)

    def lines() -> Result:
        line = curve.line()
        if line is None:
            raise Unsupported(
                "Some piece of this curve lies below no known line",
                next="Convert to (ε, δ) instead",
            )
        return Result(
            loss=Zcdp(rho=line[1], xi=line[0]), method="lines", theorem="BS16, Definition 1.1"
        )

    return choose({"lines": lines}, method, by="rho")


def _bits(order: Fraction) -> int:
    """Return bits enough for a logarithm that is multiplied by ``order``."""
    return BITS + max(0, order.numerator.bit_length() - order.denominator.bit_length())


def bounded_zcdp_to_renyi(
    loss: BoundedZcdp,
    *,
    delta: Number | None = None,
    epsilon: Number | None = None,
    method: str = "auto",
) -> Result:
    """Return the line below its last order, which it is by definition."""
    refuse_parameters(delta, epsilon)
    result = Result(loss=_bounded_curve(loss), method="line", theorem="BS16, Definition 8.4")
    return choose({"line": lambda: result}, method, by="limit")


def bounded_zcdp_to_approximate(
    loss: BoundedZcdp,
    *,
    delta: Number | None = None,
    epsilon: Number | None = None,
    method: str = "auto",
) -> Result:
    r"""Return an :math:`(\varepsilon, \delta)` that ``loss`` implies.

    Guarantee:
        The methods of a Rényi curve, with the order kept below :math:`m`. The closed forms of
        zCDP are not used: they need orders that may lie above.

    Example:
        >>> loss = BoundedZcdp(rho="0.1", order=4)
        >>> round(float(bounded_zcdp_to_approximate(loss, delta="1e-6").loss.epsilon), 3)
        4.255
    """
    return renyi_to_approximate(_bounded_curve(loss), delta=delta, epsilon=epsilon, method=method)


def _bounded_curve(loss: BoundedZcdp) -> RenyiCurve:
    return RenyiCurve.of(BoundedLine(rho=loss.rho, order=loss.order, xi=loss.xi))
