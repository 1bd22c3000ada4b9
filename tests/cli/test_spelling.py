"""What is an argument in Python is an option on the command line, in every text that gets there."""

import ast
import inspect
import io
import re
from functools import cache
from itertools import chain
from typing import Any, TypeGuard

import pytest

from discreet.cli.main import COMMANDS, SPELLED, main, parser
from discreet.cli.spelling import spelled, spelled_in_shell
from discreet.roles.connection import Connection, connect
from discreet.roles.owner import Owner
from tests.house.test_words import said
from tests.support.house.source import Module, modules
from tests.support.projects.clinic import visit, write_project

ROOMS = ("curator", "engines", "ledger", "project", "releases", "sql", "tables")
"""What speaks of questions and is heard at every door."""

QUESTIONS = (Connection.sql, Connection.rehearse, Connection.batch, connect, Owner.profile)
ARGUMENTS = set(chain.from_iterable(inspect.signature(one).parameters for one in QUESTIONS))
ARGUMENTS |= {"within", "confidence", "group_size"}
GIVEN = re.compile(r"(?<![\w.])([a-z_]+)=(?![=.])")
OPTION = re.compile(r"(?<![\w-])--[a-z]+(?:-[a-z]+)*")

WITH_BOTH = "On the command line add"
"""Begins the one sentence that says what to do in either place."""


@cache
def texts() -> list[str]:
    """All texts of a sentence that are not the command line's own."""
    rooms = (module for module in modules() if module.place.split("/")[0] in ROOMS)
    return [text for module in rooms for text in sentences(module) if " " in text]


def sentences(module: Module) -> list[str]:
    """Texts that are no docstrings; those with values in them have 0 for each."""
    joined = [node for node in ast.walk(module.tree) if isinstance(node, ast.JoinedStr)]
    pieces = {piece.value for node in joined for piece in node.values if is_text(piece)}
    whole = [
        "".join(str(piece.value) if is_text(piece) else "0" for piece in node.values)
        for node in joined
    ]
    return [*whole, *(text for text in said(module) if text not in pieces)]


def piece_text(piece: ast.AST) -> str:
    return str(piece.value) if is_text(piece) else "0"


def is_text(node: ast.AST) -> TypeGuard[ast.Constant]:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def options(*commands: str) -> set[str]:
    """Every option of some commands."""
    found = set[str]()
    for name in commands:
        sub: Any = next(one for one in parser(name)._actions if one.dest == "command")
        found |= {text for action in sub.choices[name]._actions for text in action.option_strings}
    return found


def added(text: str, told: str) -> set[str]:
    """The options that a spelling has put in."""
    return {*OPTION.findall(told)} - {*OPTION.findall(text)}


def test_every_argument_in_a_text_is_an_option_on_the_command_line():
    known, seen = options("query", "profile", "rehearse"), set[str]()
    for text in texts():
        seen |= set(GIVEN.findall(text)) & ARGUMENTS
        told = spelled(text)
        assert not set(GIVEN.findall(told)) & ARGUMENTS, text
        assert added(text, told) <= known
    assert seen >= {"epsilon", "rho", "delta", "accuracy", "fresh", "group_size"}


def test_a_shell_speaks_of_options_that_it_has():
    """But for those of a profile, and a group size, which it has no way to take."""
    known = options("shell") | {"--fresh", "--group-size", "--within", "--rows"}
    for text in texts():
        assert added(text, spelled_in_shell(text)) <= known, text


def test_python_speaks_of_no_options():
    """Unless it writes out a whole command for the owner, or says what to do in either place."""
    for text in texts():
        is_command = re.search(r"\bdiscreet [a-z-]+\b", text) is not None
        is_part = text.startswith((" --value ", " --analyst "))
        if OPTION.search(text) and not (is_command or is_part):
            assert text.startswith(WITH_BOTH), text


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in SPELLED])
def test_a_command_that_takes_no_price_needs_no_spelling(name):
    prices = {"--epsilon", "--rho", "--accuracy"} & options(name)
    assert not prices or name == "init"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("be one of epsilon=, rho= and accuracy=", "be one of --epsilon, --rho and --accuracy"),
        ("Give delta= (such as 1e-9)", "Give --delta (such as 1e-9)"),
        ("Give epsilon=0.1, for example", "Give --epsilon 0.1, for example"),
        ("a fresh one (fresh=True), which", "a fresh one (--fresh), which"),
        ("state a group size (group_size=)", "state a group size (--group-size)"),
        ("group_size is out of range", "--group-size is out of range"),
        ("epsilon is not a number", "--epsilon is not a number"),
        ("The option 'rows_per_group' is out of range", None),
        ("No column 'epsilon' in visits", None),
        ("Columns: epsilon, delta, fresh", None),
        ("Add epsilon = ... to the OPTIONS", None),
        ("WHERE a.epsilon=1", None),
        ("rows_per_group outside 0 to 3 (declared) counts as the nearer end", None),
    ],
)
def test_spelled(text, told):
    assert spelled(text) == (text if told is None else told)


@pytest.mark.parametrize(
    ("sql", "options", "told"),
    [
        ("SELECT COUNT(*) FROM visits;", [], "Begin the shell with --epsilon 0.5 (or --rho, or"),
        (
            "SELECT COUNT(*) FROM visits;",
            ["--epsilon", "1"],
            "in the OPTIONS of a query, as row",
        ),
        ("SELECT MEDIAN(age) FROM visits;", ["--accuracy", "5"], "Give --epsilon instead"),
    ],
)
def test_a_shell_says_what_can_be_done_in_it(tmp_path, monkeypatch, capsys, sql, options, told):
    folder = write_project(tmp_path, [visit("p1")])
    monkeypatch.setattr("sys.stdin", io.StringIO(sql))
    main(["shell", "--yes", "--project", str(folder), *options])
    said = capsys.readouterr()
    assert told in " ".join((said.out + said.err).split())
