"""The engine: right where no limit binds, total on any data, and fair where limits bind."""

import math
import warnings

import duckdb
import numpy as np
import pytest

from discreet.core.errors import DeclarationError, Unsupported
from discreet.engines.duckdb import engine as engine_module
from discreet.engines.duckdb.engine import DuckDbEngine
from discreet.tables.catalog import Table
from discreet.tables.declarations.declaration import read_catalog
from discreet.tables.keyset import LONGEST_KEY
from discreet.tables.relations.scan import Scan
from tests.support.projects.clinic import (
    exact_columns,
    make_plan,
    run_exact,
    visit,
    write_project,
    write_rows,
)
from tests.support.projects.memory import reveal
from tests.support.statistics.exact_tests import alpha, binomial_p_value

BY_CLINIC = "SELECT clinic, COUNT(*), SUM(age), SUM(cost) FROM visits GROUP BY clinic"


def many_visits(count=300):
    return [
        visit(f"p{i % 97}", "abcd"[i * i % 4], age=i % 90, cost=(i % 40) / 4, urgent=i % 3 == 0)
        for i in range(count)
    ]


@pytest.mark.parametrize("file_format", ["csv", "parquet"])
@pytest.mark.parametrize(
    "where",
    [
        "",
        "WHERE age >= 30 AND age < 60.5",
        "WHERE NOT (urgent) OR clinic IN ('a', 'd')",
        "WHERE cost BETWEEN 1 AND 7.5 AND clinic <> 'b'",
        "WHERE urgent = TRUE AND age <> cost",
        "WHERE note IS NULL AND day IS NULL",
    ],
)
def test_equals_plain_sql_when_no_limit_binds(tmp_path, file_format, where):
    folder = write_project(
        tmp_path, many_visits(), file_format=file_format, rows_per_group=1000, groups_per_unit=4
    )
    sql = f"SELECT clinic, COUNT(*), SUM(age), SUM(cost) FROM visits {where} GROUP BY clinic"
    counts, ages, costs = run_exact(folder, sql)
    plain = duckdb.execute(
        f"SELECT clinic, COUNT(*), SUM(age), SUM(cost) * 4 FROM '{folder}/visits.{file_format}' "
        f"{where} GROUP BY clinic ORDER BY clinic"
    ).fetchall()
    found = dict(zip("abcd", zip(counts, ages, costs, strict=True), strict=True))
    expected = {row[0]: tuple(int(cell) for cell in row[1:]) for row in plain}
    assert {key: tuple(map(int, cells)) for key, cells in found.items() if cells[0]} == expected


def test_values_go_to_the_grid(tmp_path):
    values = [-5.0, 0.124, 0.125, 3.3, math.nan, None, math.inf, -math.inf, 1e308]
    folder = write_project(tmp_path, [visit(f"p{i}", cost=v) for i, v in enumerate(values)])
    counts, costs = run_exact(folder, "SELECT COUNT(*), SUM(cost) FROM visits")
    assert counts.tolist() == [len(values)]
    # In quarters: 0; 0 (below half a step); 1 (half a step goes up); 13; NaN and NULL add nothing;
    # then the two ends.
    assert costs.tolist() == [0 + 0 + 1 + 13 + 40 + 0 + 40]


def test_rows_without_a_unit_or_outside_the_keys_do_not_count(tmp_path):
    rows = [visit(None), visit("p"), visit("q", "elsewhere"), visit("r", None)]
    (counts,) = run_exact(
        write_project(tmp_path, rows), "SELECT clinic, COUNT(*) FROM visits GROUP BY clinic"
    )
    assert counts.tolist() == [1, 0, 0, 0]


HOSTILE = [
    "abc",
    "1e999",
    "-",
    "9223372036854775808",
    "NaN",
    "inf",
    "0x10",
    "1,5",
    "'; DROP TABLE visits; --",
    "\x00",
    "é" * 50,
    '"',
    "2025-99-99",
]


