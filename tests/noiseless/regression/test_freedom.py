"""What a design leaves free: counted from declarations, and checked on rows that obey them."""

from fractions import Fraction

import numpy as np
import pytest

from discreet.core.errors import InvalidArgument, RefusedQuery
from discreet.noiseless.regression.design import (
    DeclaredRelation,
    MeasuredColumn,
    RegressionDesign,
)
from discreet.noiseless.regression.freedom import (
    RelationKind,
    freedom_of,
    jacobian_rank,
    require_free,
)
from discreet.noiseless.regression.polynomial import Polynomial
from discreet.noiseless.regression.row_moments import RowMoment, moments_of
from discreet.noiseless.regression.splitting import plan_split

A, B = Polynomial.of("a"), Polynomial.of("b")


def design_of(*relations, regressors="ab", has_intercept=True):
    centre = {} if has_intercept else {"centre": 0}
    return RegressionDesign(
        regressors=[MeasuredColumn(name, 0, 1, **centre) for name in regressors],
        outcome=MeasuredColumn("h", -1, 1, **centre),
        density="1/8",
        has_intercept=has_intercept,
        relations=relations,
    )


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("has_intercept", [True, False])
def test_how_many_averages_a_line_needs(count, has_intercept):
    design = design_of(regressors="abcde"[:count], has_intercept=has_intercept)
    found = freedom_of(design)
    needed = count * (count + 1) // 2 + count + (count + 1) * has_intercept
    assert len(found.kept) == needed == len(moments_of(design))
    assert (found.rank, found.derived) == (count + 1, ())
    assert found.has_density == (needed <= count + 1)
    assert found.least_blocks == -(-needed // (count + 1))
    plan = plan_split(design, rows=10_000)
    assert all(len(block.moments) <= count + 1 for block in plan.blocks)
    assert sorted(str(m) for b in plan.blocks for m in b.moments) == sorted(map(str, found.kept))
    assert plan.rows == 10_000
    assert (len(plan.blocks) == found.least_blocks) == (count <= 3)


def test_the_rank_is_that_of_rows():
    """An oracle of its own: numerical derivatives of the moments at random rows."""
    design = design_of()
    chosen = [RowMoment(("b", "b")), RowMoment(("b", "h")), RowMoment(("a", "b"))]
    row, step = np.array([0.3, 0.7, -0.2]), 1e-6

    def moments(x):
        values = dict(zip("abh", x, strict=True))
        return np.array([values[m.factors[0]] * values[m.factors[1]] for m in chosen])

    slopes = [(moments(row + step * e) - moments(row - step * e)) / 2 / step for e in np.eye(3)]
    polynomials = [moment.polynomial(design) for moment in chosen]
    assert (
        jacobian_rank(polynomials, "abh") == np.linalg.matrix_rank(np.array(slopes), tol=1e-4) == 3
    )
    # Five moments of three columns that three numbers decide.
    merged = [RowMoment(m) for m in (("a", "a"), ("a", "h"), ("h", "h"))]
    assert jacobian_rank([one.polynomial(design) for one in merged], "abh") == 2


@pytest.mark.parametrize(
    ("relation", "kind", "words"),
    [
        (DeclaredRelation("b", Polynomial.constant(1)), RelationKind.CONSTANT, "'b' is constant"),
        (DeclaredRelation("b", A * 2 + 1), RelationKind.COLLINEAR, "'b' is collinear"),
        (DeclaredRelation("h", A + B * -1), RelationKind.NO_ERROR, "'h' has no error"),
        (DeclaredRelation("h", Polynomial.constant(0)), RelationKind.CONSTANT, "'h' is constant"),
        (DeclaredRelation("h", None), RelationKind.UNKNOWN, "not said how"),
        (DeclaredRelation("b", None), RelationKind.UNKNOWN, "not said how"),
    ],
)
def test_what_hides_nothing_is_refused_by_name(relation, kind, words):
    design = design_of(relation)
    (finding,) = freedom_of(design).findings
    assert (finding.kind, finding.refuses) == (kind, True)
    with pytest.raises(RefusedQuery, match=words):
        require_free(design)
    with pytest.raises(RefusedQuery, match=words):
        plan_split(design, rows=1000)


def test_a_function_of_another_column_takes_a_degree_of_freedom():
    """A square as a regressor: five of its eight moments are new, and two numbers make them all."""
    found = require_free(design_of(DeclaredRelation("b", A * A)))
    assert found.findings[0].kind is RelationKind.FUNCTIONAL
    assert (found.free, found.rank) == (("a", "h"), 2)
    assert [str(one) for one in found.derived] == ["a^2"]
    with pytest.raises(RefusedQuery, match="not planned"):
        plan_split(design_of(DeclaredRelation("b", A * A)), rows=1000)


def test_a_constant_column_is_an_intercept_if_there_is_no_other():
    one = DeclaredRelation("a", Polynomial.constant(1))
    found = require_free(design_of(one, regressors="a", has_intercept=False))
    assert ([str(m) for m in found.kept], found.has_density) == (["a h"], True)
    with pytest.raises(RefusedQuery):
        require_free(design_of(one, regressors="a"))


def test_lines_through_the_origin_are_collinear_only_without_a_constant():
    shifted, doubled = DeclaredRelation("b", A + 1), DeclaredRelation("b", A * 2)
    assert freedom_of(design_of(shifted, has_intercept=False)).findings[0].refuses is False
    assert freedom_of(design_of(doubled, has_intercept=False)).findings[0].refuses is True


@pytest.mark.parametrize(
    "bad",
    [
        {"density": 0},
        {"density": -1},
        {"density": "0.6"},
        {"density": float("nan")},
        {"regressors": []},
        {"regressors": [MeasuredColumn("h", 0, 1)]},
        {"regressors": [MeasuredColumn("", 0, 1)]},
        {"has_intercept": False},
        {"relations": [DeclaredRelation("x", None)]},
        {"relations": [DeclaredRelation("a", Polynomial.of("a"))]},
        {"relations": [DeclaredRelation("a", None)] * 2},
        {"relations": [DeclaredRelation("a", None), DeclaredRelation("h", None)]},
    ],
)
def test_designs_that_cannot_be_are_refused(bad):
    good = {
        "regressors": [MeasuredColumn("a", 0, 1)],
        "outcome": MeasuredColumn("h", -1, 1),
        "density": "1/2",
    }
    assert RegressionDesign(**good).weight == 1
    with pytest.raises(InvalidArgument):
        RegressionDesign(**(good | bad))


@pytest.mark.parametrize(
    "ends",
    [(1, 0), (0, 0), (0, float("inf")), (0, 1, -1), (0, 1, 0, 2), ("x", 1), (0, 1, "1/2", "1/2")],
)
def test_columns_that_cannot_be_are_refused(ends):
    with pytest.raises(InvalidArgument):
        MeasuredColumn("a", *ends)


def test_a_moment_stays_within_its_span():
    design = RegressionDesign(
        regressors=[MeasuredColumn("a", -3, 5, centre=1)],
        outcome=MeasuredColumn("h", 2, 7, centre=0),
        density="1/40",
    )
    grid = [Fraction(k, 8) for k in range(9)]
    values = {
        "a": [-4 + 8 * k for k in grid],
        "a^2": [(-4 + 8 * k) ** 2 for k in grid],
        "a h": [(-4 + 8 * k) * (2 + 5 * j) for k in grid for j in grid],
    }
    for moment in (RowMoment(("a",)), RowMoment(("a", "a")), RowMoment(("a", "h"))):
        assert moment.span(design) == (min(values[str(moment)]), max(values[str(moment)]))
