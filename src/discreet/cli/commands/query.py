"""Answer a question privately."""

import argparse

from discreet.cli.command import CommandResult, add_asking, asked, question
from discreet.curator.connection import connect


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_asking(parser)
    parser.add_argument(
        "--fresh", action="store_true", help="pay again for new noise, even if it was answered"
    )


def run(options: argparse.Namespace) -> CommandResult:
    """Ask, and show the release."""
    with connect(options.project, analyst=options.analyst) as connection:
        release = connection.sql(question(options), fresh=options.fresh, **asked(options))
    return CommandResult(str(release), release.to_json())
