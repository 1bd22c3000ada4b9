"""Changelog fragments are well-formed, and towncrier can put them together."""

import re
import subprocess
import sys
import tomllib

import pytest

from tests.support.house.paths import ROOT

FRAGMENTS = ROOT / "changelog.d"
CONFIG = tomllib.loads((ROOT / "pyproject.toml").read_text())
KINDS = [kind["directory"] for kind in CONFIG["tool"]["towncrier"]["type"]]
NAME = re.compile(rf"(\d+|\+[a-z0-9]+(-[a-z0-9]+)*)\.({'|'.join(KINDS)})\.md")


def problem(name: str, text: str) -> str | None:
    """What is wrong with a fragment, or None."""
    if not NAME.fullmatch(name):
        return f"{name}: the name must be NUMBER.KIND.md or +some-words.KIND.md, KIND in {KINDS}"
    if not re.fullmatch(r"\S(.|\n)*[.!?)]\n", text) or text.startswith(("#", "- ", "* ")):
        return f"{name}: a fragment is plain sentences, with no heading and no bullet"
    return None


def test_kinds_are_the_agreed_ones():
    assert KINDS == ["privacy", "added", "changed", "fixed", "removed"]


def test_fragments_are_well_formed():
    files = [path for path in FRAGMENTS.iterdir() if path.name != "README.md"]
    problems = [problem(path.name, path.read_text()) for path in sorted(files)]
    assert not list(filter(None, problems))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("12.feature.md", "Words.\n"),
        ("words.added.md", "Words.\n"),
        ("+Some_Words.added.md", "Words.\n"),
        ("12.added.md", ""),
        ("12.added.md", "# Heading.\n"),
        ("12.added.md", "no stop\n"),
    ],
)
def test_problem_is_caught(name: str, text: str):
    assert problem(name, text)


@pytest.mark.parametrize("name", ["12.privacy.md", "+two-words.fixed.md"])
def test_good_fragment_is_accepted(name: str):
    assert problem(name, "Some plain words, in two\nlines.\n") is None


def test_towncrier_builds_a_draft():
    command = [sys.executable, "-m", "towncrier", "build", "--draft", "--version", "0.0.0"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "## 0.0.0" in done.stdout
