"""Answer a question privately."""

import argparse

from discreet.cli.shown import Shown, add_question
from discreet.curator.connection import connect


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_question(parser)


def run(options: argparse.Namespace) -> Shown:
    """Ask, and show the release."""
    with connect(options.project, analyst=options.analyst) as connection:
        release = connection.sql(options.sql, epsilon=options.epsilon, rho=options.rho)
    return Shown(str(release), release.to_json())
