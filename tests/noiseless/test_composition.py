"""Exact releases are never added up: each rule is shown to hold, and to refuse what it must."""

from fractions import Fraction
from itertools import product

import pytest

from discreet.core.errors import InvalidArgument, RefusedQuery
from discreet.noiseless.composition import (
    ComposedReleases,
    CompositionRule,
    ExactStatistic,
    NoisyRelease,
    RowSet,
    compose_with_premises,
    require_composable,
)
from discreet.noiseless.leverage import GroupTotal, leverage, require_no_leverage

ALL = RowSet("students", table="exams")
NORTH = RowSet("students", table="exams", split="campus", parts={"north"})
SOUTH = RowSet("students", table="exams", split="campus", parts={"south"})
BOTH = RowSet("students", table="exams", split="campus", parts={"north", "south"})


def exact_sum(name, rows, *features, epsilon="0.5", delta="1e-6", **more):
    return ExactStatistic(name, rows, features or {"sum(score)"}, epsilon, delta, **more)


def test_first_again_parallel_and_one_vector():
    first = exact_sum("a", NORTH)
    assert require_composable([], first).rule is CompositionRule.FIRST
    assert require_composable([first], exact_sum("again", NORTH)).rule is CompositionRule.AGAIN
    beside = require_composable([first], exact_sum("b", SOUTH, epsilon=1, delta="1e-7"))
    assert beside.rule is CompositionRule.PARALLEL
    assert (beside.epsilon, beside.delta) == (Fraction(1), Fraction(1, 10**6))
    vector = exact_sum("v", NORTH, "sum(score)", "sum(score * score)", epsilon=2)
    assert require_composable([first], vector).epsilon == 2
    assert require_composable([first, exact_sum("b", SOUTH, epsilon=3)], vector).epsilon == 3


@pytest.mark.parametrize(
    "rows",
    [
        RowSet("students", table="exams", condition="student <> 17"),
        RowSet("students", table="exams", version=1),
        RowSet("students", table="copy_of_exams"),
        NORTH,
        BOTH,
    ],
)
def test_what_could_be_subtracted_is_refused(rows):
    with pytest.raises(RefusedQuery, match="could be subtracted"):
        require_composable([exact_sum("total", ALL)], exact_sum("new", rows))


def test_overlapping_parts_conditions_and_other_features_are_refused():
    with pytest.raises(RefusedQuery, match="each part of the split"):
        require_composable([exact_sum("n", NORTH)], exact_sum("both", BOTH))
    one = RowSet("students", condition="age > 30")
    two = RowSet("students", condition="age > 31")
    with pytest.raises(RefusedQuery, match="two private conditions"):
        require_composable([exact_sum("a", one)], exact_sum("b", two))
    with pytest.raises(RefusedQuery, match="one vector"):
        require_composable([exact_sum("a", ALL)], exact_sum("b", ALL, "sum(age)"))
    later = RowSet("students", table="exams", version=1, split="campus", parts={"south"})
    with pytest.raises(RefusedQuery):
        require_composable([exact_sum("a", NORTH)], exact_sum("b", later))


def test_noisy_releases_are_auxiliary_information():
    noisy = NoisyRelease("histogram", "students", epsilon=1)
    with pytest.raises(RefusedQuery, match="ignores it"):
        require_composable([noisy], exact_sum("a", ALL))
    given = exact_sum("a", ALL, given={"histogram"})
    found = require_composable([noisy], given)
    assert found.rule is CompositionRule.PREMISES
    assert found.epsilon == Fraction(3, 2)
    after = [exact_sum("a", ALL), noisy]
    with pytest.raises(RefusedQuery, match="certified without it"):
        require_composable(after, exact_sum("b", SOUTH, given={"histogram", "a"}, robust={"a"}))
    assert (
        require_composable([NoisyRelease("x", "others", epsilon=1)], given).rule
        is CompositionRule.FIRST
    )


def test_both_premises_are_asked_for():
    earlier = exact_sum("a", ALL)
    with pytest.raises(RefusedQuery, match="second premise"):
        require_composable([earlier], exact_sum("b", ALL, "max", given={"a"}))
    found = require_composable([earlier], exact_sum("b", ALL, "max", given={"a"}, robust={"a"}))
    assert found.rule is CompositionRule.PREMISES
    assert found.epsilon == 1
    assert Fraction("2.648e-6") < found.delta < Fraction("2.649e-6")


