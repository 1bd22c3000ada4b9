"""The command line: text for people, JSON for programs, one form of error."""

import io
import json
import subprocess
import sys

import pyarrow.parquet as pq
import pytest

from discreet.cli.main import COMMANDS, load, main, parser
from discreet.core.terminal_text import WIDEST
from tests.support.projects.clinic import visit, write_project

COUNT = "SELECT clinic, COUNT(*) AS n FROM visits GROUP BY clinic"


@pytest.fixture
def project(tmp_path):
    return str(write_project(tmp_path, [visit(f"p{i}") for i in range(9)], epsilon="2"))


@pytest.fixture
def run(capsys):
    def run(*arguments, code=0):
        assert main([*arguments]) == code
        captured = capsys.readouterr()
        return captured.out if code == 0 or "--json" in arguments else captured.err

    return run


def test_query_explain_budget_ledger(project, run):
    assert "costs ε = 1" in run("explain", COUNT, "--epsilon", "1", "--project", project)
    assert "± " in run("query", COUNT, "--epsilon", "1", "--project", project)
    assert "█" in run("budget", "--project", project)
    history = run("ledger", "--project", project)
    assert "reserve" in history
    assert "SELECT clinic" in history
    assert "The ledger holds" in run("ledger", "--verify", "--project", project)
    assert "keys for GROUP BY" in run("tables", "--project", project)
    assert "All is well" in run("check", "--project", project)
    assert "version 2" in run("data-changed", "people", "--project", project)


def test_json_everywhere(project, run):
    question = (COUNT, "--epsilon", "0.5", "--project", project, "--json")
    assert json.loads(run("explain", *question))["affordable"]
    release = json.loads(run("query", *question))
    assert release["columns"] == ["clinic", "n"]
    assert release["cost"] == {"measure": "pure", "epsilon": "1/2"}
    (status,) = json.loads(run("budget", "--project", project, "--json"))
    assert status["remaining"]["epsilon"] == "3/2"
    kinds = [entry["kind"] for entry in json.loads(run("ledger", "--project", project, "--json"))]
    assert kinds == ["budget", "version", "reserve", "commit"]
    (table,) = json.loads(run("tables", "--project", project, "--json"))
    assert table["columns"][1]["keys"] == ["a", "b", "c", "d"]
    assert json.loads(run("ledger", "--verify", "--project", project, "--json"))["ok"]


def test_errors_have_one_form(project, run):
    bad = ("query", "SELECT COUNT(*) FROM nowhere", "--epsilon", "1", "--project", project)
    assert run(*bad, code=3).strip().endswith("[unknown_table]")
    error = json.loads(run(*bad, "--json", code=3))["error"]
    assert error["code"] == "unknown_table"
    assert error["next"] == "Tables: visits"
    assert "[missing_loss]" in run("query", COUNT, "--project", project, code=2)


def test_an_accuracy_is_said_in_one_text_or_in_parts(project, run):
    def cost(*options):
        return json.loads(run("explain", COUNT, *options, "--project", project, "--json"))

    whole = cost("--accuracy", "±50 at 99 %")
    assert whole == cost("--within", "50", "--confidence", "0.99")
    assert whole != cost("--accuracy", "±50")
    for options in (("--accuracy", "50", "--within", "50"), ("--confidence", "0.9")):
        asked = ("explain", COUNT, *options, "--project", project)
        assert "[invalid_argument]" in run(*asked, code=2)


def test_who_names_no_price_is_told_how_in_the_spelling_of_the_command_line(project, run):
    told = run("query", COUNT, "--project", project, code=2)
    assert "Add --epsilon 0.5 (or --rho, or --accuracy). [missing_loss]" in told
    assert "connect(" not in told
    given = run("query", COUNT, "--limits", "none", "--project", project, code=2)
    assert "--rows-per-group" in given


@pytest.mark.parametrize(
    "command",
    [
        ("holdout", "visits", "--questions", "5", "max(cost) > 3"),
        ("synthesise", "visits"),
        ("publish", "visits", "clinic", "--method", "cells"),
    ],
    ids=lambda command: command[0],
)
def test_no_accuracy_is_offered_where_there_is_none(project, run, command):
    told = run(*command, "--project", project, code=2)
    assert "Add --epsilon 0.5 (or --rho). [missing_loss]" in told


