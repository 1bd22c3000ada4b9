"""``init`` of files with fields inside others: each is proposed by its path, and the file holds."""

import datetime
import json
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

import discreet
from discreet.cli.main import main

SEEN = datetime.datetime(2025, 1, 1, 10, tzinfo=datetime.UTC)
PEOPLE: list[dict[str, Any]] = [
    {
        "id": number,
        "person": {"age": 30, "name": {"first": "a", "?": "b"}},
        "person_age": "taken",
        "address": {"City": "north", "geo": {"lat": 1.5}},
        "tags": ["x"],
    }
    for number in range(40)
]
ANSWERS = ["--id-space", "patients", "--unit-words", "a patient", "--epsilon", "50"]
ANSWERS += ["--rows-per-unit", "1"]


def written(folder: Path, file: str) -> Path:
    target = folder / file
    if file.endswith("jsonl"):
        target.write_text("\n".join(map(json.dumps, PEOPLE)), encoding="utf-8")
    else:
        rows = [{**row, "seen": {"at": SEEN, "tags": [1]}} for row in PEOPLE]
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), target)
    return target


@pytest.mark.parametrize("file", ["visits.parquet", "visits.jsonl"])
def test_fields_inside_are_proposed_and_can_be_asked_about(tmp_path, file, capsys):
    source, project = str(written(tmp_path, file)), ["--project", str(tmp_path)]
    assert main(["init", source, "--unit", "id", *ANSWERS, *project]) == 0
    assert "It fits the files" in capsys.readouterr().out
    text = (tmp_path / "discreet.toml").read_text("utf-8")
    number = "integer" if file.endswith("parquet") else "text"
    assert f'person_age_2 = {{ type = "{number}", from = ["person", "age"] }}' in text
    assert 'person_name_first = { type = "text", from = ["person", "name", "first"] }' in text
    assert 'from = ["address", "geo", "lat"] }' in text
    assert '["person", "name", "?"] cannot be declared' in text
    assert "\nperson = " not in text  # an object is no text
    if file.endswith("parquet"):
        assert '# seen_at = { type = "timestamp", from = ["seen", "at"], zone' in text
        assert '["seen", "tags"] cannot be declared' in text
    assert main(["check", *project]) == 0
    told = text.replace('"City"] }', '"City"], keys = ["north", "south"] }')
    (tmp_path / "discreet.toml").write_text(told, encoding="utf-8")
    with discreet.connect(tmp_path, epsilon=25) as opened:
        answer = opened.sql("SELECT address_City AS c, COUNT(*) AS n FROM visits GROUP BY 1")
    found = dict(answer.rows)
    assert found["north"] > 30 > 10 > found["south"]  # wrong with less than 1e-9


def test_a_unit_can_be_inside_and_public_files_can_be_nested(tmp_path, capsys):
    source, public = written(tmp_path, "visits.parquet"), written(tmp_path, "known.jsonl")
    project = ["--project", str(tmp_path)]
    asked = ["init", str(source), "--unit", "person_name_first", *ANSWERS, *project]
    assert main([*asked, "--public", str(public)]) == 0
    text = (tmp_path / "discreet.toml").read_text("utf-8")
    assert 'unit = "person_name_first"' in text
    assert text.count('from = ["address", "City"] }') == 2
    assert main(["check", *project]) == 0
    assert "known" in capsys.readouterr().out
