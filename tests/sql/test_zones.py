"""AT TIME ZONE: a column on the wall of another zone, and when that is not known.

The oracle is Python's own arithmetic on single values, and DuckDB's where it has zones.
"""

import datetime
import zoneinfo

import duckdb
import numpy as np
import pytest
import sqlglot

from discreet.core.errors import RefusedQuery
from discreet.engines.duckdb.render.expression import expression
from discreet.sql.expressions.expression import resolve_expression
from discreet.sql.parse import parse
from discreet.sql.resolve import resolve
from discreet.tables.column import ColumnType, DateRange
from discreet.tables.declarations.declaration import read_catalog
from discreet.tables.expression import FieldValue
from discreet.tables.functions.proposal import propose_dates
from discreet.tables.functions.zones import YEARS, clocks_of, on_wall_of
from discreet.tables.relations.relation import Field

# Half an hour of summer, summer that counts as usual, whole days left out, months without summer.
ZONES = [
    "Europe/Berlin",
    "Europe/Dublin",
    "Asia/Kolkata",
    "Australia/Lord_Howe",
    "Pacific/Apia",
    "Africa/Casablanca",
]
MOMENT = FieldValue(ColumnType.TIMESTAMP, 0)
SECOND, HOUR = datetime.timedelta(seconds=1), datetime.timedelta(hours=1)
FIRST, LAST = (datetime.datetime(year, 1, 1) for year in (YEARS[0], YEARS[1] + 1))  # noqa: DTZ001
ENDS = [datetime.datetime.min, datetime.datetime.max, FIRST, LAST - SECOND]  # noqa: DTZ901


def walls(moments, value):
    """Return what an engine makes of timestamps."""
    with duckdb.connect() as engine:
        engine.execute("SET threads TO 1")
        wanted = np.array(moments, dtype="datetime64[us]")
        engine.register("moments", {"place": np.arange(len(wanted)), "moment": wanted})
        sql = expression(value, ["moment"]) if not isinstance(value, str) else value
        rows = engine.execute(f"SELECT {sql} FROM moments ORDER BY place").fetchall()
    return [row[0] for row in rows]


def shown(moment, zone, *, behind=0, last=LAST):
    """Return what clocks of a zone show; outside the years they are as at the nearest end."""
    if moment is None:
        return None
    start = FIRST if last == LAST else datetime.datetime(last.year - 1, 1, 1)  # noqa: DTZ001
    inside = min(max(moment, start), last - SECOND) + behind * HOUR
    there = inside.replace(tzinfo=datetime.UTC).astimezone(zoneinfo.ZoneInfo(zone))
    try:
        return moment + behind * HOUR + there.utcoffset()
    except OverflowError:
        return None


def moments_for(zone, rng):
    """Return moments of all years, each sixth hour of some, and those around changes of clocks."""
    seconds = [int(word) % int((LAST - FIRST) / SECOND) for word in rng.words(500)]
    years = [YEARS[0] + int(word) % 200 for word in rng.words(3)]
    changes = clocks_of(zone).changes
    return [
        *ENDS,
        *(FIRST + second * SECOND for second in seconds),
        *(datetime.datetime(y, 1, 1) + 6 * i * HOUR for y in years for i in range(1_460)),  # noqa: DTZ001
        *(change + near for change in changes for near in (-SECOND / 10**6, 0 * SECOND, SECOND)),
        None,
    ]


@pytest.mark.parametrize("zone", ZONES)
def test_a_wall_shows_what_the_time_zone_database_says(zone, rng):
    moments = moments_for(zone, rng)
    found = walls(moments, on_wall_of(zone, MOMENT, "UTC"))
    assert found == [shown(moment, zone) for moment in moments]
    assert len(set(clocks_of(zone).ahead)) > 1


def test_a_column_that_is_not_in_utc_is_read_where_it_is(rng):
    """Clocks of Etc/GMT+5 are five hours behind, the whole year."""
    moments = moments_for("Europe/Berlin", rng)[4:]
    found = walls(moments, on_wall_of("Europe/Berlin", MOMENT, "Etc/GMT+5"))
    assert found == [shown(moment, "Europe/Berlin", behind=5) for moment in moments]
    found = walls(moments, on_wall_of("Asia/Kolkata", MOMENT, "Asia/Tokyo", years(1990, 2020)))
    assert found[:-1] == [moment - 3.5 * HOUR for moment in moments[:-1]]


def test_it_is_what_the_engine_itself_makes_of_recent_years(rng):
    zones = ["Europe/Berlin", "Europe/Dublin", "Asia/Kolkata", "Australia/Lord_Howe"]
    first = datetime.datetime(1980, 1, 1)  # noqa: DTZ001
    moments = [first + int(word) % (50 * 365 * 86_400) * SECOND for word in rng.words(2_000)]
    for zone in zones:
        changes = clocks_of(zone).between(1981, 2030).changes
        asked = [*moments, *changes, *(change - SECOND for change in changes)]
        try:
            own = walls(asked, f"timezone('{zone}', timezone('UTC', moment))")
        except duckdb.Error:
            pytest.skip("DuckDB has no time zones here")
        assert walls(asked, on_wall_of(zone, MOMENT, "UTC")) == own


