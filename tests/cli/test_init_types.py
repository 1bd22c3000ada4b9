"""Types, ranges and limits of a first declaration: proposed with consent, confirmed, written."""

import csv
import datetime
import json
import tomllib
from pathlib import Path
from typing import Any

import duckdb
import pytest

from discreet.cli.commands.init import InitWishes, begin
from discreet.cli.first_project import ProfileWishes
from discreet.cli.init_replies import InitReplies
from discreet.cli.main import main
from discreet.core.errors import InvalidArgument
from discreet.engines.duckdb.public_ranges import public_ranges
from discreet.engines.duckdb.sources.declared_values import SQL_TYPES, read_value
from discreet.engines.duckdb.sources.stored_columns import StoredKind, stored_columns
from discreet.engines.duckdb.sources.value_kinds import MISSING, with_value_kinds
from discreet.randomness.rng import SystemRng
from discreet.tables.column import Bounds, ColumnType, DateRange
from discreet.tables.declarations.declaration import read_catalog
from discreet.tables.source import Source, SourceFormat

KNOWN = InitReplies(
    id_space="planes", unit="tail", budget="epsilon = 2", unit_words="an aircraft", rows_per_unit=3
)

COLUMNS: dict[str, tuple[str, list[str]]] = {
    "tail": ("text", ["N1", "N2", "N3"]),
    "whole": ("integer", ["-3", " 12 ", "999999999999999999"]),
    "real": ("real", ["1", "-2.5", "1e-3"]),
    "few": ("integer", ["NA", "", "7"]),
    "truth": ("boolean", ["true", "F", "TRUE"]),
    "day": ("date", ["2025-01-31", "n/a", "1999-12-01"]),
    "seen": ("timestamp", ["2025-01-31 10:00", "2025-01-31", "2025-01-31T10:00:00.5"]),
    "at": ("time", ["10:00", "23:59:59", ""]),
    "code": ("text", ["007", "12", "13"]),
    "long": ("text", ["12345678901234567890", "1", "2"]),
    "mixed": ("text", ["1", "2025-01-31", "true"]),
    "yes": ("text", ["Y", "N", "Y"]),
    "nothing": ("text", ["", "NA", "-"]),
    "comma": ("text", ["1,5", "2,5", "3"]),
    "odd": ("text", ["1", "2", "three"]),
}


def write_csv(file: Path, columns: dict[str, list[str]]) -> Path:
    with file.open("w", newline="") as opened:
        writer = csv.writer(opened)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return file


@pytest.fixture
def flights(tmp_path: Path) -> Path:
    return write_csv(tmp_path / "flights.csv", {name: rows for name, (_, rows) in COLUMNS.items()})


def source(file: Path) -> Source:
    return Source(path=file, format=SourceFormat.CSV)


def kinds(file: Path) -> dict[str, StoredKind]:
    columns = stored_columns(file, source(file), "it")[None]
    return {one.name: one.kind for one in with_value_kinds(source(file), columns)}


def types(project: Path) -> dict[str, str]:
    declared = tomllib.loads((project / "discreet.toml").read_text())
    return {name: one["type"] for name, one in declared["tables"]["flights"]["columns"].items()}


def test_with_consent_each_type_is_the_one_that_all_values_have(flights):
    begin([str(flights)], flights.parent, KNOWN, None, InitWishes(look_at_types=True))
    assert types(flights.parent) == {name: kind for name, (kind, _) in COLUMNS.items()}
    assert read_catalog(flights.parent).tables


def test_without_consent_no_row_is_read(flights):
    with flights.open("ab") as file:
        file.write(b'"\xff\x00' * 1000)
    begin([str(flights)], flights.parent, KNOWN, None)
    assert set(types(flights.parent).values()) == {"text"}


def test_nothing_but_types_is_kept_of_rows(flights):
    begin([str(flights)], flights.parent, KNOWN, None, InitWishes(look_at_types=True))
    text = (flights.parent / "discreet.toml").read_text()
    declared = text.partition("[tables.flights.columns]")[2]
    for value in ("N1", "1999", "007", "999999", "2.5", "23:59"):
        assert value not in declared
    settings = tomllib.loads(text)["tables"]["flights"]["columns"].values()
    assert {key for one in settings for key in one} == {"type"}  # no range, keys or nullability


