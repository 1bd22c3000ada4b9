"""The command ``discreet``: finds the sub-command, runs it, and shows errors in one form."""

import argparse
import importlib
import json
import shutil
import sys
from collections.abc import Sequence
from functools import partial
from types import ModuleType
from typing import Any, NoReturn, TextIO

from discreet.cli.interrupting import interrupted, leave
from discreet.core.errors import DiscreetError
from discreet.core.interrupts import Interrupted
from discreet.core.terminal_text import WIDEST, lines
from discreet.ledger.under_way import last_charge

COMMANDS = {
    "init": "Write a first discreet.toml for some files, from names and types only.",
    "query": "Answer a question privately.",
    "explain": "Say what a question would do and cost; nothing is spent.",
    "rehearse": "Show what an answer would look like, on made-up rows; nothing is spent.",
    "profile": "Find out privately how much people contribute: what any limits would leave out.",
    "budget": "Show what is spent and what is left.",
    "ledger": "Show the ledger's history, verify it, or read a stored release again.",
    "tables": "Show what may be asked: tables, columns, ranges and public keys.",
    "check": "Check the declarations and their sources, and say what they imply; no row is read.",
    "data-changed": "Note that the data of an id space was replaced, so that questions are "
    "answered anew.",
    "resume": "Let questions be asked again in an id space where too many answers failed.",
    "to-parquet": "Turn a CSV file into Parquet, refusing lines that cannot be read without doubt.",
    "account": "Account for losses: what was spent, what it converts to, how much noise is needed.",
    "meaning": "Say what a loss means for one person.",
    "demo": "Show a private answer from beginning to end, on a made-up clinic.",
}
"""Each command and its summary. A command's module is loaded when it is run, and no other is."""


def load(command: str) -> ModuleType:
    """Return the module of a command: it has ``configure(parser)`` and ``run(options)``."""
    return importlib.import_module(f"discreet.cli.commands.{command.replace('-', '_')}")


def parser(command: str | None = None) -> argparse.ArgumentParser:
    """Return the parser, with the options of ``command``; others are listed by their summary."""
    top = argparse.ArgumentParser(
        prog="discreet",
        description="Learn from data about people without learning about any one of them.",
    )
    subparsers = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, summary in COMMANDS.items():
        sub = subparsers.add_parser(name, help=summary, description=summary)
        sub.add_argument("--json", action="store_true", help="print JSON")
        if name == command:
            load(name).configure(sub)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return 0 on success, 1 on an error that was explained.

    After an interrupt it is 130, and what was charged is settled first (:mod:`.interrupting`).
    """
    given = sys.argv[1:] if arguments is None else list(arguments)
    before = last_charge()
    try:
        return _run(given)
    except KeyboardInterrupt as pressed:
        return interrupted(pressed, before, partial(_explain, is_json="--json" in given))


def run() -> NoReturn:
    """Run the command of this process, and end the process."""
    leave(main())


def _run(given: Sequence[str]) -> int:
    command = next((word for word in given if word in COMMANDS), None)
    options = parser(command).parse_args(given)
    try:
        shown = load(options.command).run(options)
    except DiscreetError as error:
        _explain(error, is_json=options.json)
        return 1
    except BrokenPipeError:
        return 0
    text = _json(shown.data, sys.stdout, indent=2) if options.json else shown.text
    write(sys.stdout, text.rstrip("\n"))
    return 0


def _explain(error: DiscreetError | Interrupted, *, is_json: bool) -> None:
    if is_json:
        write(sys.stdout, _json(error.to_json(), sys.stdout))
    else:
        write(sys.stderr, _told(f"discreet: {error} [{error.code}]"))


def write(stream: TextIO, text: str) -> None:
    """Write a line, whatever the stream can say: what was paid for must not be lost to view."""
    known = getattr(stream, "encoding", None) or "utf-8"
    stream.write(text.encode(known, "backslashreplace").decode(known) + "\n")


def _json(data: Any, stream: TextIO, *, indent: int | None = None) -> str:
    """Return JSON that the stream can say."""
    text = json.dumps(data, ensure_ascii=False, indent=indent)
    try:
        text.encode(getattr(stream, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return json.dumps(data, indent=indent)
    return text


def _told(message: str) -> str:
    """Return a message in lines for a terminal; elsewhere in one, which programs can search."""
    if not sys.stderr.isatty():
        return message
    return lines(message, width=min(WIDEST, shutil.get_terminal_size((WIDEST, 24)).columns))
