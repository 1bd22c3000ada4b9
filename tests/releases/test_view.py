"""Views: values, order and intervals, from noisy numbers alone."""

import datetime
import math
import statistics
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import duckdb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.core.errors import RefusedQuery
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.releases.estimates.estimate import (
    Constant,
    Estimate,
    GroupingOf,
    KeyOf,
    MeanOf,
    TotalOf,
    VarianceOf,
    indices,
)
from discreet.releases.estimates.functions import FUNCTIONS, calculate
from discreet.releases.estimates.groups import Groups
from discreet.releases.estimates.rules import intervals_of
from discreet.releases.view import Ordering, Output, View
from discreet.tables.arithmetic.columns import column, scalars
from discreet.tables.arithmetic.enclosures import Intervals
from discreet.tables.arithmetic.ratios import Ratios
from discreet.tables.column import ColumnType, Key
from tests.support.projects.one_group import interval_of, numbers_of, value_of
from tests.support.projects.shown_answers import Hand, outputs, row

INTEGER, REAL = ColumnType.INTEGER, ColumnType.REAL
COUNT, OTHER = TotalOf(INTEGER, 0), TotalOf(INTEGER, 1)
NULL = Constant(REAL, None)


def whole(value: int) -> Constant:
    return Constant(INTEGER, Fraction(value))


def group(*values: int | Fraction, keys: tuple[Any, ...] = ()) -> Groups:
    return Groups.one(values, keys=keys)


def number(name: str, *arguments: int | Fraction | None) -> object:
    """Return a function of numbers, each of them that of an aggregate so that it is not folded."""
    given = [NULL if a is None else TotalOf(REAL, i) for i, a in enumerate(arguments)]
    return value_of(calculate(name, *given), group(*(a or 0 for a in arguments)))


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("+", (2, 3), 5),
        ("-", (2, 3), -1),
        ("*", (2, 3), 6),
        ("/", (1, 3), Fraction(1, 3)),
        ("/", (1, 0), None),
        ("%", (-7, 3), -1),
        ("%", (7, 0), None),
        ("neg", (2,), -2),
        ("abs", (-2,), 2),
        ("floor", (Fraction(-5, 2),), -3),
        ("ceil", (Fraction(-5, 2),), -2),
        ("trunc", (Fraction(-5, 2),), -2),
        ("sign", (Fraction(-5, 2),), -1),
        ("round", (Fraction(5, 2),), 3),
        ("round", (Fraction(-5, 2),), -3),
        ("round", (Fraction(1, 8), 2), Fraction(13, 100)),
        ("round", (1, 1000), None),
        ("integer", (Fraction(5, 2),), 3),
        ("real", (3,), 3),
        ("sqrt", (Fraction(9, 4),), Fraction(3, 2)),
        ("sqrt", (-1,), None),
        ("ln", (0,), None),
        ("log2", (-1,), None),
        ("exp", (0,), 1),
        ("exp", (1000,), None),
        ("power", (2, 10), 1024),
        ("power", (2, -1), Fraction(1, 2)),
        ("power", (0, -1), None),
        ("power", (0, Fraction(1, 2)), 0),
        ("power", (-8, Fraction(1, 3)), None),
        ("greatest", (1, None, 3), 3),
        ("least", (None, None), None),
        ("nullif", (0, 0), None),
        ("nullif", (1, 0), 1),
        ("coalesce", (None, 2, 3), 2),
        ("+", (1, None), None),
    ],
)
def test_functions_have_their_value_or_none(
    name: str, arguments: tuple[int | Fraction | None, ...], expected: int | Fraction | None
) -> None:
    assert number(name, *arguments) == expected


@pytest.mark.parametrize(
    ("name", "argument", "expected"),
    [
        ("sqrt", 2, math.sqrt(2)),
        ("ln", 10, math.log(10)),
        ("log10", 50, math.log10(50)),
        ("log2", 50, math.log2(50)),
        ("exp", 3, math.exp(3)),
    ],
)
def test_roots_and_logarithms_agree_with_floats(name: str, argument: int, expected: float) -> None:
    found = number(name, argument)
    assert isinstance(found, Fraction)
    assert float(found) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", ["//", "%"])
