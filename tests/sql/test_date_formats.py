"""Dates as texts: which patterns there are, and which keys they have."""

import datetime
from pathlib import Path

import duckdb
import pytest

from discreet.core.errors import RefusedQuery
from discreet.engines.duckdb.engine import DuckDbEngine
from discreet.sql.parse import parse
from discreet.sql.question import Question
from discreet.sql.resolve import resolve
from discreet.tables.declarations.declaration import parse_catalog
from discreet.tables.keyset import PublicKeys

CATALOG = parse_catalog(
    """
[id_spaces.people]
unit = "a person"
budget = { epsilon = 1 }

[tables.visits]
source = "visits.csv"
id_space = "people"
unit = "person"
rows_per_group = 1
groups_per_unit = 1

[tables.visits.columns]
person = { type = "text" }
day = { type = "date", min = 2024-11-29, max = 2025-02-03 }
seen = { type = "timestamp", min = 2024-12-31, max = 2025-01-01 }
note = { type = "text" }
""",
    Path("/nowhere/discreet.toml"),
)
DAYS = [datetime.date(2024, 11, 29) + datetime.timedelta(days=i) for i in range(67)]


def asked(sql: str) -> Question:
    return resolve(parse(sql), CATALOG, DuckDbEngine().public_rows)


def keys_of(expression: str) -> list[object]:
    keys = asked(f"SELECT {expression} AS k, COUNT(*) FROM visits GROUP BY 1").keys
    assert isinstance(keys, PublicKeys)
    return [key for (key,) in keys.sets[0].rows]


EXACT = ["%Y", "%Y-%m", "%Y-%m-%d", "%Y/%m", "%Y.%m.%d", "%Y%m", "%Y%m%d"]
"""Patterns whose keys are the texts of the declared days, and no others."""


@pytest.mark.parametrize("pattern", EXACT)
def test_keys_are_those_that_duckdb_writes(pattern):
    rows = duckdb.execute(
        "SELECT DISTINCT strftime(day, ?) FROM (SELECT unnest(?::DATE[]) AS day)", [pattern, DAYS]
    ).fetchall()
    assert keys_of(f"strftime(day, '{pattern}')") == sorted(text for (text,) in rows)


PARTS = ["%m", "%d", "%B", "%b", "%A", "%a", "%H", "%Y-%m-%d %H", "%Y-%m-%d %H:%M"]


@pytest.mark.parametrize("pattern", PARTS)
def test_keys_hold_all_that_duckdb_writes(pattern):
    moments = [f"2024-12-31 {hour:02}:59:00" for hour in range(24)]
    (found,) = duckdb.execute(
        "SELECT list(DISTINCT strftime(t, ?)) FROM (SELECT unnest(?::TIMESTAMP[]) AS t)",
        [pattern, moments],
    ).fetchall()
    assert set(found[0]) <= set(keys_of(f"strftime(seen, '{pattern}')"))


@pytest.mark.parametrize(
    ("written", "usual"),
    [
        ("to_char(day, 'YYYY-MM')", "strftime(day, '%Y-%m')"),
        ("strftime('%Y-%m', day)", "strftime(day, '%Y-%m')"),
        ("monthname(day)", "strftime(day, '%B')"),
        ("dayname(day)", "to_char(day, 'FMDay')"),
    ],
)
def test_other_words_mean_the_same(written, usual):
    assert keys_of(written) == keys_of(usual)


@pytest.mark.parametrize(
    "written",
    [
        "to_date('03.01.2025', 'DD.MM.YYYY')",
        "to_date('2025-01-03')",
        "TO_DATE('20250103', '%Y%m%d')",
        "'2025-01-03'::date",
    ],
)
def test_constants_are_read_as_days(written):
    sql = "SELECT COUNT(*) AS n FROM visits WHERE day > {}"
    assert asked(sql.format(written)) == asked(sql.format("DATE '2025-01-03'"))


@pytest.mark.parametrize(
    ("written", "word"),
    [
        ("strftime(day, '%c')", "%Y-%m"),
        ("strftime(day, '%d.%m.%Y')", "date_trunc"),
        ("strftime(day, note)", "constant"),
        ("to_char(day, note)", "constant"),
        ("to_char(day, 'Month')", "FMMonth"),
        ("to_char(day, 'YYYY%m')", "YYYY"),
        ("to_date(note, 'YYYY')", "declared as a date"),
        ("strptime(note, '%Y')", "declared as a date"),
        ("to_date('31.12.2024', 'YYYY-MM-DD')", "DATE '2024-12-31'"),
        ("to_date('x', 'x')", "YYYY"),
        ("strptime('5', '%j')", "format beside it"),
    ],
)
def test_what_is_refused_says_what_to_write(written, word):
    with pytest.raises(RefusedQuery) as caught:
        asked(f"SELECT COUNT(*) FROM visits WHERE {written} IS NULL")
    assert word in str(caught.value)


@pytest.mark.parametrize(
    ("aggregate", "words"),
    [
        ("BOOL_OR(note = 'x')", ("BOOL_OR", "noise hides", "COUNT(*) FILTER")),
        ("BOOL_AND(note = 'x')", ("BOOL_AND", "WHERE NOT")),
        ("LOGICAL_OR(note = 'x')", ("BOOL_OR",)),
        ("MODE(note) + 1", ("MODE", "ORDER BY COUNT(*) DESC LIMIT 1")),
        ("LISTAGG(note, ',')", ("STRING_AGG", "single rows")),
        ("STRING_AGG(note, ',')", ("STRING_AGG", "single rows")),
        ("ARRAY_AGG(note)", ("single rows", "GROUP BY")),
        ("ANY_VALUE(note)", ("single rows", "GROUP BY")),
    ],
)
def test_aggregates_that_are_refused_say_what_to_write(aggregate, words):
    with pytest.raises(RefusedQuery) as caught:
        asked(f"SELECT {aggregate} AS x FROM visits")
    assert all(word in str(caught.value) for word in words)
