"""The work of one unit: the model counts all rows and characters that an engine really has."""

from collections import Counter
from collections.abc import Iterator

import pyarrow as pa
import pytest
from attrs import evolve

from discreet.core.errors import RefusedQuery, Unsupported
from discreet.curator.answer import bound
from discreet.engines.duckdb.engine import DuckDbEngine
from discreet.sql.parse import parse
from discreet.sql.resolve import resolve
from discreet.sql.rows.joins import with_partners
from discreet.tables.declarations.declaration import read_catalog
from discreet.tables.functions.work import Steps
from discreet.tables.plans import contain as contain_module
from discreet.tables.plans import work as work_module
from discreet.tables.plans.bill import SORTING, Bill, RowCount
from discreet.tables.plans.contain import MOST, contain, row_limits
from discreet.tables.plans.prune import prune
from discreet.tables.plans.work import FOUND_KEY, PRIVATE_KEY, Meter, found_work, work
from discreet.tables.relations.relation import Relation
from tests.support.projects.clinic import SCHEMA, make_plan, visit, write_project
from tests.support.projects.dice import Dice
from tests.support.projects.memory import MemoryEngine
from tests.support.projects.people import random_world
from tests.support.projects.random_catalogs import random_catalog
from tests.support.projects.unit_sizes import too_large
from tests.support.random_sql.nasty_questions import DECLARATION, TARGET, nasty_question
from tests.support.random_sql.tree import random_plan

PARTNERS = 2_000


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    """Return what makes plans of questions about visits and a public table."""
    folder = write_project(tmp_path_factory.mktemp("nasty"), [visit("p")])
    declared = (folder / "discreet.toml").read_text(encoding="utf-8") + DECLARATION
    declared = declared.replace("epsilon = 10 ", "epsilon = 10, delta = 1e-6 ")
    (folder / "discreet.toml").write_text(declared, encoding="utf-8")
    many = [f"{i},0,name{i}" for i in range(PARTNERS)]
    (folder / "many.csv").write_text("\n".join(["number,zero,name", *many]), encoding="utf-8")
    catalog, engine = read_catalog(folder), DuckDbEngine()
    return lambda sql: resolve(parse(sql), catalog, engine.public_rows)


def private_parts(relation: Relation) -> Iterator[Relation]:
    if relation.owner() is not None:
        yield relation
    for part in relation.inputs():
        yield from private_parts(part)


# ---- Whatever is accepted is within the bounds.


def test_nasty_questions_are_held_to_the_bounds(reader, soak):
    found: Counter[str] = Counter()
    for number in range(soak.cases(80)):
        question = reader(nasty_question(Dice(number, label="nasty"), longest=9_000))
        try:
            plan = bound(question)
        except RefusedQuery as refusal:
            is_known = "too much work" in refusal.what or "too many rows" in refusal.what
            found["refused" if is_known else refusal.what] += 1
            continue
        assert work(plan).is_within(MOST)
        found["limited" if row_limits(plan.relation) else "free"] += 1
    assert found.keys() == {"refused", "limited", "free"}
    assert min(found.values()) >= 3, found


def test_a_wider_limit_would_not_do(reader):
    """Limits are as wide as the bounds allow, so they cost no more than they must."""
    joined = "FROM visits AS a JOIN visits AS b USING (person)"
    plan = bound(reader(f"SELECT COUNT(*) {joined} WHERE {DEAR}"))
    (limit, _) = row_limits(plan.relation)
    assert 10 < limit.rows < 900
    assert work(plan).of_a_unit > 0.95 * MOST.of_a_unit


def test_questions_that_are_answered_together_share_the_bounds(reader):
    question = reader("SELECT COUNT(*) FROM visits AS a JOIN visits AS b USING (person)")
    rows = [row_limits(bound(question, sharing=n).relation)[0].rows for n in (1, 2, 10, 500, 1_000)]
    assert rows[0] == 1_000
    assert rows == sorted(rows, reverse=True)
    assert rows[2] < 500
    assert rows[3] == rows[4] > 10
    assert 1_000 * work(bound(question, sharing=1_000)).of_a_unit <= 4 * MOST.of_a_unit
    assert work(bound(question, sharing=10)).is_within(MOST.shared(10))
    dear = reader("SELECT COUNT(*) FROM visits WHERE lower(note) LIKE '%flu%'")
    assert row_limits(bound(dear).relation) == ()
    assert row_limits(bound(dear, sharing=20).relation) != ()


