"""Timestamps and times of day from end to end: declared, asked for, shown, kept and replayed."""

import datetime
import json
import zoneinfo
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.core.canonical import described, digest
from discreet.core.errors import DeclarationError, RefusedQuery
from discreet.engines.duckdb.sources.examine import require_source
from discreet.project.declaration_report import source_cautions
from discreet.tables.catalog import Period, PeriodLength
from discreet.tables.column import Column, ColumnType
from discreet.tables.declarations.declaration import read_catalog
from tests.support.projects.clinic import run_exact
from tests.support.projects.memory import MemoryEngine, reveal
from tests.support.projects.neighbours import check_neighbours
from tests.support.projects.plan import plan_of
from tests.support.projects.world import World, unit_of, without_unit

# What clocks in Berlin show: 23:30 of the day before, 01:30 and 02:30 of the day on which the
# clocks are set back, and 02:30 for the second time.
INSTANTS = [
    "2024-10-26T21:30:00+00:00",
    "2024-10-26T23:30:00+00:00",
    "2024-10-27T00:30:00+00:00",
    "2024-10-27T01:30:00+00:00",
    "2024-10-27T23:59:59.999999+00:00",
]
TOML = """
[id_spaces.people]
unit = "a person"
budget = {{ epsilon = 100000, delta = 1e-3 }}
[tables.visits]
source = "visits.{file}"
{more}
id_space = "people"
unit = {unit}
rows_per_group = 5
groups_per_unit = 5
[tables.visits.columns]
person = {{ type = "integer" }}
seen = {{ type = "timestamp", {zone} min = 2024-10-26, max = 2024-10-28 }}
"""


def write(
    folder: Path, file: str, *, zone: str = 'zone = "Europe/Berlin",', unit: str = '"person"'
) -> Path:
    """Write the same instants as one kind of file, with its declaration."""
    moments = [datetime.datetime.fromisoformat(text) for text in INSTANTS]
    kind, _, precision = file.partition("-")
    path = folder / f"visits.{kind}"
    table = pa.table(
        {
            "person": [1, 2, 3, 4, 5],
            "seen": pa.array(moments, pa.timestamp(precision or "us", "UTC")),
        }
    )
    if kind == "csv":
        rows = [f"{i + 1},{text}" for i, text in enumerate(INSTANTS)]
        path.write_text("\n".join(["person,seen", *rows, "6,yesterday", "7,"]) + "\n")
    elif kind == "parquet":
        pq.write_table(table, path)
    elif kind == "arrow":
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table)
    else:
        with duckdb.connect(path) as database:
            database.register("arrow", table)
            database.execute("CREATE TABLE visits AS SELECT * FROM arrow")
    more = 'source_table = "visits"' if kind == "duckdb" else ""
    (folder / "discreet.toml").write_text(TOML.format(file=kind, more=more, zone=zone, unit=unit))
    return folder


FILES = ["csv", "parquet-us", "parquet-ns", "arrow-us", "arrow-ns", "duckdb"]


@pytest.mark.parametrize("file", FILES)
def test_a_day_is_one_of_the_declared_wall_in_every_kind_of_file(tmp_path, file):
    folder = write(tmp_path, file)
    days = "SELECT CAST(seen AS DATE) AS day, COUNT(*) FROM visits GROUP BY day"
    assert run_exact(folder, days)[0].tolist() == [1, 3, 1]
    half_past_two = "SELECT COUNT(*) FROM visits WHERE hour(seen) = 2 AND minute(seen) = 30"
    assert run_exact(folder, half_past_two)[0].tolist() == [2]
    last = "SELECT COUNT(*) FROM visits WHERE seen = TIMESTAMP '2024-10-28 00:59:59.999999'"
    assert run_exact(folder, last)[0].tolist() == [1]
    require_source(read_catalog(folder).table("visits"))