def test_no_text_makes_the_engine_raise(tmp_path):
    rows = [
        visit(f"p{i}", "a", urgent=bad, age=bad, change=bad, cost=bad, day=bad, note=bad)
        for i, bad in enumerate(HOSTILE)
    ]
    folder = write_project(tmp_path, [*rows, visit("good")], file_format="csv")
    counts, ages, changes, costs = run_exact(
        folder,
        "SELECT COUNT(*), SUM(age), SUM(change), SUM(cost) FROM visits WHERE note IS NOT NULL "
        "OR day > DATE '2000-01-01' OR urgent OR age < 50",
    )
    assert counts[0] >= 1
    assert 0 <= ages[0] <= 100 * len(rows) + 100
    assert -10 * len(rows) <= changes[0]
    assert costs[0] >= 0


@pytest.mark.parametrize(
    ("broken", "rows"),
    [
        (b"p,a,true\r\n", 1),
        (b"p,a,1,2,3,4,5,6,7,8,9,10\r\n", 0),
        (b"\xff\xfe,\xff,1,1,1,1,1,1\r\n", 0),
        (b"\r\n\r\n,,,,,,,\r\n", 0),
        (b"p,a\nq,a\rr,a\r\n", 0),
    ],
)
def test_malformed_lines_do_not_make_the_engine_raise(tmp_path, broken, rows):
    folder = write_project(tmp_path, [visit("first")], file_format="csv")
    with (folder / "visits.csv").open("ab") as file:
        file.write(broken)
        file.write(b"last,a,false,40,1,2.5,,\r\n")
    (counts,) = run_exact(folder, "SELECT COUNT(*) FROM visits")
    assert counts[0] == 2 + rows


def test_limits_keep_exactly_so_many_rows_and_groups(tmp_path):
    rows = [visit("p", clinic, age=i) for clinic in "abcd" for i in range(5)]
    counts, _, _ = run_exact(write_project(tmp_path, rows), BY_CLINIC)
    assert sorted(counts.tolist()) == [0, 2, 2, 2]


def test_equal_rows_never_admit_one_too_many(tmp_path):
    rows = [visit("p", clinic) for clinic in "abcd" for _ in range(50)]
    counts, _, _ = run_exact(write_project(tmp_path, rows), BY_CLINIC)
    assert sorted(counts.tolist()) == [0, 2, 2, 2]


def test_the_choice_depends_on_the_salt_and_not_on_the_order_of_rows(tmp_path):
    rows = [visit(f"p{i}", clinic, age=a) for i in range(20) for clinic in "abcd" for a in range(4)]
    folder = write_project(tmp_path, rows)
    plan, engine = make_plan(read_catalog(folder), BY_CLINIC), DuckDbEngine()
    first = exact_columns(engine, plan, b"one")
    write_rows(folder, rows[::-1])
    again = exact_columns(engine, plan, b"one")
    other = exact_columns(engine, plan, b"two")
    assert all((a == b).all() for a, b in zip(first, again, strict=True))
    assert any((a != b).any() for a, b in zip(first, other, strict=True))


def test_the_choice_of_groups_is_fair(tmp_path):
    """Each of four clinics is kept by about three quarters of the people (exact binomial)."""
    people = 4000
    rows = [visit(f"p{i}", clinic) for i in range(people) for clinic in "abcd"]
    (counts,) = run_exact(
        write_project(tmp_path, rows), "SELECT clinic, COUNT(*) FROM visits GROUP BY clinic"
    )
    share = alpha("duckdb/fair_groups", parts=4)
    assert counts.sum() == 3 * people
    assert all(binomial_p_value(int(count), people, 0.75) > share for count in counts)
    # Power: always dropping the same clinic would be seen.
    assert binomial_p_value(people, people, 0.75) < share


def test_sums_saturate_instead_of_wrapping(tmp_path):
    folder = write_project(tmp_path, [visit(f"p{i}", age=10**18) for i in range(40)])
    declaration = (folder / "discreet.toml").read_text()
    wide = declaration.replace("min = 0, max = 100", f"min = 0, max = {2**53}")
    (folder / "discreet.toml").write_text(wide)
    (ages,) = run_exact(folder, "SELECT SUM(age) FROM visits")
    assert ages.tolist() == [40 * 2**53]


