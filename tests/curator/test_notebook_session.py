"""A session in IPython, as notebooks run it: refusals, completion, and what a cell shows."""

import subprocess
import sys

import pytest
from IPython.core.completer import provisionalcompleter
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from traitlets.config import Config

from tests.support.projects.clinic import visit, write_project

BY_CLINIC = "SELECT clinic, COUNT(*) AS n FROM visits GROUP BY clinic"
ROWS = [visit(str(i), "abcd"[i % 4], age=i % 90) for i in range(40)]


@pytest.fixture
def shell(tmp_path):
    """A notebook with an open connection ``clinic``."""
    folder = write_project(tmp_path, ROWS)
    # Nothing is kept for a later session.
    shell = InteractiveShell(
        config=Config({"HistoryManager": {"enabled": False}}), ipython_dir=str(tmp_path)
    )
    shell.run_cell("import discreet\nfrom discreet import dbapi")
    shell.user_ns["folder"] = folder
    shell.run_cell("clinic = discreet.connect(folder, epsilon=1)")
    yield shell
    shell.run_cell("clinic.close()")


def shown(shell: InteractiveShell, cell: str) -> list[str]:
    """Run a cell that fails, and return the lines that are shown."""
    with capture_output() as captured:
        result = shell.run_cell(cell)
    assert result.error_in_exec is not None
    return (captured.stdout + captured.stderr).splitlines()


def test_a_refusal_is_two_lines(shell):
    wrong, next_step = shown(shell, "clinic.sql('SELECT person FROM visits')")
    assert wrong.startswith("RefusedQuery: ")
    assert next_step
    wrong, next_step = shown(shell, "clinic.sql('SELECT COUNT(*) FROM visit')")
    assert wrong == "UnknownTable: No table 'visit' is declared."
    assert next_step == "Did you mean visits? Tables: visits."
    wrong, _ = shown(shell, "dbapi.connect(folder).cursor().execute('SELECT COUNT(*) FROM visit')")
    assert wrong == "UnknownTable: No table 'visit' is declared."


def test_a_syntax_error_shows_its_place(shell):
    lines = shown(shell, "clinic.sql('SELECT COUNT(*) FRM visits')")
    assert lines[0].startswith("BadSyntax: ")
    assert any(line.strip() == "^^^" for line in lines) or any("^" in line for line in lines)
    assert len(lines) <= 5


def test_control_characters_of_a_message_are_escaped(shell):
    (wrong, *_) = shown(shell, "clinic.tables()['\x1b[2J']")
    assert "\x1b" not in wrong
    assert "\\x1b[2J" in wrong


def test_the_calls_are_shown_to_who_asks_for_them(shell, monkeypatch):
    monkeypatch.setenv("DISCREET_TRACE", "1")
    lines = shown(shell, "clinic.sql('SELECT person FROM visits')")
    assert len(lines) > 10
    assert any("Traceback" in line for line in lines)


def test_other_errors_keep_their_calls(shell):
    assert len(shown(shell, "def f():\n    return 1 / 0\n\nf()")) > 4


def test_scripts_keep_the_calls(tmp_path):
    program = "import discreet\ndiscreet.exact('x')"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert found.stderr.startswith("Traceback (most recent call last)")


def completed(shell: InteractiveShell, text: str) -> set[str]:
    """What is offered at the end of a text."""
    with provisionalcompleter():
        found = list(shell.Completer.completions(text, len(text)))
    return {one.text.strip(".='\"") for one in found}


def test_parameters_and_columns_are_completed(shell):
    shell.run_cell(f"release = clinic.sql('{BY_CLINIC}')")
    shell.run_cell("tables = clinic.tables()")
    assert {"epsilon", "rho", "accuracy", "delta", "fresh"} <= completed(shell, "clinic.sql('', ")
    assert {"name", "axes"} <= completed(shell, "release.plot(")
    assert {"clinic", "n"} <= completed(shell, "release['")
    assert "visits" in completed(shell, "tables['")


def test_an_answer_has_rows_and_columns(shell):
    shell.run_cell(f"release = clinic.sql('{BY_CLINIC}')")
    release = shell.user_ns["release"]
    assert len(release) == 4
    assert list(release) == list(release.rows)
    assert release["n"] == tuple(row[1] for row in release.rows)
    assert release["clinic"] == ("a", "b", "c", "d")
    (wrong,) = shown(shell, "release['m']")
    assert wrong.startswith("InvalidArgument: No output has this name. It must be one of clinic, n")
    rehearsal = shell.user_ns["clinic"].rehearse("SELECT COUNT(*) AS n FROM visits")
    assert len(rehearsal) == 1
    assert rehearsal["n"] == (rehearsal.rows[0][0],)
