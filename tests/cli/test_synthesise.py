"""The command that publishes synthetic rows: explain, pay once, write, ask the file."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from discreet.cli.main import main
from discreet.core.loss import PrivacyLoss, Pure
from discreet.project.open_ledger import open_ledger
from discreet.tables.declarations.declaration import read_catalog
from tests.support.projects.clinic import visit, write_project


@pytest.fixture
def project(tmp_path: Path) -> Path:
    rows = [visit(f"p{i}", "ab"[i % 2]) for i in range(60)]
    return write_project(tmp_path / "clinic", rows, epsilon="5")


@pytest.fixture
def run(project, capsys):
    def run(*words, code=0):
        assert main([*words, "--project", str(project)]) == code
        return capsys.readouterr()

    return run


BASE = ("synthesise", "visits", "--column", "clinic", "--epsilon", "2")


def _spent(project: Path) -> PrivacyLoss:
    return open_ledger(read_catalog(project)).spent("people")


def test_explain_costs_nothing(run, project):
    text = run(*BASE, "--explain").out
    assert "clinic" in text
    assert json.loads(run(*BASE, "--explain", "--json").out)["stored"] is False
    assert _spent(project) == Pure(0)


def test_what_need_not_be_divided_by_quantiles_is_refused_for_nothing(run, project):
    said = run(*BASE, "--column", "cost", "--quantiles", "cost", code=2).err
    assert "'cost' need not be divided by quantiles" in said
    assert _spent(project) == Pure(0)


def test_what_is_asserted_holds_and_what_was_published_is_named(run, project, tmp_path):
    file = tmp_path / "public.toml"
    file.write_text('rows = 50\n[[impossible]]\nclinic = "c"\n', encoding="utf-8")
    rows = run(*BASE, "--asserted", str(file), "--format", "csv").out.splitlines()[1:]
    assert len(rows) == 50
    assert '"c"' not in rows
    run("query", "SELECT COUNT(*) AS n FROM visits", "--epsilon", "1", "--rows-per-unit", "1")
    told = json.loads(run(*BASE, "--rows-per-unit", "1", "--json").out)
    assert [one["what"] for one in told["published"]] == ["SELECT COUNT(*) AS n FROM visits"]
    alone = json.loads(run(*BASE, "--rows-per-unit", "1", "--alone", "--json").out)
    assert alone["published"] == []
    listed = run("releases").out
    assert "synthetic rows of visits with clinic" in listed
    ticket = told["ticket"]
    assert "synthetic rows of visits" in run("releases", "show", str(ticket)).out


def test_rows_are_written_once_paid(run, project, tmp_path):
    file, report = tmp_path / "v.parquet", tmp_path / "r.html"
    told = run(*BASE, "-o", str(file), "--report", str(report)).out
    assert "synthetic rows to" in told
    assert "cost ε = 2" in told
    assert pq.read_table(file).column_names == ["clinic"]
    assert "<svg" in report.read_text(encoding="utf-8")
    again = json.loads(run(*BASE, "--json").out)
    assert again["columns"] == ["clinic"]
    assert run(*BASE, "--format", "csv").out.startswith('"clinic"\n')
    assert _spent(project) == Pure(2)
    asked = run("query", "--on", str(file), "SELECT clinic, COUNT(*) AS n FROM visits GROUP BY 1")
    assert "from synthetic rows" in asked.out
    assert _spent(project) == Pure(2)


def test_an_answer_from_synthetic_rows_goes_where_it_is_asked_to(run, tmp_path):
    """The file was never written, and nothing said so."""
    file, found = tmp_path / "v.parquet", tmp_path / "n.parquet"
    run(*BASE, "-o", str(file))
    asked = ("query", "--on", str(file), "SELECT clinic, COUNT(*) AS n FROM visits GROUP BY 1")
    assert "from synthetic rows; free" in run(*asked, "-o", str(found)).out
    table = pq.read_table(found)
    assert table.column_names == ["clinic", "n", "n_low", "n_high"]
    rows = table.to_pylist()
    assert all(row["n_low"] is None or row["n_low"] <= row["n"] <= row["n_high"] for row in rows)
    assert table.schema.metadata[b"discreet.answer"] == b"from synthetic rows"
    assert run(*asked, "--format", "csv").out.startswith('"clinic","n","n_low","n_high"\n')
    assert "another file" in run(*asked, "-o", str(file), "--force", code=2).err


def test_outputs_of_one_name_have_errors_of_their_own(run, tmp_path):
    """The first showed the error of the second; and JSON has no word for what is no number."""
    file = tmp_path / "v.parquet"
    run(*BASE, "-o", str(file))
    sql = "SELECT COUNT(*) AS n, 1000 * COUNT(*) AS n, COUNT(*) / 0 AS z FROM visits"
    found = json.loads(run("query", "--on", str(file), sql, "--json").out, parse_constant=print)
    assert found["columns"] == ["n", "n_2", "z"]
    small, large = found["errors"]["n"][0], found["errors"]["n_2"][0]
    assert large > 100 * small
    assert found["rows"][0][2] is None
    assert found["errors"]["z"] == [None]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("-o", "v.txt2"), "form"),
        (("--report", "r.txt"), ".html"),
        (("--together", "clinic"), "several columns"),
        (("--rows-per-unit", "0"), "rows"),
    ],
)
def test_bad_options_cost_nothing(run, project, tmp_path, monkeypatch, words, said):
    monkeypatch.chdir(tmp_path)
    assert said in run(*BASE, *words, code=2).err
    assert _spent(project) == Pure(0)


def test_a_missing_delta_is_told_as_an_option(run):
    assert "--delta" in run(*BASE, "--column", "note", code=3).err
