"""Find out privately how much units contribute: what any limits would leave out."""

import argparse

from discreet.cli.command import CommandResult, add_project
from discreet.roles.owner import own


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("table", help="the private table")
    parser.add_argument("--epsilon", metavar="E", help="what the profile may cost, such as 0.1")
    parser.add_argument("--rho", metavar="R", help="the same in zCDP, where the budget is in rho")
    parser.add_argument(
        "--key",
        action="append",
        dest="keys",
        metavar="COLUMN",
        help="count the groups of this column, which has declared keys (repeat it for more; all of "
        "them if none is named)",
    )
    parser.add_argument(
        "--value",
        action="append",
        default=[],
        dest="values",
        metavar="COLUMN",
        help="count units by their largest and their smallest value of this column of numbers or "
        "dates, to choose bounds (repeat it for more; each takes two more parts of the price)",
    )
    parser.add_argument(
        "--unreadable",
        action="append",
        default=[],
        metavar="COLUMN",
        help="count units who have text in this column of numbers, dates or truth values that "
        "could not be read as one (repeat it for more; each takes one more part of the price)",
    )
    parser.add_argument(
        "--fresh", action="store_true", help="pay for a new one, although there is one already"
    )
    add_project(parser)


def run(options: argparse.Namespace) -> CommandResult:
    """Pay for a profile, or show the one that is there."""
    with own(options.project) as owner:
        found = owner.profile(
            options.table,
            epsilon=options.epsilon,
            rho=options.rho,
            keys=options.keys,
            values=options.values,
            unreadable=options.unreadable,
            fresh=options.fresh,
        )
    return CommandResult(str(found), found.to_json())
