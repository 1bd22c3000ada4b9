"""List every stored release, or show one of them again; nothing is spent."""

import argparse
import re

from discreet.adaptive.gated.choice_release import ChoiceRelease
from discreet.adaptive.gated.population_release import PopulationRelease
from discreet.cli.answer_file import shown
from discreet.cli.command import CommandResult, add_project
from discreet.cli.files_beside import write_card
from discreet.core.errors import InvalidArgument
from discreet.releases.profile import Profile
from discreet.roles.connection import Connection, connect

LAST_SHOWN = 20


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("action", nargs="?", choices=["show"], help="show one answer again")
    parser.add_argument(
        "number",
        nargs="?",
        metavar="TICKET",
        help="which one: 12, or 12.3 for the third of a batch",
    )
    parser.add_argument(
        "--last", type=int, metavar="N", help=f"list the last N (default: {LAST_SHOWN})"
    )
    parser.add_argument("--all", action="store_true", help="list every one")
    parser.add_argument("--card", metavar="FILE", help="with show: write its release card besides")
    add_project(parser)


def run(options: argparse.Namespace) -> CommandResult:
    """List the stored answers, or show what a ticket paid for. It costs nothing."""
    if (options.action is None) != (options.number is None):
        raise InvalidArgument("The answer has no number", must="be 'show' and a ticket, such as 12")
    if options.last is not None and (options.all or options.last < 1):
        raise InvalidArgument("--last is not usable", must="be above 0, and without --all")
    with connect(options.project) as connection:
        if options.action is not None:
            return _shown(connection, options.number, options.card)
        if options.card is not None:
            raise InvalidArgument("--card is about one release", must="have 'show' and a ticket")
        last = None if options.all else options.last or LAST_SHOWN
        found = connection.releases(last=last)
        text = str(found) if found else "Nothing was answered yet"
        return CommandResult(text, [one.to_json() for one in found])


def _shown(connection: Connection, number: str, card: str | None) -> CommandResult:
    """Return one answer, or those of a batch if no place in it is given."""
    parts = re.fullmatch(r"([0-9]{1,18})(?:\.([0-9]{1,9}))?", number)
    if parts is None:
        raise InvalidArgument(
            "That is no ticket", must="be a number such as 12, or 12.3", got=number
        )
    ticket, place = parts.groups()
    found = [one for one in connection.releases(int(ticket)) if place in (None, str(one.place))]
    if not found:
        raise InvalidArgument(f"Ticket {ticket} has no answer at this place", got=str(place))
    releases = [one.open() for one in found]
    if card is not None:
        first = releases[0]
        if len(releases) > 1 or isinstance(first, Profile | PopulationRelease | ChoiceRelease):
            raise InvalidArgument(
                "There is no card of this",
                must="be one release, such as 12.1, and no profile or answer",
            )
        write_card(card, first.card)
    questions = zip(found, releases, strict=True)
    text = "\n\n".join(f"{one.sql}\n\n{shown(release)}" for one, release in questions)
    return CommandResult(text, [release.to_json() for release in releases])
