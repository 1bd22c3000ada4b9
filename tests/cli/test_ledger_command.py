"""The command ``discreet ledger``: receipts are compared, and a lost ledger is begun again."""

import json
import shutil
from pathlib import Path

import pytest

from discreet.cli.main import main
from tests.support.projects.clinic import visit, write_project

COUNT = "SELECT clinic, COUNT(*) AS n FROM visits GROUP BY clinic"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write_project(tmp_path / "clinic", [visit("p1"), visit("p2", "b")])


@pytest.fixture
def run(capsys):
    def run(*arguments, code=0):
        assert main([*arguments]) == code
        captured = capsys.readouterr()
        return captured.out if code == 0 or "--json" in arguments else captured.err

    return run


def ask(run, project: Path, epsilon: str) -> str:
    return run("query", COUNT, "--epsilon", epsilon, "--project", str(project), "--json")


def test_a_receipt_is_compared_in_whatever_form_it_was_kept(project, run, tmp_path):
    whole = ask(run, project, "1")
    receipt = json.loads(whole)["receipt"]
    copy = tmp_path / "copy"
    shutil.copytree(project / ".discreet", copy)
    later = ask(run, project, "2")
    verify = ("ledger", "--verify", "--project", str(project))
    forms = [whole, json.dumps(receipt), json.dumps([receipt, json.loads(later)]), later]
    files = []
    for number, text in enumerate(forms):
        file = tmp_path / f"{number}.json"
        file.write_text(text, encoding="utf-8")
        files += ["--receipt", str(file)]
    told = json.loads(run(*verify, *files, "--json"))
    assert (told["ok"], told["receipts"]) == (True, 5)
    assert "Receipts that it matches: 5" in run(*verify, *files)

    # Who takes back the ledger and its anchor is found out by the newer receipt.
    shutil.rmtree(project / ".discreet")
    shutil.move(copy, project / ".discreet")
    (project / "discreet.anchor").unlink()
    run(*verify, *files[:4])
    told = run(*verify, *files, code=1)
    assert "does not hold what the receipt of ticket" in told
    assert "the receipt is not from this ledger" in told


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", "3", '{"receipt": 3}', "\0", "[" * 9999, '{}, "b": {}']
)
def test_what_is_no_receipt_is_said(project, run, tmp_path, text):
    file = tmp_path / "receipt.json"
    file.write_text(text)
    options = ("--receipt", str(file), "--project", str(project))
    assert "[invalid_argument]" in run("ledger", "--verify", *options, code=2)
    assert "Say --verify too" in run("ledger", *options, code=2)


def test_a_receipt_that_is_not_there_is_said(project, run, tmp_path):
    options = ("--receipt", str(tmp_path / "none"), "--project", str(project))
    assert "cannot be read" in run("ledger", "--verify", *options, code=2)


def test_a_copied_project_is_noticed_until_the_owner_says_that_it_was_moved(project, tmp_path, run):
    ask(run, project, "1")
    place = ("--project", str(project))
    assert "--moved" not in run("check", *place)
    moved = tmp_path / "moved"
    shutil.copytree(project, tmp_path / "copy")
    project.rename(moved)
    assert "--moved" not in run("check", "--project", str(moved))
    copy = ("--project", str(tmp_path / "copy"))
    ask(run, tmp_path / "copy", "1")
    assert "--moved" in run("check", *copy)
    assert "--moved" in run("doctor", *copy)
    assert json.loads(run("ledger", "--moved", *copy, "--json"))["was_moved"]
    assert "knows this file already" in run("ledger", "--moved", *copy)
    ask(run, tmp_path / "copy", "1")
    for command in ("check", "doctor"):
        assert "--moved" not in run(command, *copy)


def test_a_lost_ledger_stops_everything_until_the_owner_begins_again(project, run):
    ask(run, project, "1")
    shutil.rmtree(project / ".discreet")
    place = ("--project", str(project))
    for command in (("budget",), ("check",), ("ledger",), ("query", COUNT, "--epsilon", "1")):
        told = run(*command, *place, code=1)
        assert "this project had one" in told
        assert "[ledger_error]" in told
    assert not (project / ".discreet").exists()
    assert "Spent until now: ε = 1 of people" in run("ledger", "--begin-again", *place)
    assert "nothing to begin again" in run("ledger", "--begin-again", *place, code=2)
    assert "begun again, spent before: ε = 1 of people" in run("ledger", *place)
    assert json.loads(run("budget", *place, "--json"))[0]["spent"]["epsilon"] == "1"
    run("ledger", "--verify", *place)
