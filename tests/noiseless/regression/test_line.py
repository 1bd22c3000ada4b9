"""From exact sums to the line: against least squares, singular data, and the printed formula."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from discreet.core.errors import InvalidArgument, RefusedQuery
from discreet.noiseless.regression.coefficients import (
    NoLine,
    RegressionLine,
    ReleasedMoments,
    is_positive,
    line_of,
    slopes_by_norm,
)
from discreet.noiseless.regression.design import MeasuredColumn, RegressionDesign
from discreet.noiseless.regression.row_moments import RowMoment, moments_of
from discreet.noiseless.regression.split_variance import (
    ExpectedLine,
    variance_of_all,
    variance_of_split,
)

CLAMPS = (-(10**6), 10**6)


def design_of(count, *, has_intercept=True, centre=0):
    names = "abcd"[:count]
    ends = {"low": CLAMPS[0], "high": CLAMPS[1], "centre": centre}
    return RegressionDesign(
        regressors=[MeasuredColumn(name, **ends) for name in names],
        outcome=MeasuredColumn("h", **ends),
        density=Fraction(1, (2 * 10**6) ** (count + 1)),
        has_intercept=has_intercept,
    )


def sums_of(design, rows):
    """Plain sums of moments of rows, by hand."""
    found = {}
    for moment in moments_of(design):
        total = Fraction(0)
        for row in rows:
            value = Fraction(1)
            for factor in moment.factors:
                column = design.column(factor)
                value *= row[design.columns.index(column)] - column.centre
            total += value
        found[moment] = total
    return ReleasedMoments.of(found, len(rows))


rows_of = st.integers(1, 3).flatmap(
    lambda count: st.tuples(
        st.just(count),
        st.lists(st.tuples(*[st.integers(-50, 50)] * (count + 1)), min_size=count + 2, max_size=12),
    )
)


@given(rows_of, st.booleans(), st.integers(-7, 7))
def test_it_is_the_least_squares_line(case, has_intercept, centre):
    count, rows = case
    design = design_of(count, has_intercept=has_intercept, centre=centre if has_intercept else 0)
    line = line_of(design, sums_of(design, rows))
    table = np.array(rows, dtype=float)
    left = np.column_stack([table[:, :-1], np.ones(len(rows))]) if has_intercept else table[:, :-1]
    rank = np.linalg.matrix_rank(left)
    assert isinstance(line, RegressionLine) == (rank == left.shape[1])
    assume(isinstance(line, RegressionLine))
    # The normal equations hold exactly: residuals are orthogonal to every column.
    residuals = [
        row[-1]
        - line.intercept
        - sum(s * x for s, x in zip(line.slopes.values(), row, strict=False))
        for row in rows
    ]
    for index in range(count):
        assert sum(r * row[index] for r, row in zip(residuals, rows, strict=True)) == 0
    if has_intercept:
        assert sum(residuals) == 0


def test_the_printed_formula_is_no_least_squares():
    """[Gro14, section 6.4] for d = 2: wrong by half on four rows without any error."""
    rows = [(a, b, a + b) for a, b in product((-1, 1), repeat=2)]
    design = design_of(2, has_intercept=False)
    released = sums_of(design, rows)
    line = line_of(design, released)
    assert line.slopes == {"a": 1, "b": 1}
    norm = sum(Fraction(a * a + b * b) for a, b, _ in rows)
    printed = {
        name: sum(Fraction(row[i] * row[2]) for row in rows) / norm for i, name in enumerate("ab")
    }
    assert printed == {"a": Fraction(1, 2), "b": Fraction(1, 2)}
    # It depends on the unit of one column too: a tenth of b, and a's slope changes.
    tenth = [(Fraction(a), Fraction(b, 10), Fraction(a + b)) for a, b, _ in rows]
    norm = sum(a * a + b * b for a, b, _ in tenth)
    assert sum(a * h for a, _, h in tenth) / norm == Fraction(100, 101)
    assert line_of(design, sums_of(design, tenth)).slopes == {"a": 1, "b": 10}
    with pytest.raises(RefusedQuery, match="squared norm makes no line"):
        slopes_by_norm(norm, {"a": 1, "b": 1})


def test_with_one_regressor_the_printed_formula_is_right():
    rows = [(2, 3), (5, 1), (-4, 7)]
    design = design_of(1, has_intercept=False)
    line = line_of(design, sums_of(design, rows))
    printed = slopes_by_norm(sum(g * g for g, _ in rows), {"a": sum(g * h for g, h in rows)})
    assert line.slopes == printed
    for square, products in ((0, {"a": 1}), (-1, {"a": 1}), (1, {})):
        with pytest.raises((InvalidArgument, RefusedQuery)):
            slopes_by_norm(square, products)


def test_moments_without_a_line():
    design = design_of(1)
    same = sums_of(design, [(3, 1), (3, 2), (3, 9)])
    assert isinstance(line_of(design, same), NoLine)
    collinear = sums_of(design_of(2), [(x, 2 * x, x * x) for x in range(9)])
    assert isinstance(line_of(design_of(2), collinear), NoLine)
    # Halves of a split that contradict one another: a mean of 10, and a mean square of 4.
    g, h, square, mixed = moments_of(design)
    sizes = {g: 5, h: 5, square: 50, mixed: 50}
    odd = ReleasedMoments.of({g: 50, h: 1, square: 200, mixed: 3}, sizes)
    found = line_of(design, odd)
    assert isinstance(found, NoLine)
    assert "parts of a split" in found.words
    with pytest.raises(InvalidArgument, match="a h"):
        line_of(design, ReleasedMoments.of({g: 1, h: 1, square: 1}, 3))
    with pytest.raises(InvalidArgument):
        ReleasedMoments.of({g: 1}, 0)
    with pytest.raises(InvalidArgument):
        ReleasedMoments.of({g: float("nan")}, 1)


def test_products_are_found_in_either_order():
    released = ReleasedMoments.of({RowMoment(("a", "h")): 6}, 3)
    assert released.mean("h", "a") == 2


@pytest.mark.parametrize(
    ("matrix", "expected"), [([[1]], True), ([[0]], False), ([[1, 2], [2, 1]], False), ([], True)]
)
def test_positive_matrices(matrix, expected):
    assert is_positive([[Fraction(x) for x in row] for row in matrix]) is expected


def exact_split_variance(line, means, products):
    """The delta method with moments of a finite law, worked out by enumeration: an oracle.

    The regressor is mean +- deviation with a third value in the middle, the error is +- its root.
    """
    spread, error = Fraction(3), Fraction(2)
    regressor = {
        line.mean - spread: Fraction(1, 4),
        line.mean: Fraction(1, 2),
        line.mean + spread: Fraction(1, 4),
    }
    law = {}
    for g, p in regressor.items():
        for e in (-error, error):
            law[g, line.intercept + line.slope * g + e] = p / 2

    def mean(function):
        return sum(p * function(g, h) for (g, h), p in law.items())

    def variance(function):
        centre = mean(function)
        return mean(lambda g, h: (function(g, h) - centre) ** 2)

    mg, mh = mean(lambda g, h: g), mean(lambda g, h: h)
    bottom = mean(lambda g, h: g * g) - mg * mg
    top = mean(lambda g, h: g * h) - mg * mh
    # Derivatives of top / bottom by each of the four means.
    by_gh, by_gg = 1 / bottom, -top / bottom**2
    by_g, by_h = -mh / bottom + 2 * mg * top / bottom**2, -mg / bottom
    of_products = variance(lambda g, h: by_gh * g * h + by_gg * g * g) / products
    return of_products + variance(lambda g, h: by_g * g + by_h * h) / means


@pytest.mark.parametrize("intercept", [0, 40, -7])
@pytest.mark.parametrize("mean", [0, 30, "-1/2"])
@pytest.mark.parametrize("slope", [0, 2, "-1/3"])
def test_the_variance_of_a_split_is_that_of_the_delta_method(intercept, mean, slope):
    line = ExpectedLine(intercept=intercept, slope=slope, mean=mean, variance="9/2", error=4)
    assert variance_of_split(line, means=100, products=900) == exact_split_variance(line, 100, 900)


def test_centring_leaves_only_what_the_rows_cost():
    line = ExpectedLine(intercept=40, slope=2, mean=30, variance=25, error=16)
    centred = line.centred(30, 100)
    assert variance_of_split(centred, means=1, products=900) == variance_of_all(line, 900)
    assert variance_of_split(line, means=100, products=900) > 500 * variance_of_all(line, 1000)
    for bad in ({"means": 0, "products": 1}, {"means": 1, "products": -1}):
        with pytest.raises(InvalidArgument):
            variance_of_split(line, **bad)
    with pytest.raises(InvalidArgument):
        ExpectedLine(intercept=0, slope=0, mean=0, variance=0, error=1)