DEAR = " OR ".join(f"upper(a.note) = lower(b.note || '{i}')" for i in range(20))


# ---- Rows and characters: never more than the model says.


def small(monkeypatch, pairs: int = 30) -> None:
    """Make limits bind in small tables."""
    monkeypatch.setattr(contain_module, "MOST_PAIRS", pairs)
    monkeypatch.setattr(contain_module, "USUAL_TEXT", 5)


def random_plans(count: int) -> Iterator[tuple[dict[str, pa.Table], Relation]]:
    """Yield contained relations of random plans, with the tables that they read."""
    engine = MemoryEngine()
    for number in range(count):
        dice = Dice(number, label="work")
        world = random_world(dice, random_catalog(dice))
        engine.tables = tables = world.arrow()
        plan = random_plan(dice, world.catalog)
        noted = with_partners(plan.relation, engine.public_rows)
        try:
            plan = contain(prune(evolve(plan, relation=noted)))
        except RefusedQuery:
            continue
        yield tables, plan.relation
    engine.close()


def test_no_unit_has_more_rows_or_characters_than_the_model_says(monkeypatch, soak):
    small(monkeypatch)
    seen = 0
    for tables, relation in random_plans(soak.cases(25)):
        for part in private_parts(relation):
            assert too_large(tables, part) == []
            seen += 1
    assert seen > 40


VISITS = pa.Table.from_pylist(
    [
        *(visit(TARGET, "ab"[i % 2], age=i, urgent=i > 3, note="y" * 1_000 * i) for i in range(9)),
        *(visit(f"p{i}", "ab"[i % 2], age=i, note="b@c.de") for i in range(9)),
    ],
    SCHEMA,
)


def test_nasty_questions_make_no_more_than_the_model_says(reader, monkeypatch, soak):
    small(monkeypatch)
    numbers = list(range(30))
    names = [f"name{i}" for i in numbers]
    many = pa.table({"number": numbers, "zero": [0] * 30, "name": names})
    tables = {"visits": VISITS, "many": many}
    seen = 0
    for number in range(soak.cases(25)):
        question = reader(nasty_question(Dice(number, label="small"), longest=200))
        try:
            plan = bound(question)
        except RefusedQuery:
            continue
        assert too_large(tables, plan.relation) == []
        seen += 1
    assert seen >= 10


def forgets_pairs(node, left, right):
    """A broken twin: a join makes as many rows as its left side has."""
    return left


def forgets_long_rows(fields, before, after):
    """A broken twin: the few rows that are left have texts of usual length."""
    return fields


@pytest.mark.parametrize(
    ("name", "twin"), [("_pairs", forgets_pairs), ("_fewer", forgets_long_rows)]
)
def test_a_model_that_forgets_something_is_caught(reader, monkeypatch, name, twin):
    small(monkeypatch)
    sql = (
        "SELECT COUNT(DISTINCT m) FROM (SELECT a.person, MAX(a.note) AS m FROM visits AS a"
        " JOIN visits AS b USING (person) GROUP BY a.person)"
    )
    plan = bound(reader(sql))
    tables = {"visits": VISITS}
    assert all(too_large(tables, part) == [] for part in private_parts(plan.relation))
    monkeypatch.setattr(work_module, name, twin)
    assert any(too_large(tables, part) for part in private_parts(plan.relation))


def test_a_bill_counts_rows_apart_and_together():
    steps = Steps(each=10, alone=1_000, kept=7)
    stored = Bill.of(RowCount(stored={"visits": 3}), steps)
    assert (stored.unit, stored.rows, stored.texts) == (0, {"visits": 3_030}, {"visits": 21})
    behind = Bill.of(RowCount(behind=100, limits=1), steps)
    assert behind.unit == 100 * 17 + 4 * 1_000
    both = (stored + behind + stored).work()
    assert (both.of_a_row, both.of_stored_texts, both.of_a_unit) == (6_060, 42, behind.unit)


def test_rows_of_a_join_without_limits_are_refused(reader):
    question = reader("SELECT COUNT(*) FROM visits AS a JOIN visits AS b USING (person)")
    with pytest.raises(Unsupported):
        Meter().passed(question.relation)
    with pytest.raises(Unsupported):
        Meter().passed(Relation())


