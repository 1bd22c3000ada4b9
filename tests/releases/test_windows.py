"""Windows over an answer: their intervals hold the same window of the numbers without noise."""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.releases.estimates.estimate import (
    Constant,
    Estimate,
    KeyOf,
    MeanOf,
    QuantileOf,
    TotalOf,
    WindowOf,
)
from discreet.releases.estimates.functions import calculate
from discreet.releases.estimates.groups import Groups
from discreet.releases.estimates.rules import intervals_of
from discreet.releases.estimates.windows import windows_in, with_windows
from discreet.releases.left_out import LeftOut, total_ends
from discreet.tables.arithmetic.ratios import Ratios
from discreet.tables.column import ColumnType
from tests.support.projects.shown_answers import Hand, outputs, row
from tests.support.statistics.exact_tests import alpha, binomial_p_value
from tests.support.statistics.numbered_rng import NumberedRng

INTEGER, REAL = ColumnType.INTEGER, ColumnType.REAL
COUNT = TotalOf(INTEGER, 0)
MEAN = MeanOf(REAL, 1, 0, Fraction(5), Fraction(0), Fraction(10))
KEY, PART = KeyOf(INTEGER, 0), KeyOf(INTEGER, 1)
FRAMES = [None, (None, None), (None, 0), (1, 0), (0, 1), (2, 1), (0, None)]
BETA = Fraction(1, 5)


def hundred(estimate: Estimate) -> Estimate:
    return calculate("*", estimate, Constant(INTEGER, Fraction(100)))


def table(
    columns: Sequence[Sequence[int]], parts: Sequence[int] | None = None, **more: Any
) -> Groups:
    size = len(columns[0])
    return Groups(
        size=size,
        keys=(list(range(size)), list(parts or [0] * size)),
        places=((0, 1),),
        sets=np.zeros(size, dtype=np.int64),
        values=tuple(Ratios.integers(column) for column in columns),
        **more,
    )


def found(estimate: Estimate, groups: Groups, margin: Any) -> list[Any]:
    known = with_windows(groups, windows_in([estimate]))
    margins = margin if callable(margin) else (lambda *_: Fraction(margin))
    return intervals_of(estimate, known, margins, beta=BETA).each()


def oracle(window: WindowOf, values: list[Fraction | None], parts: list[int]) -> list[Any]:
    """Return the window by its definition; rows stand in the order of their keys."""
    answer: list[Any] = []
    for i, part in enumerate(parts):
        rows = [j for j in range(len(parts)) if parts[j] == part or not window.partition]
        place = rows.index(i)
        if window.function in ("lag", "lead"):
            there = place + (window.offset if window.function == "lead" else -window.offset)
            answer.append(values[rows[there]] if 0 <= there < len(rows) else None)
            continue
        before, after = window.rows or (None, 0 if window.order else None)
        first = 0 if before is None else max(0, place - before)
        frame = rows[first : None if after is None else place + after + 1]
        known = [values[j] for j in frame if values[j] is not None]
        numbers = [number for number in known if number is not None]
        if window.function == "first_value":
            answer.append(values[frame[0]])
        elif window.function == "count":
            answer.append(Fraction(len(numbers)))
        else:
            work: Any = {"sum": sum, "min": min, "max": max, "avg": _mean}[window.function]
            answer.append(Fraction(work(numbers)) if numbers else None)
    return answer


def _mean(numbers: list[Fraction]) -> Fraction:
    return sum(numbers, Fraction(0)) / len(numbers)


