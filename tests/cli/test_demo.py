"""The demo: six questions, in a terminal of a hundred columns, or as JSON."""

import json

import duckdb
import pytest

from discreet.cli import clinic
from discreet.cli.commands.demo import WIDTH
from discreet.cli.main import main


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("demo") / "clinic"
    clinic.make_clinic(place)
    return place


def test_six_questions_in_a_hundred_columns(capsys):
    assert main(["demo"]) == 0
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= WIDTH
    titles = [line for line in shown.splitlines() if line.startswith("── ")]
    assert [title[3] for title in titles if title[3].isdigit()] == list("123456")
    for part in ("join", "private keys", "quantiles", "refused, then rewritten", "runs out"):
        assert any(part in title for title in titles), part
    assert "What explain says (free):\nProtects " in shown
    assert "Without CLAMP: The range of n is not known" in shown
    assert "One question too many: The budget of 'patients' cannot pay" in shown
    assert "a stored release, nothing more is charged" in shown
    assert "The ledger verifies" in titles[-1]


def test_json_has_the_answers_and_both_refusals(capsys):
    assert main(["demo", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert [answer["columns"][-1] for answer in data["answers"]] == [
        "visits",
        "percent",
        "patients",
        "unlucky",
        "visits",
    ]
    assert data["refused"]["error"]["code"] == "undeclared_bound"
    assert data["refusal"]["error"]["code"] == "budget_exhausted"


# ---------------------------------------------------------------- the clinic


def test_the_clinic_has_what_it_says(folder):
    with duckdb.connect() as database:
        count = database.execute(f"SELECT COUNT(*) FROM '{folder}/patients.parquet'").fetchone()
        assert count == (clinic.PATIENTS,)
        visits = database.execute(
            f"""SELECT SUM(n), MAX(n), MAX(clinics)
                FROM (SELECT COUNT(*) AS n, COUNT(DISTINCT clinic) AS clinics
                      FROM '{folder}/visits.parquet' GROUP BY patient_id)"""
        ).fetchone()
    assert visits is not None
    total, most, clinics = visits
    assert total == clinic.VISITS
    assert most <= clinic.MOST_VISITS
    assert clinics <= 4


def test_the_clinic_is_the_same_every_time(folder, tmp_path):
    clinic.make_clinic(tmp_path)
    with duckdb.connect() as database:
        for name in ("patients.parquet", "visits.parquet", "districts.csv"):
            one, other = (f"(FROM '{place / name}')" for place in (folder, tmp_path))
            assert database.execute(f"{one} EXCEPT ALL {other}").fetchall() == []
            assert database.execute(f"{other} EXCEPT ALL {one}").fetchall() == []


def test_the_clinic_matches_its_declaration(folder, capsys):
    assert main(["check", "--project", str(folder)]) == 0
    assert "All is well" in capsys.readouterr().out
