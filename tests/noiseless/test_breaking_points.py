"""Breaking points beside the curve: what is certified as asserted is within them."""

from fractions import Fraction

import pytest

from discreet import certify
from discreet.noiseless import (
    BoxDensity,
    ExactRegression,
    ExactSum,
    FixedHistogram,
    GridBlock,
    GridColumn,
    GridDesign,
    GridFloor,
    GridRegression,
    NormalKernel,
    PrivacyTarget,
    RegressionDesign,
)

_BOX = BoxDensity("0.02", box=(10, 40), clamps=(0, 50))
_BLOCK = GridBlock("0.03", blocks=[(2, 6), (0, 4)], clamps=[(0, 9), (0, 9)], steps=[1, 1])
_DOSE = RegressionDesign.uniform({"dose": (-1, 1)}, {"response": (-1, 1)})
_HOURS, _SCORE = (GridColumn(name=name, clamps=(0, 9), step=1) for name in ("hours", "score"))
_GRID = GridDesign(regressors=[_HOURS], outcome=_SCORE, floor="0.005")
_KERNEL = {"base": (20, 80), "scale": 10, "clamps": (0, 100)}

SUBJECTS = [
    ExactSum(_BOX, rows=500, known=20),
    ExactSum(GridFloor("0.01", block=(10, 60), clamps=(0, 100), step=1), rows=462, known=20),
    ExactSum(NormalKernel("0.035", **_KERNEL), rows=500, known=20),
    ExactSum(_BLOCK, rows=300, known=5),
    FixedHistogram(rows=100, shares=["0.5", "0.3", "0.2"]),
    FixedHistogram(rows=2000, known=20, least_share="0.1"),
    GridRegression.plan(_GRID, rows=3000, known=20),
    ExactRegression.plan(_DOSE, rows=3000, known=5),
]


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda one: type(one).__name__)
def test_what_is_met_as_asserted_is_within_every_limit(subject):
    # The hardest target that is met: whatever is searched for with less care misses it.
    target = PrivacyTarget(Fraction(1), min(subject.deltas(Fraction(1)).values()))
    assert 0 < target.delta < 1
    for point in subject.breaking_points(target):
        assert point.limit is not None, point.what
        if "adversary knows" in point.what:
            assert point.limit >= subject.known
        elif point.what in ("rows", "the number of rows"):
            assert point.limit <= subject.rows
        elif point.what == "rows of each part":
            assert point.limit <= min(subject.sizes)


def test_a_certificate_to_publish_does_not_say_that_its_law_fails():
    law, ends = "floor(0.01, 10, 60)", (0, 100)
    found = certify("sum", rows=442, known=20, law=law, range=ends, grid=1, delta="1e-6")
    assert found.may_publish
    assert [float(point.limit) for point in found.breaking_points] == [20, 442, 0.01]
    assert "not met" not in str(found)