@given(
    function=st.sampled_from(["sum", "avg", "count", "min", "max", "lag", "lead", "first_value"]),
    rows=st.lists(
        st.tuples(
            st.lists(st.integers(0, 10), max_size=4),
            st.tuples(st.integers(-3, 3), st.integers(-3, 3)),
            st.integers(0, 1),
        ),
        min_size=1,
        max_size=6,
    ),
    frame=st.sampled_from(FRAMES),
    is_mean=st.booleans(),
    has_order=st.booleans(),
)
def test_if_the_noise_is_within_its_margins_the_window_is_within_its_interval(
    function: str, rows: list[Any], frame: Any, is_mean: bool, has_order: bool
) -> None:
    window = WindowOf(
        REAL,
        function=function,
        argument=MEAN if is_mean else COUNT,
        partition=(PART,),
        order=((KEY, False),) if has_order or function in ("lag", "lead") else (),
        rows=frame,
    )
    parts = [part for _, _, part in rows]
    counts = [len(values) + noise[0] for values, noise, _ in rows]
    sums = [sum(value - 5 for value in values) + noise[1] for values, noise, _ in rows]
    exact = [
        (Fraction(sum(values), len(values)) if values else None)
        if is_mean
        else Fraction(len(values))
        for values, _, _ in rows
    ]
    for interval, truth in zip(
        found(window, table([counts, sums], parts), 3), oracle(window, exact, parts), strict=True
    ):
        if interval is not None and truth is not None:
            assert interval[0] <= truth <= interval[1]
        if not is_mean:
            assert (interval is None) == (truth is None)


def whole(function: str, argument: Estimate = COUNT) -> WindowOf:
    return WindowOf(INTEGER, function=function, argument=argument)


def test_the_ends_are_those_of_all_rows() -> None:
    groups = table([[10, 20, 30]])
    assert found(whole("sum"), groups, 2) == [(54, 66)] * 3
    assert found(whole("avg"), groups, 2) == [(18, 22)] * 3
    assert found(whole("min"), groups, 2) == [(8, 12)] * 3
    assert found(whole("max"), groups, 2) == [(28, 32)] * 3
    assert found(whole("count"), groups, 2) == [(3, 3)] * 3
    before = WindowOf(INTEGER, function="lag", argument=COUNT, order=((KEY, False),))
    assert found(before, groups, 2) == [None, (8, 12), (18, 22)]
    rise = calculate("-", COUNT, before)
    assert found(rise, groups, 2) == [None, (6, 14), (6, 14)]


def test_a_mean_that_may_be_missing_counts_as_nothing() -> None:
    groups = table([[1, 100], [40, 0]])
    (first, _) = found(whole("sum", MEAN), groups, 2)
    assert first is not None
    assert first[0] <= 5 <= first[1]  # the first group may be empty, and then has no mean
    assert found(whole("count", MEAN), groups, 2) == [(1, 2)] * 2
    assert found(whole("avg", MEAN), groups, 2)[0] is not None


def test_of_what_noise_puts_in_order_nothing_is_known() -> None:
    groups = table([[10, 20, 30]])
    by_count = ((COUNT, True),)
    for function in ("row_number", "rank", "dense_rank"):
        ranked = WindowOf(INTEGER, function=function, argument=None, order=by_count)
        assert found(ranked, groups, 2) == [None] * 3
        by_key = evolve(ranked, order=((KEY, False),))
        assert found(calculate("+", COUNT, by_key), groups, 2)[1] == (20, 24)
    running = WindowOf(INTEGER, function="sum", argument=COUNT, order=by_count)
    parted = WindowOf(INTEGER, function="sum", argument=COUNT, partition=(COUNT,))
    of_keys = WindowOf(INTEGER, function="first_value", argument=KEY, order=by_count)
    for window in (running, parted, of_keys):
        assert found(window, groups, 2) == [None] * 3
    median = QuantileOf(REAL, 0, Fraction(1, 2), "MEDIAN")
    assert found(whole("sum", median), groups, 2) == [None] * 3


