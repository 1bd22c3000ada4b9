"""Keys beyond ASCII: compared as they are stored, shown as they are, told where they look alike.

Answers cost so much that noise moves a count of 30 at all with less than 1e-8.
"""

import csv
import io
import json
import unicodedata
from pathlib import Path

import duckdb
import pyarrow
import pyarrow.parquet
import pytest

import discreet
from discreet.cli.main import main
from discreet.core.errors import UndeclaredKeys
from discreet.tables.column import ColumnType
from discreet.tables.expression import FieldValue
from discreet.tables.functions.call import call
from discreet.tables.functions.on_rows import NOT_TOLD, value_of

CAFE = "café"
APART = unicodedata.normalize("NFD", CAFE)
KEYS = [
    "Zürich",
    "straße",
    CAFE,
    "🏥",
    "👩‍⚕️",
    "שלום",
    "مستشفى",
    "می‌خواهم",
    "O'Brien",
    'say "hi"',
    "a,b",
    "İ",
]


def project(folder: Path, keys: list[str], cells: list[str]) -> Path:
    folder.mkdir(exist_ok=True)
    rows = (json.dumps({"person": i, "k": cell}) for i, cell in enumerate(cells))
    (folder / "seen.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
    declared = json.dumps(keys, ensure_ascii=False)
    (folder / "discreet.toml").write_text(
        f"""
[id_spaces.people]
unit = "a person"
budget = {{ epsilon = 1000 }}

[tables.seen]
source = "seen.jsonl"
id_space = "people"
unit = "person"
rows_per_unit = 1

[tables.seen.columns]
person = {{ type = "integer" }}
k = {{ type = "text", keys = {declared} }}
""",
        encoding="utf-8",
    )
    return folder


def test_keys_are_what_is_written_in_every_form(tmp_path, capsys):
    folder = project(tmp_path / "seen", KEYS, [*KEYS * 30, *[APART] * 7])
    sql = "SELECT k, COUNT(*) AS n FROM seen GROUP BY k"
    with discreet.connect(folder, epsilon=50) as opened:
        answer = opened.sql(sql)
        assert dict(answer.rows) == dict.fromkeys(KEYS, 30)
        assert answer.to_arrow().column("k").to_pylist() == KEYS
        assert [row[0] for row in json.loads(json.dumps(answer.to_json()))["rows"]] == KEYS
        listed = ", ".join("'" + key.replace("'", "''") + "'" for key in (*KEYS[2:5], APART))
        some = opened.sql(f"SELECT COUNT(*) AS n FROM seen WHERE k IN ({listed})")
        assert some.rows == ((97,),)
    asked = ["query", sql, "--project", str(folder), "--epsilon", "50", "--format"]
    capsys.readouterr()
    assert main([*asked, "csv"]) == 0
    assert [row[0] for row in csv.reader(io.StringIO(capsys.readouterr().out))][1:] == KEYS
    target = tmp_path / "answer.parquet"
    assert main([*asked, "parquet", "-o", str(target)]) == 0
    assert pyarrow.parquet.read_table(target).column("k").to_pylist() == KEYS


@pytest.mark.parametrize(
    ("keys", "cells", "told"),
    [
        (["café", "bar"], ["café", "bar", "cinema"], []),
        (["café"], [APART], ["how accents are written"]),
        ([APART], ["café"], ["how accents are written"]),
        (["north"], ["North"], ["in capitals"]),
        (["north"], ["north "], ["in blanks"]),
        (["north", "North"], ["North", "north"], []),
        (["café", APART], ["café", APART], ["look the same"]),
    ],
)
def test_what_looks_like_a_key_and_is_none_is_told(tmp_path, keys, cells, told, capsys):
    folder = project(tmp_path / "seen", keys, cells)
    assert main(["check", "--project", str(folder), "--json"]) == 0
    found = [one for one in json.loads(capsys.readouterr().out)["warnings"] if "seen.k" in one]
    assert len(found) == len(told)
    assert all(words in one for words, one in zip(told, found, strict=True))


PARTS = (
    "upper(k)", "lower(k)", "left(k, 3)", "left(k, -1)", "right(k, 2)", "right(k, -2)",
    "substring(k, 2, 3)", "substring(k, 3)", "k || 'é'", "concat('ö', k)", "replace(k, 'ß', 'öö')",
    "trim(k, 'éÜöß')", "ltrim(k, 'Zc')", "rtrim(k, 'é')",
)  # fmt: skip


def test_parts_of_keys_are_those_that_the_engine_has(tmp_path):
    keys = ["Zürich", "Straße", CAFE, APART, "Αθήνας", "Москва", "Đà Nẵng", "Iași", "🇩🇪x", "漢字"]
    folder = project(tmp_path / "seen", keys, keys * 30)
    written = ", ".join(f"('{key}')" for key in keys)
    for part in PARTS:
        with discreet.connect(folder, epsilon=50) as opened:
            found = opened.sql(f"SELECT {part} AS p, COUNT(*) AS n FROM seen GROUP BY 1").rows
        values = f"SELECT {part}, 30 * count(*) FROM (VALUES {written}) AS t(k) GROUP BY 1"
        wanted = dict(duckdb.execute(values).fetchall())
        assert {key: n for key, n in found if n} == wanted, part


@pytest.mark.parametrize("name", ["upper", "lower"])
def test_letters_are_those_of_the_engine_or_not_worked_out(name):
    signs = [chr(code) for code in range(1, 0x10600) if not 0xD800 <= code < 0xE000]
    table = pyarrow.table({"k": signs})
    room = duckdb.connect()
    room.register("signs", table)
    wanted = room.sql(f"SELECT {name}(k) FROM signs").fetchall()
    value = call(name, [FieldValue(ColumnType.TEXT, 0)])
    found = [value_of(value, {0: sign}) for sign in signs]
    told = [
        (one, engine[0]) for one, engine in zip(found, wanted, strict=True) if one is not NOT_TOLD
    ]
    assert len(told) > 60_000
    assert all(one == engine for one, engine in told)


def test_a_letter_that_is_not_worked_out_is_said_to_be_none(tmp_path):
    folder = project(tmp_path / "seen", ["ŉ", "b"], ["b"])
    told = pytest.raises(UndeclaredKeys, match="worked out from declared ones, or declared")
    with discreet.connect(folder, epsilon=1) as opened, told:
        opened.sql("SELECT upper(k), COUNT(*) FROM seen GROUP BY 1")
