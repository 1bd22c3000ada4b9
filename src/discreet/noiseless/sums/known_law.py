"""Sums of rows whose whole law is known."""

from fractions import Fraction

from discreet.core.errors import Unsupported
from discreet.noiseless.laws.grid_law import DiscreteLaw


def known_law_delta(law: DiscreteLaw, others: int, epsilon: Fraction) -> Fraction:
    """Return an upper bound of δ."""
    raise Unsupported("Known laws are not there yet")
