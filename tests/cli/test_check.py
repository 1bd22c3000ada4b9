"""What declarations imply, in words and numbers, from the declarations alone."""

from fractions import Fraction

import pytest

from discreet.cli.commands.check import explained
from discreet.cli.commands.tables import listed
from discreet.core.loss import Approximate, Pure
from discreet.core.terminal_text import WIDEST
from discreet.curator.budget.budget_status import Budgets, BudgetStatus
from discreet.project.declaration_report import cautions
from discreet.project.open_ledger import open_ledger
from discreet.project.unit_effect import (
    UnitEffect,
    count_effect,
    grouping,
    rows_that_fit,
    sum_effect,
)
from discreet.tables.source import SourceFormat
from tests.support.projects.declared import GOOD, changed, parsed, private


def reach(in_a_group: int, in_all: int) -> UnitEffect:
    return UnitEffect(in_a_group=Fraction(in_a_group), in_all=Fraction(in_all))


def test_what_one_unit_moves_follows_from_limits_and_ranges():
    visits, steps, calls = parsed().tables
    assert count_effect(visits.limits) == reach(2, 6)
    assert sum_effect(visits.column("age"), visits.limits) == reach(200, 600)
    assert sum_effect(visits.column("cost"), visits.limits) == reach(20, 60)
    assert sum_effect(visits.column("note"), visits.limits) is None
    assert count_effect(steps.limits) == reach(24, 24)
    assert sum_effect(calls.columns[0], calls.limits) == reach(60, 60)


@pytest.mark.parametrize(
    ("table", "column", "how"),
    [
        ("visits", "person", "no: it names the unit"),
        ("visits", "clinic", "3 public keys"),
        ("visits", "urgent", "2 public keys"),
        ("visits", "age", "101 public keys, its range"),
        ("visits", "cost", "no: not by a real number"),
        ("visits", "day", "365 public days, and their months and years"),
        ("steps", "count", "private keys"),
        ("steps", "walked", "private keys"),
    ],
)
def test_how_a_column_can_be_grouped_by(table, column, how):
    catalog = parsed()
    declared = private(table)
    assert grouping(catalog, declared, declared.column(column)) == how


def test_check_says_it_in_words():
    text = explained(parsed()).text
    for part in (
        "people: one unit is a person",
        "ε = 3 is the most that may ever be told about one person",
        "kim ε = 1; lou@example.org ε = 2.5; anybody else has nothing",
        "the shares add up to more than the budget",
        "groups must be public",
        "somebody with k days is k units: they can lose up to k times k times the rho",
        "somebody with k rows is k units: they can lose up to k times the epsilon",
        "all rows with the same person in the same day (by walked)",
        "at most 2 rows in each of at most 3 groups count",
        "one person moves COUNT(*) by at most 2 in a group, 6 in all",
        "Public, so everybody may know every row: districts",
        "All is well: visits, steps, calls, districts",
    ):
        assert part in text


def test_check_says_it_in_json():
    data = explained(parsed()).data
    people, days, _ = data["id_spaces"]
    assert people["shares_exceed_budget"]
    assert not people["private_keys"]
    assert not days["shares_exceed_budget"]
    assert days["private_keys"]
    assert data["implied"][0]["count"] == {"in_a_group": "2", "in_all": "6"}
    assert data["ok"]


CAUTIONS = [
    ("", "", "has no delta, so nobody can group by a column without public keys: visits.note"),
    ("epsilon = 3 ", "epsilon = 30 ", "promises little"),
    ("delta = 1e-6", "delta = 1e-3", "delta of days is large"),
    ("rows_per_group = 24", "rows_per_group = 5000", "count for 5,000 rows"),
    ("max = 100 ", f"max = {2**53} ", "can hold 511 rows at the end of its range, fewer than"),
    ("max = 50_000", f"max = {2**53}", "stops growing beyond 511 rows"),
    ('"steps/*.parquet"', '"./visits.csv"', "visits and steps read the same file"),
    ("epsilon = 0.5", "epsilon = 2.5", "does not fit into the budget of days"),
    ("epsilon = 0.5", "rho = 0.1", "does not fit into the budget of people"),
]