def test_what_is_proposed_reads_as_the_engine_reads_it(flights):
    """The other side: no value of a proposed type becomes NULL, except for words for no value."""
    catalog = {kind.value: sql for kind, sql in SQL_TYPES.items()}
    missing = {"", *(word.lower() for word in MISSING)}
    for kind, rows in COLUMNS.values():
        for value in rows if kind not in ("timestamp", "time") else []:
            found = duckdb.execute(f"SELECT TRY_CAST(? AS {catalog[kind]})", [value]).fetchall()
            assert found != [(None,)] or value.lower() in missing


ODD_CLOCKS = {
    "month": ["2020-01-01", "2020-13-01"],
    "february": ["2020-02-29", "2020-02-30"],
    "century": ["2000-02-29", "1900-02-29"],
    "year": ["0001-01-01", "0000-01-01"],
    "seen": ["2020-01-01 10:00", "2020-02-30 10:00"],
    "hour": ["2020-01-01 10:00", "2020-01-01 24:00"],
    "zone": ["2020-01-01T10:00Z", "2020-01-01T10:00+99"],
    "at": ["23:59", "25:00"],
    "minute": ["10:00", "10:60"],
}


def test_what_no_calendar_or_clock_shows_is_text(tmp_path):
    file = write_csv(tmp_path / "odd.csv", ODD_CLOCKS)
    assert set(kinds(file).values()) == {StoredKind.TEXT}
    file = write_csv(tmp_path / "even.csv", {name: both[:1] for name, both in ODD_CLOCKS.items()})
    assert StoredKind.TEXT not in kinds(file).values()


def test_a_date_is_proposed_for_just_the_days_that_are_read_as_one(tmp_path):
    days = [day for name in ("month", "february", "century", "year") for day in ODD_CLOCKS[name]]
    days += ["9999-12-31", "1582-10-10", " 2024-02-29\t", "2023-02-29", "2024-04-31"]
    file = write_csv(tmp_path / "days.csv", {f"d{i}": [day] for i, day in enumerate(days)})
    read = read_value(ColumnType.DATE, "?::VARCHAR")
    values = [duckdb.execute(f"SELECT {read}", [day] * read.count("?")).fetchone() for day in days]
    found = [kind is StoredKind.DATE for kind in kinds(file).values()]
    assert found == [value != (None,) for value in values]


@pytest.mark.parametrize("is_public", [False, True])
def test_cells_that_cannot_be_decoded_are_said(tmp_path, is_public):
    file = tmp_path / "flights.csv"
    file.write_bytes("tail,city\nN1,Köln\nN2,Bonn\n".encode("cp1252"))
    wishes = InitWishes(look_at_types=True, public=(str(file),) if is_public else ())
    known = InitReplies() if is_public else KNOWN
    shown = begin([] if is_public else [str(file)], tmp_path, known, None, wishes)
    (doubt,) = shown.data["doubts"]
    assert doubt.startswith("flights.city has cells that are no text in utf-8")
    said = " ".join(shown.text.split())
    assert "encoding =" in said
    assert "It fits" not in said
    assert "encoding" not in (tmp_path / "discreet.toml").read_text()  # nothing of it is kept


def test_times_with_a_zone_leave_open_whose_wall_it_is(tmp_path):
    file = write_csv(
        tmp_path / "flights.csv", {"tail": ["a"], "seen": ["2025-01-31T10:00:00+02:00"]}
    )
    shown = begin([str(file)], tmp_path, KNOWN, None, InitWishes(look_at_types=True))
    assert shown.data["open"] == ["zone"]
    assert 'zone = "?"' in (tmp_path / "discreet.toml").read_text()


def test_a_late_odd_value_counts_in_a_large_file(tmp_path):
    rows = [str(i) for i in range(150_000)]
    file = write_csv(tmp_path / "flights.csv", {"whole": rows, "late": [*rows[:-1], "x"]})
    assert kinds(file) == {"whole": StoredKind.INTEGER, "late": StoredKind.TEXT}


