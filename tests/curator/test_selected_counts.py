"""Counts that chose private groups: given that a group is shown, its interval holds as it says."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from attrs import evolve

from discreet.core.errors import InvalidArgument, RefusedQuery
from discreet.core.loss import Approximate, ApproximateZcdp, Pure, Zcdp
from discreet.curator.price.fit import fit
from discreet.curator.price.price import price
from discreet.engines.duckdb.engine import DuckDbEngine
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.releases.accuracy import Accuracy
from discreet.releases.estimates.estimate import (
    Estimate,
    SelectedOf,
    TotalOf,
)
from discreet.releases.estimates.functions import calculate
from discreet.releases.estimates.groups import Groups
from discreet.releases.estimates.linear import is_sure, linear
from discreet.roles.connection import connect
from discreet.sql.parse import parse
from discreet.sql.resolve import resolve
from discreet.tables.arithmetic.enclosures import Interval
from discreet.tables.column import ColumnType
from discreet.tables.declarations.declaration import read_catalog
from discreet.tables.plans.aggregate import CountRows, CountUnits
from tests.support.house.narrow import known
from tests.support.projects.bounded_plans import PRIVATE, equal_weights, make_plan
from tests.support.projects.clinic import visit, write_project
from tests.support.projects.one_group import interval_of
from tests.support.projects.priced_plans import keys_of

INTEGER = ColumnType.INTEGER
CHOSE, OTHER = SelectedOf(INTEGER, 0), TotalOf(INTEGER, 1)
Noise = DiscreteLaplace | DiscreteGaussian
Claim = Callable[[int, int, Fraction], Interval]
"""The interval of a noisy count, from the threshold and the error bar."""


def claimed(noisy: int, threshold: int, bar: Fraction) -> Interval:
    shown = Groups.one([Fraction(noisy)], threshold=threshold)
    return known(interval_of(CHOSE, shown, lambda *_: bar, beta=Fraction(1, 20)))


def plain(noisy: int, _: int, bar: Fraction) -> Interval:
    return noisy - bar, noisy + bar


def masses(noise: Noise, errors: range) -> list[float]:
    """Return how likely errors are, in proportion to the likeliest of them."""
    is_laplace = isinstance(noise, DiscreteLaplace)
    size = noise.scale if isinstance(noise, DiscreteLaplace) else 2 * noise.sigma_squared
    sizes = [abs(z) if is_laplace else z * z for z in errors]
    least = min(sizes)
    # The quotient of two integers is rounded once, as that of fractions is.
    return [math.exp((least - z) * size.denominator / size.numerator) for z in sizes]


def widest_miss(
    claim: Claim, noise: Noise, threshold: int, beta: Fraction, *, first: int = 1
) -> float:
    """Return the largest probability of a miss, given that the group is shown, over all counts."""
    bar = noise.error_quantile(beta)
    spread = noise.scale if isinstance(noise, DiscreteLaplace) else math.sqrt(noise.sigma_squared)
    last = threshold + 4 * int(bar) + 4
    shown = range(threshold, last + math.ceil(45 * spread))
    claims = [claim(noisy, threshold, bar) for noisy in shown]
    found = []
    for count in range(first, last):
        likely = masses(noise, range(shown.start - count, shown.stop - count))
        missed = (
            mass
            for mass, (low, high) in zip(likely, claims, strict=True)
            if not low <= count <= high
        )
        found.append(math.fsum(missed) / math.fsum(likely))
    return max(found)


NOISES: list[Noise] = [
    DiscreteLaplace(scale="1/3"),
    DiscreteLaplace(scale=1),
    DiscreteLaplace(scale=5),
    DiscreteGaussian(sigma_squared="1/4"),
    DiscreteGaussian(sigma_squared=4),
    DiscreteGaussian(sigma_squared=50),
]
BETAS = [Fraction(1, 2), Fraction(1, 5), Fraction(1, 20), Fraction(1, 1000)]
ROUNDING = 1e-12


@pytest.mark.parametrize("noise", NOISES, ids=str)
@pytest.mark.parametrize("threshold", [1, 2, 12, 45])
def test_given_that_a_group_is_shown_its_interval_holds(noise: Noise, threshold: int) -> None:
    for beta in BETAS:
        assert widest_miss(claimed, noise, threshold, beta) <= beta + ROUNDING


@pytest.mark.parametrize("noise", NOISES, ids=str)
def test_plain_error_bars_would_not_hold(noise: Noise) -> None:
    for beta in BETAS:
        assert widest_miss(plain, noise, 45, beta) > beta + ROUNDING


@pytest.mark.parametrize("noise", NOISES, ids=str)
@pytest.mark.parametrize("threshold", [1, 2, 12, 45])
def test_from_the_threshold_on_plain_error_bars_hold(noise: Noise, threshold: int) -> None:
    for beta in BETAS:
        assert widest_miss(plain, noise, threshold, beta, first=threshold) <= beta + ROUNDING


def test_an_interval_that_ends_at_the_threshold_would_not_hold() -> None:
    def narrower(noisy: int, threshold: int, bar: Fraction) -> Interval:
        low, high = claimed(noisy, threshold, bar)
        return max(low, Fraction(threshold)), high

    assert widest_miss(narrower, DiscreteLaplace(scale=5), 45, Fraction(1, 20)) > 0.99


def test_it_has_a_value_but_no_bar_that_all_rows_share() -> None:
    assert is_sure(CHOSE)
    for estimate in (CHOSE, calculate("+", CHOSE, OTHER), calculate("-", CHOSE, CHOSE)):
        assert linear(estimate) is None
    nowhere = Groups.one([Fraction(50)])
    assert interval_of(CHOSE, nowhere, lambda *_: Fraction(3), beta=Fraction(1, 20)) is None


def test_a_calculation_uses_the_interval_and_shares_the_failures() -> None:
    asked: dict[int, Fraction] = {}

    def margins(index: int, beta: Fraction) -> Fraction:
        asked[index] = beta
        return Fraction(3)

    shown = Groups.one([Fraction(46), Fraction(100)], threshold=45)
    ratio = calculate("/", OTHER, CHOSE)
    ends = (Fraction(97, 49), Fraction(103))
    assert interval_of(ratio, shown, margins, beta=Fraction(1, 20)) == ends
    assert asked == {0: Fraction(1, 40), 1: Fraction(1, 40)}


# ---- From SQL to the answer.


ROWS = [visit(f"p{i}", "abcd"[i % 4], note="x" if i < 300 else "y") for i in range(400)]
ASKED = """
    SELECT note, COUNT(DISTINCT person) AS people, COUNT(*) AS n,
        COUNT(DISTINCT person) FILTER (WHERE urgent) AS urgent,
        COUNT(*) / COUNT(DISTINCT person) AS each_
    FROM visits GROUP BY note
    HAVING COUNT(DISTINCT person) > 1 QUALIFY ROW_NUMBER() OVER (ORDER BY people) < 9
    ORDER BY people DESC