@pytest.mark.parametrize(("old", "new", "caution"), CAUTIONS)
def test_cautions(old, new, caution):
    found = cautions(parsed(changed(old, new)))
    assert any(caution in sentence for sentence in found)
    if old:
        assert len(found) > len(cautions(parsed()))


def test_no_caution_without_a_reason():
    assert len(cautions(parsed())) == 1
    assert cautions(parsed(changed("epsilon = 3 }", "epsilon = 3, delta = 1e-9 }", CALM))) == ()


CALM = changed("epsilon = 1 }", "epsilon = 1, delta = 1e-10 }").replace(
    "epsilon = 2.5 }", "epsilon = 2.5, delta = 1e-10 }"
)


def test_a_sum_saturates_where_it_is_said_to():
    column = parsed(changed("max = 100 ", f"max = {2**53} ")).table("visits").column("age")
    fit = rows_that_fit(column)
    assert fit is not None
    assert fit * 2**53 <= 2**62 - 1 < (fit + 1) * 2**53


def test_a_csv_file_loses_lines_that_cannot_be_read():
    text = explained(parsed()).text
    assert text.count("lines of a CSV file that cannot be read are dropped") == sum(
        table.source.format is SourceFormat.CSV for table in parsed().tables
    )
    assert "to-parquet" in text


LONG = changed('unit = "a person"', f'unit = "a person {"who lives here " * 9}"')


@pytest.mark.parametrize("declared", [GOOD, LONG])
def test_no_line_is_wider_than_a_hundred_columns(declared):
    catalog = parsed(declared)
    for text in (explained(catalog).text, listed(catalog).text):
        assert max(map(len, text.splitlines())) <= WIDEST


def test_long_keys_are_cut_short():
    keys = ", ".join(f'"a rather long key {i}"' for i in range(5))
    text = listed(parsed(changed('keys = ["a"]', f"keys = [{keys}]"))).text
    assert "a rather long key 0, ... (5)" in text
    assert max(map(len, text.splitlines())) <= WIDEST


def test_keys_are_shown_as_sql_has_them():
    shown = listed(parsed())
    assert "false, true" in shown.text
    assert "its days, months and years" in shown.text
    (urgent,) = [column for column in shown.data[0]["columns"] if column["name"] == "urgent"]
    assert urgent["keys"] == [False, True]


def test_a_long_budget_is_shown_below_itself():
    long, short_one = Approximate("1/3", "1e-30"), Pure(1)

    def status(loss):
        return BudgetStatus(id_space="people", unit="x", cap=loss, spent=loss, remaining=loss)

    wide = str(Budgets([status(long)]))
    assert max(map(len, wide.splitlines())) <= WIDEST
    assert [line.split()[0] for line in wide.splitlines()] == ["people", "spent", "left", "of"]
    assert str(Budgets([status(short_one)])).startswith("id space")


def test_what_the_ledger_remembers_is_told(tmp_path):
    ledger = open_ledger(parsed(GOOD, tmp_path))
    catalog = parsed(GOOD[: GOOD.index("[analysts.kim]")], tmp_path)
    text = explained(catalog, ledger).text
    assert "kim is not declared but keeps the share of people" in text
    assert "is not declared" not in explained(parsed(GOOD, tmp_path), ledger).text


def test_tables_shows_what_may_be_asked():
    shown = listed(parsed())
    for part in (
        "visits: private (id space people); one unit is a person, all rows with the same person",
        "steps: private (id space days)",
        "calls: private (id space calls); one unit is a call, each row by itself",
        "districts: public, so it can be joined with for nothing",
        "2025-01-01 to 2025-12-31",
        "0 to 10 by 0.25",
        "keys for GROUP BY",
        "A question that says no price costs ε = 0.5",
    ):
        assert part in shown.text
    visits, steps, calls, districts = shown.data
    assert visits["columns"][0]["nullable"] is False
    assert visits["columns"][5]["dates"] == {"min": "2025-01-01", "max": "2025-12-31"}
    assert steps["period"] == {"length": "day", "date": "walked"}
    assert calls["unit"] is None
    assert districts["public"] is True