def test_the_failure_probability_is_shared_by_all_rows_that_are_used() -> None:
    asked: set[Fraction] = set()

    def margins(_: int, beta: Fraction) -> Fraction:
        asked.add(beta)
        return Fraction(1)

    def shares(estimate: Estimate, size: int) -> set[Fraction]:
        asked.clear()
        found(estimate, table([[9] * size, [9] * size]), margins)
        return {BETA / beta for beta in asked}

    share = calculate("/", COUNT, whole("sum"))
    assert shares(share, 5) == {5}  # the row's own count is one of the five
    assert shares(share, 40) == {64}  # rounded up
    assert shares(calculate("/", TotalOf(INTEGER, 1), whole("sum")), 5) == {6}
    assert shares(whole("sum", MEAN), 5) == {10}
    before = WindowOf(INTEGER, function="lag", argument=COUNT, order=((KEY, False),))
    assert shares(calculate("-", COUNT, before), 5) == {1, 2}
    running = WindowOf(INTEGER, function="sum", argument=COUNT, order=((KEY, False),))
    assert shares(running, 5) == {1, 2, 3, 4, 5}
    assert shares(calculate("+", running, running), 5) == {1, 2, 3, 4, 5}


# ------------------------------------------------------------------ shares

ZERO = Constant(INTEGER, Fraction(0))
PARTS = frozenset({(0, 0), (1, 0), (1, 1)})


@pytest.mark.parametrize(
    ("estimate", "largest"),
    [
        (calculate("/", TotalOf(INTEGER, 1), COUNT), 1),
        (calculate("/", hundred(TotalOf(INTEGER, 1)), COUNT), 100),
        (hundred(calculate("/", TotalOf(INTEGER, 1), COUNT)), 100),
        (calculate("/", hundred(calculate("real", COUNT)), whole("sum")), 100),
        (
            calculate(
                "/", TotalOf(INTEGER, 1), calculate("nullif", COUNT, Constant(REAL, Fraction(0)))
            ),
            1,
        ),
        (calculate("/", whole("sum", TotalOf(INTEGER, 1)), whole("sum")), 1),
        (
            calculate(
                "/",
                WindowOf(INTEGER, function="sum", argument=COUNT, order=((KEY, False),)),
                whole("sum"),
            ),
            1,
        ),
        (calculate("/", COUNT, TotalOf(INTEGER, 1)), None),
        (calculate("/", COUNT, whole("avg")), None),
        (calculate("/", whole("sum"), COUNT), None),
        (calculate("/", TotalOf(INTEGER, 2), COUNT), None),
    ],
)
def test_a_share_is_at_most_its_whole(estimate: Estimate, largest: int | None) -> None:
    noise = table([[2, 1], [3, 4], [5, 6]])
    groups = evolve(noise, parts=PARTS)
    for interval in found(estimate, groups, 4):
        assert interval == (None if largest is None else (0, largest))
    if largest is not None:
        plain = found(estimate, evolve(groups, parts=frozenset()), 4)
        assert plain == [None, None]


def test_a_share_beyond_its_whole_says_that_it_may_be_any() -> None:
    share = calculate("/", TotalOf(INTEGER, 1), COUNT)
    groups = evolve(table([[10, 50, 50], [30, 52, 10]]), parts=PARTS)
    assert found(share, groups, 2) == [
        (0, 1),  # nothing that is left could be true
        (Fraction(50, 52), 1),
        (Fraction(8, 52), Fraction(12, 48)),
    ]


def test_the_parts_of_a_whole_are_read_from_the_answer() -> None:
    asked = outputs(
        "SELECT clinic, COUNT(*) FILTER (WHERE urgent) * 100.0 / COUNT(*) AS share,"
        " COUNT(*) FILTER (WHERE urgent) * 1.0 / COUNT(age) AS other,"
        " COUNT(*) * 1.0 / SUM(COUNT(*)) OVER () AS of_all FROM visits GROUP BY clinic"
    )
    rows = [row(person=str(i), age=3, urgent=True) for i in range(4)]
    hand = Hand(outputs=asked, groups={("a",): rows, ("b",): []}, fields=(1,), scale=5)
    release = hand.release()
    assert release.intervals("share") == ((0, 100),) * 2
    assert release.intervals("of_all") == ((0, 1),) * 2
    assert release.intervals("other") == (None, None)  # nobody says that one is part of the other
    first = evolve(release.body, made=None)
    assert evolve(release, body=first).intervals("share") == (None, None)


# ------------------------------------------------------------------ how often they hold

