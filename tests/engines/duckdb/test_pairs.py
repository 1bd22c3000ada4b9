"""Joins: whether one person is there decides nothing about the work on all other rows.

No clock is looked at. The engine says how many rows each of its operators passed on; with one
person more, each may pass on that person's rows more, and no others.
"""

import re
from itertools import count

import pytest

from discreet.engines.duckdb import databases as duckdb_databases
from discreet.engines.duckdb.engine import DuckDbEngine
from discreet.engines.duckdb.render import rows as rows_module
from discreet.tables.declarations.declaration import read_catalog
from discreet.tables.lowered.lower_relation import lower_relation
from discreet.tables.lowered.plan import every
from discreet.tables.lowered.rows import Paired
from discreet.tables.plans.take_sides import take_sides
from tests.support.projects.clinic import exact_columns, make_plan, visit, write_project
from tests.support.projects.dice import Dice
from tests.support.projects.memory import MemoryEngine
from tests.support.projects.operator_rows import operator_rows
from tests.support.projects.people import random_world
from tests.support.projects.random_catalogs import random_catalog
from tests.support.random_sql.tree import random_plan

PUBLIC = """
[public_tables.many]
source = "many.csv"

[public_tables.many.columns]
number = { type = "integer" }
name = { type = "text" }
"""

OTHERS, ROWS_OF_X, MOST_MORE = 7_000, 3, 50
"""How many rows the others have and how many x has, and how many more of x any operator passes.

The others' rows are several chunks of the engine, which looks at a first one in any case."""


@pytest.fixture(scope="module")
def projects(tmp_path_factory):
    """Return two projects that differ in the rows of one person."""
    others = [visit(f"p{i // 2}", "abcd"[i % 4], age=i % 90) for i in range(OTHERS)]
    own = [visit("x", age=i) for i in range(ROWS_OF_X)]
    found = []
    for name, rows in (("without", others), ("with", [*others, *own])):
        folder = write_project(tmp_path_factory.mktemp(name), rows)
        with (folder / "discreet.toml").open("a", encoding="utf-8") as file:
            file.write(PUBLIC)
        lines = ["number,name", *(f"{i},n{i}" for i in range(OTHERS))]
        (folder / "many.csv").write_text("\n".join(lines), encoding="utf-8")
        found.append(read_catalog(folder))
    return found


def most_more(projects, rest: str) -> int:
    """Return by how many rows an operator differs most when one person is there."""
    engine, sql = DuckDbEngine(), f"SELECT COUNT(*) {rest}"
    without, there = (operator_rows(make_plan(p, sql, engine=engine)) for p in projects)
    assert [name for name, _ in without] == [name for name, _ in there]
    assert max(rows for _, rows in without) >= OTHERS
    pairs_of_rows = zip(without, there, strict=True)
    return max(abs(first - second) for (_, first), (_, second) in pairs_of_rows)


X = "(SELECT * FROM visits WHERE person = 'x')"
HALVES = (
    "(SELECT * FROM many WHERE number < 3000 UNION ALL SELECT * FROM many WHERE number >= 3000)"
)
DEAR = "concat(v.clinic, 'abab') NOT LIKE '%__0q%'"
SAME = "v.person = p.person"
ASKED = {
    "a condition on the others": f"FROM visits v JOIN {X} p ON {SAME} AND {DEAR}",
    "a condition above the join": f"FROM visits v JOIN {X} p ON {SAME} WHERE {DEAR}",
    "a key of the others": f"FROM visits v JOIN {X} p ON {SAME} AND upper(v.clinic) = p.note",
    "a key that is NULL": f"FROM visits v JOIN {X} p ON {SAME} AND v.age = ln(p.age - 99)",
    "a condition on both": f"FROM visits v JOIN {X} p ON {SAME} AND concat(v.note, p.note) > 'a'",
    "a condition on the person": f"FROM visits v JOIN {X} p ON {SAME} AND p.age > 1 WHERE {DEAR}",
    "a left join": f"FROM visits v LEFT JOIN {X} p ON {SAME} AND {DEAR} WHERE p.age > 1",
    "exists": f"FROM visits v WHERE EXISTS (SELECT 1 FROM {X} p WHERE {SAME} AND {DEAR})",
    "lacks": f"FROM visits v WHERE NOT EXISTS (SELECT 1 FROM {X} p WHERE {SAME} AND {DEAR})",
    "in": f"FROM visits v WHERE {DEAR} AND person IN (SELECT person FROM {X} p)",
    "the person on the left": f"FROM {X} p JOIN visits v ON {SAME} AND {DEAR}",
    "the person between": f"FROM visits v JOIN {X} p ON {SAME} JOIN visits w ON w.person = v.person"
    " AND upper(w.clinic) <> v.clinic",
    "public rows": f"FROM {X} v JOIN {HALVES} p ON v.age = p.number AND concat(p.name, 'a') > 'b'",
    "public rows above": f"FROM {X} v JOIN {HALVES} p ON age = p.number WHERE upper(p.name) > 'b'",
    "a range of public rows": f"FROM {X} v JOIN many p ON p.number BETWEEN v.age AND v.age + 2"
    " AND upper(p.name) > 'B'",
    "public rows that are looked for": f"FROM {X} v WHERE age IN"
    f" (SELECT number FROM {HALVES} p WHERE upper(name) > 'B')",
    "public rows in a left join": f"FROM {X} v LEFT JOIN {HALVES} p ON age = number"
    " AND upper(p.name) > 'B' AND upper(v.clinic) > 'A'",
    "public rows within": "FROM (SELECT * FROM visits WHERE person = 'x') v JOIN"
    " (SELECT number FROM many WHERE upper(name) > 'b') p ON v.age = p.number",
}


