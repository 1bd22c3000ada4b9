"""Say what a question would do and cost; nothing is spent."""

import argparse

from discreet.cli.shown import Shown, add_question
from discreet.curator.connection import connect


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_question(parser)


def run(options: argparse.Namespace) -> Shown:
    """Explain, and show the steps."""
    with connect(options.project, analyst=options.analyst) as connection:
        explanation = connection.explain(options.sql, epsilon=options.epsilon, rho=options.rho)
    return Shown(str(explanation), explanation.to_json())
