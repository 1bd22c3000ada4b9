"""The error bar of a mechanism, worked out once."""

from fractions import Fraction
from functools import lru_cache

from discreet.mechanisms.noise_json import AggregateMechanism


@lru_cache(maxsize=4096)
def error_of(mechanism: AggregateMechanism, beta: Fraction) -> Fraction:
    """Return the mechanism's ``error_quantile``; all that it depends on is public and frozen.

    Example:
        >>> from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
        >>> error_of(DiscreteLaplace(scale=5), Fraction(1, 20))
        Fraction(15, 1)
    """
    return mechanism.error_quantile(beta)