@pytest.mark.parametrize("command", ["query", "explain", "rehearse"])
def test_a_question_comes_from_a_file_or_the_standard_input(
    project, run, tmp_path, monkeypatch, command
):
    priced = ("--epsilon", "1", "--project", project)
    file = tmp_path / "q.sql"
    file.write_text(f"-- how many\n{COUNT}\n;")
    assert "clinic" in run(command, "--file", str(file), *priced)
    monkeypatch.setattr(sys, "stdin", io.StringIO(COUNT))
    assert "clinic" in run(command, "-", *priced)
    for given in ((), (COUNT, "--file", str(file)), ("--file", str(tmp_path / "none.sql"))):
        assert "[invalid_argument]" in run(command, *given, *priced, code=2)


def test_errors_are_wrapped_on_a_terminal_alone(project, run, monkeypatch):
    bad = ("query", "SELECT * FROM visits", "--epsilon", "1", "--project", project)
    plain = run(*bad, code=3)
    assert plain.count("\n") == 1
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    wrapped = run(*bad, code=3)
    assert max(map(len, wrapped.splitlines())) <= WIDEST
    assert wrapped.split() == plain.split()


def test_no_project_says_how_to_get_one(tmp_path, run):
    assert "discreet demo --keep" in run("budget", "--project", str(tmp_path), code=2)


def test_demo_runs_twice_and_ends_in_a_refusal(run):
    for _ in range(2):
        shown = run("demo")
        for part in (
            "What explain says",
            "The private answer",
            "One question too many",
            "verifies",
        ):
            assert part in shown
    assert json.loads(run("demo", "--json"))["refusal"]["error"]["code"] == "budget_exhausted"


def test_demo_keeps_a_project_but_never_overwrites_one(tmp_path, run):
    folder = str(tmp_path / "clinic")
    run("demo", "--keep", folder)
    assert "visits" in run("tables", "--project", folder)
    assert "not empty" in run("demo", "--keep", folder, code=2)


def test_summaries_are_those_of_the_commands():
    for name, summary in COMMANDS.items():
        assert (load(name).__doc__ or "").splitlines()[0] == summary


def test_help_loads_no_command():
    names = "import sys; from discreet.cli.main import parser; parser(); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", names], capture_output=True, text=True).stdout
    assert "discreet.cli.main" in loaded
    assert "discreet.cli.commands.account" not in loaded
    assert "discreet.curator" not in loaded


def test_every_command_has_help(capsys):
    for name in COMMANDS:
        with pytest.raises(SystemExit) as caught:
            parser(name).parse_args([name, "--help"])
        assert caught.value.code == 0
        assert "--json" in capsys.readouterr().out


def test_a_csv_becomes_parquet_or_is_refused_by_line(tmp_path, run):
    source = tmp_path / "visits.csv"
    source.write_text('person,note\np,"a\nb"\nq,\n')
    assert "2 rows" in run("to-parquet", str(source))
    assert pq.read_table(tmp_path / "visits.parquet").to_pylist() == [
        {"person": "p", "note": "a\nb"},
        {"person": "q", "note": None},
    ]
    assert "exists already" in run("to-parquet", str(source), code=2)
    for text, line in (('a,b\n1,2\n3,"4\n5,6\n', "Line 4"), ("a,b\n1,2,3\n", "Line 2")):
        source.write_text(text)
        assert line in run("to-parquet", str(source), str(tmp_path / "new.parquet"), code=2)
        assert not (tmp_path / "new.parquet").exists()
    for header in ("a,a\n", "a,b\r1,2\r", ""):
        source.write_bytes(header.encode())
        assert "header" in run("to-parquet", str(source), str(tmp_path / "new.parquet"), code=2)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a,b\n1,2\r3,4\n", "Line 2"),  # as two lines, each would be whole
        ("a,b\r\n1,2\n3,4\r\n", "Line 2"),
        ("a,b\r\n1,2\r\n3,4\r5,6\r\n", "Line 3"),
    ],
)
def test_a_line_with_another_line_end_does_not_become_two_people(tmp_path, run, text, line):
    source = tmp_path / "visits.csv"
    source.write_bytes(text.encode())
    assert line in run("to-parquet", str(source), code=2)


def test_a_mark_before_the_header_is_no_part_of_a_name(tmp_path, run):
    source = tmp_path / "visits.csv"
    source.write_bytes(b"\xef\xbb\xbfa,b\r\n1,2\r\n")
    assert "1 rows" in run("to-parquet", str(source))
    assert pq.read_table(source.with_suffix(".parquet")).to_pylist() == [{"a": "1", "b": "2"}]
