"""The command that publishes counts: explain, pay once, write."""

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


BASE = ("publish", "visits", "clinic", "--method", "cells", "--epsilon", "2")


def _spent(project: Path) -> PrivacyLoss:
    return open_ledger(read_catalog(project)).spent("people")


def test_counts_are_explained_paid_for_once_and_written(run, project, tmp_path):
    assert "Costs" in run(*BASE, "--explain").out
    assert json.loads(run(*BASE, "--explain", "--json").out)["stored"] is False
    assert _spent(project) == Pure(0)
    file = tmp_path / "counts.parquet"
    told = run(*BASE, "-o", str(file)).out
    assert "counts to" in told
    assert "cost ε = 2" in told
    assert pq.read_table(file).column_names == ["clinic", "count", "deviation"]
    assert json.loads(run(*BASE, "--json").out)["stored"] is True
    assert run(*BASE, "--format", "csv").out.startswith('"clinic","count"')
    assert _spent(project) == Pure(2)


def test_options_of_a_method_are_given_by_name(run, project):
    tables = ("--together", "clinic", "--option", "rounds=2")
    found = json.loads(run(*BASE, "--method", "mwem", *tables, "--json").out)
    assert found["options"]["rounds"] == 2
    assert found["options"]["tables"] == [["clinic"]]
    run(*BASE, "--option", "rounds", code=2)
    assert "no option 'depth'" in run(*BASE, "--option", "depth=2", code=2).err
    assert _spent(project) == Pure(2)


def test_values_that_are_not_declared_are_listed(run, project):
    note = ("publish", "visits", "note", "--method", "one-way", "--epsilon", "2")
    assert "keys=" in run(*note, code=3).err
    assert _spent(project) == Pure(0)
    found = json.loads(run(*note, "--keys", "note=a,b", "--json").out)
    assert [line[1] for line in found["lines"]] == ["a", "b", "NULL"]
    run(*note, "--keys", "note", code=2)
    assert _spent(project) == Pure(2)
    (kept,) = json.loads(run("releases", "--json").out)
    assert "counts of visits" in run("releases", "show", str(kept["ticket"])).out
    begins = ("--method", "beginnings", "--option", "queries=a+b,c")
    assert len(json.loads(run(*note, *begins, "--json").out)["lines"]) == 2


def test_a_file_of_csv_has_what_it_is_beside_it_and_a_card(run, project, tmp_path):
    file, card = tmp_path / "counts.csv", tmp_path / "card.yaml"
    run(*BASE, "-o", str(file), "--card", str(card))
    about = json.loads((tmp_path / "counts.csv.json").read_text())
    assert about["published"] == "cells"
    assert {"cost", "data_version", "ticket", "notes"} <= set(about)
    assert "Counts about visits" in card.read_text()
    (listed,) = json.loads(run("releases", "--json").out)
    assert listed["columns"] == ["clinic"]
    assert "counts of visits" in run("releases", "show", str(listed["ticket"])).out
    assert _spent(project) == Pure(2)