def years(first, last):
    return DateRange(first=datetime.date(first, 6, 1), last=datetime.date(last, 6, 1))


def test_a_declared_range_says_in_which_years_changes_are_looked_for():
    value = on_wall_of("Europe/Berlin", MOMENT, "UTC", years(2024, 2024))
    year = datetime.datetime(2024, 1, 1)  # noqa: DTZ001
    moments = [year + i * 6 * HOUR for i in range(-4_000, 4_000)]
    last = datetime.datetime(2025, 1, 1)  # noqa: DTZ001
    found = walls(moments, value)
    assert found == [shown(moment, "Europe/Berlin", last=last) for moment in moments]
    assert found != [shown(moment, "Europe/Berlin") for moment in moments]
    wide = DateRange(first=datetime.date.min, last=datetime.date.max)
    assert on_wall_of("Europe/Berlin", MOMENT, "UTC", wide) == on_wall_of(
        "Europe/Berlin", MOMENT, "UTC"
    )
    past = on_wall_of("Europe/Berlin", MOMENT, "UTC", years(1700, 1710))
    assert walls([year], past) == [year + HOUR]


def test_the_range_of_the_result_follows():
    days = DateRange(first=datetime.date(2024, 1, 1), last=datetime.date(2024, 12, 31))
    known = [Field(name="seen", type=MOMENT.type, dates=days, zone="UTC")]
    for zone, first, last in [
        ("Europe/Berlin", datetime.date(2024, 1, 1), datetime.date(2025, 1, 1)),
        ("America/New_York", datetime.date(2023, 12, 31), datetime.date(2024, 12, 31)),
    ]:
        found = propose_dates(on_wall_of(zone, MOMENT, "UTC", days), known)
        assert found == DateRange(first=first, last=last)


def test_the_same_clocks_change_nothing():
    assert on_wall_of("Europe/Berlin", MOMENT, "Europe/Berlin") == MOMENT
    assert on_wall_of("Etc/UTC", MOMENT, "UTC") == MOMENT


# ---- Written in a query.

COLUMNS = {
    "u": Field(name="u", type=ColumnType.TIMESTAMP, zone="UTC"),
    "b": Field(name="b", type=ColumnType.TIMESTAMP, zone="Europe/Berlin"),
    "w": Field(name="w", type=ColumnType.TIMESTAMP),
    "d": Field(name="d", type=ColumnType.DATE),
    "s": Field(name="s", type=ColumnType.TEXT),
}


def read(sql):
    fields = list(COLUMNS.values())
    return resolve_expression(
        sqlglot.parse_one(f"SELECT {sql}", dialect="duckdb").expressions[0],
        lambda node: FieldValue(COLUMNS[node.name].type, list(COLUMNS).index(node.name)),
        lambda value: fields[value.index] if isinstance(value, FieldValue) else None,
    )


@pytest.mark.parametrize(
    "sql",
    [
        "timezone('Europe/Berlin', u)",
        "(u) AT TIME ZONE ('Europe/Berlin')",
        "u AT TIME ZONE 'UTC' AT TIME ZONE 'Europe/Berlin'",
        "CAST(u AS TIMESTAMP) AT TIME ZONE 'Europe/Berlin'",
    ],
)
def test_several_forms_mean_the_same(sql):
    value = on_wall_of("Europe/Berlin", FieldValue(ColumnType.TIMESTAMP, 0), "UTC")
    assert read(sql) == value


REFUSED = {
    "b AT TIME ZONE 'UTC'": r'show twice is two hours in UTC.*zone = "UTC" declared',
    "w AT TIME ZONE 'UTC'": "No zone is declared for column 'w'.*instant",
    "u AT TIME ZONE 'Asia/Tokyo' AT TIME ZONE 'Europe/Berlin'": "computed.*once",
    "(u + INTERVAL 1 DAY) AT TIME ZONE 'Europe/Berlin'": "computed",
    "TIMESTAMP '2024-01-01 00:00:00' AT TIME ZONE 'Europe/Berlin'": "computed",
    "d AT TIME ZONE 'UTC'": "no timestamp.*of type date",
    "u AT TIME ZONE s": "not a constant",
    "u AT TIME ZONE INTERVAL 1 HOUR": "not a constant",
    "timezone(s, u)": "not a constant",
    "timezone('Europe/Berlin')": "not on the list",
    "u AT TIME ZONE 'europe/berlin'": r"Did you mean Europe/Berlin\?",
    "u AT TIME ZONE 'localtime'": "not known here",
    "u AT TIME ZONE '../UTC'": "not known here",
    "u AT TIME ZONE 'right/UTC'": "not known here",
    "u AT TIME ZONE ''": "not known here",
}


