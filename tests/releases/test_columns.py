"""Columns: whatever is worked out for all groups at once is what each group has by itself."""

import datetime
from fractions import Fraction
from itertools import pairwise

import numpy as np
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from discreet.core.loss import Pure
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.releases.body import Body, GroupKeys, LimitsInForce, NoisyAggregate, Selection
from discreet.releases.cells import cells, plain_intervals
from discreet.releases.estimates.estimate import (
    Constant,
    Estimate,
    GroupingOf,
    KeyOf,
    MeanOf,
    QuantileOf,
    SelectedOf,
    TotalOf,
    VarianceOf,
)
from discreet.releases.estimates.functions import calculate
from discreet.releases.estimates.groups import Groups
from discreet.releases.estimates.rules import column_of, intervals_of
from discreet.releases.shown_column import lower_texts, nearest_texts, texts, upper_texts
from discreet.releases.view import read_groups
from discreet.tables.arithmetic.columns import column, scalars, sorted_rows
from discreet.tables.arithmetic.enclosures import Intervals
from discreet.tables.arithmetic.ratios import Ratios
from discreet.tables.column import ColumnType
from tests.support.projects.one_group import interval_of, value_of

INTEGER, REAL, TEXT = ColumnType.INTEGER, ColumnType.REAL, ColumnType.TEXT

whole_numbers = st.one_of(
    st.integers(-5, 5), st.integers(-(10**6), 10**6), st.integers(-(10**30), 10**30)
)
numbers = st.builds(Fraction, whole_numbers, st.sampled_from([1, 2, 7, 10**9, 3**60]))
maybe_numbers = st.one_of(st.none(), numbers)

LEAVES: tuple[Estimate, ...] = (
    TotalOf(INTEGER, 0),
    TotalOf(REAL, 1),
    SelectedOf(INTEGER, 0),
    KeyOf(INTEGER, 1),
    GroupingOf(INTEGER, (0, 1)),
    QuantileOf(REAL, 2, Fraction(1, 2), "MEDIAN"),
    MeanOf(REAL, 1, 0, Fraction(5), Fraction(-10), Fraction(30)),
    VarianceOf(REAL, 2, 1, 0, Fraction(8), Fraction(5), Fraction(0), Fraction(9), 1),
    Constant(REAL, None),
    Constant(INTEGER, Fraction(0)),
    Constant(REAL, Fraction(-7, 3)),
    Constant(INTEGER, Fraction(10**45)),
)
ONE = ("neg", "abs", "sqrt", "round", "real", "integer", "floor", "ceil", "sign")
TWO = ("+", "-", "*", "/", "nullif", "coalesce", "greatest", "least", "%", "//", "round")
TRUTHS = ("=", "<>", "<", "<=", ">", ">=")


def larger_estimates(inner: st.SearchStrategy[Estimate]) -> st.SearchStrategy[Estimate]:
    truth = st.builds(calculate, st.sampled_from(TRUTHS), inner, inner)
    three = Constant(INTEGER, Fraction(3))
    return st.one_of(
        st.builds(calculate, st.sampled_from(ONE), inner),
        st.builds(calculate, st.sampled_from(TWO), inner, inner),
        st.builds(lambda value: calculate("round", value, three), inner),
        st.builds(lambda value: calculate("power", value, three), inner),
        st.builds(lambda *parts: calculate("case", *parts), truth, inner, truth, inner, inner),
    )


estimates = st.recursive(st.sampled_from(LEAVES), larger_estimates, max_leaves=5)
group_rows = st.lists(st.tuples(*[st.integers(-(10**4), 10**4)] * 3, maybe_numbers), max_size=6)


@st.composite
def many_groups(draw: st.DrawFn) -> Groups:
    found = draw(group_rows)
    size = len(found)
    whole_key = [draw(st.one_of(st.none(), whole_numbers)) for _ in found]
    steps = (Fraction(1), Fraction(1, 4), Fraction(1, 10**9))
    return Groups(
        size=size,
        keys=(["a"] * size, whole_key),
        places=((0, 1), (1,)),
        sets=np.array([draw(st.integers(0, 1)) for _ in found], dtype=np.int64),
        values=tuple(Ratios.steps([row[i] for row in found], steps[i]) for i in range(3)),
        threshold=draw(st.none() | st.integers(1, 10**4)),
    )


def one_by_one(groups: Groups) -> list[Groups]:
    return [groups.take(np.array([row])) for row in range(groups.size)]


@given(estimates, many_groups())
def test_a_column_has_the_value_of_each_group(estimate: Estimate, groups: Groups) -> None:
    expected = [value_of(estimate, group) for group in one_by_one(groups)]
    assert scalars(column_of(estimate, groups)) == expected


@given(estimates, many_groups(), st.integers(0, 300))
def test_intervals_are_those_of_each_group(estimate: Estimate, groups: Groups, bar: int) -> None:
    def margins(index: int, _: Fraction) -> Fraction:
        return Fraction(bar, index + 1)

    beta = Fraction(1, 20)
    found = intervals_of(estimate, groups, margins, beta=beta).each()
    alone = [interval_of(estimate, group, margins, beta=beta) for group in one_by_one(groups)]
    assert found == alone


@given(st.lists(maybe_numbers), st.booleans())
def test_rows_are_in_exact_order_and_equal_ones_stay(
    values: list[Fraction | None], descending: bool
) -> None:
    known = sorted((value for value in values if value is not None), reverse=descending)
    order = sorted_rows(Ratios.of(values), descending=descending).tolist()
    assert [values[place] for place in order] == known + [None] * (len(values) - len(known))
    assert all(a < b for a, b in pairwise(order) if values[a] == values[b])


