"""Which keys there are is free, also of timestamps and where they are those of a public table."""

import datetime

import duckdb
import pytest

from discreet.core.errors import DeclarationError, DiscreetError
from discreet.releases.free_answer import FreeAnswer
from discreet.roles.connection import connect
from discreet.tables.declarations.declaration import read_catalog

DECLARATION = """
[id_spaces.people]
unit = "a person"
budget = { epsilon = 100000 }

[tables.visits]
source = "visits.csv"
id_space = "people"
unit = "person"
rows_per_unit = 1

[tables.visits.columns]
person = { type = "text" }
clinic = { type = "text", keys = { table = "clinics", column = "clinic" } }
slot = { type = "timestamp", keys = [2025-01-01T08:00:00, 2025-01-01T20:00:00] }
seen = { type = "timestamp", min = 2025-01-01, max = 2025-03-31 }

[public_tables.clinics]
source = "clinics.csv"

[public_tables.clinics.columns]
clinic = { type = "text" }
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("keys")
    (made / "discreet.toml").write_text(DECLARATION, encoding="utf-8")
    (made / "clinics.csv").write_text("clinic\nwest\neast\nwest\n", encoding="utf-8")
    (made / "visits.csv").write_text(
        "person,clinic,slot,seen\n"
        "p,east,2025-01-01 08:00:00,2025-02-03 10:30:00\n"
        "q,north,2025-01-01 09:00:00,2025-02-03 10:30:00\n"
        "r,west,2025-01-01 20:00:00,2025-03-31 23:59:59\n",
        encoding="utf-8",
    )
    return made


@pytest.fixture(scope="module")
def connection(folder):
    with connect(folder, epsilon=1000) as opened:
        yield opened


def moment(month: int, day: int, hour: int = 0) -> datetime.datetime:
    return datetime.datetime.combine(datetime.date(2025, month, day), datetime.time(hour))


EIGHT, TWENTY = moment(1, 1, 8), moment(1, 1, 20)

FREE = {
    "SELECT DISTINCT clinic FROM visits": [("east",), ("west",)],
    "SELECT clinic FROM visits WHERE clinic LIKE 'w%' GROUP BY clinic": [("west",)],
    "SELECT DISTINCT COALESCE(clinic, '?') AS c FROM visits": [("?",), ("east",), ("west",)],
    "SELECT COALESCE(clinic, '?') AS c FROM visits GROUP BY 1": [("?",), ("east",), ("west",)],
    "SELECT COALESCE(clinic, '?') AS c FROM visits GROUP BY c": [("?",), ("east",), ("west",)],
    "SELECT COALESCE(clinic, '?') AS c FROM visits GROUP BY ALL": [("?",), ("east",), ("west",)],
    "SELECT COALESCE(clinic, '?') FROM visits GROUP BY (COALESCE(clinic, '?'))": [
        ("?",),
        ("east",),
        ("west",),
    ],
    "SELECT COALESCE(clinic, '?') AS c, slot FROM visits WHERE slot > '2025-01-01 12:00'"
    " GROUP BY c, visits.slot": [("?", TWENTY), ("east", TWENTY), ("west", TWENTY)],
    "SELECT clinic IS NULL AS c, clinic AS d FROM visits GROUP BY 2, c": [
        (False, "east"),
        (False, "west"),
    ],
    "SELECT COALESCE(clinic, '?') AS c FROM visits GROUP BY clinic": [("east",), ("west",)],
    "SELECT COALESCE(clinic, '?') AS clinic FROM visits GROUP BY clinic": [("east",), ("west",)],
    "SELECT DISTINCT clinic || '!' AS c FROM visits ORDER BY c LIMIT 2": [("east!",), ("west!",)],
    "SELECT DISTINCT clinic IS NULL AS c FROM visits": [(False,), (True,)],
    "SELECT DISTINCT COALESCE(clinic, '?') AS c FROM visits WHERE clinic > 'f'": [("west",)],
    "SELECT DISTINCT slot FROM visits": [(EIGHT,), (TWENTY,)],
    "SELECT DISTINCT clinic, hour(slot) AS h FROM visits WHERE slot > '2025-01-01 12:00'": [
        ("east", 20),
        ("west", 20),
    ],
    "SELECT DISTINCT DATE_TRUNC('month', seen) AS m FROM visits": [
        (moment(month, 1),) for month in (1, 2, 3)
    ],
    "SELECT DISTINCT strftime(seen, '%Y-%m') AS m FROM visits WHERE month(seen) > 1": [
        ("2025-02",),
        ("2025-03",),
    ],
    "SELECT DISTINCT EXTRACT(hour FROM seen) AS h FROM visits": [(hour,) for hour in range(24)],
    "SELECT DISTINCT CAST(seen AS DATE) AS d FROM visits WHERE day(seen) = 31": [
        (datetime.date(2025, month, 31),) for month in (1, 3)
    ],
    (
        "SELECT DISTINCT DATE_TRUNC('hour', seen) AS h FROM visits"
        " WHERE day(seen) = 31 AND hour(seen) = 9"
    ): [(moment(month, 31, 9),) for month in (1, 3)],
}


@pytest.mark.parametrize("sql", FREE)
def test_keys_are_told_for_nothing(connection, sql):
    before = connection.history()
    answer = connection.sql(sql)
    assert isinstance(answer, FreeAnswer)
    assert sorted(answer.rows) == FREE[sql]
    assert connection.history() == before
    assert "nothing" in str(connection.explain(sql))


def test_listed_moments_hold_every_value_of_what_is_asked(folder):
    """Against DuckDB over every minute of the range, which has all values."""
    minutes = "range(TIMESTAMP '2025-01-01', TIMESTAMP '2025-04-01', INTERVAL 1 MINUTE)"
    asked = [sql for sql in FREE if "seen" in sql]
    with duckdb.connect(":memory:") as database:
        database.execute(f"CREATE TABLE visits AS SELECT unnest({minutes}) AS seen")
        for sql in asked:
            assert sorted(database.sql(sql).fetchall()) == FREE[sql]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT DISTINCT seen FROM visits",
        "SELECT DISTINCT DATE_TRUNC('minute', seen) AS m FROM visits",
        "SELECT DISTINCT month(seen) AS m FROM visits WHERE seen > '2025-02-01 10:00'",
        "SELECT DISTINCT strftime(seen, '%M') AS m FROM visits",
    ],
)
def test_finer_parts_are_not_known(connection, sql):
    with pytest.raises(DiscreetError):
        connection.sql(sql)


def test_declared_timestamps_are_the_groups(connection):
    release = connection.sql("SELECT slot, COUNT(*) AS n FROM visits GROUP BY slot")
    assert release.rows == ((EIGHT, 1), (TWENTY, 1))


@pytest.mark.parametrize("key", ["2025-01-01T08:00:00Z", "2025-01-01", '"2025-01-01 08:00"'])
def test_only_moments_on_the_wall_are_keys(tmp_path, key):
    text = DECLARATION.replace("2025-01-01T20:00:00", key)
    (tmp_path / "discreet.toml").write_text(text, encoding="utf-8")
    with pytest.raises(DeclarationError, match=r"keys\.1"):
        read_catalog(tmp_path)
