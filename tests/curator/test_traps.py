"""Traps by hand: what careless or clever SQL could try, and what becomes of it.

Each is answered within its bound, or refused; and where it is answered, the exact answer is what
plain SQL would say of it.
"""

from collections.abc import Iterator

import pytest

from discreet.core.errors import QueryError, RefusedQuery, UndeclaredBound
from discreet.tables.column import Bounds
from discreet.tables.keyset import PrivateKeys
from discreet.tables.plans.aggregate import CountRows, CountUnits
from discreet.tables.plans.sums import SumValues
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
from tests.support.projects.world import World

NEW_PATIENTS = [patient("new", sex=s, age=10**9, district=d) for s in "fm" for d in ("north", "?")]
NEW_VISITS = [
    visit("new", c, diagnosis=f"n{i}", cost=1e300, stay=-(10**9), urgent=i % 2 == 0)
    for c in "abcd"
    for i in range(5)
]


@pytest.fixture(scope="module")
def engine() -> Iterator[MemoryEngine]:
    engine = MemoryEngine()
    yield engine
    engine.close()


def moved(engine: MemoryEngine, sql: str, world: World = CROWD):
    """Return what the newcomer moves, after asserting that it is within the bound."""
    return moved_by(engine, world, sql, patients=NEW_PATIENTS, visits=NEW_VISITS)


# ---- Bounds gone stale.


def test_a_redefined_column_has_no_old_bounds(engine):
    sql = "WITH t AS (SELECT person, age * 100 AS age FROM patients) SELECT SUM(age) FROM t"
    plan, _ = seen(engine, CROWD, sql)
    (total,) = plan.aggregates
    assert isinstance(total, SumValues)
    assert total.bounds.upper == 10_000
    (part,) = moved(engine, sql)
    assert part.declared.linf == 2 * 10_000


def test_a_bound_can_be_wrong_and_still_nothing_leaks(engine):
    """The clamp is what counts: values beyond the declared range are cut, whatever was inferred."""
    (part,) = moved(engine, "SELECT SUM(age + age) FROM patients")
    assert part.found.linf <= 2 * 200


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT SUM(n) FROM (SELECT person, COUNT(*) AS n FROM visits GROUP BY person) AS t",
        "SELECT SUM(age) FROM (SELECT length(district) AS age FROM patients) AS t",
        "SELECT SUM(person) FROM patients",
        "SELECT SUM(1 / age) FROM patients",
    ],
)
def test_a_sum_without_bounds_is_refused(engine, sql):
    engine.tables = CROWD.arrow()
    with pytest.raises(QueryError):
        seen(engine, CROWD, sql)


def test_bounds_of_one_side_of_a_union_are_not_those_of_both(engine):
    sql = (
        "SELECT SUM(x) FROM (SELECT person, age AS x FROM patients "
        "UNION ALL SELECT person, stay FROM visits) AS t"
    )
    with pytest.raises(UndeclaredBound):
        seen(engine, CROWD, sql)


# ---- The unit's column.


@pytest.mark.parametrize(
    "sql",
    [
        (
            "SELECT clinic, COUNT(*) FROM (SELECT 1 AS person, clinic FROM visits) AS t "
            "GROUP BY clinic"
        ),
        (
            "SELECT COUNT(*), COUNT(DISTINCT clinic) FROM "
            "(SELECT clinic AS person, clinic FROM visits) AS t"
        ),
        (
            "SELECT clinic, COUNT(*) FROM (SELECT person AS someone, clinic FROM visits) AS t "
            "GROUP BY clinic"
        ),
        "SELECT clinic, COUNT(*) FROM (SELECT clinic FROM visits) AS t GROUP BY clinic",
        (
            "SELECT clinic, COUNT(*) FROM "
            "(SELECT upper(person) AS person, clinic FROM visits) AS t GROUP BY clinic"
        ),
    ],
    ids=["a constant", "another column", "renamed", "left out", "expressed"],
)
def test_whatever_becomes_of_the_unit_column_its_owner_stays(engine, sql):
    for part in moved(engine, sql):
        assert part.declared.l0 is not None
        assert part.declared.l0 <= 3