def test_hours_of_a_wall_elsewhere_are_those_of_an_oracle(tmp_path):
    """Each half hour of a week in which clocks are changed, in two engines."""
    folder = write(tmp_path, "parquet-us", zone='zone = "UTC",')
    first = datetime.datetime(2024, 10, 24, tzinfo=datetime.UTC)
    moments = [first + i * datetime.timedelta(minutes=30) for i in range(7 * 48)]
    seen = pa.array([*moments, None], pa.timestamp("us", "UTC"))
    table = pa.table({"person": list(range(len(seen))), "seen": seen})
    pq.write_table(table, folder / "visits.parquet")
    berlin = [moment.astimezone(zoneinfo.ZoneInfo("Europe/Berlin")).hour for moment in moments]
    sql = (
        "SELECT hour(seen AT TIME ZONE 'Europe/Berlin') AS h, COUNT(*) FROM visits GROUP BY h"
        " ORDER BY h"
    )
    expected = [berlin.count(hour) for hour in range(24)]
    assert len(set(expected)) > 1
    assert run_exact(folder, sql)[0].tolist() == expected
    engine = MemoryEngine()
    engine.tables = {"visits": table.set_column(1, "seen", seen.cast(pa.timestamp("us")))}
    assert run_exact(folder, sql, engine=engine)[0].tolist() == expected
    with discreet.connect(folder, epsilon="1000") as connection:
        assert [row[1] for row in connection.sql(sql).rows] == expected


def test_an_instant_needs_a_zone_and_a_zone_is_said_where_nothing_is_stored(tmp_path):
    folder = write(tmp_path, "parquet-us", zone="")
    with pytest.raises(DeclarationError, match="have a zone declared"):
        require_source(read_catalog(folder).table("visits"))
    assert run_exact(folder, "SELECT COUNT(*) FROM visits WHERE seen IS NULL")[0].tolist() == [5]
    wall = pa.table({"person": [1], "seen": pa.array([0], pa.timestamp("s"))})
    pq.write_table(wall, write(tmp_path, "parquet-us") / "visits.parquet")
    assert any("without a time zone" in text for text in source_cautions(read_catalog(folder)))
    write(tmp_path, "parquet-us", zone='zone = "Europe/Berlun",')
    with pytest.raises(DeclarationError, match="no time zone"):
        read_catalog(folder)


def test_every_form_of_an_answer_has_timestamps(tmp_path):
    folder = write(tmp_path, "csv")
    asked = (
        "SELECT date_trunc('hour', seen) AS h, COUNT(*) AS n FROM visits GROUP BY h"
        " HAVING h < TIMESTAMP '2024-10-26 02:00:00'"
    )
    at = datetime.datetime(2024, 10, 26)  # noqa: DTZ001 - a wall, of no zone
    with discreet.connect(folder, epsilon="1000") as connection:
        release = connection.sql(asked)
        assert [row[0] for row in release.rows] == [at, at + datetime.timedelta(hours=1)]
        assert "2024-10-26 01:00:00" in str(release)
        assert "2024-10-26 01:00:00" in release._repr_html_()
        assert release.to_arrow().schema.field("h").type == pa.timestamp("us")
        assert release.to_pandas()["h"][1] == at + datetime.timedelta(hours=1)
        shown = json.loads(json.dumps(release.to_json()))
        assert shown["rows"][1][0] == "2024-10-26T01:00:00"
        again = connection.sql(asked)
        assert again.rows == release.rows
        assert again.to_json()["stored"]
        with pytest.raises(RefusedQuery, match="date_diff"):
            connection.explain("SELECT AVG(seen) FROM visits")
        connection.explain("SELECT MEDIAN(CAST(seen AS DATE)) AS day FROM visits")
        private = connection.sql("SELECT seen, COUNT(*) FROM visits GROUP BY seen", delta="1e-6")
        assert "seen" in private.to_arrow().schema.names
        made_up = connection.rehearse("SELECT hour(seen) AS h, COUNT(*) FROM visits GROUP BY h")
        assert made_up is not None


def test_what_was_stored_before_is_called_as_before():
    """A column and a period without the new parts have the digests that they always had."""
    plain = Column(name="age", type=ColumnType.INTEGER)
    assert set(described(plain)) == {"is", "name", "type", "bounds", "dates", "keys", "nullable"}
    period = Period(length=PeriodLength.DAY, column="day")
    assert set(described(period)) == {"is", "length", "column"}
    zoned = Column(name="seen", type=ColumnType.TIMESTAMP, zone="UTC")
    other = Column(name="seen", type=ColumnType.TIMESTAMP, zone="Europe/Berlin")
    assert digest(described(zoned)) != digest(described(other))
    day = datetime.date(2024, 1, 1)
    midnight = datetime.datetime(2024, 1, 1)  # noqa: DTZ001 - a wall, of no zone
    assert described(day) == {"date": "2024-01-01"}
    assert described(midnight) == {"timestamp": "2024-01-01T00:00:00"}


