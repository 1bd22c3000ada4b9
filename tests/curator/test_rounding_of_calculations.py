"""Rounding to a coarse step, in what is worked out of rounded values, against DuckDB.

At these prices noise is next to nothing, so what separates an answer from the truth is rounding.
The truth is inside the total interval, or the interval says that it is not known.
"""

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from discreet.roles.connection import connect
from discreet.roles.owner import own
from tests.support.projects.clinic import SCHEMA, visit, write_project

PEOPLE = 300
STEPS = ("0.25", "2.5")

OF_ALL = [
    "SUM(cost) / COUNT(*)",
    "SUM(cost) / COUNT(cost)",
    "AVG(cost) * 2",
    "AVG(cost) / AVG(age)",
    "ROUND(AVG(cost), 1)",
    "LN(AVG(cost))",
    "GREATEST(AVG(cost), AVG(change))",
    "CASE WHEN COUNT(*) > 10 THEN SUM(cost) ELSE 0 END",
    "MEDIAN(cost) * 2",
    "MEDIAN(cost) - AVG(cost)",
    "STDDEV(cost)",
    "STDDEV_POP(cost)",
    "VARIANCE(cost)",
    "STDDEV(cost) / AVG(cost)",
    "CORR(cost, age)",
    "COVAR_POP(cost, age)",
    "COVAR_SAMP(cost, cost * 2)",
    "REGR_SLOPE(age, cost)",
    "AVG(cost) FILTER (WHERE urgent)",
    "STDDEV(cost) FILTER (WHERE urgent)",
    "SUM(cost) FILTER (WHERE urgent) / COUNT(*) FILTER (WHERE urgent)",
    "SUM(cost) FILTER (WHERE urgent) / COUNT(*)",
]
SUMS = [
    "SUM(cost)",
    "SUM(cost) / 1000",
    "SUM(cost) - SUM(age)",
    "SUM(cost) / SUM(age)",
    "SUM(cost) FILTER (WHERE urgent)",
    "100.0 * SUM(cost) FILTER (WHERE urgent) / SUM(cost)",
    "SQRT(SUM(cost))",
    "COALESCE(SUM(cost), 0)",
    "FLOOR(SUM(cost))",
    "SUM(cost * 2)",
]
OF_GROUPS = [
    "AVG(AVG(cost)) OVER ()",
    "SUM(AVG(cost) * COUNT(*)) OVER ()",
    "STDDEV(cost)",
]
SUMS_OF_GROUPS = [
    "SUM(cost) / SUM(SUM(cost)) OVER ()",
    "SUM(SUM(cost)) OVER (ORDER BY clinic)",
]
MOST_UNKNOWN = {"REGR_SLOPE(age, cost)"}
"""With the widest step the variance that is divided by may be 0."""


def rows_of(kind: str, step: float) -> list[dict[str, object]]:
    """Return values that are all moved to the same side, or values that differ."""
    random = np.random.default_rng(14)
    alike = 1 + step * np.where(np.arange(PEOPLE) % 2 == 0, 0.4, 0.45)
    costs = alike if kind == "alike" else np.clip(random.gamma(2, 1.3, PEOPLE), 0, 10)
    return [
        visit(f"p{i}", "ab"[i % 2], cost=float(cost), age=int(i % 50), urgent=i % 3 == 0)
        for i, cost in enumerate(costs)
    ]


@pytest.fixture(scope="module", params=[(a, b) for a in ("alike", "spread") for b in STEPS])
def stage(request, tmp_path_factory):
    """A project, and a database with the same rows."""
    kind, step = request.param
    rows = rows_of(kind, float(step))
    folder = write_project(
        tmp_path_factory.mktemp("coarse"), rows, epsilon="1000000", rows_per_group=1
    )
    file = folder / "discreet.toml"
    text = file.read_text(encoding="utf-8").replace("step = 0.25", f"step = {step}")
    text = text.replace("rows_per_group", "most_rows_per_unit = 1\nrows_per_group", 1)
    file.write_text(text, encoding="utf-8")
    database = duckdb.connect()
    database.register("visits", pa.Table.from_pylist(rows, SCHEMA))
    return folder, database


def missed_and_unknown(stage, items, *, is_grouped=False, is_counted=False):
    """Return whose truths are outside their intervals, and of whom an end is not known."""
    folder, database = stage
    named = [f"{item} AS x{i}" for i, item in enumerate(items)]
    by = " WHERE clinic IN ('a', 'b') GROUP BY clinic ORDER BY clinic" if is_grouped else ""
    counted = ["COUNT(*) AS n"] if is_counted else []
    sql = f"SELECT {', '.join([*named, *counted])} FROM visits{by}"
    with connect(folder) as connection:
        release = connection.sql(sql, epsilon=60 * len(items))
    truths = zip(*database.execute(sql).fetchall(), strict=True)
    missed, unknown = set(), set()
    for i, (item, exact) in enumerate(zip(items, truths, strict=False)):
        for truth, (low, high) in zip(map(float, exact), release.totals(f"x{i}"), strict=True):
            slack = 1e-9 * max(1, abs(truth))
            is_below = low is not None and truth < low - slack
            is_above = high is not None and truth > high + slack
            missed |= {item} if is_below or is_above else set()
            unknown |= {item} if None in (low, high) else set()
    return missed, unknown


