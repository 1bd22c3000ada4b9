"""Let questions be asked again in an id space where too many answers failed."""

import argparse

from discreet.cli.command import CommandResult, add_project
from discreet.roles.owner import own


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("id_space", help="where questions may be asked again")
    parser.add_argument(
        "--analyst",
        metavar="NAME",
        help="forgive only the failures that are counted together with this analyst's: their own, "
        "or those of everybody without a share",
    )
    add_project(parser)


def run(options: argparse.Namespace) -> CommandResult:
    """Begin to count failures from nothing again."""
    with own(options.project) as owner:
        failures = owner.resume(options.id_space, options.analyst)
    whose = "" if options.analyst is None else f" by {options.analyst}"
    text = (
        f"Questions about {options.id_space} may be asked again{whose}; "
        f"failed answers until now: {failures}. What was spent stays spent"
    )
    data = {"id_space": options.id_space, "analyst": options.analyst, "failures": failures}
    return CommandResult(text, data)
