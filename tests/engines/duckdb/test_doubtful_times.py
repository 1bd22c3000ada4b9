"""Texts with zones behind them, in SQLite and in all other files: read as declared, or told.

Answers cost so much that noise moves a count of 40 by 20 with less than 1e-8.
"""

import json
import sqlite3
from pathlib import Path

import duckdb
import pyarrow
import pyarrow.parquet
import pytest

import discreet
from discreet.cli.main import main

HOURS: dict[str, tuple[int | None, int | None]] = {
    "2024-07-01 10:00:00": (10, 10),
    "2024-07-01 10:00:00+02:00": (10, 10),
    "2024-07-01 10:00:00 +0200": (10, 10),
    "2024-07-01T10:00:00Z": (10, 12),
    "2024-07-01 10:00:00 UTC": (10, 12),
    "2024-07-01 10:00:00utc": (10, 12),
    "2024-07-01 10:00 GMT": (10, 12),
    "2024-07-01 10:00:00 CET": (None, None),
    "2024-07-01 10:00:00 Europe/Berlin": (None, None),
    "2024-07-01 10:00:00 UTC+02:00": (None, None),
    "1719828000": (None, None),
}
"""The hour of what is written without a declared zone, and on the walls of Berlin."""

COLUMNS = [f"at_{place}" for place, _ in enumerate(HOURS)]
KINDS = ("sqlite", "csv", "jsonl", "parquet", "duckdb")


def project(folder: Path, kind: str, zone: str, rows: list[list[object]]) -> Path:
    folder.mkdir()
    file = folder / f"seen.{kind}"
    names = ["person", *COLUMNS]
    if kind == "sqlite":
        with sqlite3.connect(file) as database:
            database.execute(f"CREATE TABLE seen ({', '.join(names)})")
            marks = ", ".join("?" * len(names))
            database.executemany(f"INSERT INTO seen VALUES ({marks})", rows)
        database.close()
    elif kind == "csv":
        cells: list[list[object]] = [[*names], *rows]
        lines = (",".join(str(cell) for cell in row) for row in cells)
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    elif kind == "jsonl":
        objects = (json.dumps(dict(zip(names, row, strict=True))) for row in rows)
        file.write_text("\n".join(objects) + "\n", encoding="utf-8")
    else:
        table = pyarrow.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))
        if kind == "parquet":
            pyarrow.parquet.write_table(table, file)
        else:
            with duckdb.connect(str(file)) as opened:
                opened.register("rows", table)
                opened.execute("CREATE TABLE seen AS SELECT * FROM rows")
    said = f', zone = "{zone}"' if zone else ""
    columns = "\n".join(f'{name} = {{ type = "timestamp"{said} }}' for name in COLUMNS)
    inside = 'source_table = "seen"' if kind in ("sqlite", "duckdb") else ""
    (folder / "discreet.toml").write_text(
        f"""
[id_spaces.people]
unit = "a person"
budget = {{ epsilon = 1000 }}

[tables.seen]
source = "{file.name}"
{inside}
id_space = "people"
unit = "person"
rows_per_unit = 1

[tables.seen.columns]
person = {{ type = "integer" }}
{columns}
""",
        encoding="utf-8",
    )
    return folder


def rows(*others: object) -> list[list[object]]:
    return [[person, *(others or HOURS)] for person in range(40)]


def warnings(folder: Path, capsys) -> list[str]:
    assert main(["check", "--project", str(folder), "--json"]) == 0
    found: list[str] = json.loads(capsys.readouterr().out)["warnings"]
    return found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("zone", ["", "Europe/Berlin"])
def test_what_is_written_counts_or_is_told(tmp_path, kind, zone, capsys):
    folder = project(tmp_path / "seen", kind, zone, rows())
    told = warnings(folder, capsys)
    for name, text in zip(COLUMNS, HOURS, strict=True):
        own = " ".join(words for words in told if words.startswith(f"seen.{name} "))
        assert ("are not a timestamp" in own) == (HOURS[text][0] is None), text
        is_zoned = HOURS[text][0] is not None and text != "2024-07-01 10:00:00"
        assert ("no zone is declared" in own) == (is_zoned and not zone), text
    assert not any("2024" in words for words in told)  # no cell is told


@pytest.mark.parametrize("zone", ["", "Europe/Berlin"])
def test_an_answer_has_the_hours_that_are_meant(tmp_path, zone):
    folder = project(tmp_path / "seen", "sqlite", zone, rows())
    with discreet.connect(folder, epsilon=20) as opened:
        for text in ("2024-07-01T10:00:00Z", "2024-07-01 10:00:00 UTC", "2024-07-01 10:00:00 CET"):
            name, hours = COLUMNS[list(HOURS).index(text)], HOURS[text]
            answer = opened.sql(f"SELECT hour({name}) AS h, COUNT(*) AS n FROM seen GROUP BY 1")
            many = [hour for hour, n in zip(answer["h"], answer["n"], strict=True) if n > 20]
            meant = hours[1 if zone else 0]
            assert many == ([] if meant is None else [meant]), name


def test_zones_in_some_cells_and_not_in_others_are_told(tmp_path, capsys):
    texts = ["2024-07-01 10:00:00"] * len(HOURS)
    mixed = [*rows(*texts), *rows(*[f"{text}Z" for text in texts])]
    told = warnings(project(tmp_path / "seen", "sqlite", "Europe/Berlin", mixed), capsys)
    assert len([words for words in told if "texts without one" in words]) == len(COLUMNS)


def test_nothing_is_told_of_what_is_in_order(tmp_path, capsys):
    texts = ["2024-07-01 10:00:00"] * len(HOURS)
    plain = [*rows(*texts), *rows(*[None for _ in texts]), *rows(*["  " for _ in texts])]
    told = warnings(project(tmp_path / "seen", "sqlite", "", plain), capsys)
    assert not [words for words in told if words.startswith("seen.")]