@pytest.mark.parametrize("rest", ASKED.values(), ids=ASKED)
def test_one_person_decides_nothing_about_the_work_on_other_rows(projects, rest):
    assert most_more(projects, rest) <= MOST_MORE


def test_one_person_with_many_rows_decides_nothing_either(projects):
    """Only where somebody has more rows than are kept, is there a choice to make."""
    assert most_more(projects, ", SUM(age), COUNT(DISTINCT change) FROM visits") <= MOST_MORE


STAYING = duckdb_databases.STAYING
BROKEN = {
    "an empty side": (
        (rows_module, "never_empty", lambda _, rows: rows),
        ASKED["a condition on the others"],
    ),
    "conditions are moved": (
        (duckdb_databases, "STAYING", STAYING | {"filter_pushdown"}),
        ASKED["a left join"],
    ),
    "sides are exchanged": (
        (duckdb_databases, "STAYING", STAYING | {"build_side_probe_side"}),
        ASKED["the person between"],
    ),
}


@pytest.mark.parametrize(("change", "rest"), BROKEN.values(), ids=BROKEN)
def test_an_engine_that_takes_a_short_cut_is_caught(projects, monkeypatch, change, rest):
    monkeypatch.setattr(*change)
    assert most_more(projects, rest) > MOST_MORE


# ---- The SQL of any join.

SELECT = rows_module.select
KINDS = ("LEFT", "SEMI", "ANTI")

_PLAIN = r"[lr]\.[fe]\d+ (=|<|<=|>|>=|<>) [lr]\.[fe]\d+"
_OWNER = r"l\.[up] IS NOT DISTINCT FROM r\.[up]"


def test_joins_compare_plain_columns_and_the_right_is_never_empty(soak, monkeypatch):
    monkeypatch.setattr(rows_module, "select", lambda rows, _: "SELECT side")
    paired = SELECT.dispatch(Paired)
    seen = 0
    for number in range(soak.cases(150)):
        dice = Dice(number, label="pairs")
        plan = random_plan(dice, random_catalog(dice))
        for node in every(lower_relation(plan.relation, count())):
            if not isinstance(node, Paired) or not node.same:
                continue
            left, right = paired(node, []).split(" JOIN (SELECT side")
            assert left.endswith("SELECT side) AS l") or left.split(") AS l ")[1] in KINDS
            nobody, on = right.split(") AS r ON ", 1)
            assert re.match(r" UNION ALL SELECT NULL, ", nobody)
            *compared, last = re.split(r" AND ", on.split("coalesce")[0].strip() + " ")
            for part in [*compared, last.strip()]:
                assert not part or re.fullmatch(rf"\(*({_OWNER}|{_PLAIN})\)*", part), on
            if "coalesce" in on:
                rest = on.split("coalesce")[1]
                assert "l." in rest
                assert "r." in rest
            seen += 1
    assert seen > 40


# ---- Conditions on the side that they are about.


def test_taking_sides_changes_no_answer(soak):
    engine, moved = MemoryEngine(), 0
    for number in range(soak.cases(60)):
        dice = Dice(number, label="sides")
        world = random_world(dice, random_catalog(dice))
        engine.tables = world.arrow()
        plan = random_plan(dice, world.catalog)
        other = take_sides(plan)
        if other == plan:
            continue
        moved += 1
        first, second = (exact_columns(engine, some) for some in (plan, other))
        assert [list(column) for column in first] == [list(column) for column in second]
    assert moved > 5


def test_conditions_of_public_tables_reach_their_join(projects):
    """As a product these have 49 million rows, as a join 7,000."""
    product = "(SELECT a.number AS x, b.number AS y FROM many a CROSS JOIN many b)"
    sql = f"SELECT COUNT(*) FROM visits JOIN (SELECT * FROM {product} WHERE x = y) p ON age = x"
    rows = operator_rows(make_plan(projects[0], sql))
    assert max(count for _, count in rows) < 10 * OTHERS
