"""Exact sums and means: what is monotone, what is invariant, what is refused, where it breaks."""

import json
from fractions import Fraction
from itertools import pairwise
from math import exp

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.core.errors import DiscreetError, InvalidArgument, RefusedQuery
from discreet.noiseless.certifiable import PrivacyTarget, Way
from discreet.noiseless.laws.box_density import (
    BoxDensity,
    DisjointBoxes,
    TriangleDensity,
    uniform_rows,
)
from discreet.noiseless.laws.grid_block import GridBlock
from discreet.noiseless.laws.grid_law import DiscreteLaw, GridFloor
from discreet.noiseless.laws.hidden import Hidden
from discreet.noiseless.laws.kernel_density import LaplaceKernel, NormalKernel
from discreet.noiseless.laws.law_family import LawFamily
from discreet.noiseless.laws.parametric import NormalRows
from discreet.noiseless.sums.binomial_weights import binomial_blocks
from discreet.noiseless.sums.exact_sum import ExactMean, ExactSum, sum_from_json
from discreet.noiseless.sums.mixture import mixture_delta
from discreet.noiseless.sums.several import several_delta
from discreet.noiseless.sums.shift_divergence import shift_delta
from discreet.noiseless.sums.uniform_sums import UniformSum
from tests.noiseless.finite_sums import divergence, sum_law

HALF_BOX = BoxDensity("0.5", box=(1, 2), clamps=(0, 3))
LAWS = [
    uniform_rows(0, 1),
    HALF_BOX,
    GridFloor("0.2", block=(1, 3), clamps=(0, 5), step=1),
    DiscreteLaw(["0.1", "0.3", "0.2", "0.4"]),
    TriangleDensity("0.5", base=(0, 2), clamps=(0, 3)),
    NormalKernel("0.5", base=(0, 2), scale="0.7", clamps=(0, 3)),
    LaplaceKernel("0.5", base=(0, 2), scale="0.7", clamps=(0, 3)),
    DisjointBoxes(("0.3", "0.2"), boxes=[(0, 1), (2, 3)], clamps=(0, 3)),
    NormalRows(1, 1, clamps=(-1, 3)),
    LawFamily([HALF_BOX, BoxDensity("0.4", box=(0, 2), clamps=(0, 3))]),
    BoxDensity("0.5", box=((0, 1), (0, 1)), clamps=((0, 2), (0, 1))),
]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: type(law).__name__)
def test_each_way_is_at_most_the_one_before_and_falls_with_epsilon(law):
    total = ExactSum(law, rows=40, known=10)
    before = None
    for epsilon in ("0", "0.5", "3"):
        found = total.deltas(epsilon)
        values = list(found.values())
        assert list(found)[:2] == [Way.SOURCE, Way.MIXTURE]
        assert values == sorted(values, reverse=True)
        assert all(0 < value <= 1 for value in values)
        if before:
            assert all(found[way] <= before[way] for way in found)
        before = found


@pytest.mark.parametrize("law", LAWS, ids=lambda law: type(law).__name__)
def test_known_rows_are_rows_less_and_json_keeps_all(law):
    total = ExactSum(law, rows=36, known=20)
    assert total.deltas("0.7") == ExactSum(law, rows=16).deltas("0.7")
    assert total.deltas("0.7") == ExactMean(law, rows=36, known=20).deltas("0.7")
    again = sum_from_json(json.loads(json.dumps(total.to_json())))
    assert again == total
    assert again.to_json() == total.to_json()
    for text in (total.statistic, total.simulator, *total.assumptions):
        assert text.endswith(".")
    with pytest.raises(InvalidArgument):
        sum_from_json({**total.to_json(), "statistic": "median"})


@settings(max_examples=10, deadline=None)
@given(st.fractions(1, 50), st.fractions(-99, 99))
def test_scale_and_shift_do_not_matter(scale, shift):
    def moved(ends):
        return tuple(scale * end + shift for end in ends)

    box = BoxDensity("0.5", box=(1, 2), clamps=(0, 3))
    other = BoxDensity(Fraction(1, 2) / scale, box=moved((1, 2)), clamps=moved((0, 3)))
    assert other.hidden() == box.hidden()
    grid = GridFloor("0.2", block=(1, 3), clamps=(0, 5), step=1)
    same = GridFloor("0.2", block=moved((1, 3)), clamps=moved((0, 5)), step=scale)
    assert same.hidden() == grid.hidden()
    assert same.simulator == moved(grid.simulator)


def test_a_family_is_as_bad_as_its_worst_member_and_no_worse():
    wide, narrow = HALF_BOX, BoxDensity("0.4", box=(0, 2), clamps=(0, 3))
    found = ExactSum(LawFamily([wide, narrow]), rows=50).deltas(1)
    apart = [ExactSum(law, rows=50).deltas(1) for law in (wide, narrow)]
    assert found == {way: max(one[way] for one in apart) for way in found}
    assert LawFamily([LawFamily([wide]), narrow]).members() == (wide, narrow)


