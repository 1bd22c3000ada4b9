"""Neighbour replay by hand: for every operator, key and aggregate some person attains the bound.

The exact aggregates of a query with and without one person may differ by no more than the declared
contribution, in every norm it states. Here are people who move exactly that much, so no bound could
be smaller; the random replay looks for people who move more.
"""

from typing import Any

import pytest
from attrs import frozen

from discreet.engines.duckdb.engine import DuckDbEngine
from discreet.tables.declarations.declaration import read_catalog
from discreet.tables.keyset import PublicKeys
from discreet.tables.plans.plan import BoundedPlan
from tests.engines.contract.test_neighbour_fuzz import EVERYTHING, kinds_in
from tests.support.projects import clinic
from tests.support.projects.memory import reveal
from tests.support.projects.neighbours import Moved, check_neighbours
from tests.support.projects.plan import plan_of
from tests.support.projects.small import CROWD, moved_by, patient, visit
from tests.support.projects.world import Row

HIGH: dict[str, Any] = {"cost": 1e300, "stay": 10**9}
LOW: dict[str, Any] = {"cost": -1e300, "stay": -(10**9)}
MIDDLE: dict[str, Any] = {"cost": 5.0, "stay": -3}


def everywhere(*, urgent: bool | None = None, **values: Any) -> list[Row]:
    """Return more visits to every clinic than are let in, for more reasons than are let in."""

    def one(where: str, i: int) -> Row:
        is_urgent = i % 2 == 0 if urgent is None else urgent
        return visit("new", where, diagnosis=f"n{i}", urgent=is_urgent, **values)

    return [one(where, i) for where in "abcd" for i in range(6)]


PEOPLE: list[dict[str, Any]] = [
    {"visits": everywhere(**HIGH), "patients": [patient("new", age=10**9)] * 3},
    {"visits": everywhere(**LOW), "patients": [patient("new", sex=s, age=999) for s in "fmfm"]},
    {"visits": everywhere(**MIDDLE), "patients": [patient("new", age=50)]},
    {"visits": everywhere(**HIGH)},
    {"visits": everywhere(**LOW)},
    {"visits": everywhere(urgent=True, **HIGH)},
    {"visits": everywhere(urgent=False, **HIGH)},
    {"patients": [patient("new", sex=s, age=a) for s in "fm" for a in (5, 25, 45, 65, 85)]},
]
"""Each case must be attained by one of these."""


@frozen
class Case:
    """A question whose bound some person attains."""

    name: str
    sql: str


