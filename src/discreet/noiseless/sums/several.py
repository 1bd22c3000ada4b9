"""Sums of rows with several numbers: the losses of the dimensions add up."""

from fractions import Fraction

from discreet.core.errors import Unsupported
from discreet.noiseless.laws.hidden import Hidden
from discreet.noiseless.sums.shift_divergence import shift_delta
from discreet.noiseless.sums.uniform_sums import UniformSum


def several_delta(count: int, hidden: Hidden, epsilon: Fraction) -> Fraction:
    """Return an upper bound of δ for a sum of ``count`` hidden uniform numbers a dimension."""
    if hidden.dimensions == 1:
        law = UniformSum(count, hidden.points[0])
        return shift_delta(law, hidden.shifts[0], epsilon)
    raise Unsupported("Several dimensions are not there yet")
