"""Let questions be asked again in an id space where too many answers failed."""

import argparse

from discreet.cli.shown import Shown, add_project
from discreet.curator.connection import connect


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("id_space", help="where questions may be asked again")
    add_project(parser)


def run(options: argparse.Namespace) -> Shown:
    """Begin to count failures from nothing again."""
    with connect(options.project) as connection:
        failures = connection.resume(options.id_space)
    text = (
        f"Questions about {options.id_space} may be asked again; "
        f"failed answers until now: {failures}. What was spent stays spent"
    )
    return Shown(text, {"id_space": options.id_space, "failures": failures})
