"""Show what an answer would look like, on made-up rows; nothing is spent."""

import argparse

from discreet.cli.command import CommandResult, add_asking, asked, question
from discreet.project.stage import DEFAULT_ROWS
from discreet.roles.connection import connect


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_asking(parser)
    parser.add_argument(
        "--rows",
        type=int,
        default=DEFAULT_ROWS,
        metavar="N",
        help=f"how many rows to make up for each table (default: {DEFAULT_ROWS:,})",
    )


def run(options: argparse.Namespace) -> CommandResult:
    """Rehearse, and show the made-up answer under its label."""
    with connect(options.project, analyst=options.analyst) as connection:
        rehearsal = connection.rehearse(question(options), rows=options.rows, **asked(options))
    return CommandResult(str(rehearsal), rehearsal.to_json())
