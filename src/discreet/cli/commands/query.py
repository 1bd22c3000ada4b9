"""Answer a question privately."""

import argparse
from pathlib import Path

from discreet.cli.answer_file import add_output, destination, encoded
from discreet.cli.command import CommandResult, add_asking, asked, question
from discreet.cli.files_beside import write_card
from discreet.core.counted import counted
from discreet.core.errors import InvalidArgument
from discreet.releases.answer_frame import IntervalKind
from discreet.roles.connection import connect
from discreet.synthesis.related.related_file import open_synthetic


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_asking(parser)
    parser.add_argument(
        "--fresh", action="store_true", help="pay again for new noise, even if it was answered"
    )
    parser.add_argument(
        "--card", metavar="FILE", help="write a release card besides: what, how and at which cost"
    )
    parser.add_argument(
        "--intervals",
        choices=[kind.value for kind in IntervalKind],
        default=IntervalKind.TOTAL.value,
        help="which interval to show beside that of noise: of all rows, none, or of the population "
        "of which the units of the table are a random sample (default: total)",
    )
    parser.add_argument(
        "--on",
        metavar="FILE",
        help="ask a file of synthetic rows, or the folder of two related tables, instead of the "
        "project: nothing is spent",
    )
    add_output(parser)


def run(options: argparse.Namespace) -> CommandResult:
    """Ask, and show the release or write it into a file."""
    sql = question(options)
    if options.on is not None:
        return _from_rows(sql, options)
    # Where the answer goes is made sure of before it is paid for.
    with destination(options) as place, connect(options.project, analyst=options.analyst) as asker:
        place.require_apart(asker.catalog())
        release = asker.sql(sql, fresh=options.fresh, **asked(options))
        release = release.with_intervals(options.intervals)
        if options.card is not None:  # what is free has none
            write_card(options.card, release.card)
        return place.take(release)


def _from_rows(sql: str, options: argparse.Namespace) -> CommandResult:
    """Ask a file of synthetic rows, and show the answer or write it into another."""
    if options.output is not None and Path(options.output).resolve() == Path(options.on).resolve():
        raise InvalidArgument(
            "The answer would replace the rows that it is from", must="go into another file"
        )
    with destination(options) as place:
        found = open_synthetic(options.on).sql(sql)
        if place.file is not None:
            place.file.keep(encoded(found, place.form))
            name, rows = str(place.file.target), counted(len(found.rows), "row")
            told = f"Wrote {rows} to {name}, from synthetic rows; free"
            about = {"output": name, "format": place.form.value, "notes": list(found.notes)}
            return CommandResult("\n".join([told, *found.notes]), about)
        if place.form.value in ("table", "json"):
            return CommandResult(str(found), found.to_json())
        notes = "\n".join(["from synthetic rows; free", *found.notes])
        return CommandResult("", None, output=encoded(found, place.form), aside=notes)