# ---- Confirmed on a terminal.


def asker(*replies: str):
    left, asked = list(replies), []

    def ask(question: str) -> str:
        asked.append(question)
        return left.pop(0)

    return ask, asked


def test_types_are_shown_and_changed_before_they_are_written(flights):
    ask, asked = asker("y", "4-5 text, odd integer", "7 nonsense", "99 text", "nobody text", "x",
                       "nothing none, 1 text, 1 text", "", "no")  # fmt: skip
    begin([str(flights)], flights.parent, KNOWN, ask)
    assert "Types depend on every value, so on people" in asked[0]
    assert "   2  whole    integer" in asked[1]
    assert "There is no such type" in asked[3]
    assert "be from 1 to 15" in asked[4]
    assert "There is no such column" in asked[5]
    assert "That is no change" in asked[6]
    found = types(flights.parent)
    assert (found["few"], found["truth"], found["odd"]) == ("text", "text", "integer")
    assert "nothing" not in found


def test_who_says_no_gets_text_and_can_still_say_types(flights):
    ask, _ = asker("", "2-4 integer", "y", "n")
    begin([str(flights)], flights.parent, KNOWN, ask)
    assert list(types(flights.parent).values()).count("integer") == 3


def test_types_as_options(flights, capsys):
    options = ["--look-at-types", "--type", "odd=real", "--type", "nothing=none"]
    options += ["--project", str(flights.parent), "--json"]
    assert main(["init", str(flights), *options]) == 0
    found = types(flights.parent)
    assert found["odd"] == "real"
    assert "nothing" not in found
    for bad in ("odd", "odd=number", "nobody=text"):
        project = str(flights.parent / "other")
        assert main(["init", str(flights), "--type", bad, "--project", project]) == 2
        assert "[invalid_argument]" in capsys.readouterr().err


def test_a_type_is_of_one_column(tmp_path, capsys):
    """Nothing is declared of columns whose names differ only in case: the file has to change."""
    file = tmp_path / "visits.csv"
    file.write_text("p,P,age,p,\n1,2,3,4,5\n")

    def said(*types: str) -> str:
        options = [part for one in types for part in ("--type", one)]
        done = main(["init", str(file), *options, "--project", str(tmp_path)])
        (tmp_path / "discreet.toml").unlink(missing_ok=True)
        return capsys.readouterr().err if done else ""

    for name in ("p", "P"):
        assert "another column has the same name" in said(f"{name}=integer")
    assert "it has no name" in said("=integer")
    assert "names a column twice" in said("age=integer", "AGE=real")
    assert not said("age=integer", "P=none")
    ask, asked = asker("n", "2 integer", "1 none, age integer", "", "age", "no")
    begin([str(file)], tmp_path, KNOWN, ask)
    assert "another column has the same name" in asked[2]
    declared = tomllib.loads((tmp_path / "discreet.toml").read_text())
    assert declared["tables"]["visits"]["columns"] == {"age": {"type": "integer"}}


# ---- Public files.

PUBLIC = {
    "faa": ["EWR", "JFK", "LGA"],
    "altitude": ["18", "13", "22"],
    "latitude": ["40.6925", "40.64", "-1.5"],
    "opened": ["1928-10-01", "1948-07-01", "1939-12-02"],
    "same": ["1", "1", "1"],
    "third": [str(1 / 3), "0", "1"],
}


def test_public_files_have_types_and_ranges(tmp_path):
    file = write_csv(tmp_path / "airports.csv", PUBLIC)
    columns = with_value_kinds(source(file), stored_columns(file, source(file), "it")[None])
    assert public_ranges(source(file), columns) == {
        "altitude": Bounds(lower=13, upper=22),
        "latitude": Bounds(lower="-1.5", upper="40.6925", step="0.0001"),
        "opened": DateRange(first=datetime.date(1928, 10, 1), last=datetime.date(1948, 7, 1)),
    }


