"""The fine grid on which real numbers are added up for one unit, below any clamp that counts."""

from fractions import Fraction

from attrs import evolve

from discreet.tables.column import LARGEST_BOUND, Bounds
from discreet.tables.functions.span import common_step, power_of_ten

MOST_STEPS = 10**15
"""How many steps the ends of a fine grid are from zero at most: decimals of 15 digits are told
apart by floating point, and no others are for sure."""


def fine_grid(bounds: Bounds) -> Bounds:
    r"""Return the same range with a step so fine that rounding to it hardly moves a value.

    The step divides that of ``bounds``, and a power of ten wherever there is room for both.

    Guarantee:
        The step has no part in privacy. Reals are added up on a grid for one reason: sums of
        integers do not depend on the order of rows, which would tell of other units' rows. That
        holds on every grid.

        Proof. An inner total or a window is over rows of one owner (or over public rows, which tell
        nothing), so all rows of a unit above it are a function :math:`f` of that unit's own rows,
        whatever the step is. Adding or removing a unit adds or removes the rows :math:`f` gives,
        and moves no other unit's. What these can move is bounded above: so many rows count, and
        each value is clamped by the aggregate itself. Neither bound mentions :math:`f`. Nothing
        overflows on the way, which would be told by an error: a sum of :math:`n` rows is below
        :math:`2^{53} n` steps, and engines hold 128 bits.

    Utility:
        A value moves by at most half a step, which is a part in :math:`10^{14}` of the larger end
        of the range or less, unless the step would fall below what floating point reaches.

        A decimal :math:`d = ms` with a whole number :math:`m` of steps of size :math:`s` is held
        exactly. Proof. Floating point rounds three times, :math:`d`, :math:`s` and their quotient,
        by :math:`u = 2^{-53}` of their size, so it is off by at most
        :math:`((1+u)^2/(1-u) - 1)\,10^{15} < 0.334`. Adding one half rounds by at most
        :math:`2^{-4}`, as :math:`10^{15} < 2^{50}`. Together that is less than one half, so the
        floor is :math:`m`.

    Example:
        >>> fine_grid(Bounds(lower=0, upper=100, step=10)).step == Fraction(1, 10**13)
        True
        >>> fine_grid(Bounds(lower=-1, upper=1, step="1/3")).step == Fraction(1, 3 * 10**14)
        True
    """
    largest = max(abs(bounds.lower), abs(bounds.upper))
    finest = max(largest / MOST_STEPS, 1 / LARGEST_BOUND)
    if bounds.step < 10 * finest:
        return bounds
    return evolve(bounds, step=_decimal(bounds.step, finest))


def _decimal(coarse: Fraction, finest: Fraction) -> Fraction:
    """Return a part of a step, of the least size or up to ten times that."""
    power = power_of_ten(finest)
    while power <= coarse:
        found = common_step([coarse, power])
        assert found is not None
        if found >= finest:
            return found
        power *= 10
    return coarse / power_of_ten(coarse / finest)