SCALE, REACH = 1, 12
Q = math.exp(-1 / SCALE)
MASS = {z: (1 - Q) / (1 + Q) * Q ** abs(z) for z in range(-REACH, REACH + 1)}
NOISE = DiscreteLaplace(scale=SCALE)


def missed(estimate: Estimate, exact: list[int], truth: Fraction, shrink: Fraction) -> float:
    """Return how often the interval of the first row misses, over all noise."""
    outside = 0.0
    for drawn in product(MASS, repeat=len(exact)):
        groups = table([[value + z for value, z in zip(exact, drawn, strict=True)]])
        ((low, high), *_) = found(
            estimate, groups, lambda _, beta: NOISE.error_quantile(beta) * shrink
        )
        if not low <= truth <= high:
            outside += math.prod(MASS[z] for z in drawn)
    return outside + len(exact) * 2 * Q ** (REACH + 1) / (1 + Q)


def test_every_interval_of_a_window_misses_no_more_often_than_it_says() -> None:
    total, one = whole("sum"), Fraction(1)
    assert missed(total, [40, 9], Fraction(49), shrink=one) <= BETA
    share = calculate("/", COUNT, calculate("+", total, Constant(INTEGER, Fraction(20))))
    assert missed(share, [30, 9], Fraction(30, 59), shrink=one) <= BETA


def test_a_margin_that_is_too_small_is_caught() -> None:
    assert missed(whole("sum"), [40, 9], Fraction(49), shrink=Fraction(1, 4)) > BETA


def held(trials: int, *, told: Fraction) -> int:
    """Return how often the interval at 80 % of a share of all holds, of releases with real noise.

    ``told`` times the true scale is what the release says of its noise.
    """
    asked = outputs(
        "SELECT clinic, COUNT(*) * 100.0 / SUM(COUNT(*)) OVER () AS share FROM visits"
        " GROUP BY clinic"
    )
    sizes = {"a": 60, "b": 40, "c": 30}
    people: Any = {(name,): [row(person=str(i)) for i in range(n)] for name, n in sizes.items()}
    hand = Hand(outputs=asked, groups=people, fields=(1,), scale=8 * told)
    rng = NumberedRng(1, label="release/windows")
    noise = DiscreteLaplace(scale=8).release(np.zeros(3 * trials, dtype=np.int64), rng)
    body = hand.body()
    (exact,) = hand.exact()
    release, truth, inside = hand.release(), Fraction(6000, 130), 0
    for drawn in noise.reshape(trials, 3).tolist():
        values = [value + z for value, z in zip(exact, drawn, strict=True)]
        noisy = evolve(body, aggregates=(evolve(body.aggregates[0], values=values),))
        pair = evolve(release, body=noisy).intervals("share", "0.8")[0]
        inside += pair is not None and pair[0] <= truth <= pair[1]
    return inside


def test_shares_of_real_noise_hold_as_often_as_they_say() -> None:
    """A false alarm in at most its share of the suite's rate, which a binomial test spends."""
    trials = 1_000
    share = alpha("release/windows", parts=2)
    inside = held(trials, told=Fraction(1))
    assert inside >= 0.8 * trials or binomial_p_value(inside, trials, 0.8) > share
    lied = held(trials, told=Fraction(1, 8))
    assert lied < 0.8 * trials
    assert binomial_p_value(lied, trials, 0.8) < share


def test_what_limits_left_out_of_all_rows_is_in_the_total() -> None:
    shares: set[Fraction] = set()

    def margins(_: int, beta: Fraction) -> Fraction:
        shares.add(beta)
        return Fraction(2)

    groups = with_windows(table([[10, 20, 30]]), [whole("sum")])
    lost = LeftOut(rows=(Fraction(0), Fraction(5)), share=None, each=((Fraction(0), Fraction(5)),))
    ends = total_ends(whole("sum"), groups, margins, lost, beta=BETA)
    assert shares == {BETA / 3}
    assert ends.lows.scalars() == [54] * 3
    assert ends.highs.scalars() == [60 + 3 * (2 + 5)] * 3
