"""At most one row of a unit: what a plan shows of it is never exceeded, and it costs no noise."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from attrs import evolve, frozen

from discreet.core.errors import DiscreetError, Unsupported
from discreet.curator import answer as answer_module
from discreet.curator import batch as batch_module
from discreet.curator.answer import bound
from discreet.engines.duckdb.engine import DuckDbEngine
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.roles.connection import connect
from discreet.sql.parse import parse
from discreet.sql.resolve import resolve
from discreet.sql.rows.joins import with_partners
from discreet.tables.catalog import Limits
from discreet.tables.declarations.declaration import read_catalog
from discreet.tables.plans import tighten as module
from discreet.tables.plans.plan import BoundedPlan
from discreet.tables.plans.prune import prune
from discreet.tables.plans.tighten import leaves_out, tighten, told_apart
from discreet.tables.relations.join import Join
from discreet.tables.relations.relation import Relation
from discreet.tables.relations.totals import InnerAggregate
from tests.sql.test_plans import FOLDER
from tests.support.projects.clinic import visit, write_project
from tests.support.projects.dice import Dice
from tests.support.projects.memory import MemoryEngine, reveal
from tests.support.projects.people import random_world
from tests.support.projects.random_catalogs import random_catalog
from tests.support.projects.unit_sizes import most_rows
from tests.support.random_sql.query import random_query
from tests.support.random_sql.tree import random_plan

PEOPLE = "(SELECT person, COUNT(*) AS n FROM visits GROUP BY person HAVING COUNT(*) > 3) AS t"
LATEST = "ROW_NUMBER() OVER (PARTITION BY person ORDER BY day DESC)"
FIRST = f"(SELECT person, clinic, {LATEST} AS place FROM visits) AS t"
MONTHS = "(SELECT person, EXTRACT(MONTH FROM day) AS month FROM visits GROUP BY person, month)"
CLINICS = "(SELECT DISTINCT person, clinic FROM visits)"


@pytest.fixture(scope="module")
def planned():
    """Return what makes tightened plans of questions about the clinic."""
    catalog, engine = read_catalog(FOLDER), DuckDbEngine()
    yield lambda sql: tighten(bound(resolve(parse(sql), catalog, engine.public_rows)))
    engine.close()


ONE_ROW = {
    "a group by": f"SELECT COUNT(*) FROM {PEOPLE}",
    "a group by of groups": f"SELECT COUNT(*) FROM (SELECT person FROM {PEOPLE} GROUP BY person)",
    "a sum": f"SELECT SUM(CLAMP(n, 0, 5)) FROM {PEOPLE} WHERE n < 9",
    "computed groups": f"SELECT WIDTH_BUCKET(n, 0, 10, 5) AS b, COUNT(*) FROM {PEOPLE} GROUP BY b",
    "several grouping sets": "SELECT often, COUNT(*) FROM (SELECT person, COUNT(*) > 3 AS often"
    " FROM visits GROUP BY person) GROUP BY ROLLUP (often)",
    "distinct units": "SELECT COUNT(*) FROM (SELECT DISTINCT person FROM visits)",
    "the first row": f"SELECT clinic, COUNT(*) FROM {FIRST} WHERE place = 1 GROUP BY clinic",
    "joined by unit": f"SELECT COUNT(*) FROM {PEOPLE} JOIN (SELECT id FROM patients GROUP BY id) AS"
    " p ON t.person = p.id",
    "kept without a partner": f"SELECT COUNT(*) FROM {PEOPLE} LEFT JOIN (SELECT id FROM patients"
    " GROUP BY id) AS p ON t.person = p.id",
    "a semi-join": f"SELECT COUNT(*) FROM {PEOPLE} WHERE EXISTS (SELECT 1 FROM patients WHERE id ="
    " t.person)",
    "one public partner": "SELECT town, COUNT(*) FROM (SELECT person, MIN(clinic) AS clinic FROM"
    " visits GROUP BY person) JOIN clinics USING (clinic) GROUP BY town",
    "a unit of several parts": "SELECT COUNT(*) FROM (SELECT person, DATE_TRUNC('month', day) AS m,"
    " SUM(km) FROM trips GROUP BY person, m)",
    "each row a unit": "SELECT CASE WHEN value > 3 THEN 'hot' ELSE 'cold' END AS k, COUNT(*) FROM"
    " readings GROUP BY k",
}


@pytest.mark.parametrize("sql", ONE_ROW.values(), ids=ONE_ROW)
def test_a_unit_with_one_row_moves_one_group_by_one(planned, sql):
    plan = planned(sql)
    assert plan.limits == Limits(rows_per_group=1, groups_per_unit=1)
    assert not leaves_out(plan)


ONE_ROW_A_GROUP = {
    "by the rest of the keys": f"SELECT month, COUNT(*) FROM {MONTHS} GROUP BY month",
    "distinct": f"SELECT clinic, COUNT(*) FROM {CLINICS} GROUP BY clinic",
    "the first row in each": "SELECT clinic, COUNT(*) FROM (SELECT person, clinic, ROW_NUMBER()"
    " OVER (PARTITION BY person, clinic ORDER BY day) AS place FROM visits) WHERE place = 1"
    " GROUP BY clinic",
    "joined by unit and key": f"SELECT a.clinic, COUNT(*) FROM {CLINICS} AS a JOIN {CLINICS} AS b"
    " ON a.person = b.person AND a.clinic = b.clinic GROUP BY a.clinic",
}


@pytest.mark.parametrize("sql", ONE_ROW_A_GROUP.values(), ids=ONE_ROW_A_GROUP)
def test_a_unit_with_one_row_in_a_group_keeps_its_groups(planned, sql):
    plan = planned(sql)
    assert plan.limits == Limits(rows_per_group=1, groups_per_unit=3)
    assert leaves_out(plan) == ("month" in sql)  # there are as many clinics as a unit may be in


MORE_ROWS = {
    "a table": "SELECT COUNT(*) FROM visits",
    "keys that are not grouped by": f"SELECT COUNT(*) FROM {MONTHS}",
    "a set without the key": f"SELECT clinic, COUNT(*) FROM {CLINICS} GROUP BY CUBE (clinic)",
    "a union": f"SELECT COUNT(*) FROM (SELECT person FROM {PEOPLE} UNION ALL SELECT person FROM"
    f" {PEOPLE})",
    "a join with many": f"SELECT COUNT(*) FROM {PEOPLE} JOIN visits AS v ON t.person = v.person",
    "many public partners": "SELECT COUNT(*) FROM (SELECT person, COUNT(*) AS n FROM visits GROUP"
    " BY person) JOIN clinics ON n > 0",
    "another rank": "SELECT COUNT(*) FROM (SELECT person, RANK() OVER (PARTITION BY person ORDER"
    " BY day) AS place FROM visits) WHERE place = 1",
    "several places": f"SELECT COUNT(*) FROM {FIRST} WHERE place <= 2",
    "either place": f"SELECT COUNT(*) FROM {FIRST} WHERE place = 1 OR place = 2",
}


@pytest.mark.parametrize("sql", MORE_ROWS.values(), ids=MORE_ROWS)
def test_what_may_have_more_rows_keeps_its_limits(planned, sql):
    plan = planned(sql)
    assert plan.limits == Limits(rows_per_group=2, groups_per_unit=3)
    assert leaves_out(plan)


def test_an_unknown_relation_is_refused():
    @frozen(kw_only=True)
    class New(Relation):
        pass

    with pytest.raises(Unsupported):
        told_apart(New())


# ---- Random relations: run, and counted.


def parts_of(relation: Relation) -> Iterator[Relation]:
    if relation.owner() is not None:
        yield relation
        for part in relation.inputs():
            yield from parts_of(part)


def random_trees(count: int) -> Iterator[tuple[dict[str, pa.Table], BoundedPlan, MemoryEngine]]:
    """Yield plans that were built without SQL, and plans of queries, with their tables."""
    engine = MemoryEngine()
    for number in range(count):
        dice = Dice(number, label="tighten")
        world = random_world(dice, random_catalog(dice))
        engine.tables = tables = world.arrow()
        try:
            if number % 2:
                sql = random_query(dice, world.catalog).sql
                yield tables, bound(resolve(parse(sql), world.catalog, engine.public_rows)), engine
            else:
                plan = random_plan(dice, world.catalog)
                noted = with_partners(plan.relation, engine.public_rows)
                yield tables, prune(evolve(plan, relation=noted)), engine
        except DiscreetError:
            continue
    engine.close()


def exceeded(count: int) -> Counter[str]:
    """Return how often which operator had more rows of a unit than was shown, and how often not."""
    found: Counter[str] = Counter()
    for tables, plan, _ in random_trees(count):
        for part in parts_of(plan.relation):
            for some in told_apart(part):
                is_kept = most_rows(tables, part, sorted(some)) <= 1
                found["kept" if is_kept else type(part).__name__] += 1
    return found


def test_no_unit_has_more_rows_than_was_shown(soak):
    found = exceeded(soak.cases(200))
    assert found.pop("kept") > 100
    assert not found


def test_nothing_is_left_out_by_the_tighter_limits(soak):
    """With limits that never bind, the tightened plan has the same exact answers."""
    seen = 0
    for _, plan, engine in random_trees(soak.cases(120)):
        wide = evolve(plan, limits=Limits(rows_per_group=200, groups_per_unit=200))
        tight = tighten(wide)
        if tight is wide:
            continue
        seen += 1
        first, second = (reveal(engine, some) for some in (wide, tight))
        assert first.keys == second.keys
        assert [list(column) for column in first.columns] == [
            list(column) for column in second.columns
        ]
    assert seen > 15


def forgets_keys(node):
    """Twin: takes an inner GROUP BY for one of the unit alone."""
    return frozenset({frozenset()})


def forgets_partners(node):
    """Twin: takes a row of the left for one pair, however many partners it has."""
    return told_apart(node.left)


@pytest.mark.parametrize(
    ("kind", "twin"), [(InnerAggregate, forgets_keys), (Join, forgets_partners)]
)
def test_the_count_catches_wrong_steps_of_the_proof(kind, twin):
    """A field that stands on the left has the same index in the pair, so the twins run."""
    right = module.told_apart.dispatch(kind)
    module.told_apart.register(kind, twin)
    try:
        found = exceeded(200)
    finally:
        module.told_apart.register(kind, right)
    assert found[kind.__name__] > 0


# ---- What it is worth.


def project(folder: Path) -> Path:
    rows = [visit(f"p{i % 50}", age=i) for i in range(300)]
    return write_project(folder, rows, epsilon="100", rows_per_group=20, groups_per_unit=5)


@pytest.mark.parametrize("given", [{}, {"rows_per_group": 7, "groups_per_unit": 2}])
def test_questions_about_people_get_the_noise_of_one(tmp_path, given):
    often = "SELECT person FROM visits GROUP BY person HAVING COUNT(*) > 5"
    sql = f"SELECT COUNT(*) AS n FROM ({often})"
    with connect(project(tmp_path)) as connection:
        explained = connection.explain(sql, epsilon="0.5", **given)
        assert explained.priced.mechanisms == (DiscreteLaplace(scale=2),)
        assert "so nothing is left out" in dict(explained.steps())["Limits"]
        release = connection.sql(sql, epsilon="0.5", **given)
        assert release.body.limits.rows_per_group == release.body.limits.groups_per_unit == 1
        assert not release.body.limits.leave_out
        assert "what is beyond is left out" not in str(release)
        plain = connection.explain("SELECT COUNT(*) FROM visits", epsilon=1, **given)
        assert plain.priced.mechanisms == (DiscreteLaplace(scale=given.get("rows_per_group", 20)),)


def test_an_answer_from_before_limits_were_tightened_is_found(tmp_path, monkeypatch):
    sql = "SELECT COUNT(*) AS n FROM (SELECT person FROM visits GROUP BY person)"
    folder = project(tmp_path)
    with connect(folder) as connection, monkeypatch.context() as patch:
        patch.setattr(answer_module, "tighten", lambda plan: plan)
        patch.setattr(batch_module, "tighten", lambda plan: plan)
        before = connection.sql(sql, epsilon=1)
        assert before.body.limits.rows_per_group == 20
    with connect(folder) as connection:
        assert connection.explain(sql, epsilon=1).is_stored
        again = connection.sql(sql, epsilon=1)
        assert again.is_stored
        assert again.rows == before.rows
        fresh = connection.sql(sql, epsilon=1, fresh=True)
        assert fresh.body.limits.rows_per_group == 1
        assert connection.sql(sql, epsilon=1).rows == fresh.rows
        connection.verify()


def test_a_batch_is_tightened_and_found_too(tmp_path, monkeypatch):
    folder = project(tmp_path)
    declared = folder / "discreet.toml"
    text = declared.read_text(encoding="utf-8").replace(
        "epsilon = 100 ", "epsilon = 9, delta = 1e-5 "
    )
    declared.write_text(text, encoding="utf-8")
    people = "SELECT COUNT(*) AS n FROM (SELECT DISTINCT person FROM visits)"
    asked = [people, "SELECT COUNT(*) AS n FROM visits"]
    with connect(folder) as connection, monkeypatch.context() as patch:
        patch.setattr(batch_module, "tighten", lambda plan: plan)
        before = connection.batch(asked, epsilon=1, delta="1e-6")
    with connect(folder) as connection:
        again = connection.batch(asked, epsilon=1, delta="1e-6")
        assert all(release.is_stored for release in again)
        assert [release.rows for release in again] == [release.rows for release in before]
        fresh = connection.batch(asked, epsilon=1, delta="1e-6", fresh=True)
        assert [release.body.limits.rows_per_group for release in fresh] == [1, 20]
