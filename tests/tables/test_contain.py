"""Containment: nobody's rows can be made to multiply without end."""

import pytest

from discreet.core.errors import RefusedQuery
from discreet.engines.duckdb.engine import DuckDbEngine
from discreet.tables.declarations.declaration import read_catalog
from discreet.tables.expression import Call
from discreet.tables.plans import contain
from discreet.tables.relations.relation import Filter, Projection
from discreet.tables.relations.scan import Scan
from tests.support.projects.clinic import make_plan, run_exact, visit, write_project

PAIRS = "SELECT COUNT(*) FROM visits AS a JOIN visits AS b ON a.person = b.person"


def test_a_join_looks_at_so_many_rows_of_one_owner(tmp_path, monkeypatch):
    monkeypatch.setattr(contain, "MOST_PAIRS", 49)
    rows = [visit("busy", age=i) for i in range(50)] + [visit("calm", age=i) for i in range(3)]
    folder = write_project(tmp_path, rows, rows_per_group=10_000)
    (pairs,) = run_exact(folder, PAIRS)
    assert pairs.tolist() == [7 * 7 + 3 * 3]


def test_nested_joins_stay_small(tmp_path, monkeypatch):
    """Twelve joins of ten rows each would make 10**13 of them."""
    monkeypatch.setattr(contain, "MOST_PAIRS", 12 * 400)
    folder = write_project(tmp_path, [visit("busy", age=i) for i in range(10)])
    joins = " ".join(f"JOIN visits AS v{i} USING (person)" for i in range(12))
    (pairs,) = run_exact(folder, f"SELECT COUNT(*) FROM visits AS v {joins}")
    assert pairs.tolist() == [2]


def test_the_choice_is_the_same_in_any_order_of_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(contain, "MOST_PAIRS", 16)
    rows = [visit(f"p{i % 5}", age=i) for i in range(100)]
    sums = "SELECT SUM(a.age) FROM visits AS a JOIN visits AS b ON a.person = b.person"
    first = run_exact(write_project(tmp_path / "a", rows, rows_per_group=100), sums)
    again = run_exact(write_project(tmp_path / "b", rows[::-1], rows_per_group=100), sums)
    assert [column.tolist() for column in first] == [column.tolist() for column in again]


PUBLIC = """
[public_tables.many]
source = "many.csv"

[public_tables.many.columns]
clinic = { type = "text" }
number = { type = "integer" }
"""


def test_a_public_table_that_would_multiply_rows_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(contain, "MOST_PAIRS", 5)
    folder = write_project(tmp_path, [visit("p", "a"), visit("q", "b")], rows_per_group=100)
    with (folder / "discreet.toml").open("a", encoding="utf-8") as file:
        file.write(PUBLIC)
    lines = ["clinic,number", *(f"a,{i}" for i in range(5)), *(f"b,{i}" for i in range(3))]
    (folder / "many.csv").write_text("\n".join(lines), encoding="utf-8")
    (joined,) = run_exact(folder, "SELECT COUNT(*) FROM visits JOIN many USING (clinic)")
    assert joined.tolist() == [5 + 3]
    (one,) = run_exact(
        folder, "SELECT COUNT(*) FROM visits v JOIN many m ON v.clinic = m.clinic AND number = age"
    )
    assert one.tolist() == [0]
    for tables in ("visits CROSS JOIN many", "visits JOIN many ON number < age"):
        with pytest.raises(RefusedQuery, match="too many rows of a public table"):
            run_exact(folder, f"SELECT COUNT(*) FROM {tables}")


def test_a_semi_join_pays_for_the_rows_that_it_looks_at(tmp_path, monkeypatch):
    """It makes no rows, but looking at pairs can take for ever as well."""
    monkeypatch.setattr(contain, "MOST_PAIRS", 5)
    folder = write_project(tmp_path, [visit("p", "a")])
    with (folder / "discreet.toml").open("a", encoding="utf-8") as file:
        file.write(PUBLIC)
    (folder / "many.csv").write_text("clinic,number\n" + "a,1\n" * 6, encoding="utf-8")
    for condition in ("clinic IN (SELECT clinic FROM many)", "EXISTS (SELECT 1 FROM many)"):
        with pytest.raises(RefusedQuery, match="too many rows of a public table"):
            run_exact(folder, f"SELECT COUNT(*) FROM visits WHERE {condition}")


