"""The shell: many lines a question, explained before it is asked, and a history of one's own."""

import io
import json
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from discreet.cli.commands.shell import COMMANDS
from discreet.cli.main import main
from discreet.cli.shell_history import LineHistory, history_path, open_history
from discreet.cli.shell_session import QUESTION, ShellSession, is_complete
from discreet.core.loss import PrivacyLoss, Pure
from discreet.roles.connection import Connection, connect
from tests.support.projects.clinic import visit, write_project

COUNT = "SELECT clinic, COUNT(*) AS n\nFROM visits GROUP BY clinic;"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write_project(tmp_path / "clinic", [visit("p1"), visit("p2", "b")], epsilon="2")


@pytest.fixture
def connection(project: Path) -> Iterator[Connection]:
    with connect(project, epsilon="0.5") as opened:
        yield opened


class Typist:
    """Somebody who types: lines, and exceptions where a key is pressed instead."""

    def __init__(self, *typed: str | type[BaseException]) -> None:
        self.typed = [part for one in typed for part in self._lines(one)]
        self.prompts: list[str] = []

    @staticmethod
    def _lines(one: str | type[BaseException]) -> list[str | type[BaseException]]:
        return [*one.split("\n")] if isinstance(one, str) else [one]

    def __call__(self, prompt: str) -> str:
        self.prompts.append(prompt)
        found = self.typed.pop(0) if self.typed else EOFError
        if isinstance(found, str):
            return found
        raise found


NO_HISTORY = LineHistory(None, None)


def session(connection: Connection, typist: Typist, history: LineHistory = NO_HISTORY):
    return ShellSession(
        connection=connection,
        read=typist,
        history=history,
        is_interactive=True,
        confirms=True,
        commands=COMMANDS,
    )


def spent(connection: Connection) -> PrivacyLoss:
    return connection.budget()[0].spent


def test_a_question_is_explained_and_asked_only_after_a_yes(connection, capsys):
    typist = Typist(COUNT, "n", COUNT, "", COUNT, "y", COUNT)
    assert session(connection, typist).loop() == 0
    told = capsys.readouterr().out
    assert told.count("Costs     ε = 0.5\n") == 3
    assert told.count("within ±") == 3
    assert told.count("Not asked; nothing was spent.") == 2
    assert typist.prompts.count(QUESTION) == 3, "what is stored is shown at once"
    assert told.count("a stored release") == 1
    assert spent(connection) == Pure("1/2")


def test_keys_drop_a_line_or_a_question_and_leave(connection, capsys):
    typist = Typist("SELECT half", KeyboardInterrupt, COUNT, KeyboardInterrupt, COUNT, EOFError)
    assert session(connection, typist).loop() == 0
    told = capsys.readouterr()
    assert "Interrupted before the charge. Nothing was spent. [interrupted]" in told.err
    assert "Not asked" in told.out
    assert spent(connection) == Pure(0)


def test_commands_are_words_and_not_questions(connection, capsys):
    typist = Typist("tables", "\\d;", "budget", "help", "\\?", "", "quit", COUNT, "y")
    assert session(connection, typist).loop() == 0
    told = capsys.readouterr().out
    assert told.count("keys for GROUP BY") == 2
    assert "░" in told
    assert told.count("explain SELECT") == 2
    assert spent(connection) == Pure(0)


def test_an_error_is_two_lines_and_no_end(connection, capsys):
    typist = Typist("SELECT clinic FROM visits;", "SELECT COUNT(* FROM visits;", f"explain {COUNT}")
    assert session(connection, typist).loop() == 0
    told = capsys.readouterr()
    first, marks = told.err.split("The query is not valid")
    assert first.rstrip().endswith("or the like. [refused_query]")
    assert "\nAdd clinic to GROUP BY" in first
    assert marks.rstrip().endswith("^^^^")
    assert "Protects" in told.out


def test_two_questions_in_one_line_are_told_apart(connection, capsys):
    session(connection, Typist("SELECT 1; SELECT 2;")).loop()
    assert "begin the next on a line of its own" in capsys.readouterr().err


def test_a_fault_of_ours_is_told_without_its_message(connection, capsys, monkeypatch):
    def broken(*_: object, **__: object) -> None:
        raise ValueError("Mrs Miller")

    monkeypatch.setattr(Connection, "explain", broken)
    assert session(connection, Typist(COUNT)).loop() == 0
    told = capsys.readouterr()
    assert "[internal_error]" in told.err
    assert "Miller" not in told.err + told.out


def test_a_pipe_needs_a_yes_beforehand(project, monkeypatch, capsys):
    asked = ["shell", "--epsilon", "0.5", "--project", str(project)]
    monkeypatch.setattr(sys, "stdin", io.StringIO(COUNT))
    assert main(asked) == 2
    assert "have --yes" in capsys.readouterr().err
    text = f"{COUNT}\nSELECT COUNT(*) AS n FROM visits;\nSELECT clinic FROM visits;\n{COUNT}"
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))
    assert main([*asked, "--yes", "--json"]) == 3, "it ends with the first that fails"
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [next(iter(line)) for line in lines] == ["columns", "columns", "error"]
    monkeypatch.setattr(sys, "stdin", io.StringIO(COUNT.rstrip(";")))
    assert main([*asked, "--yes"]) == 0
    assert "a stored release" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "is_whole"),
    [
        ("SELECT 1;", True),
        ("SELECT 1", False),
        ("SELECT ';", False),
        ("SELECT 'a;\nb';", True),
        ("SELECT 1 -- so;", False),
        ("SELECT 1; -- so", True),
        ("SELECT 1; /* and", False),
        ("SELECT 'it''s';", True),
        ("SELECT '--';", True),
    ],
)
def test_a_question_ends_with_a_semicolon_outside_of_quotes(text, is_whole):
    assert is_complete(text) is is_whole


@pytest.fixture
def state(tmp_path: Path) -> Iterator[dict[str, str]]:
    yield {"XDG_STATE_HOME": str(tmp_path / "state")}
    open_history(keeps=False)


def test_the_history_has_questions_alone_in_a_file_of_ones_own(connection, state, capsys):
    before = os.umask(0)
    try:
        history = open_history(keeps=True, environment=state)
    finally:
        os.umask(before)
    if history.editor is None:
        pytest.skip("there is no line editor here")
    assert session(connection, Typist("budget", COUNT, "y"), history=history).loop() == 0
    path = history_path(state)
    assert path.read_text() == COUNT.replace("\n", " ") + "\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    path.chmod(0o644)
    again = open_history(keeps=True, environment=state)
    assert again.editor.get_history_item(1) == COUNT.replace("\n", " ")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_no_history_is_kept_if_nobody_wants_it_or_the_file_is_not_ones_own(state, tmp_path):
    assert open_history(keeps=False, environment=state).path is None
    assert not history_path(state).exists()
    history_path(state).parent.mkdir(parents=True)
    (tmp_path / "elsewhere").write_text("")
    history_path(state).symlink_to(tmp_path / "elsewhere")
    found = open_history(keeps=True, environment=state)
    assert found.path is None
    found.note("SELECT 1;")
    assert (tmp_path / "elsewhere").read_text() == ""
    assert history_path({"XDG_STATE_HOME": "state"}).is_absolute()
