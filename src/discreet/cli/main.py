"""The command ``discreet``: finds the sub-command, runs it, and shows errors in one form."""

import argparse
import importlib
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from itertools import pairwise
from types import ModuleType
from typing import NoReturn

from discreet.cli.exit_status import ANSWERED, internal_error, status_of, write_trace
from discreet.cli.interrupting import interrupted, leave
from discreet.cli.spelling import spelled, spelled_in_shell, spelled_without_accuracy
from discreet.cli.terminal import (
    explain,
    flush_output,
    json_text,
    let_go_of_output,
    write,
    write_bytes,
)
from discreet.cli.usage import CommandParser
from discreet.core.errors import TRACE, DeclarationError, DiscreetError, LedgerError, OutputFailed
from discreet.core.interrupts import pressed_behind
from discreet.ledger.under_way import Spent, last_charge

COMMANDS = {
    "init": "Write a first discreet.toml for some files, from names and types only.",
    "query": "Answer a question privately.",
    "shell": "Ask one question after the other: each is explained, and asked if you say yes.",
    "explain": "Say what a question would do and cost; nothing is spent.",
    "synthesise": "Publish rows that look like those of a table, and are nobody's.",
    "publish": "Publish noisy counts of a table: intervals, places, tables of columns.",
    "holdout": "Ask about the population that a table's units come from; questions may depend on "
    "answers.",
    "exact": "Publish a declared statistic without noise, as the owner; or list what is declared.",
    "survey": "Collect from people who trust nobody: declare a survey, plan it, serve it, see what "
    "came.",
    "rehearse": "Show what an answer would look like, on made-up rows; nothing is spent.",
    "profile": "Find out privately how much units contribute: what any limits would leave out.",
    "budget": "Show what is spent and what is left.",
    "releases": "List every stored release, or show one of them again; nothing is spent.",
    "ledger": "Show the ledger's history, verify it, or read a stored release again.",
    "tables": "Show what may be asked: tables, columns, ranges and public keys.",
    "check": "Check the declarations and their sources, and say what they imply.",
    "data-changed": "Note that the data of an id space was replaced, so that questions are "
    "answered anew.",
    "resume": "Let questions be asked again in an id space where too many answers failed.",
    "to-parquet": "Turn a file into Parquet, refusing lines that cannot be read without doubt.",
    "account": "Account for losses: what was spent, what it converts to, how much noise is needed.",
    "meaning": "Say what a loss means for one person.",
    "plan": "Say how many people it takes, how exact answers can be, and what nobody can do.",
    "certify": "Say whether an exact number may be published, what that assumes, and what noise "
    "would cost.",
    "local": "Compare collecting with a trusted curator and without one: how many it takes.",
    "audit": "Audit outputs of any mechanism: the least loss that they prove, with a confidence.",
    "attack": "Attack your own release before an adversary does, from files that you name.",
    "doctor": "Look whether the installation and the project are in order; nothing is spent.",
    "completion": "Print a script with which bash, zsh or fish completes commands and options.",
    "demo": "Show a private answer from beginning to end, on a made-up clinic.",
}
"""Each command and its summary. A command's module is loaded when it is run, and no other is."""


def load(command: str) -> ModuleType:
    """Return the module of a command: it has ``configure(parser)`` and ``run(options)``."""
    return importlib.import_module(f"discreet.cli.commands.{command.replace('-', '_')}")


def parser(command: str | None = None) -> CommandParser:
    """Return the parser, with the options of ``command``; others are listed by their summary."""
    top = CommandParser(
        prog="discreet",
        description="Learn from data about people without learning about any one of them.",
    )
    top.add_argument("--version", action=_Version, help="say which version this is")
    subparsers = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, summary in COMMANDS.items():
        sub = subparsers.add_parser(name, help=summary, description=summary)
        sub.add_argument("--json", action="store_true", help="print JSON")
        if name == command:
            load(name).configure(sub)
    return top


