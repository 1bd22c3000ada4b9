"""Print a script with which bash, zsh or fish completes commands and options."""

import argparse

from discreet.cli.command import CommandResult
from discreet.cli.completing import SCRIPTS, completed_command
from discreet.cli.main import COMMANDS, parser


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("shell", choices=[*SCRIPTS], help="for which shell")


def run(options: argparse.Namespace) -> CommandResult:
    """Write the script from the parsers, so that it knows what they know."""
    commands = [completed_command(name, parser(name)) for name in COMMANDS]
    script = SCRIPTS[options.shell](commands)
    return CommandResult(script, {"shell": options.shell, "script": script})