@pytest.mark.parametrize("kind", [INTEGER, REAL])
def test_quotients_and_remainders_are_those_of_duckdb(name: str, kind: ColumnType) -> None:
    made = calculate(name, TotalOf(kind, 0), TotalOf(kind, 1))
    unit, sql_type = (1, "BIGINT") if kind is INTEGER else (Fraction(1, 4), "DOUBLE")
    numbers = product(range(-9, 10), (-8, -4, -3, -2, -1, 1, 2, 3, 4, 8))
    pairs = [(a * unit, b * unit) for a, b in numbers]
    written = [f" {name} ".join(f"({float(part)})::{sql_type}" for part in pair) for pair in pairs]
    with duckdb.connect() as database:
        (theirs,) = database.execute(f"SELECT {', '.join(written)}").fetchall()
    for pair, expected in zip(pairs, theirs, strict=True):
        found = value_of(made, group(*pair))
        assert isinstance(found, Fraction)
        assert float(found) == pytest.approx(expected, rel=1e-15)
    assert made.type is kind
    assert value_of(made, group(7, 0)) is None


def test_constants_are_divided_as_numbers_are() -> None:
    assert calculate("//", whole(-7), whole(2)) == whole(-3)
    half = Constant(REAL, Fraction(1, 2))
    assert calculate("//", whole(3), half) == Constant(REAL, Fraction(6))
    assert calculate("//", half, whole(3)) == Constant(REAL, Fraction(1, 6))


def test_a_power_that_is_not_whole_agrees_with_floats() -> None:
    found = number("power", 7, Fraction(3, 2))
    assert isinstance(found, Fraction)
    assert float(found) == pytest.approx(7**1.5, rel=1e-12)


def test_logic_has_three_values() -> None:
    true, false = Constant(ColumnType.BOOLEAN, True), Constant(ColumnType.BOOLEAN, False)
    assert calculate("and", true, NULL) == Constant(ColumnType.BOOLEAN, None)
    assert calculate("and", false, NULL) == false
    assert calculate("or", true, NULL) == true
    assert calculate("or", false, NULL) == Constant(ColumnType.BOOLEAN, None)
    assert calculate("not", NULL) == Constant(ColumnType.BOOLEAN, None)
    assert calculate("in", whole(1), whole(2), NULL) == Constant(ColumnType.BOOLEAN, None)
    assert calculate("in", whole(1), whole(1), NULL) == true
    assert calculate("is_null", NULL) == true


def test_types_that_do_not_fit_are_refused() -> None:
    text = Constant(ColumnType.TEXT, "a")
    for name, arguments in (
        ("+", (COUNT, text)),
        ("<", (COUNT, text)),
        ("and", (COUNT, COUNT)),
        ("coalesce", (COUNT, text)),
        ("case", (COUNT, COUNT, COUNT)),
        ("sqrt", (text,)),
        ("+", (COUNT,)),
    ):
        with pytest.raises(RefusedQuery):
            calculate(name, *arguments)


def test_numbers_never_grow_without_end() -> None:
    estimate: Estimate = TotalOf(REAL, 0)
    for _ in range(12):
        estimate = calculate("power", estimate, Constant(REAL, Fraction(60)))
    assert value_of(estimate, group(7)) is None
    small = value_of(estimate, group(Fraction(1, 7)))
    assert small == 0


def test_a_grouping_tells_what_is_rolled_up() -> None:
    estimate = GroupingOf(INTEGER, (0, 1))
    assert value_of(estimate, Groups.one((), keys=("a", None), places=(0,))) == 1
    assert value_of(estimate, Groups.one((), keys=(None, 1), places=(1,))) == 2
    assert value_of(estimate, Groups.one((), keys=("a", 1), places=(0, 1))) == 0


AGES = [3, 17, 44, 44, 61, 109]


def answer_to(item: str, rows: list[int | None], noise: list[int] | None = None) -> float:
    asked = outputs(f"SELECT {item} AS x FROM visits")
    hand = Hand(outputs=asked, groups={(): [row(person=str(i), age=v) for i, v in enumerate(rows)]})
    found = hand.release(None if noise is None else [[z] for z in noise]).rows[0][0]
    assert isinstance(found, int | float)
    return found


