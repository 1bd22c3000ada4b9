"""Answers in files: whole or not at all, in every form, and made sure of before the charge."""

import csv
import io
import json
import os
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.cli.main import main
from discreet.core.loss import PrivacyLoss, Pure
from discreet.project.open_ledger import open_ledger
from discreet.tables.declarations.declaration import read_catalog
from tests.support.projects.clinic import visit, write_project

COUNT = "SELECT clinic, COUNT(*) AS n FROM visits GROUP BY clinic"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write_project(tmp_path / "clinic", [visit(f"p{i}") for i in range(9)], epsilon="2")


@pytest.fixture
def ask(project, capsys):
    def ask(*options, code=0, sql=COUNT):
        assert main(["query", sql, "--epsilon", "0.5", "--project", str(project), *options]) == code
        return capsys.readouterr()

    return ask


def spent(project: Path) -> PrivacyLoss:
    return open_ledger(read_catalog(project)).spent("people")


def test_every_form_holds_the_same_answer(ask, tmp_path):
    printed = json.loads(ask("--json").out)
    names = ["a.txt", "a.json", "a.csv", "a.arrow", "a.feather", "a.parquet"]
    for name in names:
        told = ask("-o", str(tmp_path / name)).out
        assert told.startswith(f"Wrote 4 rows to {tmp_path / name}; a stored release\n")
        assert "--rows-per-group and --groups-per-unit" in told
    tables = [
        pq.read_table(tmp_path / "a.parquet"),
        *(pa.ipc.open_file(tmp_path / name).read_all() for name in ("a.arrow", "a.feather")),
    ]
    for table in tables:
        assert table.column_names == ["clinic", "n", "n_low", "n_high"]
        assert [[row["clinic"], row["n"]] for row in table.to_pylist()] == printed["rows"]
        assert json.loads(table.schema.metadata[b"discreet"])["cost"] == printed["cost"]
    with (tmp_path / "a.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [[row["clinic"], int(row["n"])] for row in rows] == printed["rows"]
    assert [[row["n_low"], row["n_high"]] for row in rows] == [
        ["" if end is None else str(end) for end in ends] for ends in printed["totals"]["n"]
    ]
    assert json.loads((tmp_path / "a.json").read_text())["rows"] == printed["rows"]
    assert "±" in (tmp_path / "a.txt").read_text()
    assert printed["decimals"]["cost"] == {"epsilon": 0.5}
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*names, "clinic"])


def test_what_is_printed_for_programs_has_its_notes_beside_it(ask, tmp_path):
    told = ask("--format", "csv")
    assert told.out.splitlines()[0] == '"clinic","n","n_low","n_high"'
    (first,) = json.loads(ask("--json").out)["headline"]
    assert told.err.startswith(f"cost ε = 0.5\n{first}\n")
    assert f"\n{first}\n" in ask("-o", str(tmp_path / "a.csv")).out
    assert json.loads(ask("--format", "json").out) == json.loads(ask("--json").out)
    report = json.loads(ask("--json", "--format", "csv", "-o", str(tmp_path / "report")).out)
    assert (report["format"], report["rows"], report["stored"]) == ("csv", 4, True)


def test_binary_forms_go_through_a_pipe_and_not_to_a_terminal(ask, project, monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", Terminal())
        assert "go into a file" in ask("--format", "parquet", code=2).err
    assert spent(project) == Pure(0)
    written = io.BytesIO()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="ascii"))
        ask("--format", "parquet")
        assert pq.read_table(io.BytesIO(written.getvalue())).num_rows == 4


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("-o", "taken.csv"), "exists already"),
        (("-o", "folder", "--force", "--format", "csv"), "cannot be replaced"),
        (("-o", "none/a.csv"), "cannot be written"),
        (("-o", "answer"), "must end in .txt"),
        (("--force",), "-o FILE too"),
        (("--json", "--format", "csv"), "Two forms"),
        (("-o", "link.csv"), "exists already"),
    ],
)
def test_what_cannot_be_written_is_refused_before_the_charge(
    ask, project, tmp_path, monkeypatch, options, told
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "taken.csv").write_text("mine")
    (tmp_path / "link.csv").symlink_to("nowhere")
    found = ask(*options, code=2)
    assert told in " ".join(found.err.split()) + found.out
    assert spent(project) == Pure(0)
    assert (tmp_path / "taken.csv").read_text() == "mine"
    assert not [path for path in tmp_path.iterdir() if path.name.endswith(".new")]


def test_force_replaces_a_file_and_what_a_link_points_to(ask, tmp_path):
    (tmp_path / "old.csv").write_text("old")
    (tmp_path / "link.csv").symlink_to("old.csv")
    ask("-o", str(tmp_path / "link.csv"), "--force")
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "old.csv").read_text().startswith('"clinic"')


@pytest.mark.parametrize("name", ["visits.parquet", "discreet.toml", ".discreet/ledger.sqlite"])
def test_force_replaces_nothing_that_the_project_is_made_of(ask, project, name):
    ask("--json")
    before = (project / name).read_bytes()
    told = ask("-o", str(project / name), "--force", "--format", "csv", "--fresh", code=2).err
    assert "is a part of the project" in told
    assert (project / name).read_bytes() == before
    assert spent(project) == Pure("1/2")


def test_a_refused_question_leaves_no_file(ask, tmp_path):
    ask("-o", str(tmp_path / "a.csv"), code=3, sql="SELECT COUNT(*) FROM nowhere")
    assert [path.name for path in tmp_path.iterdir()] == ["clinic"]


@pytest.mark.parametrize("step", ["fsync", "link"])
def test_a_file_that_fails_after_the_charge_ends_with_5_and_the_answer_is_kept(
    ask, project, tmp_path, monkeypatch, step
):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    target = tmp_path / "a.csv"
    real = getattr(os, step)
    with monkeypatch.context() as patch:
        patch.setattr(os, step, lambda *a: full() if _is_ours(a) else real(*a))
        told = ask("-o", str(target), code=5).err
    assert "The answer is kept" in told
    assert spent(project) == Pure("1/2")
    assert not target.exists()
    assert "a stored release" in ask("-o", str(target)).out
    assert spent(project) == Pure("1/2")
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["a.csv", "clinic"]


def _is_ours(arguments: tuple[object, ...]) -> bool:
    """Tell whether it is the file of the answer; the ledger flushes its own."""
    first = arguments[0]
    name = os.readlink(f"/proc/self/fd/{first}") if isinstance(first, int) else str(first)
    return name.endswith(".new")
