r"""Grouping: two rows are one term, so that (g, h, g², gh) has a density and nothing is split.

One row is free in two numbers, so its four moments lie on a surface, and no sum of them is hidden
by a density of one row. Two rows are free in four. The sum over all rows is the same however they
are grouped: grouping is a way to look at it, and no row is left out of the line.
"""

from collections.abc import Sequence
from fractions import Fraction

from discreet.core.errors import InvalidArgument
from discreet.core.rounding import short_down, sqrt_down
from discreet.noiseless.regression.design import RegressionDesign
from discreet.noiseless.regression.hidden_box import HiddenBox, best_box, widths_of
from discreet.noiseless.regression.row_moments import RowMoment

_BITS = 24
_STARTS = (Fraction(1, 8), Fraction(1, 4), Fraction(1, 2), Fraction(3, 4), Fraction(1))


def pair_box(
    design: RegressionDesign, across: Fraction, up: Fraction, inner: Fraction
) -> HiddenBox | None:
    r"""Return a box of (g, h, g², gh) of two rows, added up, or None if there is none.

    ``across`` is S, ``up`` is T and ``inner`` the lower end of the box of g².

    Guarantee:
        Let g be in :math:`[-A, A]` and h in :math:`[-B, B]` on the asserted box, less its middle.
        On :math:`|s| \le S, |t| \le T, q_0 \le q \le q_1, |r| \le R` the density of :math:`(s, t,
        q, r) = (g_1 + g_2, h_1 + h_2, g_1^2 + g_2^2, g_1 h_1 + g_2 h_2)` is at least :math:`c^2 /
        (2 q_1)`. Proof. Write :math:`g = (s \pm e)/2`, :math:`h = (t \pm f)/2`. Then :math:`e^2 =
        2q - s^2` and :math:`ef = 2r - st`, so with :math:`2 q_0 > S^2` there are two inverses, one
        for each sign of e. The determinant of the map is :math:`2 e^2 \le 4 q_1`: the first two
        coordinates give 2 each, the others :math:`e \cdot e / 2`. Both inverses are in the box if
        :math:`|s| + |e| \le 2A` and :math:`|t| + |f| \le 2B`. The first is largest at :math:`s = S,
        q = q_1` because :math:`s + \sqrt{2q - s^2}` grows up to :math:`s^2 = q`, and :math:`S^2
        \le q_0`. The second is at most :math:`T + (2R + ST) / \sqrt{2 q_0 - S^2}`. So :math:`2 q_1
        = (2A - S)^2 + S^2` and :math:`2R = (2B - T) \sqrt{2 q_0 - S^2} - ST`, rounded down, do. Two
        inverses of density :math:`c^2` over the determinant make :math:`c^2 / e^2`.

    Assumes:
        Rows are independent, and which two are a pair does not depend on their values: row numbers
        say it. A person changes one row of a pair; the partner is taken to be told.

    Example:
        >>> design = RegressionDesign.uniform({"g": (-1, 1)}, {"h": (-1, 1)})
        >>> box = pair_box(design, Fraction(2, 5), Fraction(4, 5), Fraction(3, 5))
        >>> round(float(box.weight), 4)
        0.0202
    """
    moments, half_g, half_h = _halves(design)
    most = short_down(((2 * half_g - across) ** 2 + across**2) / 2, _BITS)
    if not (0 < across < 2 * half_g and 0 < up < 2 * half_h and across**2 <= inner < most):
        return None
    root = sqrt_down(2 * inner - across**2)
    side = short_down(((2 * half_h - up) * root - across * up) / 2, _BITS)
    if side <= 0:
        return None
    density = design.density_of([one.name for one in design.columns]) ** 2 / (2 * most)
    ends = ((-across, across), (-up, up), (inner, most), (-side, side))
    return HiddenBox(moments, ends, density, widths_of(design, moments), rows_a_term=2)


def best_pair_box(design: RegressionDesign) -> HiddenBox | None:
    """Return the pair box of least merit that a search finds.

    Example:
        >>> design = RegressionDesign.uniform({"g": (-1, 1)}, {"h": (-1, 1)})
        >>> box = best_pair_box(design)
        >>> round(float(box.weight), 3), round(float(box.merit))
        (0.021, 304)
    """
    _, half_g, half_h = _halves(design)
    starts = [
        (s * half_g, t * half_h, q * half_g**2) for s in _STARTS for t in _STARTS for q in _STARTS
    ]
    units = (half_g, half_h, half_g**2)

    def make(point: Sequence[Fraction]) -> HiddenBox | None:
        across, up, inner = (a * b for a, b in zip(point, units, strict=True))
        return pair_box(design, across, up, inner)

    scaled = [tuple(a / b for a, b in zip(point, units, strict=True)) for point in starts]
    return best_box(make, scaled, Fraction(1, 8))


def _halves(design: RegressionDesign) -> tuple[tuple[RowMoment, ...], Fraction, Fraction]:
    """Return the four moments, and half the sides of the asserted box around its middle."""
    if len(design.regressors) != 1 or design.relations or not design.has_intercept:
        raise InvalidArgument(
            "Rows are grouped in pairs for one regressor with an intercept",
            must="have one free regressor and an intercept",
            got=f"{len(design.regressors)} regressors and {len(design.relations)} relations",
        )
    for column in design.columns:
        if column.box[0] != -column.box[1]:
            raise InvalidArgument(
                f"{column.name!r} is not centred in its box",
                must="have the middle of the box as its centre: for the release it is the same",
            )
    g, h = (column.name for column in design.columns)
    moments = (RowMoment((g,)), RowMoment((h,)), RowMoment((g, g)), RowMoment((g, h)))
    return moments, design.columns[0].box[1], design.columns[1].box[1]
