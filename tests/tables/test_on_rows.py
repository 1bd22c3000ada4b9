"""Expressions of public values, held to DuckDB: what is told here is what it answers."""

import datetime
from typing import Any

import duckdb
import pytest

from discreet.core import optional
from discreet.sql.expressions.expression import resolve_expression
from discreet.tables.column import ColumnType
from discreet.tables.expression import FieldValue
from discreet.tables.functions.on_rows import NOT_TOLD, value_of

DAYS = [datetime.date(2024, 12, 30), datetime.date(2025, 1, 1), datetime.date(2024, 3, 3), None]
MOMENTS = [datetime.datetime.fromisoformat(f"2024-{text}") for text in ("02-29 23:59:58", "12-30")]
COLUMNS: dict[str, tuple[ColumnType, str, list[Any]]] = {
    "s": (ColumnType.TEXT, "VARCHAR", ["north", "South", "", "a%b", "n", "12", "2024-02-29", None]),
    "i": (ColumnType.INTEGER, "BIGINT", [0, 7, -7, 2**40, None]),
    "b": (ColumnType.BOOLEAN, "BOOLEAN", [True, False, None]),
    "d": (ColumnType.DATE, "DATE", DAYS),
    "w": (ColumnType.TIMESTAMP, "TIMESTAMP", [*MOMENTS, None]),
}

TOLD = {
    "s": """
        s LIKE 'n%' | s LIKE '%th' | s LIKE '%o%t%' | s LIKE 'n%n' | s LIKE '%' | s LIKE ''
        s LIKE 'n' | s ILIKE 'SOU%' | s NOT LIKE '%o%' | s LIKE '%or%or%'
        s = 'n' OR s > 'north' | s IS NULL
        s IN ('n', NULL) | s NOT IN ('n', 'north') | s NOT IN ('n', NULL) | upper(s) = 'NORTH'
        starts_with(s, 'n') | ends_with(s, 'h') | contains(s, '%') | length(s) > 3
        left(s, 2) = 'no' | coalesce(s, 'none') = 'none' | CASE WHEN s LIKE 'n%' THEN 'x' ELSE s END
        s || '!' | concat(s, 'x') | s IS DISTINCT FROM 'n' | s BETWEEN 'a' AND 'o'
    """,
    "i": """
        i > 1.5 | i = 7.0 | i IN (7, 8) | CAST(i AS VARCHAR) LIKE '%7' | i % 2 = 1 | abs(i) = 7
        i + 1 | i // 2 | NOT (i < 0) | i IS NOT NULL AND i >= 0 | CAST(i AS DOUBLE) < 0.5
    """,
    "b": "b | NOT b | b IS TRUE | b = FALSE | CAST(b AS INTEGER) = 1 | b OR b IS NULL",
    "d": """
        year(d) = 2024 | month(d) | quarter(d) | week(d) | day(d) | dayofweek(d) | isodow(d)
        dayofyear(d) | date_trunc('week', d) = DATE '2024-12-30' | d < '2025-01-01' | d + 1
        CAST(d AS VARCHAR) LIKE '2024%' | CAST(d AS TIMESTAMP) >= TIMESTAMP '2025-01-01 00:00:00'
    """,
    "w": """
        hour(w) = 23 | minute(w) | second(w) | date_trunc('hour', w) | CAST(w AS DATE)
        dayofyear(w) | w > TIMESTAMP '2024-12-01 00:00:00'
        EXTRACT(dow FROM w) | CAST(w AS TIME) | year(w)
    """,
}
EACH = [
    (column, sql.strip())
    for column, text in TOLD.items()
    for line in text.strip().splitlines()
    for sql in line.split(" | ")
]


@pytest.fixture(scope="module")
def database():
    with duckdb.connect(":memory:") as opened:
        yield opened


def told(column: str, sql: str, value: Any) -> object:
    node = optional.load("sqlglot").parse_one(sql, dialect="duckdb")
    field = FieldValue(COLUMNS[column][0], 0)
    return value_of(resolve_expression(node, lambda _: field), {0: value})


@pytest.mark.parametrize(("column", "sql"), EACH, ids=[sql for _, sql in EACH])
def test_it_is_what_duckdb_answers(database, column, sql):
    _, kind, values = COLUMNS[column]
    for value in values:
        (answer,) = database.execute(
            f"SELECT {sql} FROM (SELECT CAST(? AS {kind}) AS {column})", [value]
        ).fetchone()
        assert told(column, sql, value) == answer, value


@pytest.mark.parametrize(
    ("column", "sql"),
    [
        ("s", "s LIKE 'n_rth'"),
        ("s", "CAST(s AS DOUBLE) > 1"),
        ("s", "upper(s) = 'NORTH' AND s LIKE '_'"),
        ("i", "sqrt(i) > 2"),
        ("i", "greatest(i, 3) = 3"),
    ],
)
def test_what_is_not_worked_out_is_not_told(column, sql):
    value = COLUMNS[column][2][1 if column == "i" else 0]
    assert told(column, sql, value) is NOT_TOLD


def test_letters_of_other_alphabets_are_left_to_the_engine():
    assert told("s", "s LIKE 'é%'", "école") is NOT_TOLD
    assert told("s", "s = 'école'", "école") is True
