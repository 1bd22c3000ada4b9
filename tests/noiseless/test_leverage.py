"""The leverage test against brute force: every row written out, and every attack by equations."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.core.errors import InvalidArgument, RefusedQuery
from discreet.noiseless.leverage import (
    GroupTotal,
    leverage,
    require_no_leverage,
    solve,
    told_groups,
)


def rank(rows):
    """The rank of a matrix of fractions, by plain elimination: an oracle of its own."""
    work, found = [list(map(Fraction, row)) for row in rows], 0
    for column in range(len(work[0]) if work else 0):
        pivot = next((r for r in range(found, len(work)) if work[r][column]), None)
        if pivot is None:
            continue
        work[found], work[pivot] = work[pivot], work[found]
        for index in range(found + 1, len(work)):
            factor = work[index][column] / work[found][column]
            work[index] = [a - factor * b for a, b in zip(work[index], work[found], strict=True)]
        found += 1
    return found


def is_told_by_brute_force(columns, row):
    """Whether some combination of totals has only this row: its column is outside all others."""
    others = columns[:row] + columns[row + 1 :]
    return rank([*others, columns[row]]) > rank(others)


designs = st.integers(1, 4).flatmap(
    lambda groups: st.tuples(
        st.lists(
            st.lists(st.integers(-2, 2), min_size=groups, max_size=groups), min_size=1, max_size=4
        ),
        st.lists(st.integers(1, 3), min_size=groups, max_size=groups),
    )
)


@given(designs)
def test_every_design_agrees_with_brute_force(design):
    weights, sizes = design
    names = "abcd"[: len(sizes)]
    totals = [
        GroupTotal(f"t{i}", dict(zip(names, row, strict=True))) for i, row in enumerate(weights)
    ]
    rows = dict(zip(names, sizes, strict=True))
    columns = [[row[g] for row in weights] for g, size in enumerate(sizes) for _ in range(size)]
    at = 0
    for g, one in enumerate(leverage(totals, rows)):
        assert one.is_told == is_told_by_brute_force(columns, at)
        if one.squared is not None:
            others = np.array(columns[:at] + columns[at + 1 :], dtype=float).reshape(
                -1, len(weights)
            )
            move = np.array(columns[at], dtype=float)
            expected = move @ np.linalg.pinv(others.T @ others) @ move
            assert float(one.squared) == pytest.approx(expected, abs=1e-9)
        at += sizes[g]


WEIGHTED = st.dictionaries(st.sampled_from("abcde"), st.integers(-1, 2), min_size=1)


@given(
    st.lists(st.tuples(WEIGHTED, st.sampled_from(["x", "y"])), min_size=1, max_size=5),
    st.lists(st.sampled_from([1, 2, 50]), min_size=5, max_size=5),
)
def test_one_elimination_finds_the_same_groups(drawn, sizes):
    totals = [GroupTotal(str(at), weights, feature) for at, (weights, feature) in enumerate(drawn)]
    rows = dict(zip("abcde", sizes, strict=True))
    told = tuple(one.group for one in leverage(totals, rows) if one.is_told)
    assert told_groups(totals, rows) == told


def test_differencing_in_disguise():
    """No two totals differ by one row, yet one combination of three has the boss alone."""
    totals = [
        GroupTotal("pay of sales and the boss", {"sales": 1, "boss": 1}),
        GroupTotal("pay of sales and half of works", {"sales": 1, "works": "1/2"}),
        GroupTotal("twice works", {"works": 2}),
    ]
    rows = {"sales": 40, "works": 300, "boss": 1}
    assert [one.group for one in leverage(totals, rows) if one.is_told] == ["boss"]
    with pytest.raises(RefusedQuery, match="'boss'"):
        require_no_leverage(totals, rows)
    # The attack itself: sales + boss - (sales + works / 2) + (2 works) / 4.
    pay = {"sales": 900, "works": 5000, "boss": 77}
    said = [sum(total.weights[g] * pay[g] for g in total.weights) for total in totals]
    assert said[0] - said[1] + said[2] / 4 == 77
    assert not any(one.is_told for one in leverage(totals, rows | {"boss": 2}))


def test_a_float_weight_is_the_decimal_that_was_typed():
    """With binary fractions, three tenths less a tenth less two tenths would hide the row."""
    totals = [
        GroupTotal("x", {"a": 0.3, "b": 1}),
        GroupTotal("y", {"a": 0.1, "b": 0}),
        GroupTotal("z", {"a": 0.2, "b": 0}),
    ]
    found = leverage(totals, {"a": 5, "b": 1})
    assert [one.is_told for one in found] == [False, True]
    loose: Any = {"a": "5", "b": 1.0}
    assert found == leverage(totals, loose)


def test_features_are_told_one_by_one():
    totals = [
        GroupTotal.over("pay", "ab", "pay"),
        GroupTotal.over("pay of b", "b", "pay"),
        GroupTotal.over("age", "ab", "age"),
    ]
    assert [one.is_told for one in leverage(totals, {"a": 1, "b": 9})] == [True, False]
    (only,) = leverage(totals[2:], {"a": 1, "b": 9}, moves={"age": 6}, variance={"age": 4})[:1]
    assert only.squared == Fraction(36, 9 * 4)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), "x", None, True])
def test_bad_numbers_are_refused(bad):
    with pytest.raises(InvalidArgument):
        GroupTotal("x", {"a": bad})
    with pytest.raises(InvalidArgument):
        leverage([GroupTotal.over("x", "a")], {"a": 3}, variance={"value": bad})
    with pytest.raises(InvalidArgument):
        leverage([GroupTotal.over("x", "a")], {"a": bad})


def test_equations():
    assert solve([[Fraction(0)]], [Fraction(1)]) is None
    assert solve([[Fraction(0)]], [Fraction(0)]) == [Fraction(0)]
    huge = Fraction(10**40)
    assert solve([[huge, Fraction(1)], [huge, Fraction(2)]], [huge, huge + 1]) == [
        Fraction(10**40 - 1, 10**40),
        1,
    ]