# ---- Periods.

PERIOD = '{{ column = "person", period = "{}", date = "seen" }}'
REPLAYED = {
    "month": "SELECT hour(seen) AS h, COUNT(*) FROM visits GROUP BY h",
    "day": "SELECT COUNT(*) FROM (SELECT person, CAST(seen AS DATE) AS d, COUNT(*) AS n"
    " FROM visits GROUP BY person, CAST(seen AS DATE))",
    "week": "SELECT date_trunc('day', seen) AS d, COUNT(*), COUNT(DISTINCT person) FROM visits"
    " WHERE seen + INTERVAL 90 MINUTE > '2024-10-26' GROUP BY d",
    "year": "SELECT m, COUNT(*), SUM(CLAMP(n, 0, 9)) FROM (SELECT person,"
    " date_trunc('year', seen) AS m, COUNT(*) AS n, MAX(seen) AS last FROM visits"
    " GROUP BY person, date_trunc('year', seen)) GROUP BY m",
}


def worlds(folder: Path, length: str) -> World:
    declared = write(folder, "parquet-us", unit=PERIOD.format(length)) / "discreet.toml"
    declared.write_text(declared.read_text().replace("= 5", "= 1"))
    catalog = read_catalog(folder)
    first = datetime.datetime(2024, 10, 26, 22)  # noqa: DTZ001 - a wall, of no zone
    rows = [(i % 3, first + datetime.timedelta(minutes=37 * i)) for i in range(60)]
    return World(catalog=catalog, private={"visits": [*rows, (None, first), (1, None)]}, public={})


@pytest.mark.parametrize("length", REPLAYED)
def test_one_person_in_one_period_moves_no_more_than_declared(tmp_path, length):
    world, engine, sql = worlds(tmp_path, length), MemoryEngine(), REPLAYED[length]
    engine.tables = world.arrow()
    plan = plan_of(sql, world.catalog, engine)
    first = reveal(engine, plan)
    table = world.table("visits")
    units = {unit for row in world.private["visits"] if (unit := unit_of(table, row)) is not None}
    moved = []
    for unit in units:
        engine.tables = world.arrow(without_unit(world, unit))
        moved += check_neighbours(plan, first, reveal(engine, plan))
    assert any(part.found.l1 for part in moved)


def test_a_whole_person_moves_more_than_one_of_their_days(tmp_path):
    """The replay has power: who is more than one unit is seen to be."""
    world, engine = worlds(tmp_path, "day"), MemoryEngine()
    engine.tables = world.arrow()
    plan = plan_of(REPLAYED["day"], world.catalog, engine)
    first = reveal(engine, plan)
    rows = [row for row in world.private["visits"] if row[0] != 1]
    engine.tables = world.arrow({"visits": rows})
    with pytest.raises(AssertionError, match="is not within"):
        check_neighbours(plan, first, reveal(engine, plan))


def test_the_whole_unit_is_named_by_its_period(tmp_path):
    world, engine = worlds(tmp_path, "day"), MemoryEngine()
    engine.tables = world.arrow()
    sql = "SELECT COUNT(*) FROM (SELECT DISTINCT person, {} AS d FROM visits)"
    for day in ("seen::DATE", "date_trunc('day', seen)", "date_trunc('day', seen)::DATE"):
        plan_of(sql.format(day), world.catalog, engine)
    for other in ("seen", "date_trunc('hour', seen)", "hour(seen)"):
        with pytest.raises(RefusedQuery, match="date_trunc\\('day', seen\\)"):
            plan_of(sql.format(other), world.catalog, engine)


def test_periods_of_one_id_space_are_in_one_zone(tmp_path):
    folder = write(tmp_path, "parquet-us", unit=PERIOD.format("month"))
    text = (folder / "discreet.toml").read_text()
    second = text[text.index("[tables.visits]") :].replace("visits]", "calls]", 1)
    second = second.replace("tables.visits.columns", "tables.calls.columns")
    (folder / "discreet.toml").write_text(text + second)
    read_catalog(folder)
    (folder / "discreet.toml").write_text(text + second.replace("Europe/Berlin", "UTC"))
    with pytest.raises(DeclarationError, match="another time zone"):
        read_catalog(folder)