def test_an_order_that_floats_hide_is_found() -> None:
    close = [Fraction(10**30 + 1), Fraction(10**30), Fraction(10**30 + 2)]
    assert sorted_rows(Ratios.of(close), descending=False).tolist() == [1, 0, 2]
    assert sorted_rows(Ratios.of(close), descending=True).tolist() == [2, 0, 1]


@given(st.lists(numbers), st.integers(0, 12))
def test_texts_are_rounded_to_the_right_side(values: list[Fraction], decimals: int) -> None:
    unit, ratios = Fraction(1, 10**decimals), Ratios.of(values)
    for value, shown in zip(values, map(Fraction, nearest_texts(ratios, decimals)), strict=True):
        assert -unit / 2 < shown - value <= unit / 2
        assert (shown / unit).denominator == 1
    for value, shown in zip(values, map(Fraction, lower_texts(ratios, decimals)), strict=True):
        assert 0 <= value - shown < unit
    for value, shown in zip(values, map(Fraction, upper_texts(ratios, decimals)), strict=True):
        assert 0 <= shown - value < unit


def test_texts_have_no_zeros_at_the_end() -> None:
    values = Ratios.of([Fraction(5, 2), Fraction(-1, 1000), Fraction(100), Fraction(-205, 100)])
    assert nearest_texts(values, 2) == ["2.5", "0", "100", "-2.05"]
    assert texts(Ratios.of([Fraction(7), None])) == ["7", "NULL"]
    assert texts(Ratios.of([Fraction(1, 3), None])) == ["0.3333333333", "NULL"]


@given(st.lists(maybe_numbers))
def test_cells_are_the_nearest_floats_or_exact_integers(values: list[Fraction | None]) -> None:
    assert cells(column(list(values)), REAL) == [None if v is None else float(v) for v in values]
    integers = [None if v is None else v.numerator for v in values]
    assert cells(Ratios.integers(integers), INTEGER) == integers


@given(st.lists(st.tuples(numbers, numbers).map(sorted)))
def test_plain_intervals_are_just_wide_enough(pairs: list[list[Fraction]]) -> None:
    intervals = Intervals.of([(low, high) for low, high in pairs])
    for kind, next_up in ((INTEGER, lambda x: x + 1), (REAL, lambda x: np.nextafter(x, np.inf))):
        found = plain_intervals(intervals, kind)
        for (low, high), interval in zip(pairs, found, strict=True):
            assert interval is not None
            assert Fraction(interval[0]) <= low < Fraction(next_up(interval[0]))
            assert -Fraction(next_up(-interval[1])) < high <= Fraction(interval[1])


def test_numbers_of_any_length_are_exact() -> None:
    long = Ratios.of([Fraction(2**60, 3), Fraction(-(2**60), 7)])
    assert long.times(long).scalars() == [Fraction(2**120, 9), Fraction(2**120, 49)]
    assert long.minus(long).scalars() == [0, 0]
    longest = Ratios.of([Fraction(2**800), Fraction(1), None])
    assert longest.times(longest).scalars() == [Fraction(2**1600), 1, None]


def test_long_numbers_are_shortened_and_those_out_of_range_are_missing() -> None:
    numbers = [
        Fraction(2**1600),
        Fraction(1, 2**1600),
        Fraction(10**299, 3**900),
        Fraction(2),
        None,
    ]
    beyond, tiny, long, short, missing = Ratios.of(numbers).kept().scalars()
    assert [beyond, tiny, short, missing] == [None, 0, 2, None]
    assert long is not None
    assert 0 < 1 - long / Fraction(10**299, 3**900) < Fraction(1, 2**500)
    ends = (Fraction(-(10**299), 3**900), Fraction(10**299, 3**900))
    wider, lost = Intervals.of([ends, (Fraction(0), Fraction(10**301))]).outwards().each()
    assert lost is None
    assert wider is not None
    assert wider[0] < ends[0]
    assert wider[1] > ends[1]
    assert max(end.denominator.bit_length() for end in wider) <= 512 + 900


def test_groups_are_read_and_taken_in_order() -> None:
    body = Body(
        made=None,
        keys=GroupKeys(
            columns=("day", "n"),
            types=(ColumnType.DATE, INTEGER),
            places=((0, 1), (1,)),
            rows=[["2025-01-02", 5], [None, 7]],
            sets=[0, 1],
        ),
        selection=Selection(threshold=5, units_needed=9),
        limits=LimitsInForce(rows_per_group=1, groups_per_unit=1, leave_out=True),
        aggregates=(
            NoisyAggregate(
                kind="sum",
                text="SUM(x)",
                step=Fraction(1, 2),
                noise=DiscreteLaplace(scale=2),
                values=[3, 2**70],
            ),
        ),
        cost=Pure(1),
    )
    groups = read_groups(body)
    turned = groups.take(np.array([1, 0]))
    assert turned.keys == ([None, datetime.date(2025, 1, 2)], [7, 5])
    assert [turned.places[which] for which in turned.sets] == [(1,), (0, 1)]
    assert turned.values[0].scalars() == [Fraction(2**69), Fraction(3, 2)]
    assert turned.threshold == 5
    assert read_groups(evolve(body, selection=None)).threshold is None
