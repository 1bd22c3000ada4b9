"""Outputs: what SELECT, HAVING and ORDER BY name becomes aggregates, weights and a view."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.core.errors import QueryError, RefusedQuery, UndeclaredBound, UnknownColumn
from discreet.releases.estimates.estimate import Constant, KeyOf, QuantileOf, TotalOf, VarianceOf
from discreet.releases.view import ClampSource
from discreet.sql.aggregates.clamps import coarse
from discreet.tables.column import Bounds, ColumnType
from discreet.tables.expression import Call, FieldValue
from discreet.tables.functions.call import call
from discreet.tables.plans.aggregate import (
    Aggregate,
    CountDistinct,
    CountRows,
    CountUnits,
    QuantileValues,
)
from discreet.tables.plans.sums import LARGEST_ROOT, SumSquares, SumValues, middle
from tests.support.projects.shown_answers import BY_MONTH, outputs, visits

AGE = FieldValue(ColumnType.INTEGER, 2)
COST = FieldValue(ColumnType.REAL, 3)
URGENT = FieldValue(ColumnType.BOOLEAN, 4)
AGES, COSTS = Bounds(lower=0, upper=110), Bounds(lower=0, upper=10, step="1/4")


def present(value: FieldValue) -> Call:
    found = call("not", [call("is_null", [value])])
    assert isinstance(found, Call)
    return found


def only(item: str) -> Aggregate:
    """Return the one aggregate of one output."""
    (aggregate,) = outputs(f"SELECT {item} AS x FROM visits").aggregates
    return aggregate


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ("COUNT(*)", CountRows()),
        ("COUNT()", CountRows()),
        ("COUNT(1)", CountRows()),
        ("COUNT(stay)", CountRows()),
        ("COUNT(cost)", CountRows(where=present(COST))),  # declared not to be NULL, but NaN is
        ("COUNT(age)", CountRows(where=present(AGE))),
        ("COUNT(*) FILTER (WHERE urgent)", CountRows(where=URGENT)),
        ("COUNT_IF(urgent)", CountRows(where=URGENT)),
        ("COUNT(DISTINCT person)", CountUnits()),
        ("COUNT(DISTINCT (person))", CountUnits()),
        ("COUNT(DISTINCT person) FILTER (WHERE urgent)", CountUnits(where=URGENT)),
        ("COUNT(DISTINCT age)", CountDistinct(value=AGE, where=present(AGE))),
        ("COUNT(DISTINCT cost)", CountDistinct(value=COST, where=present(COST))),
        ("APPROX_COUNT_DISTINCT(cost)", CountDistinct(value=COST, where=present(COST))),
        ("SUM(cost)", SumValues(value=COST, bounds=COSTS, where=present(COST))),
        ("SUM(age)", SumValues(value=AGE, bounds=AGES, where=present(AGE))),
        (
            "SUM(age) FILTER (WHERE urgent)",
            SumValues(value=AGE, bounds=AGES, where=call("and", [present(AGE), URGENT])),
        ),
        (
            "MEDIAN(cost)",
            QuantileValues(value=COST, bounds=COSTS, quantile=Fraction(1, 2), where=present(COST)),
        ),
    ],
)
def test_an_output_becomes_an_aggregate(item: str, expected: Aggregate) -> None:
    assert only(item) == expected


@pytest.mark.parametrize(
    ("item", "share"),
    [
        ("MEDIAN(cost)", "1/2"),
        ("QUANTILE(cost, 0.9)", "9/10"),
        ("QUANTILE_CONT(cost, 0.25)", "1/4"),
        ("QUANTILE_DISC(cost, 0.25)", "1/4"),
        ("PERCENTILE_CONT(cost, 0.25)", "1/4"),
        ("APPROX_QUANTILE(cost, 0.25)", "1/4"),
        ("PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY cost)", "1/4"),
        ("PERCENTILE_DISC(0.25) WITHIN GROUP (ORDER BY cost DESC)", "3/4"),
        ("MIN(cost)", "1/100"),
        ("MAX(cost)", "99/100"),
    ],
)
def test_a_quantile_has_the_share_that_is_written(item: str, share: str) -> None:
    aggregate = only(item)
    assert isinstance(aggregate, QuantileValues)
    assert aggregate.quantile == Fraction(share)


def test_min_and_max_say_what_they_are() -> None:
    (output,) = outputs("SELECT MAX(age) AS oldest FROM visits").view.outputs
    assert output.estimate == QuantileOf(ColumnType.INTEGER, 0, Fraction(99, 100), "MAX")


def test_a_person_in_a_period_is_not_the_whole_unit() -> None:
    asked = outputs("SELECT COUNT(DISTINCT person) AS n FROM visits", visits(BY_MONTH))
    assert [type(aggregate) for aggregate in asked.aggregates] == [CountDistinct]


def test_a_mean_is_a_centred_sum_and_a_count_of_the_same_rows() -> None:
    asked = outputs("SELECT AVG(age) AS x FROM visits")
    where = present(AGE)
    assert set(asked.aggregates) == {
        SumValues(value=AGE, bounds=AGES, centre=55, where=where),
        CountRows(where=where),
    }
    assert asked.weights == (Fraction(1, 2), Fraction(1, 2))


def test_a_variance_takes_half_of_the_largest_square_off() -> None:
    asked = outputs("SELECT VAR_POP(age) AS x FROM visits")
    (squares,) = (a for a in asked.aggregates if isinstance(a, SumSquares))
    assert (squares.centre, squares.offset) == (55, 55**2 // 2)
    estimate = asked.view.outputs[0].estimate
    assert isinstance(estimate, VarianceOf)
    parts = [asked.weights[i] for i in (estimate.squares, estimate.total, estimate.count)]
    assert parts == [Fraction(2, 9), Fraction(4, 9), Fraction(3, 9)]


def test_the_parts_of_a_variance_are_close_to_the_best() -> None:
    """The worst error is as 1/2 : 2 : 3/2 over the parts; the best parts are as the roots."""
    worst = (0.5, 2.0, 1.5)
    best = sum(math.sqrt(weight) for weight in worst) ** 2
    ours = sum(weight / part for weight, part in zip(worst, (2 / 9, 4 / 9, 3 / 9), strict=True))
    thirds = sum(weight * 3 for weight in worst)
    assert best <= ours <= 1.005 * best < thirds


def test_the_same_aggregate_is_made_once() -> None:
    asked = outputs(
        "SELECT COUNT(*) AS a, COUNT(*) + 1 AS b, AVG(stay) AS c, SUM(stay) / COUNT(*) AS d,"
        " STDDEV(stay) AS e, VARIANCE(stay) AS f FROM visits HAVING COUNT(stay) > 3"
    )
    kinds = sorted(type(aggregate).__name__ for aggregate in asked.aggregates)
    assert kinds == ["CountRows", "SumSquares", "SumValues", "SumValues"]
    assert sum(asked.weights) == 1
    # four estimates: a count, a mean, a sum and a variance, a quarter of the price for each
    by_kind = {type(a): w for a, w in zip(asked.aggregates, asked.weights, strict=True)}
    assert by_kind[CountRows] == Fraction(1, 4) * (1 + Fraction(1, 2) + Fraction(3, 9))
    assert by_kind[SumSquares] == Fraction(1, 4) * Fraction(2, 9)


def test_the_order_and_the_names_of_outputs_are_no_part_of_the_plan() -> None:
    one = outputs("SELECT clinic, AVG(age) AS a, COUNT(*) AS n FROM visits GROUP BY clinic")
    other = outputs(
        "SELECT COUNT(*) AS many, clinic, AVG(age) AS mean FROM visits GROUP BY clinic"
        " ORDER BY AVG(age) LIMIT 3"
    )
    assert one.aggregates == other.aggregates
    assert one.weights == other.weights


ITEMS = st.sampled_from(
    [
        "COUNT(*)",
        "COUNT(age)",
        "COUNT(DISTINCT person)",
        "SUM(age)",
        "AVG(age)",
        "AVG(cost)",
        "VAR_SAMP(age)",
        "STDDEV_POP(age)",
        "MEDIAN(age)",
        "COUNT(*) FILTER (WHERE urgent)",
        "SUM(cost) / COUNT(*)",
        "AVG(age) - AVG(cost)",
    ]
)


@given(items=st.lists(ITEMS, min_size=1, max_size=6))
def test_weights_are_above_zero_and_together_one(items: list[str]) -> None:
    named = ", ".join(f"{item} AS x{i}" for i, item in enumerate(items))
    asked = outputs(f"SELECT {named} FROM visits")
    assert sum(asked.weights) == 1
    assert min(asked.weights) > 0
    assert len(asked.weights) == len(asked.aggregates) == len(set(asked.aggregates))
    assert len(asked.view.clamps) == len(asked.aggregates)


def test_keys_alone_need_no_aggregate() -> None:
    asked = outputs("SELECT clinic FROM visits GROUP BY clinic")
    assert asked.aggregates == ()
    assert asked.weights == ()
    assert asked.view.outputs[0].estimate == KeyOf(ColumnType.TEXT, 0)


def test_a_grouped_expression_is_a_key_wherever_it_is_written() -> None:
    asked = outputs(
        "SELECT age + 1 AS next, (age + 1) * 2 AS twice, COUNT(*) AS n FROM visits GROUP BY age + 1"
    )
    assert asked.view.outputs[0].estimate == KeyOf(ColumnType.INTEGER, 0)
    assert len(asked.aggregates) == 1


# ------------------------------------------------------------------ clamps


@pytest.mark.parametrize(
    ("item", "bounds", "source"),
    [
        ("SUM(age)", AGES, ClampSource.DECLARED),
        ("SUM(CLAMP(age, 18, 65))", Bounds(lower=18, upper=65), ClampSource.WRITTEN),
        ("SUM(CLAMP(cost, 0, 5))", Bounds(lower=0, upper=5, step="1/4"), ClampSource.WRITTEN),
        (
            "SUM(CLAMP(cost, 0, 5, 0.1))",
            Bounds(lower=0, upper=5, step="1/10"),
            ClampSource.WRITTEN,
        ),
        (
            "SUM(CLAMP(weight, -20, 100))",
            Bounds(lower=-20, upper=100, step="1/10000"),
            ClampSource.WRITTEN,
        ),
        ("SUM(age + 1)", Bounds(lower=1, upper=111), ClampSource.PROPOSED),
    ],
)
def test_a_clamp_stands_below_every_sum(item: str, bounds: Bounds, source: ClampSource) -> None:
    asked = outputs(f"SELECT {item} AS x FROM visits")
    (aggregate,) = asked.aggregates
    assert isinstance(aggregate, SumValues)
    assert aggregate.bounds == bounds
    assert asked.view.clamps == (source,)


def test_a_written_clamp_that_is_the_declared_one_is_the_same_plan() -> None:
    written = outputs("SELECT AVG(CLAMP(age, 0, 110)) AS x FROM visits")
    assert written.aggregates == outputs("SELECT AVG(age) AS x FROM visits").aggregates


def test_a_number_without_a_range_needs_a_clamp() -> None:
    with pytest.raises(UndeclaredBound) as caught:
        outputs("SELECT SUM(weight) AS x FROM visits")
    assert "CLAMP(weight, 0, 100)" in caught.value.next


@given(
    lower=st.integers(-(2**52), 2**52),
    size=st.integers(1, 2**53 - 2**52),
    step=st.fractions(Fraction(1, 1000), 1000, max_denominator=1000),
)
def test_squares_are_taken_on_a_grid_that_is_coarse_enough(
    lower: int, size: int, step: Fraction
) -> None:
    if not step:
        return
    upper = min(lower + size, 2**53)
    if upper <= lower:
        return
    fine = Bounds(lower=lower * step, upper=upper * step, step=step)
    found = coarse(fine)
    half = max(found.upper_steps - middle(found), middle(found) - found.lower_steps)
    assert half <= LARGEST_ROOT
    assert found.lower <= fine.lower < fine.upper <= found.upper
    assert found.upper - found.lower <= fine.upper - fine.lower + 2 * found.step


# ------------------------------------------------------------------ refusals


@pytest.mark.parametrize(
    ("item", "words"),
    [
        ("age", "neither grouped nor aggregated"),
        ("age + COUNT(*)", "neither grouped nor aggregated"),
        ("SUM(DISTINCT age)", "DISTINCT"),
        ("AVG(DISTINCT age)", "DISTINCT"),
        ("SUM(urgent)", "COUNT(*) FILTER (WHERE urgent)"),
        ("SUM(clinic)", "not a number"),
        ("AVG(day)", "not a number"),
        ("MAX(clinic)", "not a number"),
        ("MAX(age, 3)", "MAX"),
        ("COUNT(DISTINCT (person, day))", "one value"),
        ("COUNT(DISTINCT person, day)", "one value"),
        ("COUNT_IF(age)", "condition"),
        ("COUNT(*) FILTER (WHERE age)", "condition"),
        ("COUNT(*) FILTER (WHERE COUNT(*) > 3)", "HAVING"),
        ("QUANTILE(age)", "share"),
        ("QUANTILE(age, 1.5)", "between 0 and 1"),
        ("QUANTILE(age, age)", "between 0 and 1"),
        ("QUANTILE(age, [0.1, 0.9])", "several times"),
        ("QUANTILE(age, 0.12345678901)", "few digits"),
        ("ANY_VALUE(age)", "ANY_VALUE"),
        ("REGR_R2(age, cost)", "REGR_R2"),
        ("SUM(age) OVER ()", "window"),
        ("GROUPING(age)", "GROUPING"),
        ("SUM(CLAMP(age, 65, 18))", "empty"),
        ("SUM(CLAMP(age, 0, 100, 7))", "grid"),
        ("COUNT(*) + clinic", "does not go"),
        ("UPPER(clinic)", "GROUP BY UPPER(clinic)"),
        ("(SELECT 1)", "FROM"),
        ("COUNT(*)::TIMESTAMP(3)", "ROUND"),
        ("LOG(3, COUNT(*))", "LN(x) / LN(base)"),
        ("COUNT(*) IS 'x'", "IS"),
        ("1" + " + 1" * 500, "deeply"),
    ],
)
def test_what_is_not_supported_is_refused_with_a_reason(item: str, words: str) -> None:
    with pytest.raises(QueryError) as caught:
        outputs(f"SELECT {item} AS x FROM visits GROUP BY clinic")
    assert words in str(caught.value)


def test_an_unknown_column_keeps_its_own_message() -> None:
    with pytest.raises(UnknownColumn):
        outputs("SELECT agee AS x FROM visits")


def test_two_outputs_cannot_have_one_name() -> None:
    with pytest.raises(RefusedQuery, match="Two outputs"):
        outputs("SELECT COUNT(*) AS n, SUM(age) AS N FROM visits")


def test_order_by_a_place_that_is_not_there_is_refused() -> None:
    with pytest.raises(RefusedQuery, match="names no output"):
        outputs("SELECT COUNT(*) AS n FROM visits ORDER BY 2")


def test_having_must_be_a_condition() -> None:
    with pytest.raises(RefusedQuery, match="not a condition"):
        outputs("SELECT COUNT(*) AS n FROM visits HAVING COUNT(*)")


# ------------------------------------------------------------------ arithmetic


def test_constants_are_worked_out_once() -> None:
    (output,) = outputs("SELECT 2 * 3 + COUNT(*) * -(1 + 1) AS x FROM visits").view.outputs
    assert output.estimate.arguments[0] == Constant(ColumnType.INTEGER, Fraction(6))  # type: ignore[attr-defined]


def test_coalesce_of_what_is_never_missing_is_that() -> None:
    (output,) = outputs("SELECT COALESCE(SUM(age), 0) AS x FROM visits").view.outputs
    assert output.estimate == TotalOf(ColumnType.INTEGER, 0)


def test_an_output_may_use_the_ones_before_it() -> None:
    asked = outputs("SELECT COUNT(*) AS n, n + n AS twice, 2 * twice AS four FROM visits")
    assert asked.aggregates == (CountRows(),)
    assert asked.weights == (Fraction(1),)
    with pytest.raises(UnknownColumn):
        outputs("SELECT n + n AS twice, COUNT(*) AS n FROM visits")


def test_outputs_that_use_each_other_cannot_grow_without_end() -> None:
    doubled = ", ".join(f"x{i} + x{i} AS x{i + 1}" for i in range(64))
    with pytest.raises(RefusedQuery, match="too long"):
        outputs(f"SELECT COUNT(*) AS x0, {doubled} FROM visits")
