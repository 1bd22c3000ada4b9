"""Every documented status of a command, and every error as JSON where JSON is asked for."""

import io
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from discreet.cli.main import COMMANDS, main
from discreet.tables.declarations.settings import DEFAULT_LEDGER
from tests.support.house.paths import DOCS, ROOT
from tests.support.projects.clinic import visit, write_project

ASKED = ("query", "SELECT COUNT(*) AS n FROM visits", "--epsilon")
PARTS = {"code", "what", "must", "got", "next"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_project(tmp_path, [visit("p1"), visit("p2")], epsilon="2")


def process(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    """Begin a command in a process of its own, in the folder of the project."""
    return subprocess.Popen(
        [sys.executable, "-m", "discreet", *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def break_ledger(folder: Path) -> None:
    """Put something else where the ledger is."""
    place = folder / DEFAULT_LEDGER
    place.parent.mkdir()
    place.write_text("no ledger")


def break_source(folder: Path) -> None:
    """Damage rows in a way that shows only when they are read."""
    file = folder / "visits.parquet"
    whole = bytearray(file.read_bytes())
    whole[4:60] = bytes(56)
    file.write_bytes(bytes(whole))


def leave_alone(_: Path) -> None:
    pass


PERSON = "SELECT person FROM visits"
ENDS = [
    (0, (*ASKED, "1"), leave_alone, "cost ε = 1"),
    (1, (*ASKED, "1"), break_ledger, "[ledger_error]"),
    (2, ("query", "SELECT COUNT(*) FROM visits"), leave_alone, "[missing_loss]"),
    (3, ("query", PERSON, "--epsilon", "1"), leave_alone, "[refused_query]"),
    (4, (*ASKED, "3"), leave_alone, "[budget_exhausted]"),
    (5, (*ASKED, "1"), break_source, "[answer_failed]"),
]


@pytest.mark.parametrize(("status", "arguments", "prepare", "told"), ENDS)
def test_a_command_ends_with_the_documented_status(
    folder, monkeypatch, capsys, status, arguments, prepare, told
):
    prepare(folder)
    monkeypatch.chdir(folder)
    assert main(arguments) == status
    said = capsys.readouterr()
    assert told in said.out + said.err


def test_a_process_ends_with_the_status_of_its_command(tmp_path, soak):
    """One of them in a usual run, all of them in a long one."""
    for status, arguments, prepare, told in ENDS if soak.active else ENDS[5:]:
        folder = write_project(tmp_path / str(status), [visit("p1")], epsilon="2")
        prepare(folder)
        running = process(folder, *arguments)
        out, err = running.communicate(timeout=100)
        assert (running.returncode, told in out + err) == (status, True), out + err


def test_an_interrupt_ends_with_130(folder, soak):
    """That of a usual run is in ``tests/project/test_interrupts.py``."""
    if not soak.active:
        return
    running = process(folder, "query", "-", "--epsilon", "1")
    with pytest.raises(subprocess.TimeoutExpired):
        running.wait(timeout=10)  # it waits for the question
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=100)
    assert (running.returncode, "Nothing was spent" in err) == (130, True), err


def test_the_reference_has_the_same_table():
    text = (DOCS / "reference" / "cli.md").read_text()
    statuses = re.findall(r"^\| `?(\d+)`? \|", text, re.MULTILINE)
    assert statuses == ["0", "1", "2", "3", "4", "5", "130"]


BROKEN = {
    "init": ["no-such-file.csv"],
    "query": ["SELECT 1 +"],
    "shell": ["--epsilon", "1"],
    "explain": ["SELECT 1 +"],
    "rehearse": ["SELECT 1 +"],
    "profile": ["nothing", "--epsilon", "1"],
    "synthesise": ["nothing", "--epsilon", "1"],
    "publish": ["nothing", "age", "--method", "tree", "--epsilon", "1"],
    "holdout": ["nothing", "--questions", "5", "--epsilon", "1"],
    "exact": ["nothing-of-that-name"],
    "budget": ["--analyst"],
    "releases": ["show", "77"],
    "ledger": ["--last", "-1"],
    "tables": ["--no-such"],
    "check": ["--no-such"],
    "data-changed": ["nobody"],
    "resume": ["nobody"],
    "to-parquet": ["no-such-file.csv"],
    "account": ["epsilon", "nonsense(", "--delta", "1e-6"],
    "meaning": ["--epsilon", "-1"],
    "plan": ["count", "--people", "10", "--within", "2", "--epsilon", "1"],
    "certify": ["sum", "--rows", "0", "--law", "uniform(0, 1)"],
    "local": ["compare", "--epsilon", "-1"],
    "survey": ["check", "--survey", "no-such-file.toml"],
    "audit": ["outputs", "no-such-file.csv", "no-such-file.csv"],
    "attack": ["census", "no-such-file.json"],
    "doctor": ["--no-such"],
    "completion": ["--no-such"],
    "demo": ["--no-such"],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_says_errors_as_json(folder, monkeypatch, capsys, command):
    monkeypatch.chdir(folder)
    status = main([command, *BROKEN[command], "--json"])
    error = json.loads(capsys.readouterr().out)["error"]
    assert status in (2, 3), error
    assert error.keys() >= PARTS
    assert all(isinstance(error[part], str) for part in PARTS)
    assert error["what"]


@pytest.mark.parametrize("command", ["query"])
def test_a_form_of_json_says_errors_as_json(folder, monkeypatch, capsys, command):
    monkeypatch.chdir(folder)
    for given in (["--format", "json"], ["--format=json"]):
        assert main([command, "SELECT 1 +", *given]) == 3
        assert json.loads(capsys.readouterr().out)["error"]["code"] == "bad_syntax"


@pytest.mark.parametrize("is_file", [True, False])
def test_a_question_is_read_with_its_lines_and_marks(
    folder, tmp_path, monkeypatch, capsys, is_file
):
    """From a file or the standard input, with a byte order mark, tabs and wide characters."""
    text = "\ufeffSELECT COUNT(*)\r\nFROM visits\r\n\tWHERE note = '日本' AND AND TRUE"
    (tmp_path / "q.sql").write_text(text, encoding="utf-8", newline="")
    monkeypatch.setattr("sys.stdin", io.StringIO(text, newline=""))
    given = ["--file", str(tmp_path / "q.sql")] if is_file else ["-"]
    assert main(["query", *given, "--epsilon", "1", "--project", str(folder)]) == 3
    told = capsys.readouterr().err
    assert "at line 3, column 24. It must have a value before AND." in told
    line, marks = told.splitlines()[-2:]
    assert line == "   WHERE note = '日本' AND AND TRUE"
    assert marks == " " * 27 + "^^^"  # each of two characters is two columns wide


def test_what_is_no_text_is_said_to_be_none(folder, tmp_path, monkeypatch, capsys):
    (tmp_path / "q.sql").write_bytes(b"SELECT '\xff'")
    bad = io.TextIOWrapper(io.BytesIO(b"SELECT '\xff'"), encoding="utf-8")
    monkeypatch.setattr("sys.stdin", bad)
    for given in (["--file", str(tmp_path / "q.sql")], ["-"]):
        assert main(["query", *given, "--epsilon", "1", "--project", str(folder)]) == 2
        assert "cannot be read. It must be UTF-8; got" in capsys.readouterr().err
    assert main(["query", "--file", str(tmp_path), "--project", str(folder)]) == 2
    assert "got is a directory" in capsys.readouterr().err.lower()