def test_the_mixture_bound_is_the_mean_over_hidden_rows():
    law = BoxDensity("0.5", box=(1, 2), clamps=(0, 3))
    weights = [1]
    for _ in range(39):
        weights = [a + b for a, b in zip([0, *weights], [*weights, 0], strict=True)]
    shift = Fraction(3, 2)
    mean = sum(
        Fraction(weight, 2**39) * shift_delta(UniformSum(m), shift, Fraction(1))
        for m, weight in enumerate(weights)
    )
    found = ExactSum(law, rows=40).deltas(1)[Way.MIXTURE]
    assert mean <= found <= mean * Fraction(101, 100)


def test_blocks_of_a_binomial_law_cover_it():
    for trials, chance in ((0, "1/2"), (9, "1/3"), (200, "0.999"), (5000, "1e-4"), (10**5, "0.4")):
        blocks = binomial_blocks(trials, Fraction(chance), 16)
        total = sum(block.chance for block in blocks)
        assert 1 <= total <= 1 + Fraction(1, 2**90)
        assert blocks[0].first == 0 or trials == 0
        assert [b.first for b in blocks] == sorted(b.first for b in blocks)
    exact = {0: Fraction(512, 19683), 9: Fraction(1, 19683)}
    fine = {block.first: block.chance for block in binomial_blocks(9, Fraction(1, 3), 100)}
    for place, true in exact.items():
        assert true <= fine[place] <= true * (1 + Fraction(1, 2**90))
    nothing = Hidden(0, (None,), (Fraction(1, 2),))
    assert mixture_delta(9, nothing, lambda m: Fraction(int(m == 0))) == 1


@pytest.mark.parametrize("weights", [["1/2", "1/2"], ["0.3", "0", "0.1", "0.6"], ["1/5"] * 5])
@pytest.mark.parametrize("rows", [2, 3, 7])
def test_a_known_law_is_tight(weights, rows):
    law = DiscreteLaw(weights)
    for epsilon in ("0", "0.5", "2"):
        found = ExactSum(law, rows=rows).deltas(epsilon)[Way.TIGHT]
        true = max(
            divergence(sum_law(law.weights, rows - 1), place - law.middle_index, float(epsilon))
            for place in law.possible()
        )
        assert true - 1e-12 <= found <= true + 1e-9


def test_a_uniform_grid_has_two_ways_to_one_value():
    known = DiscreteLaw(["1/11"] * 11)
    block = GridFloor("1/11", block=(0, 10), clamps=(0, 10), step=1)
    for epsilon in ("0", "0.1", "0.3"):
        first = ExactSum(known, rows=500).delta(epsilon)
        second = ExactSum(block, rows=500).delta(epsilon)
        assert second <= first * (1 + Fraction(1, 10**6))
        assert first <= second * (1 + Fraction(1, 10**4))


def test_slack_is_paid_for():
    exact = DiscreteLaw(["1/4"] * 4)
    rough = DiscreteLaw(["1/4"] * 4, slack="1e-6")
    difference = ExactSum(rough, rows=51).delta(1) - ExactSum(exact, rows=51).delta(1)
    assert float(difference) == pytest.approx(50e-6 * (1 + exp(1)), rel=1e-3)


def test_two_dimensions_beat_the_sum_of_two_and_lose_to_one():
    one = Hidden(1, (None,), (Fraction(1, 2),))
    two = Hidden(1, (None, None), (Fraction(1, 2),) * 2)
    still = Hidden(1, (None, None), (Fraction(1, 2), Fraction(0)))
    epsilon = Fraction(2, 5)
    found = several_delta(200, two, epsilon)
    assert several_delta(200, still, epsilon) == several_delta(200, one, epsilon)
    assert several_delta(200, one, epsilon) < found
    assert found < 2 * several_delta(200, one, epsilon / 2)


def test_two_dimensions_against_all_pairs_of_sums():
    both = Hidden(1, (4, 4), (Fraction(2), Fraction(2)))
    law = sum_law([Fraction(1, 4)] * 4, 12)
    for epsilon in (0.5, 1.5):
        shifted = {place + 2: mass for place, mass in law.items()}
        true = sum(
            max(0.0, float(p * q) - exp(epsilon) * float(shifted.get(a, 0) * shifted.get(b, 0)))
            for a, p in law.items()
            for b, q in law.items()
        )
        found = float(several_delta(12, both, Fraction(epsilon)))
        assert true <= found <= true * 1.2 + 1e-9


def test_three_dimensions_are_worse_than_two():
    shifts = (Fraction(1, 2),) * 3
    three = several_delta(150, Hidden(1, (None,) * 3, shifts), Fraction(1))
    two = several_delta(150, Hidden(1, (None,) * 2, shifts[:2]), Fraction(1))
    assert two < three < 1


