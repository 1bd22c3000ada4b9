"""Note that the data of an id space was replaced, so that questions are answered anew."""

import argparse

from discreet.cli.command import CommandResult, add_project
from discreet.roles.owner import own


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("id_space", help="whose data was replaced")
    add_project(parser)


def run(options: argparse.Namespace) -> CommandResult:
    """Advance the version; what was spent stays spent."""
    with own(options.project) as owner:
        number = owner.data_changed(options.id_space)
    text = f"{options.id_space} is now at data version {number}; what was spent stays spent"
    return CommandResult(text, {"id_space": options.id_space, "data_version": number})