def test_a_row_that_is_a_unit_has_no_others(tmp_path):
    """It may take as long as all rows of a person behind limits: no limit is needed for it."""
    folder = write_project(tmp_path, [visit("p")])
    declared = (folder / "discreet.toml").read_text(encoding="utf-8")
    declared = declared.replace('unit = "person"', "unit = { each_row = true }")
    (folder / "discreet.toml").write_text(declared, encoding="utf-8")
    sql = "SELECT COUNT(*) FROM visits WHERE " + " OR ".join(
        f"upper(note) LIKE '%{'_' * 90}{i}%'" for i in range(20)
    )
    plan = make_plan(read_catalog(folder), sql)
    assert row_limits(plan.relation) == ()
    assert work(plan).of_a_row == 0
    assert work(plan).of_a_unit > 100 * MOST.of_a_row


def test_each_distinct_count_of_a_sub_query_groups_apart(reader):
    """All keys go along with each of them, so a long key is kept as often."""

    def counted(totals: str) -> int:
        inner = f"SELECT person, upper(note) AS k, {totals} FROM visits GROUP BY person, k"
        relation = reader(f"SELECT COUNT(*) FROM ({inner}) WHERE d0 > 0").relation
        return Meter().passed(relation).bill.work().of_a_row

    distinct = ", ".join(f"COUNT(DISTINCT age + {i}) AS d{i}" for i in range(5))
    plain = ", ".join(f"COUNT(age + {i}) AS d{i}" for i in range(5))
    assert counted(distinct) >= counted(plain) + 5 * 10_000 * SORTING


def test_each_column_of_a_private_key_counts(reader):
    def counted(keys: int) -> tuple[int, int]:
        named = ", ".join(f"age + {i} AS k{i}" for i in range(keys))
        plan = bound(reader(f"SELECT {named}, COUNT(*) FROM visits GROUP BY {GROUPED_BY[keys]}"))
        return work(plan).of_a_row, found_work(plan).each

    few, many = counted(2), counted(30)
    assert many[0] >= few[0] + 28 * PRIVATE_KEY.each
    assert many[1] >= few[1] + 28 * FOUND_KEY.each


GROUPED_BY = {keys: ", ".join(f"k{i}" for i in range(keys)) for keys in (2, 30)}


def test_each_reading_of_a_table_counts_for_its_rows(reader):
    def dear(copies: int) -> int:
        union = " UNION ALL ".join([f"SELECT person FROM visits WHERE {DEAR_ROW}"] * copies)
        return work(bound(reader(f"SELECT COUNT(*) FROM ({union})"))).of_a_row

    assert dear(3) == 3 * dear(1)


DEAR_ROW = "upper(lower(clinic)) LIKE '%_x'"
WINDOW = "SELECT note, LAG(note) OVER (PARTITION BY person ORDER BY day) AS last FROM visits"
TOTALS = "SELECT person, COUNT(DISTINCT note) AS n FROM visits GROUP BY person"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM visits WHERE note LIKE '%_@__%.__%'",
        "SELECT COUNT(*) FROM visits WHERE lower(note) LIKE '%flu%' OR note ILIKE '%cold%'",
        "SELECT COUNT(DISTINCT note), COUNT(DISTINCT upper(clinic)) FROM visits",
        "SELECT clinic, urgent, COUNT(*), SUM(age), AVG(cost) FROM visits GROUP BY CUBE (1, 2)",
        "SELECT width_bucket(age, 0, 100, 20) AS b, COUNT(*) FROM visits GROUP BY b",
        "SELECT AVG(CLAMP(sqrt(age) / (1 + cost) + ln(age + 1), 0, 9)) FROM visits",
        "SELECT COUNT(*) FROM visits WHERE trim(replace(note, '-', ' ')) IN ('a', 'b', 'c')",
        f"SELECT COUNT(*) FROM ({WINDOW}) WHERE last <> note",
        f"SELECT AVG(CLAMP(n, 0, 9)) FROM ({TOTALS})",
    ],
)
def test_usual_questions_need_no_limit(reader, sql):
    assert row_limits(bound(reader(sql)).relation) == ()
