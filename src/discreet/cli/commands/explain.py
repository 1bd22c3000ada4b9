"""Say what a question would do and cost; nothing is spent."""

import argparse

from discreet.cli.command import CommandResult, add_asking, asked, question
from discreet.cli.spelling import spelled
from discreet.roles.connection import connect


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_asking(parser)
    parser.add_argument(
        "--plan", action="store_true", help="show the bounded plan too, operator by operator"
    )


def run(options: argparse.Namespace) -> CommandResult:
    """Explain, and show the steps."""
    with connect(options.project, analyst=options.analyst) as connection:
        explanation = connection.explain(question(options), **asked(options))
    text, found = spelled(str(explanation)), explanation.to_json()
    if not options.plan:
        return CommandResult(text, found)
    return CommandResult(f"{text}\n\n{explanation.plan}", {**found, "plan": explanation.plan})
