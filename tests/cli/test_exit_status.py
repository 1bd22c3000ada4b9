"""The status of a command: one table, what was charged comes first, and no value is ever quoted."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest

from discreet.cli import main as command
from discreet.cli import start
from discreet.cli.command import CommandResult
from discreet.cli.exit_status import INTERRUPTED, STATUSES, internal_error, status_of
from discreet.core import errors
from discreet.core.errors import AnswerFailed, DiscreetError, WrittenBefore
from discreet.core.interrupts import Interrupted
from discreet.ledger.under_way import note_charge
from tests.support.house.paths import ROOT

SECRET = "Mrs Miller, 2 March 1961"


def families() -> list[type[DiscreetError]]:
    found = [thing for thing in vars(errors).values() if isinstance(thing, type)]
    return [one for one in found if issubclass(one, DiscreetError) and one is not DiscreetError]


def run_with(monkeypatch, run) -> None:
    module = SimpleNamespace(configure=lambda _: None, run=run)
    monkeypatch.setattr(command, "load", lambda _: module)


def broken(_: object) -> None:
    raise ValueError(SECRET)


def charged_and_broken(_: object) -> None:
    note_charge("ε = 1 of 'people'")
    raise ValueError(SECRET)


@pytest.mark.parametrize("family", families())
def test_every_error_has_a_status_of_its_own_family(family):
    assert any(one in STATUSES for one in family.__mro__)


def test_the_table_says_what_is_documented():
    statuses = {
        family.code: status_of(family.__new__(family), is_charged=False) for family in families()
    }
    assert statuses == {
        "internal_error": 1, "ledger_error": 1, "output_failed": 1,
        "invalid_argument": 2, "bad_declaration": 2, "missing_dependency": 2, "missing_loss": 2,
        "unsupported": 3, "no_such_number": 3, "nothing_released": 3, "query_error": 3,
        "bad_syntax": 3, "unknown_table": 3, "unknown_column": 3, "undeclared_bound": 3,
        "undeclared_keys": 3, "refused_query": 3,
        "collection_error": 3, "bad_batch": 3, "other_version": 3, "survey_closed": 3,
        "too_large": 3, "too_many": 3, "not_kept": 3,
        "budget_error": 4, "budget_exhausted": 4, "below_least_price": 4, "suspended": 4,
        "busy": 4,
        "answer_failed": 5, "written_before": 5,
    }  # fmt: skip


@pytest.mark.parametrize("family", families())
def test_after_the_charge_nothing_else_matters(family):
    assert status_of(family.__new__(family), is_charged=True) == 5


@pytest.mark.parametrize("error", [AnswerFailed(), WrittenBefore("The anchor is not moved")])
def test_what_failed_behind_the_gate_ends_with_5(monkeypatch, capsys, error):
    def run(_: object) -> None:
        raise error

    run_with(monkeypatch, run)
    assert command.main(["query"]) == 5
    assert f"[{error.code}]" in capsys.readouterr().err


@pytest.mark.parametrize(("run", "status"), [(broken, 1), (charged_and_broken, 5)])
@pytest.mark.parametrize("is_traced", [False, True])
def test_an_unexpected_error_is_told_without_its_message(
    monkeypatch, capsys, run, status, is_traced
):
    run_with(monkeypatch, run)
    if is_traced:
        monkeypatch.setenv("DISCREET_TRACE", "1")
    assert command.main(["query"]) == status
    told = capsys.readouterr()
    assert "ValueError in discreet.cli.main, line" in told.err
    assert "[internal_error]" in told.err
    assert SECRET not in told.err + told.out
    assert "Traceback" not in told.err
    assert ("in _run" in told.err) is is_traced
    assert command.main(["query", "--json"]) == status
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "internal_error"


def test_an_unexpected_error_elsewhere_has_no_place():
    assert internal_error(KeyError(SECRET)).got == "KeyError in an unknown place"


def test_who_stops_reading_is_no_failure(monkeypatch):
    def run(_: object) -> None:
        raise BrokenPipeError

    run_with(monkeypatch, run)
    monkeypatch.setattr(command, "let_go_of_output", lambda: None)
    assert command.main(["query"]) == 0


def test_an_error_that_cannot_be_written_is_told_elsewhere(monkeypatch, capsys):
    run_with(monkeypatch, broken)
    with Path("/dev/full").open("w") as full:
        monkeypatch.setattr("sys.stdout", full)
        assert command.main(["query", "--json"]) == 1
        assert "[output_failed]" in capsys.readouterr().err
    with Path("/dev/full").open("w", buffering=1) as full:
        monkeypatch.setattr("sys.stdout", full)
        monkeypatch.setattr("sys.stderr", None)
        run_with(monkeypatch, charged_and_broken)
        assert command.main(["query"]) == 5


@pytest.mark.parametrize("is_charged", [False, True])
@pytest.mark.parametrize("output", [None, b"bytes"])
@pytest.mark.parametrize("is_closed", [False, True])
def test_an_output_that_cannot_be_written_is_no_fault_of_ours(
    monkeypatch, capsys, is_charged, output, is_closed
):
    def run(_: object) -> CommandResult:
        if is_charged:
            note_charge("ε = 1 of 'people'")
        return CommandResult("text", {}, output)

    run_with(monkeypatch, run)
    with Path("/dev/full").open("w") as full:
        monkeypatch.setattr("sys.stdout", None if is_closed else full)
        assert command.main(["query", "--json"]) == (5 if is_charged else 1)
    told = capsys.readouterr().err
    assert "The output cannot be written" in told
    assert "A charge stands if one was made" in told
    assert "asking again costs nothing" in told
    assert "[output_failed]" in told


def test_the_version_is_said(capsys):
    with pytest.raises(SystemExit) as caught:
        command.main(["--version"])
    assert caught.value.code == 0
    assert capsys.readouterr().out.startswith("discreet ")


@pytest.mark.parametrize(
    ("given", "got", "advice"),
    [
        (["query", "--no-such-option"], "--no-such-option, which is no", "'discreet query --help'"),
        (["profile", "visits", "--values", "age"], "--values, which", "Did you mean --value? See"),
        (["query", "SELECT", "2"], "2, which is one word too many", "belong together into quotes"),
        (["query", "SELECT 1", "--epsilon"], "have a value after --epsilon", "'discreet query"),
        (["query", "SELECT 1", "--format", "xml"], "got xml", "'discreet query --help'"),
        (["ledger", "--last", "x"], "have a whole number after --last", "'discreet ledger"),
        (["profile"], "have table (the private table)", "'discreet profile --help'"),
        (["account", "epsilon"], "It must have ", "'discreet account epsilon --help'"),
        (["qurey"], "qurey", "Did you mean query? See 'discreet --help'"),
        ([], "have COMMAND", "'discreet --help'"),
    ],
)
def test_a_usage_error_ends_with_2(capsys, given, got, advice):
    assert command.main(given) == 2
    told = capsys.readouterr().err
    assert told.startswith("discreet: The command cannot be read.")
    assert got in told
    assert advice in told
    assert command.main([*given, "--json"]) == 2
    error = json.loads(capsys.readouterr().out)["error"]
    assert (error["code"], error["what"]) == ("invalid_argument", "The command cannot be read")
    assert advice in error["next"]


TOLD = "discreet: Interrupted before the charge. Nothing was spent. [interrupted]\n"
PRESSED = """
import sys

