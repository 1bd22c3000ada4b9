"""The square of a column and its products with others: the boxes that hide a row in them."""

from collections.abc import Sequence
from fractions import Fraction

from discreet.noiseless.regression.design import RegressionDesign, Span
from discreet.noiseless.regression.hidden_box import HiddenBox, best_box, widths_of
from discreet.noiseless.regression.row_moments import RowMoment

_STEPS = 12


def star_box(
    design: RegressionDesign, pivot: str, others: Sequence[str], inner: Fraction, outer: Fraction
) -> HiddenBox | None:
    r"""Return a box of a column's square and its products with others, or None if there is none.

    Guarantee:
        On :math:`[\tau^2, \sigma^2] \times \prod_j [a_j, b_j]` (``inner`` :math:`\tau`, ``outer``
        :math:`\sigma`) the density of :math:`(x^2, x z_1, \ldots, x z_k)` is at least ``density``.
        Proof. The map :math:`(x, z) \mapsto (q, r) = (x^2, xz)` has the two inverses :math:`x = \pm
        \sqrt q, z_j = r_j / x` and the determinant :math:`2 x \cdot x^k`, so the density at (q, r)
        is the sum of :math:`p(x, r / x) / (2 |x|^{k + 1})` over both. Where an inverse stays in the
        asserted box for every (q, r), it adds :math:`c / (2 \sigma^{k+1})` at least. It stays there
        if :math:`\tau` and :math:`\sigma` (or their negatives) are in the box of x, and :math:`r_j`
        is in :math:`x [s_j, t_j]` for all x in between, which are linear in x: both ends are
        enough. With x and z uniform on :math:`[-1, 1]` this is :math:`p(q, r) = 1/(4q)` and h =
        1/4, v = :math:`\frac12 \tau (1 - \tau^2)` [Gro14, section 6.4.2].

    Example:
        >>> design = RegressionDesign.uniform({"g": (-1, 1)}, {"h": (-1, 1)})
        >>> box = star_box(design, "g", ["h"], Fraction(3, 5), Fraction(1))
        >>> box.density, box.weight, box.shifts
        (Fraction(1, 4), Fraction(24, 125), (Fraction(25, 32), Fraction(5, 6)))
    """
    low, high = design.column(pivot).box
    signs = [sign for sign in (1, -1) if low <= sign * inner and sign * inner <= high]
    signs = [sign for sign in signs if low <= sign * outer <= high]
    if not signs or not 0 < inner < outer:
        return None
    moments = tuple(RowMoment((pivot, name)) for name in (pivot, *others))
    single = design.density_of((pivot, *others)) / (2 * outer ** len(moments))
    candidates = [chosen for chosen in ([*signs], signs[:1], signs[-1:]) if chosen]
    boxes = []
    for chosen in candidates:
        ends = [_products(design.column(name).box, chosen, inner, outer) for name in others]
        if all(a < b for a, b in ends):
            every = ((inner * inner, outer * outer), *ends)
            widths = widths_of(design, moments)
            boxes.append(HiddenBox(moments, every, single * len(chosen), widths))
    return min(boxes, key=lambda box: box.merit, default=None)


def _products(box: Span, signs: Sequence[int], inner: Fraction, outer: Fraction) -> Span:
    """Return what lies in x times the box for every x from inner to outer, for every sign."""
    lows, highs = [], []
    for sign in signs:
        for x in (sign * inner, sign * outer):
            ends = sorted((x * box[0], x * box[1]))
            lows.append(ends[0])
            highs.append(ends[1])
    return max(lows), min(highs)


def best_star_box(design: RegressionDesign, pivot: str, others: Sequence[str]) -> HiddenBox | None:
    """Return the star box of least merit that a search over both radii finds.

    Example:
        >>> design = RegressionDesign.uniform({"g": (-1, 1)}, {"h": (-1, 1)})
        >>> best_star_box(design, "g", ["h"]).weight > Fraction(19, 100)
        True
    """
    low, high = design.column(pivot).box
    largest = max(abs(low), abs(high))
    unit = largest / _STEPS
    starts = [(i * unit, o * unit) for o in range(2, _STEPS + 1) for i in range(1, o)]

    def make(point: Sequence[Fraction]) -> HiddenBox | None:
        return star_box(design, pivot, others, *point)

    return best_box(make, starts, unit / 2)
