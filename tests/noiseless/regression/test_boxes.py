"""The certified densities: against formulas, quadrature and exact inverses, with broken twins."""

import math
from fractions import Fraction

import mpmath
import pytest

from discreet.core.errors import InvalidArgument, RefusedQuery
from discreet.noiseless.regression.design import MeasuredColumn, RegressionDesign
from discreet.noiseless.regression.hidden_box import linear_box
from discreet.noiseless.regression.pair_boxes import best_pair_box, pair_box
from discreet.noiseless.regression.splitting import plan_split
from discreet.noiseless.regression.star_boxes import best_star_box, star_box

UNIT = RegressionDesign.uniform({"g": (-1, 1)}, {"h": (-1, 1)})


def corners_and_inside(ends, count=4):
    """Points of a box: its corners, and a grid inside."""
    points = [()]
    for low, high in ends:
        steps = [low + (high - low) * Fraction(k, count) for k in range(count + 1)]
        points = [(*point, step) for point in points for step in steps]
    return points


def test_the_density_of_square_and_product():
    """p(j, k) = 1/(4 j) on |k| <= sqrt(j): it integrates to 1, and has the moments of g and h."""
    mean = {"one": lambda j, k: 1, "j": lambda j, k: j, "kk": lambda j, k: k * k}
    expected = {"one": 1, "j": mpmath.mpf(1) / 3, "kk": mpmath.mpf(1) / 9}
    for name, function in mean.items():
        found = mpmath.quad(
            lambda j, f=function: mpmath.quad(
                lambda k: f(j, k) / (4 * j), [-mpmath.sqrt(j), mpmath.sqrt(j)]
            ),
            [0, 1],
        )
        assert abs(found - expected[name]) < 1e-8
    for inner in (Fraction(1, 10), Fraction(3, 5), Fraction(9, 10)):
        box = star_box(UNIT, "g", ["h"], inner, Fraction(1))
        assert (
            box.density
            == Fraction(1, 4)
            == min(1 / (4 * j) for j, _ in corners_and_inside(box.ends))
        )
        assert all(k * k <= j for j, k in corners_and_inside(box.ends))
        assert box.weight == inner * (1 - inner**2) / 2


def test_the_largest_prism():
    """The weight tau (1 - tau^2) / 2 is at most 0.1925, at 1 / sqrt 3."""
    root = Fraction(1 / math.sqrt(3)).limit_denominator(10**6)
    best = star_box(UNIT, "g", ["h"], root, Fraction(1)).weight
    assert abs(float(best) - 0.19245) < 1e-5
    for other in range(1, 100):
        box = star_box(UNIT, "g", ["h"], Fraction(other, 100), Fraction(1))
        assert box.weight <= best + Fraction(1, 10**9)


DESIGNS = [
    UNIT,
    RegressionDesign.uniform({"g": (0, 40), "k": (-3, 9)}, {"h": (5, 6)}),
    RegressionDesign(
        regressors=[MeasuredColumn("g", -4, 9, -1, 2, centre=0), MeasuredColumn("k", 0, 3)],
        outcome=MeasuredColumn("h", -2, 2, 0, 1, centre=-1),
        density="1/20",
    ),
    RegressionDesign(  # all on one side of 0: a single inverse
        regressors=[MeasuredColumn("g", 0, 9, 2, 5, centre=0)],
        outcome=MeasuredColumn("h", 0, 9, 1, 7, centre=0),
        density="1/30",
        has_intercept=False,
    ),
]


def inverses(box, point):
    """Both rows that have this square and these products, as floats."""
    root = math.sqrt(point[0])
    return [[sign * root, *(float(p) / (sign * root) for p in point[1:])] for sign in (1, -1)]


@pytest.mark.parametrize("design", DESIGNS)
def test_every_point_of_a_star_box_has_its_density(design):
    """At each point the inverses are worked out anew, and the density they have is added up."""
    names = [column.name for column in design.columns]
    boxes = [column.box for column in design.columns]
    box = best_star_box(design, names[0], names[1:])
    for point in corners_and_inside(box.ends):
        density = 0.0
        for row in inverses(box, point):
            if all(a - 1e-9 <= x <= b + 1e-9 for x, (a, b) in zip(row, boxes, strict=True)):
                density += float(design.density) / (2 * abs(row[0]) ** len(names))
        assert density >= float(box.density) * (1 - 1e-9)
    assert 0 < box.weight <= 1


@pytest.mark.parametrize("design", DESIGNS[:2])
def test_a_larger_star_box_is_caught(design):
    """The broken twin: products a tenth wider leave the asserted box, and the check sees it."""
    names = [column.name for column in design.columns]
    box = best_star_box(design, names[0], names[1:])
    wider = [box.ends[0], *((low * 11 / 10, high * 11 / 10) for low, high in box.ends[1:])]
    missed = 0
    for point in corners_and_inside(wider):
        for row in inverses(box, point):
            missed += any(
                not a - 1e-9 <= x <= b + 1e-9
                for x, (a, b) in zip(row, [c.box for c in design.columns], strict=True)
            )
    assert missed