"""


@pytest.fixture
def folder(tmp_path: Any) -> Any:
    path = write_project(tmp_path, ROWS)
    text = (path / "discreet.toml").read_text()
    budget = "{ epsilon = 10, delta = 1e-5 }"
    (path / "discreet.toml").write_text(text.replace("{ epsilon = 10 }", budget))
    return path


def resolved(folder: Any, sql: str) -> Any:
    return resolve(parse(sql), read_catalog(folder), DuckDbEngine().public_rows)


def test_queries_with_private_keys_have_it_in_all_clauses(folder: Any) -> None:
    question = resolved(folder, ASKED)
    chose = SelectedOf(INTEGER, question.aggregates.index(CountUnits()))
    found = {output.name: output.estimate for output in question.view.outputs}
    assert found["people"] == question.view.order[0].estimate == chose
    assert isinstance(found["n"], TotalOf)
    assert isinstance(found["urgent"], TotalOf)  # it has noise of its own
    assert found["each_"] == calculate("/", found["n"], chose)
    assert question.view.having.arguments[0] == chose
    assert question.view.qualify.arguments[0].order[0][0] == chose
    public = resolved(folder, ASKED.replace("note", "clinic"))
    assert isinstance(public.view.outputs[1].estimate, TotalOf)


def test_the_answer_has_intervals_and_says_why(folder: Any) -> None:
    sql = "SELECT note, COUNT(DISTINCT person) AS people, COUNT(*) AS n FROM visits GROUP BY note"
    with connect(folder, epsilon=5, delta="1e-6") as connection:
        release, explained = connection.sql(sql), connection.explain(sql)
    least = known(release.body.selection).threshold
    assert set(release.errors()) == {"n"}
    with pytest.raises(InvalidArgument, match="chose private groups"):
        release.error("people")
    bar = release.body.aggregates[1].noise.error_quantile("0.05")
    for row, interval in zip(release.rows, release.intervals("people"), strict=True):
        low, high = known(interval)
        assert high == row[1] + bar  # type: ignore[operator]
        assert low == (row[1] - bar if row[1] > least + bar else 1)  # type: ignore[operator]
    notes = "\n".join(release.notes())
    assert f"people: numbers of people chose the groups, so near {least}" in notes
    assert "the noise of n had no part in choosing the groups" in notes
    assert set(release.to_json()["errors"]["intervals"]) == {"people"}
    steps = dict(explained.steps())
    assert f"Of groups of {least} people or more" in steps["COUNT(DISTINCT unit)"]
    assert explained.to_json()["errors"]["people"] is None
    errors = [text for name, text in explained.steps() if name == "Error"]
    assert f"of shown groups of {least} people or more 95 % are within ± {bar}" in errors[0]


def test_without_the_count_there_is_nothing_to_say_about_it(folder: Any) -> None:
    with connect(folder, epsilon=5, delta="1e-6") as connection:
        release = connection.sql("SELECT note, COUNT(*) AS n FROM visits GROUP BY note")
    assert set(release.errors()) == {"n"}
    assert not any("chose" in note or "choosing" in note for note in release.notes())


# ---- Accuracy: only where the error bar is true.


DELTA = Fraction(1, 10**6)


def fitted(accuracy: Accuracy, output: Estimate = CHOSE, measure: Any = Pure) -> Any:
    plan = make_plan(CountUnits(), keys=PRIVATE)
    return fit(plan, equal_weights(plan), [output], accuracy, measure=measure, delta=DELTA)


CAPS = {Pure: Approximate(99, DELTA), Zcdp: ApproximateZcdp(99, DELTA)}


@pytest.mark.parametrize("measure", [Pure, Zcdp])
@pytest.mark.parametrize(("within", "size"), [(50, 10**5), (50, 100), (3, 400)])
def test_an_accuracy_holds_in_groups_of_the_stated_size(
    measure: Any, within: int, size: int
) -> None:
    shares = fitted(Accuracy(within=within, group_size=size), measure=measure)
    plan = make_plan(CountUnits(), keys=PRIVATE)
    keys = keys_of(price(plan, shares, CAPS[measure]))
    assert keys.noise.error_quantile("0.05") <= within
    assert keys.threshold <= size // 2  # of each unit two rows count
    less = Fraction(995, 1000)
    amount = shares.keys.epsilon if measure is Pure else shares.keys.rho
    cheaper = evolve(shares, keys=type(shares.keys)(amount * less, delta=DELTA))
    keys = keys_of(price(plan, cheaper, CAPS[measure]))
    assert keys.noise.error_quantile("0.05") > within or keys.threshold > size // 2


def test_an_accuracy_without_a_size_or_of_a_calculation_is_refused() -> None:
    with pytest.raises(RefusedQuery, match="State a group size"):
        fitted(Accuracy(within=50))
    with pytest.raises(RefusedQuery, match="luck of noise"):
        fitted(Accuracy(within=50, group_size=900), calculate("+", CHOSE, CHOSE))
    plan = make_plan(CountRows(), keys=PRIVATE)
    accuracy = Accuracy(within=50)
    count = [TotalOf(INTEGER, 0)]
    shares = fit(plan, equal_weights(plan), count, accuracy, measure=Pure, delta=DELTA)
    assert isinstance(shares.keys, Approximate)
