"""Laws that an owner can assert: what they hide, what is refused, and what is written down."""

import json
from fractions import Fraction
from itertools import pairwise

import pytest
from mpmath import mp, mpf, ncdf, npdf

from discreet.core.errors import InvalidArgument
from discreet.noiseless.laws.box_density import (
    BoxDensity,
    DisjointBoxes,
    TriangleDensity,
    uniform_rows,
)
from discreet.noiseless.laws.grid_law import DiscreteLaw, GridFloor
from discreet.noiseless.laws.independent_columns import IndependentColumns
from discreet.noiseless.laws.kernel_density import LaplaceKernel, NormalKernel
from discreet.noiseless.laws.law_family import LawFamily, law_from_json
from discreet.noiseless.laws.parametric import (
    BetaRows,
    ExponentialRows,
    LaplaceRows,
    NormalRows,
)
from discreet.noiseless.regression.grid_product import GridProduct

EVERY = [
    BoxDensity("0.1", box=(0, 4), clamps=(0, 8)),
    BoxDensity("1/4", box=((0, 1), (-1, 1)), clamps=((0, 2), (-1, 1))),
    DisjointBoxes(("0.2", "0.3"), boxes=[(0, 1), (3, 4)], clamps=(0, 4)),
    TriangleDensity("0.5", base=(0, 2), clamps=(0, 4)),
    NormalKernel("0.3", base=(0, 3), scale="0.7", clamps=(-1, 4)),
    LaplaceKernel("0.4", base=(0, 3), scale="0.7", clamps=(-1, 4)),
    GridFloor("0.1", block=(2, 6), clamps=(0, 9), step="0.5"),
    DiscreteLaw(["0.1", "0.3", "0.2", "0.4"], start=-1, step="0.1", slack="1e-9"),
    NormalRows(0, 1, clamps=(-2, 3)),
    LaplaceRows(1, 2, clamps=(-9, 9)),
    ExponentialRows(0, 1, clamps=(0, 5)),
    BetaRows(2, 3, clamps=(0, 10)),
    LawFamily([NormalRows(k, 1, clamps=(-3, 3)) for k in (-1, 0, 1)]),
]


@pytest.mark.parametrize("law", EVERY, ids=lambda law: type(law).__name__)
def test_every_law_is_kept_by_json_and_says_what_it_is(law):
    assert law_from_json(json.loads(json.dumps(law.to_json()))) == law
    assert law.words().endswith(".")
    hidden = law.hidden()
    assert 0 < hidden.mass <= 1
    assert len(hidden.shifts) == len(law.clamps) == len(law.simulator)
    for (low, high), inserted in zip(law.clamps, law.simulator, strict=True):
        assert low <= inserted <= high


