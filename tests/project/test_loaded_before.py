"""Everything is loaded before the charge: what takes time behind it could tell of rows."""

import datetime
import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from tests.support.projects.modules_behind_the_charge import ASKED
from tests.support.projects.source_writers import OF_TABLES, WRITERS, write

DECLARATION = """\
[id_spaces.people]
unit = "a person"
budget = {{ epsilon = 100, delta = 1e-3 }}

[tables.visits]
source = "visits.{ending}"
id_space = "people"
unit = "person"
rows_per_group = 2
groups_per_unit = 3
{table}

[tables.visits.columns]
person = {{ type = "text" }}
clinic = {{ type = "text", keys = ["a", "b", "c"] }}
age = {{ type = "integer", min = 0, max = 100 }}
cost = {{ type = "real", min = 0, max = 10, step = 0.25 }}
day = {{ type = "date" }}
seen = {{ type = "timestamp" }}
note = {{ type = "text" }}
"""
ROWS = [
    {
        "person": f"p{i % 40}" + "long" * (100 * (i == 3)),
        "clinic": "abc"[i % 3],
        "age": i,
        "cost": i / 8,
        "day": datetime.date(2020, 1, 1 + i % 28),
        "seen": datetime.datetime.fromisoformat(f"2020-01-{1 + i % 28:02} 12:00"),
        "note": None if i % 7 == 0 else "xyz"[i % 3],
    }
    for i in range(60)
]


def loaded_late(folder: Path, ending: str, asked: str) -> list[str]:
    table = 'source_table = "visits"' if ending in OF_TABLES else ""
    (folder / "discreet.toml").write_text(DECLARATION.format(ending=ending, table=table))
    write(folder / f"visits.{ending}", pa.Table.from_pylist(ROWS))
    program = [sys.executable, "-m", "tests.support.projects.modules_behind_the_charge"]
    printed = subprocess.run([*program, folder, asked], check=True, capture_output=True, text=True)
    found: list[str] = json.loads(printed.stdout)
    return found


@pytest.mark.parametrize("ending", sorted(WRITERS))
def test_whatever_is_read(tmp_path: Path, ending: str):
    assert loaded_late(tmp_path, ending, "sql") == []


@pytest.mark.parametrize("asked", sorted(set(ASKED) - {"sql"}))
def test_whatever_is_asked(tmp_path: Path, asked: str):
    assert loaded_late(tmp_path, "parquet", asked) == []