@pytest.mark.parametrize(("sql", "reason"), REFUSED.items(), ids=list(REFUSED))
def test_what_is_refused_says_why(sql, reason):
    with pytest.raises(RefusedQuery, match=reason) as refused:
        read(sql)
    assert len(str(refused.value)) < 500


TOML = """
[id_spaces.people]
unit = "a person"
budget = { epsilon = 1 }
[tables.visits]
source = "visits.parquet"
id_space = "people"
unit = "person"
rows_per_group = 1
groups_per_unit = 1
[tables.visits.columns]
person = { type = "integer" }
seen = { type = "timestamp", zone = "UTC", min = 2024-01-01, max = 2024-12-31 }
left = { type = "timestamp", zone = "Europe/Berlin" }
"""
BERLIN = "AT TIME ZONE 'Europe/Berlin'"
ASKED = {
    f"SELECT hour(t {BERLIN}) AS h, COUNT(*) FROM (SELECT seen AS t FROM visits) GROUP BY h": True,
    f"WITH a AS (SELECT person, MIN(seen) AS t FROM visits GROUP BY person)"
    f" SELECT COUNT(*) FROM a WHERE hour(t {BERLIN}) = 3": True,
    f"SELECT COUNT(*) FROM (SELECT person, hour(MAX(seen) {BERLIN}) AS h FROM visits"
    " GROUP BY person) WHERE h = 3": True,
    f"SELECT COUNT(*) FROM (SELECT seen AS t FROM visits UNION ALL SELECT seen FROM visits)"
    f" WHERE hour(t {BERLIN}) = 3": True,
    f"SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM visits o WHERE o.person = v.person"
    f" AND o.seen {BERLIN} = v.left {BERLIN})": True,
    f"SELECT COUNT(*) FROM (SELECT seen AS t FROM visits UNION ALL SELECT left FROM visits)"
    f" WHERE hour(t {BERLIN}) = 3": False,
    f"SELECT hour(t {BERLIN}) AS h, COUNT(*) FROM (SELECT seen + INTERVAL 1 HOUR AS t FROM visits)"
    " GROUP BY h": False,
    f"SELECT hour(t {BERLIN}) AS h, COUNT(*) FROM (SELECT seen {BERLIN} AS t FROM visits)"
    " GROUP BY h": False,
}


@pytest.mark.parametrize(("sql", "is_known"), ASKED.items())
def test_a_column_keeps_its_zone_where_it_is_passed_on(tmp_path, sql, is_known):
    (tmp_path / "discreet.toml").write_text(TOML)
    catalog = read_catalog(tmp_path)
    if is_known:
        resolve(parse(sql), catalog, lambda _: ())
        return
    with pytest.raises(RefusedQuery, match="AT TIME ZONE"):
        resolve(parse(sql), catalog, lambda _: ())


def test_each_conversion_counts_as_work_however_it_is_read(tmp_path):
    (tmp_path / "discreet.toml").write_text(TOML)
    catalog = read_catalog(tmp_path)
    hours = ", ".join(f"hour(seen {BERLIN}) AS h{i}" for i in range(8))
    one = f"(SELECT {hours} FROM visits)"
    resolve(parse(f"SELECT COUNT(*) FROM {one} WHERE h0 = 3"), catalog, lambda _: ())
    all_of_them = " UNION ALL ".join([f"SELECT * FROM {one}"] * 6)
    with pytest.raises(RefusedQuery, match="too large"):
        resolve(parse(f"SELECT COUNT(*) FROM ({all_of_them})"), catalog, lambda _: ())
    read_often = f"WITH a AS {one} SELECT COUNT(*) FROM ({'SELECT * FROM a UNION ALL ' * 5}{one})"
    with pytest.raises(RefusedQuery, match="too large"):
        resolve(parse(read_often), catalog, lambda _: ())


def test_a_name_that_stands_for_a_conversion_is_not_written_out_without_end(tmp_path):
    """Of a column without a range, each use has every change of two hundred years."""
    (tmp_path / "discreet.toml").write_text(
        TOML.replace(", min = 2024-01-01, max = 2024-12-31", "")
    )
    catalog = read_catalog(tmp_path)
    where = " AND ".join(f"h <> {i}" for i in range(60))
    item = f"hour(seen {BERLIN}) AS h"
    with pytest.raises(RefusedQuery, match="conditions of a SELECT are too large"):
        resolve(
            parse(f"SELECT {item}, COUNT(*) FROM visits WHERE {where} GROUP BY h"),
            catalog,
            lambda _: (),
        )
    around = f"SELECT h, COUNT(*) FROM (SELECT {item} FROM visits) WHERE {where} GROUP BY h"
    resolve(parse(around), catalog, lambda _: ())