@pytest.mark.parametrize(
    "make",
    [
        lambda: BoxDensity(0, box=(0, 1), clamps=(0, 1)),
        lambda: BoxDensity("1.01", box=(0, 1), clamps=(0, 1)),
        lambda: BoxDensity(float("nan"), box=(0, 1), clamps=(0, 1)),
        lambda: BoxDensity("0.1", box=(1, 0), clamps=(0, 1)),
        lambda: BoxDensity("0.1", box=(0, 2), clamps=(0, 1)),
        lambda: BoxDensity("0.1", box=(0, 1), clamps=((0, 1), (0, 1))),
        lambda: BoxDensity("0.1", box=[], clamps=[]),
        lambda: BoxDensity("0.1", box="01", clamps=(0, 1)),
        lambda: DisjointBoxes(("0.2",), boxes=[(0, 1), (3, 4)], clamps=(0, 4)),
        lambda: DisjointBoxes(("0.2", "0.2"), boxes=[(0, 1), (2, 4)], clamps=(0, 4)),
        lambda: DisjointBoxes(("0.2", "0.2"), boxes=[(0, 2), (1, 3)], clamps=(0, 4)),
        lambda: DisjointBoxes(("0.2", "0.9"), boxes=[(0, 1), (3, 4)], clamps=(0, 4)),
        lambda: DisjointBoxes(("0.2", "-0.1"), boxes=[(0, 1), (3, 4)], clamps=(0, 4)),
        lambda: TriangleDensity("2", base=(0, 2), clamps=(0, 4)),
        lambda: TriangleDensity("0.1", base=((0, 1), (0, 1)), clamps=((0, 1), (0, 1))),
        lambda: NormalKernel("0.42", base=(-3, 3), scale=1, clamps=(-3, 3)),
        lambda: NormalKernel("0.3", base=(-3, 3), scale=0, clamps=(-3, 3)),
        lambda: NormalKernel("0.3", base=(-3, 3), scale=10**101, clamps=(-3, 3)),
        lambda: NormalKernel("0.3", base=(-3, 3), scale=1, clamps=(-2, 3)),
        lambda: LaplaceKernel("0.51", base=(-30, 30), scale=1, clamps=(-30, 30)),
        lambda: LaplaceKernel("0.1", base=((0, 1), (0, 1)), scale=1, clamps=((0, 1), (0, 1))),
        lambda: LaplaceKernel(-1, base=(-3, 3), scale=1, clamps=(-3, 3)),
        lambda: GridFloor("0.3", block=(2, 6), clamps=(0, 9), step=1),
        lambda: GridFloor("0.1", block=(2, "6.5"), clamps=(0, 9), step=1),
        lambda: GridFloor("0.1", block=(2, 6), clamps=(0, "9.5"), step=1),
        lambda: GridFloor("0.1", block=(2, 10), clamps=(0, 9), step=1),
        lambda: GridFloor("0.1", block=(2, 6), clamps=(0, 9), step=0),
        lambda: DiscreteLaw(["0.5", "0.4"]),
        lambda: DiscreteLaw(["1.5", "-0.5"]),
        lambda: DiscreteLaw(["1"]),
        lambda: DiscreteLaw(["0.5", "0.5"], slack=2),
        lambda: NormalRows(0, 0, clamps=(-1, 1)),
        lambda: NormalRows(0, 1, clamps=((-1, 1), (-1, 1))),
        lambda: NormalRows(0, 1, clamps=(-1, 1)).on_grid("0.3"),
        lambda: ExponentialRows(10, 1, clamps=(0, 5)).box(),
        lambda: BetaRows(0, 1, clamps=(0, 1)),
        lambda: LawFamily([]),
        lambda: uniform_rows(0, 1).at_most(0),
        lambda: law_from_json({"law": "cauchy"}),
        lambda: law_from_json({"law": "box_density", "density": "1"}),
        lambda: law_from_json({}),
    ],
)
def test_what_cannot_be_true_is_refused(make):
    with pytest.raises(InvalidArgument):
        make()


@pytest.mark.parametrize("clamps", [None, (0, float("inf")), (float("-inf"), float("inf"))])
def test_unbounded_rows_are_refused(clamps):
    with pytest.raises(InvalidArgument, match="one row can move a sum without limit"):
        NormalRows(0, 1, clamps=clamps)


def test_members_must_share_a_simulator():
    with pytest.raises(InvalidArgument, match="one simulator for all"):
        LawFamily([uniform_rows(0, 1), BoxDensity("0.5", box=(0, 1), clamps=(0, 2))])
    odd = GridFloor("0.1", block=(0, 3), clamps=(0, 3), step=1)
    with pytest.raises(InvalidArgument, match="one simulator for all"):
        LawFamily([odd, uniform_rows(0, 3)])


