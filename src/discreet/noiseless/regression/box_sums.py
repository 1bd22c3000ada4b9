r"""The loss of exact sums of terms that are, with some probability, uniform on a box.

Among n terms a number M of the others is uniform on the box, binomial with parameter v; the rest is
taken to be told. The coordinates of those are independent sums of M uniform numbers, and a row
shifts each by at most its own shift D, against a simulator that puts in the middle of its range.
"""

from collections.abc import Sequence
from fractions import Fraction

from discreet.core.rounding import dyadic_down, sqrt_up
from discreet.noiseless.laws.hidden import Hidden
from discreet.noiseless.regression.hidden_box import HiddenBox
from discreet.noiseless.sums.mixture import mixture_delta
from discreet.noiseless.sums.shift_divergence import shift_delta
from discreet.noiseless.sums.source_bound import SourceBound
from discreet.noiseless.sums.uniform_sums import UniformSum

_BLOCKS = 8


def hidden_by(box: HiddenBox) -> Hidden:
    """Return what of a term hides a row: its weight, and the shifts of its coordinates.

    Example:
        >>> from discreet.noiseless import RegressionDesign, star_box
        >>> design = RegressionDesign.uniform({"g": (-1, 1)}, {"h": (-1, 1)})
        >>> box = star_box(design, "g", ["h"], Fraction(3, 5), Fraction(1))
        >>> hidden_by(box).mass
        Fraction(24, 125)
    """
    return Hidden(box.weight, (None,) * len(box.moments), box.shifts)


def source_delta(box: HiddenBox, terms: int, epsilon: Fraction) -> Fraction:
    """Return δ by the formula of [Gro14, corollary 6.2], as corrected, at its best parameters."""
    return SourceBound(terms, hidden_by(box)).delta(epsilon) if terms > 1 else Fraction(1)


def box_delta(box: HiddenBox, terms: int, epsilon: Fraction) -> Fraction:
    r"""Return an upper bound of δ at an ε, as a mean over how many terms hide a row.

    Guarantee:
        δ holds for the exact sums, for every value of the row within its clamps and one simulator:
        the middle of each moment's range stands in for the row. Proof. Fix the row's value, and the
        rows that share its term. Each of the other terms' laws is v times the uniform law on the
        box, and (1 - v) times another one: :func:`~discreet.noiseless.sums.mixture.mixture_delta`.
        Given M, what is left are independent sums of M uniform numbers, each shifted by at
        most :math:`D_j`. The pair of a product composes: :math:`\delta_M(\sum_j \epsilon_j) \le
        \sum_j \delta_{M,j}(\epsilon_j)`.

    Utility:
        No δ below about :math:`10^{-23}` is found unless all rows are uniform on the box.

    Example:
        >>> from discreet.noiseless import RegressionDesign, star_box
        >>> design = RegressionDesign.uniform({"g": (-1, 1)}, {"h": (-1, 1)})
        >>> box = star_box(design, "g", ["h"], Fraction(3, 5), Fraction(1))
        >>> box_delta(box, 7500, Fraction("0.914")) < Fraction("1.47e-7")
        True
    """
    if terms < 2:
        return Fraction(1)
    whole = sum(box.shifts, start=Fraction(0))
    parts = [dyadic_down(epsilon * shift / whole, 40) for shift in box.shifts]
    # Fewer hidden terms happen once in 10^23 releases: they are taken to hide nothing.
    mean = (terms - 1) * box.weight
    least = mean - 10 * sqrt_up(mean * (1 - box.weight)) if box.weight < 1 else Fraction(0)

    def given(count: int) -> Fraction:
        return _given(count, box.shifts, parts) if count > least else Fraction(1)

    return mixture_delta(terms - 1, hidden_by(box), given, blocks=_BLOCKS)


def _given(hidden: int, shifts: Sequence[Fraction], parts: Sequence[Fraction]) -> Fraction:
    """Return δ if so many terms hide the row, each coordinate at its part of ε."""
    delta = Fraction(0)
    for shift, part in zip(shifts, parts, strict=True):
        delta += shift_delta(UniformSum(hidden), shift, part)
        if delta >= 1:
            return Fraction(1)
    return delta
