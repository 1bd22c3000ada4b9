"""Coins of rational probability, and how likely two values make one report."""

from fractions import Fraction

from discreet.core.errors import InvalidArgument
from discreet.core.loss import short
from discreet.core.numbers import Number, exact, exp_bounds, log_bounds
from discreet.local.device.draws import UNIT

LEAST_EPSILON = Fraction(1, 10**12)
"""Below it coins of one part in ``UNIT`` hardly tell values apart, or not at all."""

LARGEST_EPSILON = 32
"""Beyond it some probabilities would be below one part in ``UNIT``."""

_BITS = 128


def most_odds(epsilon: Number) -> Fraction:
    r"""Return a rational number just below :math:`e^\varepsilon`: no ratio may be above it.

    Example:
        >>> round(float(most_odds(1)), 6)
        2.718282
    """
    return exp_bounds(checked_epsilon(epsilon), _BITS)[0]


def checked_epsilon(epsilon: Number) -> Fraction:
    """Return a loss, refusing one that coins cannot have."""
    wanted = exact(epsilon)
    if not LEAST_EPSILON <= wanted <= LARGEST_EPSILON:
        raise InvalidArgument(
            "epsilon is out of range",
            must=f"be at least {float(LEAST_EPSILON):g} and at most {LARGEST_EPSILON}",
            got=short(wanted),
        )
    return wanted


def loss_of_odds(odds: Fraction) -> Fraction:
    """Return the logarithm of a ratio of probabilities, rounded up.

    Example:
        >>> round(float(loss_of_odds(Fraction(3))), 6)
        1.098612
    """
    return log_bounds(odds, _BITS)[1] if odds > 1 else Fraction(0)


def part(threshold: int) -> Fraction:
    """Return the probability of a coin with this threshold."""
    return Fraction(threshold, UNIT)


def threshold_below(probability: Fraction) -> int:
    """Return the largest threshold whose coin is not more likely than ``probability``.

    Example:
        >>> threshold_below(Fraction(1, 2)) == UNIT // 2
        True
    """
    return probability.numerator * UNIT // probability.denominator