SHADOWS = {
    "constant": "SELECT 'x' AS person, clinic FROM visits",
    "other": "SELECT diagnosis AS person, clinic FROM visits",
    "expressed": "SELECT upper(person) AS person, clinic FROM visits",
    "coalesced": "SELECT COALESCE(person, 'x') AS person, clinic FROM visits",
}


@pytest.mark.parametrize("shadow", SHADOWS.values(), ids=SHADOWS)
def test_groups_of_a_shadowed_unit_are_an_answer_and_not_rows_of_people(engine, shadow):
    """What is grouped by is not the unit, so groups are shown as any others: or not at all."""
    sql = f"SELECT person, n FROM (SELECT person, COUNT(*) AS n FROM ({shadow}) AS s GROUP BY 1)"
    engine.tables = CROWD.arrow()
    plan, _ = seen(engine, CROWD, sql)
    assert isinstance(plan.keys, PrivateKeys) or shadow == SHADOWS["constant"]
    assert plan.aggregates == (CountRows(),)
    assert all(part.declared.l0 is not None for part in moved(engine, sql))


@pytest.mark.parametrize(
    "shape",
    [
        "SELECT COUNT(*) FROM (SELECT DISTINCT {unit}, clinic FROM ({shadow}) AS s) AS t",
        (
            "SELECT COUNT(*) FROM (SELECT clinic, ROW_NUMBER() OVER (PARTITION BY {unit} "
            "ORDER BY clinic) AS r FROM ({shadow}) AS s) AS t WHERE r = 1"
        ),
        "SELECT COUNT(*) FROM patients AS p JOIN ({shadow}) AS s ON p.person = s.{unit}",
        (
            "SELECT COUNT(*) FROM patients AS p WHERE EXISTS "
            "(SELECT 1 FROM ({shadow}) AS s WHERE p.person = s.{unit})"
        ),
        (
            "SELECT COUNT(*) FROM patients AS p WHERE p.person NOT IN "
            "(SELECT s.{unit} FROM ({shadow}) AS s)"
        ),
    ],
    ids=["distinct", "window", "join", "semi-join", "not in"],
)
@pytest.mark.parametrize("shadow", SHADOWS.values(), ids=SHADOWS)
def test_a_shadowed_unit_does_not_pass_for_the_unit(engine, shape, shadow):
    engine.tables = CROWD.arrow()
    with pytest.raises(RefusedQuery):
        seen(engine, CROWD, shape.format(unit="person", shadow=shadow))


def test_a_renamed_unit_is_the_unit(engine):
    sql = (
        "SELECT COUNT(DISTINCT who), COUNT(DISTINCT upper(who)) FROM "
        "(SELECT person AS who FROM visits) AS t"
    )
    plan, _ = seen(engine, CROWD, sql)
    assert sorted(isinstance(part, CountUnits) for part in plan.aggregates) == [False, True]
    for part in moved(engine, sql):
        assert part.found.l0 == 1


def test_a_swapped_unit_is_not_the_unit(engine):
    sql = "SELECT COUNT(DISTINCT person) FROM (SELECT clinic AS person FROM visits) AS t"
    plan, _ = seen(engine, CROWD, sql)
    assert not isinstance(plan.aggregates[0], CountUnits)


# ---- Rows that multiply.


def test_fan_out_by_a_public_table_is_held_to_the_limits(engine):
    sql = "SELECT COUNT(*) FROM visits AS v JOIN clinics AS c ON v.clinic = c.clinic"
    (part,) = moved(engine, sql)
    assert part.found.linf == 2
    (part,) = moved(engine, "SELECT COUNT(*) FROM visits AS v CROSS JOIN clinics AS c")
    assert part.found.linf == 2