SPELLED = (
    "query",
    "explain",
    "rehearse",
    "synthesise",
    "publish",
    "holdout",
    "profile",
    "shell",
    "releases",
    "ledger",
    "meaning",
    "plan",
    "certify",
    "local",
    "audit",
    "attack",
)
"""Commands whose messages name arguments that are options here."""

_WITHOUT_ACCURACY = ("synthesise", "publish", "holdout")
"""Commands with a price that cannot be given as an accuracy."""


class _Version(argparse.Action):
    """Say the version, which is looked up when it is asked for."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str | None = None) -> None:
        super().__init__(option_strings, dest=argparse.SUPPRESS, nargs=0, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        found = importlib.import_module("importlib.metadata").version("discreet")
        write(sys.stdout, f"discreet {found}")
        parser.exit(ANSWERED)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return its status, as :mod:`.exit_status` lists them.

    After an interrupt what was charged is settled first (:mod:`.interrupting`).
    """
    given = sys.argv[1:] if arguments is None else list(arguments)
    before = last_charge()
    try:
        return _run_or_explain(given, before)
    except BrokenPipeError:
        let_go_of_output()
        return ANSWERED
    except OutputFailed as error:
        let_go_of_output()
        with suppress(OutputFailed):
            explain(error, is_json=False)
        return status_of(error, is_charged=last_charge() != before)


def _run_or_explain(given: Sequence[str], before: Spent) -> int:
    """Run one command, and show what goes wrong."""
    is_json = wants_json(given)
    try:
        return _run(given)
    except KeyboardInterrupt as pressed:
        return interrupted(pressed, before, partial(explain, is_json=is_json))
    except (BrokenPipeError, OutputFailed):
        raise
    except Exception as cause:
        if (behind := pressed_behind(cause)) is not None:
            return interrupted(behind, before, partial(explain, is_json=is_json))
        error = cause if isinstance(cause, DiscreetError) else internal_error(cause)
        explain(error, is_json=is_json, spelled=_spelling(error, _command(given)))
        if error is not cause and os.environ.get(TRACE):
            write_trace(cause)
        return status_of(error, is_charged=last_charge() != before)


def run() -> NoReturn:
    """Run the command of this process, and end the process."""
    leave(main())


def wants_json(given: Sequence[str]) -> bool:
    """Tell whether a program reads what is printed.

    Example:
        >>> wants_json(["query", "--format", "json"]), wants_json(["query", "--format", "csv"])
        (True, False)
    """
    is_said = bool({"--json", "--format=json"} & {*given})
    return is_said or ("--format", "json") in pairwise(given)


def _command(given: Sequence[str]) -> str | None:
    return next((word for word in given if word in COMMANDS), None)


def _run(given: Sequence[str]) -> int:
    options = _options(given)
    shown = load(options.command).run(options)
    if shown.output is not None:
        write_bytes(shown.output)
    else:
        text = json_text(shown.data, sys.stdout, indent=2) if options.json else shown.text
        write(sys.stdout, text.rstrip("\n"))
    flush_output()
    if shown.aside:
        write(sys.stderr, shown.aside)
    return int(shown.status)


def _options(given: Sequence[str]) -> argparse.Namespace:
    top = parser(_command(given))
    options, unknown = top.parse_known_args(given)
    if unknown:
        asked = CommandParser(prog=f"{top.prog} {options.command}", add_help=False)
        load(options.command).configure(asked)
        several = asked.takes_several()
        if several and not any(word.startswith("-") for word in unknown):
            getattr(options, several).extend(unknown)  # words that stand behind an option
            return options
        asked.refuse(unknown, [*asked.option_strings(), "--json", "--help"])
    return options


def _spelling(error: DiscreetError, command: str | None) -> Callable[[str], str]:
    """Return how an error is spelled: declarations and ledgers have names of their own."""
    if command not in SPELLED or isinstance(error, DeclarationError | LedgerError):
        return str
    if command == "shell":
        return spelled_in_shell
    return spelled_without_accuracy if command in _WITHOUT_ACCURACY else spelled