def pair_inverse(point):
    """Solve (s, t, q, r) for two rows, with e > 0: an inverse of its own."""
    s, t, q, r = map(float, point)
    e = math.sqrt(2 * q - s * s)
    f = (2 * r - s * t) / e
    return [((s + e) / 2, (t + f) / 2), ((s - e) / 2, (t - f) / 2)]


def pair_determinant(first, second):
    """The determinant of (s, t, q, r) by cofactors, at a pair of rows, in fractions."""
    (a, b), (c, d) = first, second
    matrix = [[1, 0, 1, 0], [0, 1, 0, 1], [2 * a, 0, 2 * c, 0], [b, a, d, c]]
    return determinant([[Fraction(x) for x in row] for row in matrix])


def determinant(m):
    if len(m) == 1:
        return m[0][0]
    minors = [[row[:j] + row[j + 1 :] for row in m[1:]] for j in range(len(m))]
    return sum((-1) ** j * m[0][j] * determinant(minors[j]) for j in range(len(m)))


def test_every_point_of_a_pair_box_has_its_density():
    box = best_pair_box(UNIT)
    worst = 0.0
    for point in corners_and_inside(box.ends):
        first, second = pair_inverse(point)
        assert all(abs(x) <= 1 + 1e-9 for x in (*first, *second))
        assert first[0] ** 2 + second[0] ** 2 == pytest.approx(float(point[2]))
        assert first[0] * first[1] + second[0] * second[1] == pytest.approx(float(point[3]))
        found = abs(pair_determinant(first, second))
        assert float(found) == pytest.approx(2 * (first[0] - second[0]) ** 2)
        # Two inverses, each with density 1/16.
        worst = max(worst, float(found))
        assert 2 / 16 / float(found) >= float(box.density) * (1 - 1e-9)
    # The bound is not wasted: at one corner (s = 0 at the top) it is met.
    top = pair_inverse((0, 0, box.ends[2][1], 0))
    assert 2 / 16 / float(abs(pair_determinant(*top))) == pytest.approx(float(box.density))
    assert worst <= float(4 * box.ends[2][1]) * (1 + 1e-9)


def test_a_larger_pair_box_is_caught():
    box = best_pair_box(UNIT)
    wider = [*box.ends[:3], tuple(end * 11 / 10 for end in box.ends[3])]
    rows = [row for point in corners_and_inside(wider) for row in pair_inverse(point)]
    assert any(abs(x) > 1 + 1e-9 for row in rows for x in row)


def test_pairs_are_dear_by_a_stated_number():
    """A pair box needs about 42 times the rows of a split for the same loss."""
    split = sum(box.box.merit for box in plan_split(UNIT, rows=1000).blocks)
    ratio = float(best_pair_box(UNIT).merit / split)
    assert 40 < ratio < 44


@pytest.mark.parametrize(
    "design",
    [
        RegressionDesign.uniform({"g": (0, 40)}, {"h": (100, 101)}),
        RegressionDesign.uniform({"g": ("-1e-9", "1e-9")}, {"h": (-(10**9), 10**9)}),
    ],
)
def test_scale_and_place_do_not_matter(design):
    for make in (
        lambda d: linear_box(d, ["g", "h"]),
        lambda d: best_star_box(d, "g", ["h"]),
        best_pair_box,
    ):
        one, other = make(UNIT), make(design)
        assert abs(float(one.weight / other.weight) - 1) < 1e-5
        assert all(
            abs(float(a / b) - 1) < 1e-5 for a, b in zip(one.shifts, other.shifts, strict=True)
        )


def test_boxes_that_are_none():
    for inner, outer in ((0, 1), (1, 1), (Fraction(1, 2), 2), (Fraction(3, 4), Fraction(1, 2))):
        assert star_box(UNIT, "g", ["h"], Fraction(inner), Fraction(outer)) is None
    for bad in ((0, 1, 1), (2, 1, 1), (1, 2, 1), (1, 1, Fraction(1, 2)), (1, Fraction(19, 10), 1)):
        assert pair_box(UNIT, *map(Fraction, bad)) is None
    far = RegressionDesign(  # products of g with h have no common range: h is narrow, and far off
        regressors=[MeasuredColumn("g", 0, 9, 1, 9, centre=0)],
        outcome=MeasuredColumn("h", 0, 100, 99, 100, centre=0),
        density="1/8",
        has_intercept=False,
    )
    box = best_star_box(far, "g", ["h"])
    assert box is None or box.weight > 0
    several = RegressionDesign.uniform({"a": (0, 1), "b": (0, 1)}, {"h": (0, 1)})
    with pytest.raises(InvalidArgument, match="one regressor"):
        best_pair_box(several)
    off = RegressionDesign(
        regressors=[MeasuredColumn("g", 0, 1, centre=0)],
        outcome=MeasuredColumn("h", 0, 1),
        density=1,
    )
    with pytest.raises(InvalidArgument, match="middle of the box"):
        best_pair_box(off)


@pytest.mark.parametrize(
    ("rows", "known"), [(3, 0), (0, 0), (-5, 0), (10, 4), (10, -1), ("1.5", 0)]
)
def test_too_few_rows_are_refused(rows, known):
    with pytest.raises((InvalidArgument, RefusedQuery)):
        plan_split(UNIT, rows=rows, known=known)
