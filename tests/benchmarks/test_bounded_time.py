"""Whoever answers the large question reads the same rows and keeps the same limits."""

from pathlib import Path

import duckdb
import pytest

from benchmarks.programs import bounded_time

ROWS = 20_000


@pytest.fixture(scope="module")
def file(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("bounded") / "rows.parquet"
    bounded_time.write_file(ROWS, path)
    return path


def total(rows) -> int:
    return sum(row[1] for row in rows)


def test_file_is_the_same_each_time_and_has_a_heavy_tail(file: Path, tmp_path: Path):
    again = tmp_path / "again.parquet"
    bounded_time.write_file(ROWS, again)
    everything = "SELECT * FROM '{}'"
    rows = duckdb.execute(everything.format(file)).fetchall()
    assert rows == duckdb.execute(everything.format(again)).fetchall()
    assert len(rows) == ROWS
    most = duckdb.execute(f"SELECT max(n) FROM (SELECT count(*) n FROM '{file}' GROUP BY person)")
    assert most.fetchall()[0][0] > 20 * bounded_time.ROWS_PER_PERSON


def test_queries_by_hand_keep_the_limits(file: Path):
    windows = sorted(bounded_time.duckdb_windows(file))
    assert windows == sorted(bounded_time.duckdb_lists(file))
    people = duckdb.execute(f"SELECT count(DISTINCT part) FROM '{file}' GROUP BY person").fetchall()
    groups = sum(min(bounded_time.GROUPS_PER_PERSON, number) for (number,) in people)
    assert groups <= total(windows) <= groups * bounded_time.ROWS_PER_GROUP
    assert total(bounded_time.duckdb_unbounded(file)) == ROWS


def test_our_answer_has_every_group(file: Path):
    rows = bounded_time.discreet(file)
    assert len(rows) == bounded_time.GROUPS