@pytest.mark.parametrize(
    ("item", "oracle"),
    [
        ("AVG(age)", statistics.mean),
        ("VAR_POP(age)", statistics.pvariance),
        ("VAR_SAMP(age)", statistics.variance),
        ("STDDEV_POP(age)", statistics.pstdev),
        ("STDDEV(age)", statistics.stdev),
        ("SUM(age)", sum),
        ("COUNT(age)", len),
    ],
)
@given(ages=st.lists(st.integers(0, 110), min_size=2, max_size=8))
def test_without_noise_estimates_are_those_of_statistics(
    item: str, oracle: Callable[[list[int]], float], ages: list[int]
) -> None:
    found = answer_to(item, [*ages, None])
    assert found == pytest.approx(float(oracle(ages)), rel=1e-12, abs=1e-9)


def test_a_mean_of_nobody_is_the_centre_and_stays_in_its_bounds() -> None:
    assert answer_to("AVG(age)", []) == 55
    assert answer_to("AVG(age)", [], [1000, 0]) == 110
    assert answer_to("AVG(age)", [], [-1000, -50]) == 0
    assert answer_to("VAR_SAMP(age)", []) == 1512 * 2  # the offset, over 2 - 1 rows
    assert answer_to("VAR_POP(age)", [40, 40]) == 0


BY_CLINIC: dict[tuple[Key | None, ...], list[Any]] = {
    (name,): [row(person=str(i), age=age) for i in range(size)]
    for name, size, age in (("a", 5, 10), ("b", 9, 20), ("c", 0, 0), ("d", 9, 90))
}


def shown(sql: str) -> list[object]:
    hand = Hand(outputs=outputs(sql), groups={**BY_CLINIC}, fields=(1,))
    return [row[0] if len(row) == 1 else row for row in hand.release().rows]


def test_having_order_and_limit_look_at_noisy_numbers() -> None:
    query = "SELECT clinic FROM visits GROUP BY clinic"
    assert shown(query) == ["a", "b", "c", "d"]
    assert shown(f"{query} HAVING COUNT(*) > 5") == ["b", "d"]
    assert shown(f"{query} ORDER BY COUNT(*) DESC, clinic DESC") == ["d", "b", "a", "c"]
    assert shown(f"{query} ORDER BY COUNT(*) LIMIT 2") == ["c", "a"]
    assert shown(f"{query} ORDER BY COUNT(*) DESC LIMIT 1 OFFSET 1") == ["d"]
    assert shown(f"{query} ORDER BY clinic OFFSET 9") == []
    assert shown(f"{query} HAVING clinic IN ('a', 'c') ORDER BY 1 DESC") == ["c", "a"]


def test_order_by_may_name_an_output_and_having_may_too() -> None:
    query = "SELECT clinic, COUNT(*) AS n FROM visits GROUP BY clinic"
    assert shown(f"{query} HAVING n BETWEEN 1 AND 5") == [("a", 5)]
    assert [pair[0] for pair in shown(f"{query} ORDER BY N DESC, 1")] == ["b", "d", "a", "c"]  # type: ignore[index]
    assert shown(f"{query} ORDER BY n + 0, clinic LIMIT 1") == [("c", 0)]


def test_rows_without_a_value_come_last_either_way() -> None:
    query = "SELECT clinic FROM visits GROUP BY clinic ORDER BY 10 / NULLIF(COUNT(*), 9)"
    # 10/5, none, none (by zero), none: those without a value keep the order of the keys
    assert shown(query) == ["a", "b", "c", "d"]
    assert shown(f"{query} DESC") == ["a", "b", "c", "d"]


def test_having_that_is_null_hides_the_row() -> None:
    query = "SELECT clinic FROM visits GROUP BY clinic HAVING 1 / COUNT(*) > 0"
    assert shown(query) == ["a", "b", "d"]


def test_dates_are_read_back_as_dates() -> None:
    day = datetime.date(2025, 2, 3)
    asked = outputs(
        "SELECT day, COUNT(*) AS n FROM visits GROUP BY day HAVING day >= DATE '2025-01-01'"
    )
    hand = Hand(outputs=asked, groups={(day,): [], (datetime.date(2024, 1, 1),): []}, fields=(5,))
    assert hand.body().keys.rows == [["2025-02-03"], ["2024-01-01"]]
    assert hand.release().rows == ((day, 0),)


def test_a_view_is_equal_to_itself_and_can_be_hashed() -> None:
    view = View(outputs=(Output("n", COUNT),), order=(Ordering(COUNT, True),), limit=3)
    same = View(
        outputs=(Output("n", TotalOf(INTEGER, 0)),), order=(Ordering(COUNT, True),), limit=3
    )
    assert view == same
    assert len({view, same}) == 1


