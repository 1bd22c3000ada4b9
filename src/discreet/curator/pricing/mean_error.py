"""How far a noisy average can be off, where a group has at least so many rows."""

from fractions import Fraction

from discreet.releases.estimates.estimate import MeanOf


def mean_error(mean: MeanOf, *, of_sum: Fraction, of_count: Fraction, size: int) -> Fraction | None:
    r"""Bound the error of a noisy centred sum over a noisy count of at least ``size`` rows.

    Utility:
        Let the noise :math:`Y` on the centred sum be at most ``of_sum`` :math:`= t`, and the noise
        :math:`Z` on the count of :math:`n \ge m` rows at most ``of_count`` :math:`= u < m`. The
        centred mean :math:`s/n` is at most the half range :math:`h` in size, so the error is

        .. math:: \left|\frac{s + Y}{n + Z} - \frac{s}{n}\right|
            = \frac{|Y - \frac{s}{n} Z|}{n + Z} \le \frac{t + hu}{m - u}.

        Moving the result into the bounds of the value brings it no further from the truth. If
        :math:`u \ge m` nothing is known, and the result is None.

    Example:
        >>> from discreet.tables.column import ColumnType
        >>> ages = MeanOf(ColumnType.REAL, 0, 1, Fraction(50), Fraction(0), Fraction(100))
        >>> mean_error(ages, of_sum=Fraction(400), of_count=Fraction(10), size=100)
        Fraction(10, 1)
    """
    if of_count >= size:
        return None
    half = max(mean.upper - mean.centre, mean.centre - mean.lower)
    return (of_sum + half * of_count) / (size - of_count)