def test_fan_out_by_a_self_join_is_held_to_the_limits(engine):
    sql = (
        "SELECT v.clinic, COUNT(*), SUM(w.cost) FROM visits AS v "
        "JOIN visits AS w ON v.person = w.person GROUP BY v.clinic"
    )
    found = by_name(moved(engine, sql))
    assert found["CountRows"].linf == 2
    assert found["CountRows"].l0 == 3
    assert found["SumValues"].linf == 2 * 40


def test_a_self_join_without_the_unit_is_refused(engine):
    engine.tables = CROWD.arrow()
    for on in (
        "v.clinic = w.clinic",
        "v.person <> w.person",
        "v.person = w.person OR TRUE",
        "TRUE",
    ):
        with pytest.raises(RefusedQuery):
            seen(engine, CROWD, f"SELECT COUNT(*) FROM visits AS v JOIN visits AS w ON {on}")


def test_one_person_on_both_sides_of_a_union_is_one_person(engine):
    sql = (
        "SELECT COUNT(*), COUNT(DISTINCT person) FROM "
        "(SELECT person FROM visits UNION ALL SELECT person FROM visits) AS t"
    )
    found = by_name(moved(engine, sql))
    assert found["CountRows"].linf == 2
    assert found["CountUnits"].linf == 1


def test_a_public_table_with_the_same_key_twice_counts_twice(engine):
    """As plain SQL does: the join multiplies rows, and the limits hold what comes of it."""
    world = loose_world([patient("p", district="north"), patient("q", district="south")])
    sql = "SELECT COUNT(*) FROM patients AS p JOIN districts AS d ON p.district = d.district"
    assert first_exact(engine, world, sql) == [3]


# ---- Names.


def test_a_cte_may_shadow_a_declared_table_and_keeps_its_owners(engine):
    sql = (
        "WITH patients AS (SELECT person, clinic FROM visits) "
        "SELECT COUNT(*), COUNT(DISTINCT person) FROM patients"
    )
    found = by_name(moved(engine, sql))
    assert found["CountRows"].linf == 2
    assert found["CountUnits"].linf == 1


def test_a_cte_cannot_make_a_private_table_public(engine):
    engine.tables = CROWD.arrow()
    for sql in (
        (
            "WITH clinics AS (SELECT clinic, 1 AS level FROM visits) SELECT v.clinic, COUNT(*) "
            "FROM visits AS v JOIN clinics AS c ON v.clinic = c.clinic GROUP BY v.clinic"
        ),
        (
            "WITH c AS (SELECT diagnosis AS clinic FROM visits) SELECT COUNT(*) "
            "FROM visits AS v WHERE v.clinic IN (SELECT clinic FROM c)"
        ),
    ):
        with pytest.raises(RefusedQuery):
            seen(engine, CROWD, sql)


def test_keys_of_a_redefined_column_are_not_the_declared_ones(engine):
    sql = (
        "SELECT clinic, COUNT(*) FROM (SELECT diagnosis AS clinic FROM visits) AS t GROUP BY clinic"
    )
    plan, found = seen(engine, CROWD, sql)
    assert isinstance(plan.keys, PrivateKeys)
    assert plan.keys.allowed == (None,)
    assert found.keys is not None
    assert {row[0] for row in found.keys} == {"d0", "d1", "d2"}


def test_a_clamp_in_the_query_may_be_wider_and_costs_more(engine):
    sql = "SELECT SUM(clamp(age, 0, 1000)) FROM patients"
    (part,) = moved(engine, sql)
    assert part.declared.linf == part.found.linf == 2 * 1000
    plan, _ = seen(engine, CROWD, sql)
    (total,) = plan.aggregates
    assert isinstance(total, SumValues)
    assert total.bounds == Bounds(lower=0, upper=1000)
