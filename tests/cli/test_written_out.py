"""What commands write: for terminals that know few characters, and into files of the right mode."""

import io
import json
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from discreet.cli.main import main
from tests.support.projects.clinic import visit, write_project

COUNT = "SELECT clinic, COUNT(*) AS größe FROM visits GROUP BY clinic"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_an_answer_is_shown_on_any_terminal(tmp_path, monkeypatch, encoding: str, form: list[str]):
    project = write_project(tmp_path, [visit("p1"), visit("p2", "b")])
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding=encoding))
    asked = ("query", COUNT, "--epsilon", "1", "--fresh", "--project", str(project))
    assert main([*asked, *form]) == 0
    sys.stdout.flush()
    text = written.getvalue().decode(encoding)
    assert "größe" in (json.loads(text)["columns"] if form else text) or encoding == "ascii"
    if form:
        assert "größe" in json.dumps(json.loads(text), ensure_ascii=False)


def test_an_error_is_told_on_any_terminal(tmp_path, monkeypatch):
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stderr", io.TextIOWrapper(written, encoding="ascii"))
    assert main(["budget", "--project", str(tmp_path / "größe")]) == 2
    sys.stderr.flush()
    assert b"[bad_declaration]" in written.getvalue()


def test_what_an_error_quotes_does_not_steer_the_terminal(tmp_path, capsys):
    write_project(tmp_path, [visit("p")])
    sql = 'SELECT COUNT(*) FROM "a\x00\x1b[31m\u202eb"'
    assert main(["query", sql, "--epsilon", "1", "--project", str(tmp_path)]) == 3
    assert "No table 'a\\x00\\x1b[31m\\u202eb' is declared" in capsys.readouterr().err


@pytest.fixture
def open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.usefixtures("open_umask")
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o400, 0o644, 0o755])
def test_a_parquet_file_is_read_by_nobody_who_could_not_read_the_source(tmp_path: Path, mode: int):
    source = tmp_path / "source.csv"
    source.write_text("a,b\n1,2\n")
    source.chmod(mode)
    assert main(["to-parquet", str(source)]) == 0
    made = stat.S_IMODE((tmp_path / "source.parquet").stat().st_mode)
    assert made == mode & 0o666
    assert main(["to-parquet", str(source)]) == 2, "it exists already"
    assert (tmp_path / "source.parquet").exists()


@pytest.mark.usefixtures("open_umask")
def test_the_folder_of_a_ledger_is_its_owners(tmp_path: Path):
    project = write_project(tmp_path / "new" / "project", [visit("p1")])
    assert main(["budget", "--project", str(project)]) == 0
    modes = {
        path.relative_to(project).as_posix(): stat.S_IMODE(path.stat().st_mode)
        for path in (project / ".discreet", *project.rglob("*.sqlite"), *project.glob("*.anchor"))
    }
    assert modes == {
        ".discreet": 0o700,
        ".discreet/ledger.sqlite": 0o600,
        "discreet.anchor": 0o600,
    }


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('[ledger]\npath = "a\\u0000b"', "ledger.path (line 2) has a character NUL"),
        ("[" + ".".join(["a"] * 3000) + "]\nx = 1", "nested too deeply"),
        ("x = " + "[" * 3000 + "]" * 3000, "nested too deeply"),
    ],
)
def test_odd_declarations_are_refused_in_words(tmp_path, capsys, text: str, told: str):
    project = write_project(tmp_path, [visit("p1")])
    declared = (project / "discreet.toml").read_text()
    (project / "discreet.toml").write_text(f"{text}\n{declared}")
    assert main(["budget", "--project", str(project)]) == 2
    assert told in capsys.readouterr().err