def test_joins_and_costly_conditions_share_what_there_is(tmp_path):
    folder = write_project(tmp_path, [visit("p")])
    catalog, engine = read_catalog(folder), DuckDbEngine()

    def limits(rest: str) -> tuple[int, ...]:
        plan = make_plan(catalog, f"SELECT COUNT(*) FROM visits AS a {rest}", engine=engine)
        return tuple(sorted({limit.rows for limit in contain.row_limits(plan.relation)}))

    once = "JOIN visits AS b ON a.person = b.person"
    assert limits("") == ()
    assert limits(once) == (1000,)
    assert limits(f"{once} JOIN visits AS c ON a.person = c.person") == (670,)
    texts = " OR ".join(f"upper(a.note) = lower(b.note || '{i}')" for i in range(20))
    (fewer,) = limits(f"{once} AND ({texts})")
    assert fewer < 200


# ---- Work: dear expressions are limited, or refused.

MADE = "CASE WHEN person = 'x' THEN '" + "é" * 5_000 + "' ELSE '' END"
"""A text that only one person has."""

PATTERN = "%" + "_" * 990 + "b%_"


@pytest.fixture(scope="module")
def limits_of(tmp_path_factory):
    """Return the limits in the plan of a question about visits and a public table of 2,000 rows."""
    folder = write_project(tmp_path_factory.mktemp("dear"), [visit("p")])
    with (folder / "discreet.toml").open("a", encoding="utf-8") as file:
        file.write(PUBLIC)
    lines = ["clinic,number", *(f"a,{i}" for i in range(2_000))]
    (folder / "many.csv").write_text("\n".join(lines), encoding="utf-8")
    catalog, engine = read_catalog(folder), DuckDbEngine()
    return lambda sql: contain.row_limits(make_plan(catalog, sql, engine=engine).relation)


DEAR = {
    "a pattern for each public row": f"SELECT COUNT(*) FROM visits CROSS JOIN many"
    f" WHERE concat({MADE}, number::TEXT) LIKE '{PATTERN}'",
    "a pattern in a condition": f"SELECT COUNT(*) FROM visits JOIN many"
    f" ON concat(number::TEXT, {MADE}) LIKE '{PATTERN}'",
    "a pattern in each copy": f"WITH t AS (SELECT person, {MADE} AS m FROM visits)"
    " SELECT COUNT(*) FROM ("
    + " UNION ALL ".join([f"SELECT person FROM t WHERE m LIKE '{PATTERN}'"] * 20)
    + ")",
    "texts to keep": "SELECT "
    + ", ".join(f"COUNT(DISTINCT concat(number::TEXT, '{i}', {MADE}))" for i in range(5))
    + " FROM visits CROSS JOIN many",
    "a long key": f"SELECT concat(number::TEXT, {MADE}) AS k, COUNT(DISTINCT upper({MADE}))"
    " FROM visits CROSS JOIN many GROUP BY k",
    "a window": "SELECT COUNT(*) FROM (SELECT person, MIN(m) OVER (PARTITION BY person ORDER BY m)"
    f" AS w FROM (SELECT person, concat(number::TEXT, {MADE}, {MADE}) AS m"
    " FROM visits CROSS JOIN many)) WHERE w > 'a'",
}


@pytest.mark.parametrize("sql", DEAR.values(), ids=DEAR)
def test_work_that_no_limit_makes_small_is_refused(limits_of, sql):
    with pytest.raises(RefusedQuery, match="too much work for the rows of one unit") as refusal:
        limits_of(sql)
    assert "steps for one unit" in refusal.value.must
    assert "left(text, 100)" in refusal.value.next


def test_dear_rows_are_limited_behind_cheap_conditions(limits_of):
    """Who asks about one year has the rows of that year looked at, not of any."""
    dear = f"upper(lower(note)) LIKE '{PATTERN}'"
    (limit,) = limits_of(f"SELECT COUNT(*) FROM visits WHERE age > 3 AND {dear} AND urgent")
    assert isinstance(limit.source, Filter)
    assert isinstance(limit.source.condition, Call)
    assert len(limit.source.condition.arguments) == 2
    assert 100 < limit.rows < 10_000
    assert limit.characters == 100 * limit.rows
    (other,) = limits_of(f"SELECT COUNT(*) FROM visits WHERE {dear}")
    assert isinstance(other.source, Scan)