def test_breaking_points_of_uniform_rows_are_the_last_that_hold():
    total = ExactSum(uniform_rows(0, 1), rows=400, known=30)
    target = PrivacyTarget(Fraction(1, 2), Fraction(1, 10**5))
    known, rows, density = (point.limit for point in total.breaking_points(target))
    assert known is not None
    assert density is not None
    assert ExactSum(uniform_rows(0, 1), rows=400, known=int(known)).delta("0.5") <= target.delta
    more = ExactSum(uniform_rows(0, 1), rows=400, known=int(known) + 1)
    assert more.delta("0.5") > target.delta
    assert rows == 400 - known + 30
    assert 0 < density < 1
    assert (
        ExactSum(BoxDensity(density, box=(0, 1), clamps=(0, 1)), rows=370).delta("0.5")
        <= target.delta
    )


@pytest.mark.parametrize(
    ("law", "name"),
    [
        (TriangleDensity("0.5", base=(0, 2), clamps=(0, 3)), "peak"),
        (NormalKernel("0.5", base=(0, 2), scale="0.7", clamps=(0, 3)), "peak"),
        (GridBlock("1/6", blocks=[(0, 1), (0, 2)], clamps=[(0, 1), (0, 2)], steps=[1, 1]), "floor"),
    ],
)
def test_how_little_a_law_may_hide_is_named(law, name):
    target = PrivacyTarget(Fraction(2), Fraction(1, 50))
    *_, found = ExactSum(law, rows=60).breaking_points(target)
    assert found.what.startswith(name)
    assert found.limit is not None
    assert found.limit < getattr(law, name)
    assert ExactSum(evolve(law, **{name: found.limit}), rows=60).delta(2) <= target.delta


def test_breaking_points_where_nothing_holds():
    total = ExactSum(HALF_BOX, rows=5)
    points = total.breaking_points(PrivacyTarget(Fraction(1, 2), Fraction(1, 10**6)))
    assert points[0].limit is None
    assert points[1].limit is not None
    assert points[1].limit > 5
    assert points[2].limit is None
    never = ExactSum(LawFamily([uniform_rows(0, 1)]), rows=5)
    assert never.breaking_points(PrivacyTarget(Fraction(0), Fraction(1, 10**9)))[1].limit is None


def test_noise_instead():
    target = PrivacyTarget(Fraction(1, 2), Fraction(1, 10**6))
    noise = ExactSum(HALF_BOX, rows=100).noise_instead(target)
    of_mean = ExactMean(HALF_BOX, rows=100).noise_instead(target)
    assert noise is not None
    assert of_mean is not None
    assert noise.scale == 6
    assert float(noise.error) == pytest.approx(6 * 2.995732, rel=1e-6)
    assert of_mean.scale == Fraction(6, 100)
    assert ExactSum(HALF_BOX, rows=9).noise_instead(PrivacyTarget(Fraction(0), Fraction(1))) is None


@pytest.mark.parametrize(
    "ask",
    [
        lambda: ExactSum(HALF_BOX, rows=0),
        lambda: ExactSum(HALF_BOX, rows="2.5"),
        lambda: ExactSum(HALF_BOX, rows=float("nan")),
        lambda: ExactSum(HALF_BOX, rows=5, known=5),
        lambda: ExactSum(HALF_BOX, rows=5, known=-1),
        lambda: ExactSum([1, 2, 3], rows=5),  # type: ignore[arg-type]
        lambda: ExactSum(HALF_BOX, rows=5).deltas(-1),
        lambda: ExactSum(HALF_BOX, rows=5).deltas(float("inf")),
        lambda: ExactSum(HALF_BOX, rows=5).deltas(2000),
        lambda: ExactSum(HALF_BOX, rows=5, chosen="later"),
    ],
)
def test_bad_input_is_refused(ask):
    with pytest.raises(InvalidArgument):
        ask()


def test_what_was_chosen_from_the_data_is_refused():
    with pytest.raises(RefusedQuery, match="would itself tell something"):
        ExactSum(HALF_BOX, rows=5, chosen="from the data")
    with pytest.raises(RefusedQuery, match="follow another law"):
        ExactSum(HALF_BOX, rows=5, known=2, known_rows="by their values")


def test_extreme_sizes():
    assert ExactSum(HALF_BOX, rows=1).delta(1) == 1
    assert ExactSum(uniform_rows(0, 1), rows=2).delta(1) == pytest.approx(Fraction(1, 2))
    tiny = BoxDensity("1e-6", box=(0, 1), clamps=(0, 10**6))
    assert ExactSum(tiny, rows=100).delta(1) == pytest.approx(1, abs=1e-3)
    huge = ExactSum(uniform_rows(0, 1), rows=10**8)
    assert huge.delta("0.001") < Fraction(1, 10**12)
    values = [ExactSum(uniform_rows(0, 1), rows=n).delta("0.5") for n in (1, 2, 3, 30, 90, 300)]
    assert all(after <= before for before, after in pairwise(values))
    with pytest.raises(DiscreetError):
        ExactSum(HALF_BOX, rows=3).deltas("one")
    for epsilon in (709, 710, 1000):
        assert all(0 <= delta <= 1 for delta in ExactSum(HALF_BOX, rows=9).deltas(epsilon).values())
