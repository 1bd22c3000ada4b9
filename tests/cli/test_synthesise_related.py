"""The command that publishes two related tables: explain, pay once, write into a folder."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.cli.main import main
from discreet.core.loss import PrivacyLoss, Pure
from discreet.project.open_ledger import open_ledger
from discreet.tables.declarations.declaration import read_catalog

DECLARATION = """
[id_spaces.people]
unit = "a person"
budget = { epsilon = 50 }

[tables.patients]
source = "patients.parquet"
id_space = "people"
unit = "id"
rows_per_group = 1
groups_per_unit = 1
columns = { id = { type = "integer" }, sex = { type = "text", keys = ["f", "m"] } }

[tables.visits]
source = "visits.parquet"
id_space = "people"
unit = "patient"
rows_per_group = 3
groups_per_unit = 1
columns = { patient = { type = "integer" }, urgent = { type = "boolean" } }

[id_spaces.staff]
unit = "a nurse"
budget = { epsilon = 50 }

[tables.shifts]
source = "shifts.parquet"
id_space = "staff"
unit = "nurse"
rows_per_group = 3
groups_per_unit = 1
columns = { nurse = { type = "integer" }, night = { type = "boolean" } }
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "clinic"
    folder.mkdir()
    (folder / "discreet.toml").write_text(DECLARATION)
    people = list(range(1_000, 1_060))
    pq.write_table(pa.table({"id": people, "sex": ["f", "m"] * 30}), folder / "patients.parquet")
    visits = {"patient": people * 2, "urgent": [True, False, False] * 40}
    pq.write_table(pa.table(visits), folder / "visits.parquet")
    pq.write_table(pa.table({"nurse": [1], "night": [True]}), folder / "shifts.parquet")
    return folder


@pytest.fixture
def run(project, capsys):
    def run(*words, code=0):
        assert main([*words, "--project", str(project)]) == code
        return capsys.readouterr()

    return run


BASE = ("synthesise", "patients", "visits", "--epsilon", "20")


def _spent(project: Path) -> PrivacyLoss:
    return open_ledger(read_catalog(project)).spent("people")


def test_two_tables_are_explained_and_written_once_paid(run, project, tmp_path):
    assert "number of visits" in run(*BASE, "--explain").out
    assert _spent(project) == Pure(0)
    folder = tmp_path / "out"
    told = run(*BASE, "-o", str(folder)).out
    assert "cost ε = 20" in told
    parents, children = (
        pq.read_table(folder / f"{name}.parquet") for name in ("patients", "visits")
    )
    assert parents.column_names == ["id", "sex"]
    assert children.column_names == ["patient", "urgent"]
    assert set(children["patient"].to_pylist()) <= set(parents["id"].to_pylist())
    again = json.loads(run(*BASE, "--json").out)
    assert again["columns"]["visits"] == ["patient", "urgent"]
    assert "stored release" in run(*BASE, "-o", str(folder), "--force", "--format", "csv").out
    assert (folder / "visits.csv").is_file()
    assert _spent(project) == Pure(20)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("-o", "clinic"), "part of the project"),
        (("-o", "clinic", "--force"), "part of the project"),
        (("-o", "no/where"), "folder"),
        (("-o", "out", "--format", "table"), "kind"),
        (("--format", "csv"), "-o FOLDER"),
        (("--column", "sex"), "TABLE.COLUMN"),
        (("--column", "nope.sex"), "nope"),
        (("--by", "nope"), "nope"),
        (("--together", "sex,urgent"), "--together"),
        (("--quantiles", "cost"), "--quantiles"),
        (("--report", "r.txt"), "report"),
        (("--report", "no/where.html"), "report"),
        (("--asserted", "facts.toml"), "--asserted"),
        (("--tours", "0"), "tours"),
        (("--rehearse", "-o", "out"), "rehearsal"),
        (("--method", "tree"), "--method"),
    ],
)
def test_bad_options_cost_nothing(run, project, tmp_path, monkeypatch, words, said):
    monkeypatch.chdir(tmp_path)
    assert said in run(*BASE, *words, code=2).err
    assert _spent(project) == Pure(0)


def test_tables_of_two_id_spaces_are_refused(run, project):
    told = run("synthesise", "patients", "shifts", "--epsilon", "1", code=3).err
    assert "different units" in told
    assert "second table" in run("synthesise", "patients", "--by", "sex", code=2).err
    assert _spent(project) == Pure(0)


def test_reports_cards_and_questions_of_two_tables_cost_nothing_more(run, project, tmp_path):
    folder, report, card = (tmp_path / name for name in ("out", "report.json", "card.yaml"))
    beside = ("--report", str(report), "--card", str(card), "--tours", "500")
    told = run(*BASE, "-o", str(folder), *beside).out
    assert "Wrote synthetic rows" in told
    assert {"patients", "visits"} == set(json.loads(report.read_text())["tables"])
    assert "Synthetic data" in card.read_text()
    joined = "SELECT p.sex, COUNT(*) AS n FROM visits v JOIN patients p ON p.id = v.patient"
    answer = run("query", "--on", str(folder), f"{joined} GROUP BY p.sex", "--json").out
    assert json.loads(answer)["synthetic"] is True
    listed = json.loads(run("releases", "--json").out)
    assert [one["columns"] for one in listed] == [["patients.sex", "visits.urgent"]]
    other = tmp_path / "other.yaml"
    shown = run("releases", "show", str(listed[0]["ticket"]), "--card", str(other)).out
    assert "made up" in shown
    assert other.read_text() == card.read_text()
    assert "one release" in run("releases", "--card", str(other), code=2).err
    assert "rehearsal" in run(*BASE, "--rehearse").out
    assert _spent(project) == Pure(20)