@pytest.mark.parametrize(
    ("law", "density"),
    [
        (NormalRows("0.3", "1.7", clamps=(-2, 5)), lambda x: npdf(x, mpf(3) / 10, mpf(17) / 10)),
        (LaplaceRows(1, 2, clamps=(-9, 9)), lambda x: mp.exp(-abs(x - 1) / 2) / 4),
        (ExponentialRows(1, 2, clamps=(0, 9)), lambda x: mp.exp(-(x - 1) / 2) / 2 if x >= 1 else 0),
        (
            ExponentialRows("1/10", 2, clamps=(0, 9)),
            lambda x: mp.exp(-(x - mpf(1) / 10) / 2) / 2 if x >= mpf(1) / 10 else 0,
        ),
        (BetaRows(2, 3, clamps=(0, 10)), lambda x: 12 * (x / 10) * (1 - x / 10) ** 2 / 10),
    ],
)
def test_the_density_is_nowhere_below_the_box(law, density):
    box = law.box()
    with mp.workdps(50):
        low, high = (mpf(end.numerator) / end.denominator for end in box.box[0])
        asserted = mpf(box.density.numerator) / box.density.denominator
        heights = [density(low + (high - low) * k / 200) for k in range(201)]
        assert min(heights) >= asserted * (1 - mpf("1e-45"))  # the digits of the comparison
        assert min(heights) <= asserted * mpf("1.001")


def test_the_best_box_of_a_normal_law_reaches_about_the_root_of_three():
    (low, high) = NormalRows(0, 1, clamps=(-9, 9)).box().box[0]
    assert float(high) == pytest.approx(3**0.5, abs=0.07)
    assert low == -high
    # Where the centre is far from the clamps, there is still some density between them.
    assert NormalRows(5, 1, clamps=(0, 2)).box().mass > 0


def test_rounded_normal_rows():
    law = NormalRows(0, 1, clamps=(-1, 1)).on_grid("0.5")
    with mp.workdps(50):
        edges = [mpf(0), *(ncdf(mpf(k) / 4) for k in (-3, -1, 1, 3)), mpf(1)]
        for weight, (low, high) in zip(law.weights, pairwise(edges), strict=True):
            assert abs(mpf(weight.numerator) / weight.denominator - (high - low)) < mpf("1e-44")


def test_odd_ranges_have_a_simulator_on_the_grid():
    odd = GridFloor("0.1", block=(0, 3), clamps=(0, 5), step=1)
    assert odd.simulator[0] == 2
    assert odd.hidden().shifts[0] == 3
    even = GridFloor("0.1", block=(0, 3), clamps=(0, 4), step=1)
    assert even.simulator[0] == 2
    assert even.hidden().shifts[0] == 2


def test_a_known_law_finds_its_best_floor():
    law = DiscreteLaw(["0.01", "0.2", "0.25", "0.3", "0.2", "0.04"], start=5)
    floor = law.floor()
    assert floor is not None
    assert floor.floor == Fraction(1, 5)
    assert floor.block == (Fraction(6), Fraction(9))
    assert DiscreteLaw(["0.5", "0", "0.5"]).floor() is None
    assert DiscreteLaw(["0.5", "0", "0.5"]).hidden().mass == 0
    assert DiscreteLaw(["0.5", "0.5"], slack="0.6").floor() is None


def test_a_triangle_hides_two_numbers_a_row():
    """The density of the sum of two uniform numbers is the triangle."""
    law = TriangleDensity("1", base=(0, 2), clamps=(0, 2))
    assert law.hidden().mass == 1
    assert law.hidden().terms == 2
    assert law.hidden().shifts[0] == 1


def test_rows_that_are_known_to_be_small_follow_another_law():
    law = uniform_rows(0, 1).at_most("0.25")
    assert law.box == ((Fraction(0), Fraction(1, 4)),)
    assert law.clamps == ((Fraction(0), Fraction(1)),)
    assert law.hidden().shifts[0] == 2


@pytest.mark.parametrize(
    "other",
    [
        TriangleDensity("0.5", base=(0, 2), clamps=(0, 4)),
        GridProduct(1, blocks=[(0, 3)], ranges=[(0, 3)]),
        GridProduct(1, blocks=[(0, 2)], ranges=[(0, 2)]),
    ],
)
def test_a_law_of_which_a_row_alone_is_not_uniform_stands_beside_no_other(other):
    """Taken for uniform by the row, a square would be certified below what an attacker has."""
    coin = GridFloor("1/2", block=(0, 1), clamps=(0, 1), step=1)
    with pytest.raises(InvalidArgument, match="side by side"):
        IndependentColumns((coin, other))