def test_public_files_alone_are_a_declaration(tmp_path, capsys):
    for name in ("airports", "others"):
        write_csv(tmp_path / f"{name}.csv", PUBLIC)
    files = [str(tmp_path / f"{name}.csv") for name in ("airports", "others")]
    assert main(["init", "--public", *files, "--project", str(tmp_path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["open"] == []
    catalog = read_catalog(tmp_path)
    assert [table.name for table in catalog.public_tables] == ["airports", "others"]
    assert catalog.table("airports").column("latitude").bounds is not None
    assert main(["check", "--project", str(tmp_path)]) == 0
    assert main(["tables", "--project", str(tmp_path)]) == 0
    with pytest.raises(InvalidArgument, match="nothing to declare"):
        begin([], tmp_path / "none", InitReplies(), None)


# ---- A profile, and limits from it.


@pytest.fixture
def many(tmp_path: Path) -> Path:
    tails = [f"N{i}" for i in range(2_000) for _ in range(1 + i % 4)]
    return write_csv(tmp_path / "flights.csv", {"tail": tails, "day": ["2025-01-31"] * len(tails)})


OPEN = InitReplies(id_space="planes", unit="tail", budget="epsilon = 2", unit_words="an aircraft")


def limits(project: Path) -> dict[str, Any]:
    declared = tomllib.loads((project / "discreet.toml").read_text())["tables"]["flights"]
    return {name: value for name, value in declared.items() if name.endswith("_per_unit")}


def test_a_profile_proposes_limits_and_the_owner_decides(many, rng, monkeypatch):
    # From a stream of its own, so that a failure can be replayed: rarely, noise proposes far more.
    monkeypatch.setattr(SystemRng, "words", lambda _, count: rng.words(count))
    ask, asked = asker("n", "", "", "y", "y")
    begin([str(many)], many.parent, OPEN, ask)
    assert "It costs ε = 0.1 of the 2" in asked[3].replace("\n  ", " ")
    assert "histogram of aircraft" in asked[3].replace("\n  ", " ")
    assert "Proposed: rows_per_unit = " in asked[4]
    assert 2 <= limits(many.parent)["rows_per_unit"] <= 20
    assert main(["check", "--project", str(many.parent)]) == 0


@pytest.mark.parametrize(("replies", "spent"), [(("x", "0.2", "n"), True), (("",), False)])
def test_who_says_no_keeps_the_question(many, replies, spent):
    ask, _ = asker("n", "", "", *replies)
    shown = begin([str(many)], many.parent, OPEN, ask)
    assert shown.data["open"] == ["rows_per_unit"]
    assert limits(many.parent) == {"rows_per_unit": "?"}
    assert (many.parent / ".discreet").exists() == spent


@pytest.mark.parametrize("budget", ["epsilon = 2, delta = 1e-6", "rho = 0.5"])
def test_scripts_say_both_beforehand(many, budget):
    wishes = ProfileWishes(price="0.1", write_limits=True)
    known = InitReplies(id_space="planes", unit="tail", budget=budget, rows_per_group=7)
    shown = begin([str(many)], many.parent, known, None, InitWishes(profile=wishes))
    assert shown.data["open"] == []
    proposed = shown.data["profiles"]["flights"]["rows_per_unit"]
    assert limits(many.parent) == {"rows_per_unit": proposed}


def test_a_profile_that_fails_leaves_the_file_as_it_was(many):
    known = InitReplies(id_space="planes", unit="tail", budget="epsilon = 0.01")
    wishes = InitWishes(profile=ProfileWishes(price="0.1", write_limits=True))
    with pytest.raises(Exception, match="cannot pay"):
        begin([str(many)], many.parent, known, None, wishes)
    assert limits(many.parent) == {"rows_per_unit": "?"}


def test_columns_of_one_name_take_no_type_from_another(tmp_path):
    file = tmp_path / "stays.csv"
    file.write_text("cost,smoker,Cost,mixed,day\n1,true,2,abc,2025-01-01\n2,false,3,1,2025-01-02\n")
    assert kinds(file) == {
        "cost": StoredKind.TEXT,
        "smoker": StoredKind.BOOLEAN,
        "Cost": StoredKind.TEXT,
        "mixed": StoredKind.TEXT,
        "day": StoredKind.DATE,
    }