CASES = [
    Case(
        "scan",
        "SELECT clinic, COUNT(*), SUM(cost), SUM(stay) FROM visits GROUP BY clinic",
    ),
    Case("one row", "SELECT COUNT(*), SUM(cost), SUM(stay) FROM visits"),
    Case("two keys", "SELECT clinic, urgent, COUNT(*) FROM visits GROUP BY clinic, urgent"),
    Case("filter", "SELECT clinic, SUM(cost) FROM visits WHERE urgent GROUP BY clinic"),
    Case(
        "project",
        "SELECT place, SUM(clamp(twice, 0, 20, 0.5)) FROM "
        "(SELECT clinic AS place, cost * 2 AS twice FROM visits) AS t GROUP BY place",
    ),
    Case(
        "public join",
        "SELECT c.level, COUNT(*), SUM(v.cost) FROM visits AS v "
        "JOIN clinics AS c ON v.clinic = c.clinic GROUP BY c.level",
    ),
    Case(
        "public left join",
        "SELECT v.clinic, COUNT(*), COUNT(c.level) FROM visits AS v "
        "LEFT JOIN clinics AS c ON v.clinic = c.clinic GROUP BY v.clinic",
    ),
    Case(
        "private join",
        "SELECT v.clinic, COUNT(*), SUM(p.age) FROM visits AS v "
        "JOIN patients AS p ON v.person = p.person GROUP BY v.clinic",
    ),
    Case(
        "self-join",
        "SELECT v.clinic, COUNT(*) FROM visits AS v "
        "JOIN visits AS w ON v.person = w.person GROUP BY v.clinic",
    ),
    Case(
        "private left join",
        "SELECT v.clinic, SUM(v.cost) FROM visits AS v "
        "LEFT JOIN patients AS p ON v.person = p.person AND p.age > 3 GROUP BY v.clinic",
    ),
    Case(
        "semi-join",
        "SELECT clinic, COUNT(*) FROM visits AS v WHERE EXISTS "
        "(SELECT 1 FROM patients AS p WHERE p.person = v.person) GROUP BY clinic",
    ),
    Case(
        "anti-join",
        "SELECT clinic, COUNT(*) FROM visits AS v WHERE NOT EXISTS "
        "(SELECT 1 FROM patients AS p WHERE p.person = v.person) GROUP BY clinic",
    ),
    Case(
        "public semi-join",
        "SELECT clinic, COUNT(*) FROM visits AS v WHERE EXISTS "
        "(SELECT 1 FROM clinics AS c WHERE c.clinic = v.clinic) GROUP BY clinic",
    ),
    Case(
        "public anti-join",
        "SELECT diagnosis, COUNT(*) FROM visits AS v WHERE NOT EXISTS "
        "(SELECT 1 FROM districts AS d WHERE d.region = v.clinic) GROUP BY diagnosis",
    ),
    Case(
        "distinct",
        "SELECT clinic, COUNT(*) FROM "
        "(SELECT DISTINCT person, clinic, diagnosis FROM visits) AS t GROUP BY clinic",
    ),
    Case(
        "union",
        "SELECT k, COUNT(*) FROM (SELECT person, clinic AS k FROM visits "
        "UNION ALL SELECT person, sex FROM patients) AS t GROUP BY k",
    ),
    Case(
        "inner aggregate",
        "SELECT clinic, SUM(clamp(n, 0, 3)) FROM (SELECT person, clinic, urgent, COUNT(*) AS n "
        "FROM visits GROUP BY person, clinic, urgent) AS t GROUP BY clinic",
    ),
    Case(
        "window",
        "SELECT clinic, COUNT(*), SUM(clamp(r, 0, 2)) FROM (SELECT person, clinic, "
        "ROW_NUMBER() OVER (PARTITION BY person, clinic ORDER BY cost) AS r FROM visits) AS t "
        "WHERE r >= 2 GROUP BY clinic",
    ),
    Case("rollup", "SELECT clinic, COUNT(*), SUM(cost) FROM visits GROUP BY ROLLUP (clinic)"),
    Case("cube", "SELECT clinic, COUNT(*) FROM visits GROUP BY CUBE (clinic) HAVING COUNT(*) > 1"),
    Case(
        "grouping sets",
        "SELECT sex, COUNT(*), SUM(age) FROM patients GROUP BY GROUPING SETS ((sex), ())",
    ),
    Case("private keys", "SELECT diagnosis, COUNT(*), SUM(cost) FROM visits GROUP BY diagnosis"),
    Case(
        "histogram",
        "SELECT width_bucket(age, 0, 100, 5), COUNT(*) FROM patients "
        "GROUP BY width_bucket(age, 0, 100, 5)",
    ),
    Case("people", "SELECT clinic, COUNT(DISTINCT person) FROM visits GROUP BY clinic"),
    Case("values", "SELECT clinic, COUNT(DISTINCT diagnosis) FROM visits GROUP BY clinic"),
    Case("mean", "SELECT clinic, AVG(cost), AVG(stay) FROM visits GROUP BY clinic"),
    Case("spread", "SELECT clinic, VAR_POP(cost), STDDEV_SAMP(stay) FROM visits GROUP BY clinic"),
    Case("median", "SELECT clinic, MEDIAN(cost), QUANTILE(stay, 0.9) FROM visits GROUP BY clinic"),
    Case("extremes", "SELECT clinic, MIN(cost), MAX(cost) FROM visits GROUP BY clinic"),
    Case(
        "filter of an aggregate",
        "SELECT clinic, COUNT(*) FILTER (WHERE urgent), SUM(cost) FILTER (WHERE NOT urgent) "
        "FROM visits GROUP BY clinic",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_somebody_attains_the_bound(engine, case):
    left: set[int] | None = None
    everything: list[list[Moved]] = []
    for person in PEOPLE:
        moved = moved_by(engine, CROWD, case.sql, **person)
        everything.append(moved)
        short = {i for i, part in enumerate(moved) if not part.is_attained()}
        left = short if left is None else left & short
    assert not left, [[(m.aggregate, m.found, m.declared) for m in moved] for moved in everything]


def test_the_cases_are_about_everything(engine):
    engine.tables = CROWD.arrow()
    plans = [plan_of(case.sql, CROWD.catalog, engine) for case in CASES]
    assert {kind for plan in plans for kind in kinds_in(plan)} >= EVERYTHING


# ---- Through files, with the real readers.

BY_CLINIC = "SELECT clinic, COUNT(*), SUM(age), SUM(change), SUM(cost) FROM visits GROUP BY clinic"
FILE_CROWD = [
    clinic.visit(
        f"p{i % 30}", "abcd"[i % 4], age=i % 100, cost=i % 11, change=i % 5 - 3, urgent=i % 2 == 0
    )
    for i in range(60)
]
EXTREME = {"age": 10**9, "change": -(10**9), "cost": 1e300, "urgent": True}


@frozen
class FileCase:
    """One more person, as a file has them."""

    name: str
    person: list[dict[str, Any]]
    file_format: str = "parquet"
    is_nobody: bool = False
    attains: bool = False


FILE_CASES = [
    FileCase(
        "everywhere, all values at the clamp",
        [clinic.visit("new", c, **EXTREME) for c in "abcd" for _ in range(9)],
        attains=True,
    ),
    FileCase("equal rows only", [clinic.visit("new", "a", age=100, change=-10, cost=10)] * 100),
    FileCase(
        "nobody's rows", [clinic.visit(None, c, **EXTREME) for c in "abcd"] * 50, is_nobody=True
    ),
    FileCase(
        "text that is not a number",
        [clinic.visit("new", c, age="x", cost="1e999", change="-", urgent="?") for c in "abcd"] * 9,
        file_format="csv",
    ),
    FileCase(
        "a name full of quotes",
        [clinic.visit("o'\"né;--", c, **EXTREME) for c in "abcd"] * 3,
        attains=True,
    ),
    FileCase("in no group at all", [clinic.visit("new", None, **EXTREME)] * 20, is_nobody=True),
]


@pytest.mark.parametrize("case", FILE_CASES, ids=lambda case: case.name)
def test_one_person_in_a_file(tmp_path, case):
    engine = DuckDbEngine()
    clinic.write_project(tmp_path, FILE_CROWD, file_format=case.file_format)
    plan: BoundedPlan = clinic.make_plan(read_catalog(tmp_path), BY_CLINIC, engine=engine)
    assert isinstance(plan.keys, PublicKeys)
    without = reveal(engine, plan)
    clinic.write_rows(tmp_path, [*FILE_CROWD, *case.person], case.file_format)
    moved = check_neighbours(plan, without, reveal(engine, plan), is_nobody=case.is_nobody)
    if case.attains:
        assert all(part.is_attained() for part in moved)
