"""What is made of rows that noise chose has an interval for the rows chosen without noise."""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import duckdb
import numpy as np
import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.releases.estimates.estimate import Constant, Estimate, KeyOf, TotalOf, WindowOf
from discreet.releases.estimates.estimate import left_by as chosen
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

INTEGER = ColumnType.INTEGER
KEY, PART, COUNT = KeyOf(INTEGER, 0), KeyOf(INTEGER, 1), TotalOf(INTEGER, 0)
ONE, LEAST = Constant(INTEGER, Fraction(1)), Constant(INTEGER, Fraction(5))
HAVING = calculate(">=", COUNT, LEAST)
CONDITIONS: dict[str, tuple[Estimate, Any]] = {
    ">=": (HAVING, lambda n, _: n >= 5),
    "<": (calculate("<", COUNT, LEAST), lambda n, _: n < 5),
    "=": (calculate("=", COUNT, LEAST), lambda n, _: n == 5),
    "<>": (calculate("<>", LEAST, COUNT), lambda n, _: n != 5),
    "in": (calculate("in", COUNT, LEAST, ONE), lambda n, _: n in (1, 5)),
    "not": (calculate("not", HAVING), lambda n, _: n < 5),
    "and": (calculate("and", HAVING, calculate("<=", KEY, ONE)), lambda n, key: n >= 5 and key < 2),
    "or": (calculate("or", HAVING, calculate("=", KEY, ONE)), lambda n, key: n >= 5 or key == 1),
    "null": (calculate("is_null", COUNT), lambda *_: False),
}


def table(counts: Sequence[int], parts: Sequence[int]) -> Groups:
    size = len(counts)
    return Groups(
        size=size,
        keys=(list(range(size)), list(parts)),
        places=((0, 1),),
        sets=np.zeros(size, dtype=np.int64),
        values=(Ratios.integers(counts),),
    )


def left(groups: Groups, estimate: Estimate, rows: Sequence[int]) -> Groups:
    return with_windows(groups, windows_in([estimate]), left=np.array(rows, dtype=np.int64))


def in_duckdb(window: str, rows: Sequence[tuple[int, int, int]]) -> dict[int, Any]:
    """Return a window over rows (key, part, n), by key."""
    with duckdb.connect() as database:
        database.execute("CREATE TABLE t (key INTEGER, part INTEGER, n INTEGER)")
        for one in rows:
            database.execute("INSERT INTO t VALUES (?, ?, ?)", one)
        return dict(database.execute(f"SELECT key, {window} FROM t").fetchall())


CALLS = {
    "sum": ("SUM(n)", COUNT),
    "avg": ("AVG(n)", COUNT),
    "count": ("COUNT(*)", ONE),
    "min": ("MIN(n)", COUNT),
    "max": ("MAX(n)", COUNT),
    "lag": ("LAG(n)", COUNT),
    "first_value": ("FIRST_VALUE(n)", COUNT),
    "row_number": ("ROW_NUMBER()", None),
    "rank": ("RANK()", None),
    "dense_rank": ("DENSE_RANK()", None),
}
FRAMES: dict[str, Any] = {
    "": None,
    "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING": (None, None),
    "ROWS BETWEEN 1 PRECEDING AND CURRENT ROW": (1, 0),
    "ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING": (0, None),
}


