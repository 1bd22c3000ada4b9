"""Containment: nobody's rows can be made to multiply without end."""

import pytest

from discreet.core.errors import RefusedQuery
from discreet.tables.declaration import read_catalog
from discreet.tables.engines.duckdb import DuckDbEngine
from discreet.tables.plans import contain
from tests.support.clinic import make_plan, run_exact, visit, write_project

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