class Pressed:
    def find_spec(self, name, *_):
        if name == "discreet.cli.main":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Pressed())
from discreet.cli.start import run
run()
"""


def test_an_interrupt_before_the_command_is_loaded_is_told_in_words():
    """Loading takes a moment, in which Python's own trace was shown, and its own end."""
    ended = subprocess.run([sys.executable, "-c", PRESSED], capture_output=True, text=True)
    assert (ended.returncode, ended.stdout, ended.stderr) == (INTERRUPTED, "", TOLD)


def test_an_interrupt_that_became_another_error_is_told_in_words(monkeypatch, capsys):
    """Python 3.11 makes a RuntimeError of one that comes while it puts a class together."""

    def pressed(_: object) -> None:
        raise RuntimeError("Error calling __set_name__") from KeyboardInterrupt()

    run_with(monkeypatch, pressed)
    assert command.main(["query"]) == INTERRUPTED
    assert "Interrupted before the charge. Nothing was spent." in capsys.readouterr().err
    in_loading = PRESSED.replace(
        "raise KeyboardInterrupt", "raise RuntimeError from KeyboardInterrupt()"
    )
    ended = subprocess.run([sys.executable, "-c", in_loading], capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (INTERRUPTED, TOLD)


def test_the_command_begins_where_an_interrupt_is_awaited():
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    assert scripts == {"discreet": f"{start.__name__}:{start.run.__name__}"}


EARLY = """
import sys

class Pressed:
    def find_spec(name, *_):
        if name == "discreet.core.interrupts":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Pressed)
import discreet.cli.start
"""


def test_an_interrupt_that_comes_before_its_words_are_loaded_is_told_in_them():
    ended = subprocess.run(
        [sys.executable, "-c", EARLY], capture_output=True, text=True, timeout=60
    )
    told = Interrupted()
    said = f"discreet: {told} [{told.code}]\n"
    assert (ended.returncode, ended.stdout, ended.stderr) == (INTERRUPTED, "", said)


LATE = """
import atexit, os, signal, time
from discreet.cli.interrupting import leave

def press():
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(0.1)

atexit.register(press)

class Last:
    def __del__(self, press=press):
        press()

last = Last()
leave(4)
"""


def test_an_interrupt_that_comes_when_all_is_said_changes_nothing():
    ended = subprocess.run([sys.executable, "-c", LATE], capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stderr) == (4, "")