@given(
    function=st.sampled_from(list(CALLS)),
    frame=st.sampled_from(list(FRAMES)),
    test=st.sampled_from(list(CONDITIONS)),
    rows=st.lists(
        st.tuples(st.integers(0, 9), st.integers(-2, 2), st.integers(0, 1)), min_size=1, max_size=6
    ),
    has_order=st.booleans(),
)
def test_the_window_of_the_rows_without_noise_is_within_its_interval(
    function: str, frame: str, test: str, rows: list[Any], has_order: bool
) -> None:
    call, argument = CALLS[function]
    has_order = has_order or function not in ("sum", "avg", "count", "min", "max")
    frame = "" if argument is None or function == "lag" or not has_order else frame
    order = "ORDER BY key" if has_order else ""
    having, passes = CONDITIONS[test]
    window = WindowOf(
        INTEGER,
        function=function,
        argument=argument,
        partition=(PART,),
        order=((KEY, False),) if has_order else (),
        rows=FRAMES[frame],
    )
    estimate = chosen(having, window)
    kept = [i for i, (n, noise, _) in enumerate(rows) if passes(n + noise, i)]
    noisy = table([n + noise for n, noise, _ in rows], [part for _, _, part in rows])
    groups = left(noisy, estimate, kept)
    found = intervals_of(estimate, groups, lambda *_: Fraction(2), beta=Fraction(1, 5)).each()
    exact = [(i, part, n) for i, (n, _, part) in enumerate(rows) if passes(n, i)]
    truth = in_duckdb(f"{call} OVER (PARTITION BY part {order} {frame})", exact)
    for i, interval in zip(kept, found, strict=True):
        value = truth.get(i)
        if interval is not None and value is not None:
            assert interval[0] <= Fraction(value) + Fraction(1, 10**9)
            assert Fraction(value) <= interval[1] + Fraction(1, 10**9)
        if function in ("count", "sum", "row_number", "rank") and frame[:13] != "ROWS BETWEEN ":
            assert interval is not None


def test_the_ends_of_a_count_are_the_groups_that_surely_pass_and_those_that_may() -> None:
    estimate = chosen(HAVING, WindowOf(INTEGER, function="count", argument=ONE))
    groups = left(table([1, 4, 6, 9], [0] * 4), estimate, [2, 3])
    found = intervals_of(estimate, groups, lambda *_: Fraction(2), beta=Fraction(1, 20)).each()
    assert found == [(Fraction(1), Fraction(3))] * 2
    cut = LeftOut(rows=(Fraction(0), Fraction(2)), share=None, each=((Fraction(0), Fraction(2)),))
    ends = total_ends(estimate, groups, lambda *_: Fraction(2), cut, beta=Fraction(1, 20))
    assert ends.lows.scalars() == [Fraction(1)] * 2
    assert ends.highs.scalars() == [Fraction(4)] * 2


def test_so_are_those_of_a_count_with_a_condition_inside() -> None:
    nothing = Constant(INTEGER, None)
    for function, argument in (
        ("count", calculate("case", HAVING, ONE, nothing)),
        ("sum", calculate("case", HAVING, ONE, Constant(INTEGER, Fraction(0)))),
    ):
        estimate = WindowOf(INTEGER, function=function, argument=argument)
        groups = left(table([1, 4, 6, 9], [0] * 4), estimate, range(4))
        found = intervals_of(estimate, groups, lambda *_: Fraction(2), beta=Fraction(1, 20))
        assert found.each() == [(Fraction(1), Fraction(3))] * 4


def test_the_failure_probability_is_shared_by_the_numbers_of_all_rows() -> None:
    asked: set[Fraction] = set()

    def margins(_: int, beta: Fraction) -> Fraction:
        asked.add(beta)
        return Fraction(1)

    estimate = chosen(HAVING, WindowOf(INTEGER, function="count", argument=ONE))
    intervals_of(
        estimate, left(table([9] * 7, [0] * 7), estimate, [0, 1]), margins, beta=Fraction(1)
    )
    assert asked == {Fraction(1, 7)}


# ------------------------------------------------------------------ how often they hold

REACH, BETA = 12, Fraction(1, 5)
Q = math.exp(-1)
MASS = {z: (1 - Q) / (1 + Q) * Q ** abs(z) for z in range(-REACH, REACH + 1)}
NOISE = DiscreteLaplace(scale=1)


def missed(function: str, exact: list[int], shrink: Fraction) -> float:
    """Return how often an interval is shown and misses the window of the rows without noise."""
    estimate = chosen(HAVING, WindowOf(INTEGER, function=function, argument=COUNT))
    rows = [value for value in exact if value >= 5]
    truth = {"count": len(rows), "sum": sum(rows), "min": min(rows)}[function]
    outside = 0.0
    for drawn in product(MASS, repeat=len(exact)):
        noisy = [value + z for value, z in zip(exact, drawn, strict=True)]
        kept = [i for i, value in enumerate(noisy) if value >= 5]
        if kept:
            groups = left(table(noisy, [0] * len(exact)), estimate, kept[:1])
            (pair,) = intervals_of(
                estimate, groups, lambda _, beta: NOISE.error_quantile(beta) * shrink, beta=BETA
            ).each()
            is_inside = pair is not None and pair[0] <= truth <= pair[1]
            outside += 0.0 if is_inside else math.prod(MASS[z] for z in drawn)
    return outside + len(exact) * 2 * Q ** (REACH + 1) / (1 + Q)


