"""The largest ρ, or μ², that implies an (ε, δ): what a filter may count to."""

from collections.abc import Callable
from fractions import Fraction

from discreet.accounting.conversions.from_gaussian import gaussian_log_delta
from discreet.accounting.conversions.from_zcdp import rho_for, zcdp_to_approximate
from discreet.core.errors import Unsupported
from discreet.core.loss import Approximate, Zcdp
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
