"""Traps by hand, in values: NULL, NaN, overflow, strange dates, ties.

No value may make an answer fail, and none may count for more than was declared.
"""

import datetime
import math
from collections.abc import Iterator

import pytest

from discreet.core.errors import RefusedQuery
from discreet.mechanisms.noise.integers import LARGEST_VALUE
from tests.support.projects.memory import MemoryEngine
from tests.support.projects.small import (
    CROWD,
    by_name,
    first_exact,
    loose_world,
    moved_by,
    patient,
    seen,
    visit,
)


@pytest.fixture(scope="module")
def engine() -> Iterator[MemoryEngine]:
    engine = MemoryEngine()
    yield engine
    engine.close()


# ---- NULLs.


def test_rows_without_a_unit_belong_to_nobody(engine):
    nobody = [visit(None, c, cost=1e300) for c in "abcd"] * 5
    questions = (
        "SELECT clinic, COUNT(*), SUM(cost) FROM visits GROUP BY clinic",
        "SELECT diagnosis, COUNT(*) FROM visits GROUP BY diagnosis",
        "SELECT COUNT(*) FROM visits AS v LEFT JOIN patients AS p ON v.person = p.person",
        (
            "SELECT COUNT(*) FROM patients AS p WHERE NOT EXISTS "
            "(SELECT 1 FROM visits AS v WHERE v.person = p.person)"
        ),
    )
    for sql in questions:
        moved_by(engine, CROWD, sql, visits=nobody, patients=[patient(None)] * 3, is_nobody=True)


def test_a_left_join_keeps_private_rows_and_their_owner(engine):
    world = loose_world([patient("p", district="north"), patient("q", district="nowhere")])
    joined = "FROM patients AS p LEFT JOIN districts AS d ON p.district = d.district"
    assert first_exact(engine, world, f"SELECT COUNT(*) {joined}") == [3]
    assert first_exact(engine, world, f"SELECT COUNT(d.region) {joined}") == [2]
    assert first_exact(engine, world, f"SELECT COUNT(*) {joined} WHERE d.region IS NULL") == [1]
    # The NULL of a row that found no partner is no public key: it is in no group.
    by_region = f"SELECT d.region, COUNT(*) {joined} GROUP BY d.region"
    assert sorted(first_exact(engine, world, by_region)) == [1, 1]


@pytest.mark.parametrize("join", ["RIGHT JOIN", "FULL JOIN", "FULL OUTER JOIN"])
def test_a_public_table_is_never_the_preserved_side(engine, join):
    engine.tables = CROWD.arrow()
    for sql in (
        f"SELECT COUNT(*) FROM visits AS v {join} clinics AS c ON v.clinic = c.clinic",
        "SELECT COUNT(*) FROM clinics AS c LEFT JOIN visits AS v ON v.clinic = c.clinic",
    ):
        with pytest.raises(RefusedQuery):
            seen(engine, CROWD, sql)


def test_null_and_nan_add_nothing(engine):
    costs = [None, math.nan, 1.0, math.inf, -math.inf]
    world = loose_world(visits=[visit(f"p{i}", cost=cost) for i, cost in enumerate(costs)])
    assert first_exact(engine, world, "SELECT SUM(cost) FROM visits") == [4 + 40]
    assert first_exact(engine, world, "SELECT COUNT(cost) FROM visits") == [3]
    assert first_exact(
        engine, world, "SELECT COUNT(*) FROM visits WHERE cost > 0 OR cost <= 0"
    ) == [3]


# ---- Overflow.


def test_a_sum_beyond_64_bits_saturates(engine):
    crowd = [patient(f"p{i}", age=10**18) for i in range(2000)]
    sql = "SELECT SUM(clamp(age, 0, 9007199254740992)) FROM patients"
    (total,) = first_exact(engine, loose_world(crowd), sql)
    assert total == min(2000 * 2**53, LARGEST_VALUE) == LARGEST_VALUE


@pytest.mark.parametrize(
    "expression",
    [
        "age * age * age",
        "age + 9223372036854775807",
        "age - 9223372036854775807 - 9223372036854775807",
        "-age",
        "abs(age)",
        "CAST(age AS DOUBLE) * 1e308 * 1e308",
        "power(age, 100)",
        "exp(age)",
        "age / 0",
        "age % 0",
        "CAST(district AS INTEGER)",
        "sqrt(age - 200)",
        "ln(age - 100)",
        "length(district) * 9223372036854775807",
    ],
)
def test_no_value_makes_an_expression_fail(engine, expression):
    hostile = [10**18, 2**63 - 1, -(2**63), 0, None, 100]
    crowd = [patient(f"p{i}", age=age, district="x") for i, age in enumerate(hostile)]
    for clause in (
        f"SELECT SUM(clamp({expression}, 0, 100)) FROM patients",
        f"SELECT COUNT(*) FROM patients WHERE {expression} > 1",
        f"SELECT COUNT(DISTINCT {expression}) FROM patients",
        (
            f"SELECT SUM(clamp(m, 0, 1)) FROM (SELECT person, MAX({expression}) AS m FROM patients "
            "GROUP BY person) AS t"
        ),
    ):
        assert len(first_exact(engine, loose_world(crowd), clause)) == 1


def test_strange_dates_make_nothing_fail(engine):
    days = [datetime.date(1, 1, 1), datetime.date(9999, 12, 31), None]
    world = loose_world(visits=[visit(f"p{i}", day=day) for i, day in enumerate(days)])
    for clause in (
        "SELECT date_trunc('month', day), COUNT(*) FROM visits GROUP BY date_trunc('month', day)",
        "SELECT COUNT(*) FROM visits WHERE EXTRACT(year FROM day) > 2000",
        "SELECT day, COUNT(*) FROM visits GROUP BY day",
    ):
        seen(engine, world, clause)


# ---- Ties.


def test_equal_rows_are_held_to_the_limit(engine):
    rows = [visit("new", "a", cost=1e300)] * 50
    sql = "SELECT clinic, COUNT(*), SUM(cost), MEDIAN(cost) FROM visits GROUP BY clinic"
    found = by_name(moved_by(engine, CROWD, sql, visits=rows))
    assert found["CountRows"].linf == found["QuantileValues"].linf == 2
    assert found["SumValues"].linf == 2 * 40


def test_one_value_in_many_rows_is_one_distinct_value(engine):
    rows = [visit("new", "a", diagnosis="unheard of")] * 50
    (part,) = moved_by(engine, CROWD, "SELECT COUNT(DISTINCT diagnosis) FROM visits", visits=rows)
    assert part.found.linf == 1