@pytest.mark.parametrize("function", ["count", "sum", "min"])
def test_intervals_miss_no_more_often_than_they_say_over_all_noise(function: str) -> None:
    assert missed(function, [4, 6], Fraction(1)) <= BETA
    assert missed(function, [4, 6], Fraction(0)) > BETA  # a margin of nothing is caught


SIZES = {"a": 60, "b": 43, "c": 38, "d": 12}
ASKED = "SELECT COUNT(*) OVER () AS k FROM visits GROUP BY clinic HAVING COUNT(*) > 40"
PEOPLE: Any = {(name,): [row(person=str(i)) for i in range(n)] for name, n in SIZES.items()}


def held(trials: int, *, told: Fraction) -> int:
    """Return how often the interval at 80 % of a number of groups holds, with real noise.

    ``told`` times the true scale is what the release says of its noise.
    """
    hand = Hand(outputs=outputs(f"{ASKED} LIMIT 1"), groups=PEOPLE, fields=(1,), scale=8 * told)
    rng = NumberedRng(1, label="release/chosen-rows")
    noise = DiscreteLaplace(scale=8).release(np.zeros(4 * trials, dtype=np.int64), rng)
    body, release, inside = hand.body(), hand.release(), 0
    (exact,) = hand.exact()
    with duckdb.connect() as database:
        database.execute("CREATE TABLE visits (clinic TEXT)")
        for name, size in SIZES.items():
            database.execute("INSERT INTO visits SELECT ? FROM range(?)", [name, size])
        truth, *_ = database.execute(ASKED).fetchone() or (None,)
    assert truth == 2
    for drawn in noise.reshape(trials, 4).tolist():
        values = [value + z for value, z in zip(exact, drawn, strict=True)]
        noisy = evolve(body, aggregates=(evolve(body.aggregates[0], values=values),))
        pairs = evolve(release, body=noisy).intervals("k", "0.8")
        inside += all(pair is not None and pair[0] <= truth <= pair[1] for pair in pairs)
    return inside


def test_numbers_of_groups_hold_as_often_as_they_say() -> None:
    """A false alarm in at most its share of the suite's rate, which a binomial test spends."""
    trials = 300
    share = alpha("release/chosen-rows", parts=2)
    inside = held(trials, told=Fraction(1))
    assert inside >= 0.8 * trials or binomial_p_value(inside, trials, 0.8) > share
    lied = held(trials, told=Fraction(1, 20))
    assert lied < 0.8 * trials
    assert binomial_p_value(lied, trials, 0.8) < share


def test_every_form_shows_the_interval() -> None:
    asked = outputs(f"{ASKED} LIMIT 1")
    release = Hand(outputs=asked, groups=PEOPLE, fields=(1,), scale=1).release()
    assert release.intervals("k") == ((1, 3),)
    assert "2 (1 to 3)" in str(release)
    assert "2 (1 to 3)" in release._repr_html_()
    assert release.to_json()["intervals"] == {"k": [[1, 3]]}
    frame, arrow = release.to_pandas(intervals="noise"), release.to_arrow(intervals="noise")
    assert frame[["k_low", "k_high"]].to_numpy().tolist() == [[1, 3]]
    assert arrow.select(["k_low", "k_high"]).to_pylist() == [{"k_low": 1, "k_high": 3}]
    assert any("HAVING would leave without noise" in note for note in release.notes())


def test_what_cannot_be_known_of_such_rows_says_so() -> None:
    sql = (
        "SELECT clinic, DENSE_RANK() OVER (ORDER BY clinic) AS x, LAG(clinic) OVER (ORDER BY"
        " clinic) AS y FROM visits GROUP BY clinic HAVING COUNT(*) > 40"
    )
    release = Hand(outputs=outputs(sql), groups=PEOPLE, fields=(1,), scale=1).release()
    assert release.intervals("x") == release.intervals("y") == (None, None)
    assert "2 (unknown)" in str(release)
    assert "a (unknown)" in str(release)