def test_bad_declarations_are_refused():
    with pytest.raises(InvalidArgument):
        RowSet("students", split="campus")
    with pytest.raises(InvalidArgument):
        exact_sum("", ALL)
    with pytest.raises(InvalidArgument):
        exact_sum("a", ALL, delta=-1)
    with pytest.raises(InvalidArgument):
        exact_sum("a", ALL, epsilon=float("nan"))


def divergence(first, second, growth):
    keys = set(first) | set(second)
    one = sum(max(first.get(k, 0) - growth * second.get(k, 0), 0) for k in keys)
    two = sum(max(second.get(k, 0) - growth * first.get(k, 0), 0) for k in keys)
    return max(one, two)


def law_of(release, rows, known):
    """The law of a release of fair bits, of which some are known; a simulator may use the rest."""
    law: dict[object, Fraction] = {}
    free = [i for i in range(rows) if i not in known]
    for bits in product((0, 1), repeat=len(free)):
        row = dict(zip(free, bits, strict=True)) | known
        said = release([row[i] for i in range(rows)])
        law[said] = law.get(said, 0) + Fraction(1, 2 ** len(free))
    return law


def test_two_harmless_totals_tell_one_row():
    """The broken twin of an additive budget: each total has a small delta, the pair has 1."""
    rows = 9
    total, rest = sum, lambda x: sum(x[1:])
    for release in (total, rest):
        for value in (0, 1):
            real = law_of(release, rows, {0: value})
            simulated = law_of(release, rows, {0: 0})
            assert divergence(real, simulated, 1) < Fraction(3, 10)
    pair = [law_of(lambda x: (total(x), rest(x)), rows, {0: value}) for value in (0, 1)]
    assert divergence(pair[0], pair[1], 1000) == 1


def test_parallel_is_the_worse_of_the_two():
    """The exact divergence of a pair on disjoint rows is that of the part with the row."""
    halves = lambda x: (sum(x[:4]), sum(x[4:]))  # noqa: E731
    real, simulated = law_of(halves, 9, {0: 1}), law_of(halves, 9, {0: 0})
    alone = law_of(lambda x: sum(x[:4]), 4, {0: 1}), law_of(lambda x: sum(x[:4]), 4, {0: 0})
    for growth in (1, 2, 3):
        assert divergence(real, simulated, growth) == divergence(alone[0], alone[1], growth)


def test_premises_bound_an_exact_pair():
    """Two mechanisms with fresh coins meet both premises; the theorem bounds their exact pair."""
    first = {0: {0: Fraction(3, 4), 1: Fraction(1, 4)}, 1: {0: Fraction(1, 4), 1: Fraction(3, 4)}}
    growth = Fraction(2)
    delta = divergence(first[0], first[1], growth)
    pair = [
        {(a, b): p * q for a, p in law.items() for b, q in law.items()} for law in first.values()
    ]
    epsilon = Fraction("0.6931471805599453")
    new = exact_sum("b", ALL, epsilon=epsilon, delta=delta)
    bound = compose_with_premises(ComposedReleases(CompositionRule.FIRST, epsilon, delta, ""), new)
    assert divergence(pair[0], pair[1], growth * growth) <= bound.delta


@pytest.mark.parametrize(
    ("totals", "told"),
    [
        ([GroupTotal.over("all", "ab"), GroupTotal.over("rest", "b")], {"a"}),
        (
            [GroupTotal.over("x", "ab"), GroupTotal.over("y", "bc"), GroupTotal.over("z", "ac")],
            {"a"},
        ),
        ([GroupTotal.over("x", "ab"), GroupTotal.over("y", "abc")], set()),
        ([GroupTotal.over("x", "abc")], set()),
    ],
)
def test_leverage_finds_what_can_be_subtracted(totals, told):
    rows = {"a": 1, "b": 50, "c": 60}
    found = leverage(totals, rows)
    assert {one.group for one in found if one.is_told} == told
    if told:
        with pytest.raises(RefusedQuery, match="whoever subtracts"):
            require_no_leverage(totals, rows)
    else:
        require_no_leverage(totals, rows)


def test_leverage_is_the_move_in_standard_deviations():
    (one,) = leverage([GroupTotal.over("x", "a")], {"a": 101}, variance={"value": 4})
    assert one.squared == Fraction(1, 400)
    assert 0.05 <= one.deviations < 0.0500001
    same = [GroupTotal.over("x", "a"), GroupTotal.over("y", "a")]
    (twice,) = leverage(same, {"a": 101})
    assert twice.squared == Fraction(1, 100)
    with pytest.raises(InvalidArgument):
        leverage([], {"a": 1})
    with pytest.raises(InvalidArgument):
        leverage(same, {"b": 3})
    with pytest.raises(InvalidArgument):
        leverage(same, {"a": 0})
