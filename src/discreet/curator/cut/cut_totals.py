r"""What clamping totals as a whole cuts off them.

Let a row add 0 to ``h``, and a total be moved into a range that holds 0 and ends at ``t``. A unit
with :math:`n` rows in a group loses at most :math:`(nh - t)^+`, so at most ``h`` for each of its
rows beyond :math:`\lfloor t/h \rfloor`, and the histogram of rows bounds these. Where rows can be
negative as well, or have no range, nothing is known; nor where groups or rows of a unit are left
out besides. Limits on the rows of a unit in a group do not touch such totals, which are of all
rows.
"""

from fractions import Fraction

from discreet.releases.left_out import UNCHANGED, UNKNOWN, Change, Clamping
from discreet.tables.plans.sums import SumTotals


def rows_held(aggregate: SumTotals) -> int:
    """Return how many rows of a unit a total holds before it is cut, whatever they add."""
    rows, ends = aggregate.rows, aggregate.bounds
    if rows.lower_steps >= 0:
        return max(ends.upper_steps, 0) // max(rows.upper_steps, 1)
    return max(-ends.lower_steps, 0) // -rows.lower_steps


def of_totals(aggregate: SumTotals, beyond: Fraction | None, clamping: Clamping | None) -> Change:
    """Return by how much a sum of totals changes, if so many rows are beyond what these hold.

    Where values of single rows are cut too, that side is not known.
    """
    low, high = _of_rows_beyond(aggregate, beyond)
    if clamping is None:
        return low, high
    down, up = clamping.taken
    return low if down == 0 else None, high if up == 0 else None


def _of_rows_beyond(aggregate: SumTotals, beyond: Fraction | None) -> Change:
    rows, ends = aggregate.rows, aggregate.bounds
    if not ends.lower_steps <= 0 <= ends.upper_steps:
        return UNKNOWN
    if rows.lower_steps >= 0:
        return times(beyond, Fraction(0), rows.upper)
    if rows.upper_steps <= 0:
        return times(beyond, rows.lower, Fraction(0))
    return UNKNOWN


def times(rows: Fraction | None, low: Fraction | None, high: Fraction | None) -> Change:
    """Return what so many rows add at least and at most, each a number between two ends."""
    if rows == 0:
        return UNCHANGED
    return (
        Fraction(0) if low is not None and low >= 0 else _product(rows, low),
        Fraction(0) if high is not None and high <= 0 else _product(rows, high),
    )


def _product(rows: Fraction | None, each: Fraction | None) -> Fraction | None:
    return None if rows is None or each is None else rows * each