@pytest.mark.parametrize("items", [OF_ALL, OF_GROUPS], ids=["of all", "of groups"])
def test_what_is_worked_out_of_rounded_values_holds_the_truth(stage, items):
    """Power: without rounding in them, most of these intervals miss (of one value all do)."""
    missed, unknown = missed_and_unknown(stage, items, is_grouped=items is OF_GROUPS)
    assert missed == set()
    assert unknown <= MOST_UNKNOWN


@pytest.mark.parametrize("items", [SUMS, SUMS_OF_GROUPS], ids=["of all", "of groups"])
def test_sums_are_unknown_unless_their_rows_are_counted(stage, items):
    is_grouped = items is SUMS_OF_GROUPS
    missed, unknown = missed_and_unknown(stage, items, is_grouped=is_grouped)
    assert missed == set()
    assert unknown == set(items)
    missed, unknown = missed_and_unknown(stage, items, is_grouped=is_grouped, is_counted=True)
    assert missed == set()
    assert unknown == set()


def write_alike(folder):
    write_project(folder, rows_of("alike", 0.25), epsilon="100000", rows_per_group=1)
    return folder / "discreet.toml"


def total_of_sum(folder):
    with connect(folder) as connection:
        release = connection.sql("SELECT SUM(cost) AS x FROM visits", epsilon=300)
    return *release.totals("x")[0], release.notes()


TRUTH = sum(float(str(row["cost"])) for row in rows_of("alike", 0.25))


def test_a_declared_number_of_rows_bounds_what_rounding_does(tmp_path):
    file = write_alike(tmp_path)
    declared = f"most_rows_per_unit = 1\nmost_rows = {PEOPLE + 50}\nrows_per_group"
    file.write_text(file.read_text().replace("rows_per_group", declared, 1))
    low, high, notes = total_of_sum(tmp_path)
    assert low is not None
    assert low <= TRUTH <= high < low + 2 * 0.126 * (PEOPLE + 50) + 1
    assert any("which [… to …] takes account of" in note for note in notes)


def test_a_profile_bounds_what_rounding_does(tmp_path):
    file = write_alike(tmp_path)
    declared = "most_rows_per_unit = 1\nrows_per_group"
    file.write_text(file.read_text().replace("rows_per_group", declared, 1))
    assert total_of_sum(tmp_path)[:2] == (None, None)
    with own(tmp_path) as owner:
        owner.profile("visits", epsilon=20)
    low, high, _ = total_of_sum(tmp_path)
    assert low is not None
    assert low <= TRUTH <= high < low + 2 * 0.126 * (PEOPLE + 20) + 1


LOST = [
    "1 / (AVG(cost) - 2)",
    "AVG(age) / (AVG(cost) - 2)",
    "SUM(age) / (SUM(cost) - 2 * COUNT(*))",
    "LN(AVG(cost) - 2)",
    "REGR_SLOPE(age, cost)",
    "COVAR_SAMP(cost, age) / VAR_SAMP(cost)",
]
"""All costs are 2 to 2.125 and count as 2.5, so these are known but for rounding."""


def coarse_project(folder):
    write_project(folder, rows_of("alike", 2.5), epsilon="100000", rows_per_group=1)
    file = folder / "discreet.toml"
    text = file.read_text(encoding="utf-8").replace("step = 0.25", "step = 2.5")
    declared = "most_rows_per_unit = 1\nrows_per_group"
    file.write_text(text.replace("rows_per_group", declared, 1), encoding="utf-8")
    return folder


def test_a_total_that_rounding_makes_unknown_is_unknown_in_every_form(tmp_path):
    named = ", ".join(f"{item} AS x{i}" for i, item in enumerate(LOST))
    with connect(coarse_project(tmp_path)) as connection:
        release = connection.sql(f"SELECT {named} FROM visits", epsilon=600)
    told, text, html = release.to_json(), str(release), release._repr_html_()
    is_lost = [
        told["intervals"][name] != [None] and told["totals"][name] == [[None, None]]
        for name in release.columns
    ]
    assert sum(is_lost[:4]) == 4
    assert text.count("[unknown]") == html.count("[unknown]") == sum(is_lost)
    assert list(told["unknown"].values())[:4] == [True] * 4
    assert any(note.startswith("cost is rounded to steps of 2.5") for note in release.notes())


@pytest.mark.parametrize(
    "chosen_by",
    ["HAVING SUM(cost) > 310", "QUALIFY SUM(cost) > 310", "ORDER BY SUM(cost) LIMIT 1"],
)
def test_rows_that_rounded_numbers_chose_are_said_to_be(tmp_path, chosen_by):
    """Of both clinics the sum is about 310, and 375 as it is rounded."""
    sql = f"SELECT clinic, COUNT(*) AS n FROM visits GROUP BY clinic {chosen_by}"
    with connect(coarse_project(tmp_path)) as connection:
        notes = connection.sql(sql, epsilon=600).notes()
        plain = connection.sql(sql.replace("cost", "age"), epsilon=600).notes()
    assert any("rounded to steps of 2.5, which may change what rows are shown" in n for n in notes)
    assert not any("rounded" in note for note in plain)