# ------------------------------------------------------------------ intervals

LOWER, UPPER, CENTRE, OFFSET = 0, 10, 5, 12
MEAN = MeanOf(REAL, 1, 0, Fraction(CENTRE), Fraction(LOWER), Fraction(UPPER))


def variance(freedom: int) -> VarianceOf:
    return VarianceOf(
        REAL,
        squares=2,
        total=1,
        count=0,
        offset=Fraction(OFFSET),
        centre=Fraction(CENTRE),
        lower=Fraction(LOWER),
        upper=Fraction(UPPER),
        freedom=freedom,
    )


def exact_group(values: list[int]) -> Groups:
    """Return the numbers without noise: the count, the centred sum, the squares less an offset."""
    centred = [value - CENTRE for value in values]
    return group(len(values), sum(centred), sum(d * d - OFFSET for d in centred))


LEAVES: list[Estimate] = [
    TotalOf(INTEGER, 0),
    TotalOf(REAL, 1),
    MEAN,
    variance(0),
    variance(1),
    *(whole(value) for value in (-2, 0, 1, 3)),
    Constant(REAL, Fraction(1, 2)),
]
ENCLOSED = [name for name, function in FUNCTIONS.items() if function.enclosure is not None]
NUMERIC = [name for name in ENCLOSED if name not in ("round", "power")]
NUMERIC += ["greatest", "least"]


def trees() -> st.SearchStrategy[Estimate]:
    def grown(inner: st.SearchStrategy[Estimate]) -> st.SearchStrategy[Estimate]:
        def built(name: str, first: Estimate, second: Estimate) -> Estimate:
            arguments = (first, second)[: 1 if FUNCTIONS[name].most == 1 else 2]
            return calculate(name, *arguments)

        simple = st.builds(built, st.sampled_from(NUMERIC), inner, inner)
        powers = st.builds(lambda a, k: calculate("power", a, whole(k)), inner, st.integers(0, 5))
        rounds = st.builds(lambda a, k: calculate("round", a, whole(k)), inner, st.integers(-2, 3))
        chosen = st.builds(
            lambda a, b, c: calculate("case", calculate(">", a, b), b, c), inner, inner, inner
        )
        first = st.builds(lambda a, b: calculate("coalesce", a, b), inner, inner)
        noisy = st.builds(lambda a, b: calculate("round", a, b), inner, inner)
        return simple | powers | rounds | noisy | chosen | first

    return st.recursive(st.sampled_from(LEAVES), grown, max_leaves=6)


@given(
    estimate=trees(),
    values=st.lists(st.integers(LOWER, UPPER), min_size=2, max_size=6),
    noise=st.tuples(*[st.integers(-4, 4)] * 3),
)
def test_if_the_noise_is_within_its_margins_the_truth_is_within_the_interval(
    estimate: Estimate, values: list[int], noise: tuple[int, int, int]
) -> None:
    exact = exact_group(values)
    noisy = group(*(v + z for v, z in zip(numbers_of(exact), noise, strict=True)))
    found = interval_of(estimate, noisy, lambda i, _: Fraction(abs(noise[i])), beta=Fraction(1, 20))
    truth = value_of(estimate, exact)
    if found is not None and isinstance(truth, Fraction):
        assert found[0] <= truth <= found[1]


def parts_of(low: int, high: int, largest: int) -> st.SearchStrategy[Fraction]:
    """Return fractions from one number to another, with denominators up to the largest."""
    found = {Fraction(n, d) for d in range(1, largest + 1) for n in range(low * d, high * d + 1)}
    return st.sampled_from(sorted(found, key=lambda part: (abs(part), part < 0)))


ENDS, SHARES = parts_of(-6, 6, 4), parts_of(0, 1, 8)


@st.composite
def placed(draw: st.DrawFn) -> tuple[tuple[Fraction, Fraction], Fraction]:
    """Return an interval and a point in it."""
    low, high = sorted(draw(st.tuples(ENDS, ENDS)))
    return (low, high), low + draw(SHARES) * (high - low)