def test_a_condition_on_one_side_of_a_join_is_asked_below_its_limit(limits_of):
    """Only rows that are wanted count there, and no text that was only asked about does."""
    flu = "lower(a.note) LIKE '%flu%'"
    joined = "SELECT COUNT(*) FROM visits AS a JOIN visits AS b ON a.person = b.person"
    for sql in (f"{joined} AND {flu}", f"{joined} WHERE {flu}"):
        first, second = limits_of(sql)
        assert (first.rows, first.characters) == (second.rows, second.characters) == (1_000, 0)
        assert isinstance(first.source, Projection)
        assert isinstance(first.source.source, Filter)
    dear, cheap = limits_of(f"SELECT COUNT(*) FROM visits JOIN many ON {MADE} LIKE '{PATTERN}'")
    assert isinstance(dear.source.source, Filter)
    assert dear.source.source.source == cheap


def test_rows_with_long_texts_are_not_left_out_for_a_condition(tmp_path):
    """Half of the visits have long notes: those were less likely to be counted."""
    rows = [visit("p", age=i, note="flu " * 500 if i % 2 else "ok") for i in range(100)]
    folder = write_project(tmp_path, rows, rows_per_group=10_000)
    pairs = "FROM visits AS a JOIN visits AS b USING (person)"
    condition = "WHERE a.note ILIKE '%flu%' AND b.note ILIKE '%ok%'"
    assert run_exact(folder, f"SELECT COUNT(*) {pairs} {condition}")[0].tolist() == [50 * 50]


def test_many_small_expressions_of_a_row_are_limited_too(limits_of):
    """A row alone among others takes longer for each, whoever it belongs to."""
    roots = "age"
    for _ in range(9):
        roots = f"sqrt({roots} + 1.5)"
    many = " OR ".join(f"{roots} > {i}" for i in range(9))
    (limit,) = limits_of(f"SELECT COUNT(*) FROM visits WHERE {many}")
    assert limit.rows > 50_000
    assert limits_of(f"SELECT COUNT(*) FROM visits WHERE {roots} > 2") == ()


def test_rows_are_chosen_until_their_characters_are_used_up(tmp_path, monkeypatch):
    """Of short texts many rows, of long ones few; one row is always there."""
    monkeypatch.setattr(contain, "MOST_PAIRS", 100)
    monkeypatch.setattr(contain, "USUAL_TEXT", 1_100)
    rows = [visit("short", note="s" * 10, age=i) for i in range(50)]
    rows += [visit("long", note="l" * 5_000, age=i) for i in range(50)]
    rows += [visit("huge", note="h" * 20_000), visit("none"), visit("none")]
    folder = write_project(tmp_path, rows, rows_per_group=1_000)
    pairs = "FROM visits AS a JOIN visits AS b USING (person) WHERE length(a.note) = length(b.note)"
    counts = {
        name: run_exact(folder, f"SELECT COUNT(*) {pairs} AND a.person = '{name}'")[0].tolist()
        for name in ("short", "long", "huge", "none")
    }
    # Ten rows or 11,000 characters, with those of the person's name.
    assert counts == {"short": [100], "long": [4], "huge": [1], "none": [0]}


def test_characters_are_used_up_alike_in_any_order_of_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(contain, "MOST_PAIRS", 400)
    monkeypatch.setattr(contain, "USUAL_TEXT", 520)
    rows = [visit(f"p{i % 3}", age=i, note="n" * (i * 37 % 900)) for i in range(120)]
    sums = (
        "SELECT SUM(a.age) FROM visits AS a JOIN visits AS b USING (person)"
        " WHERE a.note <> b.note || 'x'"
    )
    first = run_exact(write_project(tmp_path / "a", rows, rows_per_group=1_000), sums)
    again = run_exact(write_project(tmp_path / "b", rows[::-1], rows_per_group=1_000), sums)
    assert [column.tolist() for column in first] == [column.tolist() for column in again]
    assert first[0][0] > 0
