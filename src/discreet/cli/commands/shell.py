"""Ask one question after the other: each is explained, and asked if you say yes."""

import argparse
import sys
from collections.abc import Callable, Mapping

from discreet.cli.command import CommandResult, add_project
from discreet.cli.commands.tables import listed
from discreet.cli.shell_history import open_history
from discreet.cli.shell_session import HELP, ShellSession
from discreet.core.errors import InvalidArgument
from discreet.roles.connection import LOCAL_ANALYST, Connection, connect

WELCOME = "Ask with a SELECT that ends with ;  (help shows more, Ctrl-D leaves)"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--epsilon", metavar="E", help="what each answer may cost, such as 0.5")
    parser.add_argument("--rho", metavar="R", help="the same in zCDP, where the budget is in rho")
    parser.add_argument("--delta", metavar="D", help="the δ that each answer may spend besides")
    parser.add_argument(
        "--accuracy", metavar="A", help='instead of a price: how close, such as "±50 at 95 %%"'
    )
    parser.add_argument("--analyst", default=LOCAL_ANALYST, metavar="NAME", help="who asks")
    parser.add_argument(
        "--yes", action="store_true", help="ask every question at once, without asking back"
    )
    parser.add_argument(
        "--no-history", action="store_true", help="keep no questions in a file for the next time"
    )
    add_project(parser)


def run(options: argparse.Namespace) -> CommandResult:
    """Read questions until the end, from somebody who types or from a file."""
    is_interactive = sys.stdin.isatty()
    if not is_interactive and not options.yes:
        raise InvalidArgument(
            "Nobody is there who could say yes to each question",
            must="be typed at a terminal, or have --yes",
            next="Nothing was charged",
        )
    with connect(
        options.project,
        analyst=options.analyst,
        epsilon=options.epsilon,
        rho=options.rho,
        accuracy=options.accuracy,
        delta=options.delta,
    ) as connection:
        if is_interactive:
            sys.stdout.write(f"{WELCOME}\n")
        session = ShellSession(
            connection=connection,
            read=input if is_interactive else _line,
            history=open_history(keeps=is_interactive and not options.no_history),
            is_interactive=is_interactive,
            confirms=is_interactive and not options.yes,
            commands=COMMANDS,
            is_json=options.json,
        )
        return CommandResult("", None, output=b"", status=session.loop())


def _help(_: Connection) -> str:
    return HELP


def _tables(connection: Connection) -> str:
    return listed(connection.catalog()).text


def _budget(connection: Connection) -> str:
    return str(connection.budget())


COMMANDS: Mapping[str, Callable[[Connection], str]] = {
    "help": _help,
    "\\?": _help,
    "tables": _tables,
    "\\d": _tables,
    "budget": _budget,
}
"""What can be typed instead of a question."""


def _line(_: str) -> str:
    """Return the next line of the standard input."""
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line.rstrip("\n")