@pytest.mark.parametrize("name", sorted(ENCLOSED))
@given(parts=st.tuples(placed(), placed()), whole_number=st.none() | st.integers(0, 4))
def test_every_enclosure_holds_the_values_of_its_function(
    name: str, parts: tuple[Any, Any], whole_number: int | None
) -> None:
    intervals, points = map(list, zip(*parts, strict=True))
    if name in ("round", "power") and whole_number is not None:  # else little is known
        points[1] = Fraction(whole_number)
        intervals[1] = (points[1], points[1])
    count = 1 if FUNCTIONS[name].most == 1 else 2
    function = FUNCTIONS[name]
    assert function.enclosure is not None
    (found,) = function.enclosure(*(Intervals.of([one]) for one in intervals[:count])).each()
    (value,) = scalars(function.value(*(column([point]) for point in points[:count])))
    if found is not None and isinstance(value, Fraction):
        assert found[0] <= value <= found[1]


@given(
    estimate=st.sampled_from([COUNT, MEAN, variance(0), variance(1)]),
    noisy=st.tuples(*[st.integers(-60, 60)] * 3),
    margin=st.integers(0, 20),
)
def test_the_value_is_within_its_own_interval(
    estimate: Estimate, noisy: tuple[int, int, int], margin: int
) -> None:
    found = interval_of(estimate, group(*noisy), lambda *_: Fraction(margin), beta=Fraction(1, 20))
    value = value_of(estimate, group(*noisy))
    assert found is not None
    assert isinstance(value, Fraction)
    assert found[0] <= value <= found[1]


SCALE, REACH = Fraction(1), 14
BETA = Fraction(1, 5)


def missed(estimate: Estimate, values: list[int], shrink: Fraction = Fraction(1)) -> float:
    """Return an upper bound on how often the interval misses the truth, over all noise.

    With a ``shrink`` below 1 it is a lower bound for margins that are made too small.
    """
    used, exact = indices(estimate), exact_group(values)
    truth = value_of(estimate, exact)
    noise = DiscreteLaplace(scale=SCALE)
    q = math.exp(-1 / SCALE)
    mass = {z: (1 - q) / (1 + q) * q ** abs(z) for z in range(-REACH, REACH + 1)}
    draws = list(product(mass, repeat=len(used)))
    columns = [[number] * len(draws) for number in numbers_of(exact)]
    for place, index in enumerate(used):
        columns[index] = [
            number + z[place] for number, z in zip(columns[index], draws, strict=True)
        ]
    noisy = Groups(
        size=len(draws),
        keys=(),
        places=((),),
        sets=np.zeros(len(draws), dtype=np.int64),
        values=tuple(map(Ratios.of, columns)),
    )
    found = intervals_of(
        estimate, noisy, lambda _, beta: noise.error_quantile(beta) * shrink, beta=BETA
    )
    outside = 0.0
    for interval, drawn in zip(found.each(), draws, strict=True):
        assert interval is not None
        if not interval[0] <= truth <= interval[1]:  # type: ignore[operator]
            outside += math.prod(mass[z] for z in drawn)
    tail = len(used) * 2 * q ** (REACH + 1) / (1 + q) if shrink == 1 else 0.0
    return outside + tail


@pytest.mark.parametrize("values", [[0, 10, 10], [5] * 8, [0, 0, 0, 0, 1, 9]])
def test_every_interval_misses_no_more_often_than_it_says(values: list[int]) -> None:
    ratio = calculate("/", TotalOf(INTEGER, 1), calculate("+", COUNT, whole(20)))
    for estimate in (COUNT, calculate("-", COUNT, OTHER), MEAN, ratio):
        assert missed(estimate, values) <= BETA


def test_a_margin_that_is_too_small_is_caught() -> None:
    assert missed(COUNT, [0] * 30, Fraction(1, 3)) > BETA
    assert missed(MEAN, [0] * 30 + [10] * 30, Fraction(1, 3)) > BETA


def test_the_interval_of_a_variance_misses_no_more_often_than_it_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tests.releases.test_view.REACH", 9)
    assert missed(variance(0), [0, 3, 10, 10, 2]) <= BETA


def test_case_without_noise_in_its_condition_takes_one_branch() -> None:
    chosen = calculate(
        "case",
        calculate("=", KeyOf(ColumnType.TEXT, 0), Constant(ColumnType.TEXT, "a")),
        COUNT,
        OTHER,
    )
    for key, middle in (("a", 10), ("b", 50)):
        here = group(10, 50, keys=(key,))
        found = interval_of(chosen, here, lambda *_: Fraction(2), beta=Fraction(1, 20))
        assert found == (Fraction(middle - 2), Fraction(middle + 2))