def test_missing_sources_and_columns_are_found_by_name(tmp_path):
    folder = write_project(tmp_path, [visit("p")])
    engine, table = DuckDbEngine(), read_catalog(folder).table("visits")
    engine.require_source(table)
    text = (folder / "discreet.toml").read_text()
    (folder / "discreet.toml").write_text(text + 'ward = { type = "text" }\n')
    with pytest.raises(DeclarationError, match="ward"):
        engine.require_source(read_catalog(folder).table("visits"))
    (folder / "visits.parquet").write_bytes(b"not parquet")
    with pytest.raises(DeclarationError, match="cannot be read"):
        engine.require_source(table)
    (folder / "visits.parquet").unlink()
    with pytest.raises(DeclarationError, match="cannot be read"):
        engine.require_source(table)


def test_an_empty_table_gives_zeros(tmp_path):
    counts, ages, costs = run_exact(write_project(tmp_path, []), BY_CLINIC)
    assert not np.any([counts, ages, costs])


def test_zero_has_no_sign(tmp_path):
    """Which of two equal zeros a minimum meets first would depend on other people's rows."""
    rows = [visit("p1", urgent=True), visit("p1"), visit("p2"), visit("p2", urgent=True)]
    folder = write_project(tmp_path, rows)
    zero = "CASE WHEN urgent THEN -1e-400 ELSE 0.0 END"
    least = f"SELECT person, MIN({zero}) AS m FROM visits GROUP BY person"
    texts = f"SELECT person, CAST(m AS TEXT) AS z FROM ({least}) AS t"
    plan = make_plan(
        read_catalog(folder), f"SELECT z, COUNT(DISTINCT person) FROM ({texts}) AS u GROUP BY z"
    )
    found = reveal(DuckDbEngine(), plan)
    assert found.keys == (("0.0",),)


def test_a_long_private_key_is_cut(tmp_path):
    folder = write_project(tmp_path, [visit("p", note="x" * 5_000), visit("q", note="x" * 1_001)])
    plan = make_plan(read_catalog(folder), "SELECT note, COUNT(*) FROM visits GROUP BY note")
    found = reveal(DuckDbEngine(), plan)
    assert found.keys == (("x" * LONGEST_KEY,),)


def test_only_public_tables_are_read_outside_the_gate(tmp_path):
    folder = write_project(tmp_path, [visit("p")])
    table = read_catalog(folder).table("visits")
    assert isinstance(table, Table)
    with pytest.raises(Unsupported, match="Only public tables"):
        DuckDbEngine().public_rows(Scan.of(table))


def test_an_answer_does_not_fail_because_warnings_are_errors():
    """Other threads may change what is made of warnings at any moment, also behind the gate."""

    class Cursor:
        warned = 0

        def to_arrow_table(self) -> str:
            warnings.simplefilter("error")  # somebody else, just now
            if self.warned < 3:
                self.warned += 1
                warnings.warn("Arrow output on a DB-API result copies", UserWarning, stacklevel=1)
            return "rows"

    cursor = Cursor()
    with warnings.catch_warnings():
        assert engine_module._arrow(cursor) == "rows"
    assert cursor.warned == 3


@pytest.mark.parametrize(
    "value", ["1::INTEGER", "1::HUGEINT", "1::DOUBLE", "NULL::BIGINT", "TRUE", "'1'"]
)
def test_an_answer_of_anything_but_integers_of_64_bits_is_refused(value):
    """In both forms in which the engine hands columns over."""
    connection = duckdb.connect()
    rows = f"SELECT unnest([{value}, {value}]) AS a0"
    with pytest.raises(Unsupported, match="64-bit"):
        engine_module._integers(connection.execute(rows).fetchnumpy()["a0"])
    with pytest.raises(Unsupported, match="64-bit"):
        engine_module._integers(connection.sql(rows).to_arrow_table().column("a0"))


def test_integers_of_64_bits_are_handed_over_as_they_are():
    connection = duckdb.connect()
    rows = "SELECT CASE WHEN i = 0 THEN -9223372036854775808 ELSE 9223372036854775807 - i END AS a0"
    rows += " FROM range(100_000) AS numbers(i)"
    column = engine_module._integers(connection.execute(rows).fetchnumpy()["a0"])
    other = engine_module._integers(connection.sql(rows).to_arrow_table().column("a0"))
    assert column.tolist() == other.tolist()
    assert column[0] == -(2**63)
    assert column[1] == 2**63 - 2