def test_the_failure_probability_is_shared_by_all_that_is_used() -> None:
    asked: dict[int, Fraction] = {}

    def margins(index: int, beta: Fraction) -> Fraction:
        asked[index] = beta
        return Fraction(1)

    beta = Fraction(1, 20)
    interval_of(MEAN, group(9, 9, 9), margins, beta=beta)
    assert asked == {0: beta / 2, 1: beta / 2}
    interval_of(variance(0), group(9, 9, 9), margins, beta=beta)
    assert asked == dict.fromkeys((0, 1, 2), beta / 3)


def margin_of_two(*_: object) -> Fraction:
    return Fraction(2)


def test_nothing_is_known_of_rounding_to_noisy_places() -> None:
    beta, noisy = Fraction(1, 20), group(1234, 1)
    to_noisy, to_known = (calculate("round", COUNT, places) for places in (OTHER, whole(-2)))
    assert interval_of(to_noisy, noisy, margin_of_two, beta=beta) is None
    exactly = (Fraction(1200), Fraction(1200))
    assert interval_of(to_known, noisy, margin_of_two, beta=beta) == exactly


def test_the_extremes_skip_what_may_have_no_value_without_noise() -> None:
    beta = Fraction(1, 20)
    # The average of nobody is NULL, and the greatest of NULL and -5 is -5, whatever noise says.
    for name, bound, ends in (("greatest", -5, (-5, 10)), ("least", 15, (10, 15))):
        wide = tuple(map(Fraction, ends))
        chosen = calculate(name, MEAN, whole(bound))
        assert interval_of(chosen, group(1, 40, 0), margin_of_two, beta=beta) == wide
        swapped = calculate(name, whole(bound), NULL, MEAN)
        assert interval_of(swapped, group(1, 40, 0), margin_of_two, beta=beta) == wide
        alone = interval_of(MEAN, group(50, 40, 0), margin_of_two, beta=beta)
        assert interval_of(chosen, group(50, 40, 0), margin_of_two, beta=beta) == alone
    # If it may be that nothing has a value but the smaller one, that is what it can be.
    roots = [calculate("sqrt", part) for part in (COUNT, OTHER)]
    largest = interval_of(calculate("greatest", *roots), group(1, 16), margin_of_two, beta=beta)
    assert largest is not None
    assert largest[0] == 0


def test_what_is_made_of_perhaps_nobody_may_be_anything() -> None:
    """The average of a group is in its bounds, and nothing more is known where nobody may be."""
    beta, largest = Fraction(1, 20), Fraction((UPPER - LOWER) ** 2, 4)
    wide = Fraction(LOWER), Fraction(UPPER)
    for count, total, most in ((0, 0, 1), (1, 2, 2), (-5, 0, 3), (3, -3, 3)):
        noisy = group(count, total, 0)
        assert interval_of(MEAN, noisy, lambda *_, m=most: Fraction(m), beta=beta) == wide
        for freedom, times in ((0, 1), (1, 2)):
            found = interval_of(variance(freedom), noisy, lambda *_, m=most: Fraction(m), beta=beta)
            assert found == (Fraction(0), largest * times)
    # A sum that is surely not 0 is not of nobody, though the count alone does not tell.
    for total in (9, -9):
        found = interval_of(MEAN, group(2, total, 0), margin_of_two, beta=beta)
        assert found is not None
        assert found != wide


def test_keys_are_compared_as_they_are() -> None:
    chosen = calculate("greatest", KeyOf(INTEGER, 0), COUNT)
    for key, ends in ((30, (30, 30)), (9, (9, 12)), (None, None)):
        expected = ends and tuple(map(Fraction, ends))
        here = group(10, keys=(key,))
        assert interval_of(chosen, here, margin_of_two, beta=Fraction(1, 20)) == expected


def test_what_cancels_has_no_error() -> None:
    nothing = calculate("-", COUNT, COUNT)
    found = interval_of(nothing, group(7), lambda *_: Fraction(3), beta=Fraction(1, 20))
    assert found == (Fraction(0), Fraction(0))
