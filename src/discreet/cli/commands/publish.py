"""Publish noisy counts of a table: intervals, places, tables of columns."""

import argparse
from typing import Any

from discreet.cli.answer_file import Destination, add_output, destination, encoded
from discreet.cli.command import CommandResult, add_project
from discreet.cli.files_beside import write_card
from discreet.cli.spelling import spelled
from discreet.core.errors import InvalidArgument
from discreet.roles.connection import connect
from discreet.synthesis.published.published_counts import PublishedCounts
from discreet.synthesis.published.publishing_methods import METHODS
from discreet.synthesis.synthetic_release import write_about


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("table", help="the private table")
    parser.add_argument(
        "columns",
        nargs="*",
        metavar="COLUMN",
        help="the columns to count rows by (all but those that name the unit if none is named)",
    )
    parser.add_argument(
        "--method",
        required=True,
        choices=tuple(METHODS),
        help="; ".join(f"{name}: {method.summary}" for name, method in METHODS.items()),
    )
    parser.add_argument(
        "--option",
        action="append",
        dest="settings",
        metavar="NAME=VALUE",
        help="an option of the method, such as cells=64 (repeat it for more)",
    )
    parser.add_argument(
        "--together",
        action="append",
        dest="tables",
        metavar="A,B",
        help="the columns of a table to publish (repeat it for more), for methods with tables",
    )
    parser.add_argument(
        "--keys",
        action="append",
        metavar="COLUMN=A,B",
        help="values of a column of which none are declared (repeat it for more columns)",
    )
    parser.add_argument("--epsilon", metavar="E", help="what it may cost, such as 1")
    parser.add_argument("--rho", metavar="R", help="the same in zCDP, where the budget is in rho")
    parser.add_argument("--delta", metavar="D", help="the δ that may be spent besides ε")
    parser.add_argument(
        "--rows-per-unit", type=int, metavar="N", help="how many rows of one unit count"
    )
    parser.add_argument("--analyst", default="local", metavar="NAME", help="who publishes")
    parser.add_argument(
        "--explain", action="store_true", help="say what it would do and cost; nothing is spent"
    )
    parser.add_argument(
        "--card", metavar="FILE", help="write a release card besides: what, how and at which cost"
    )
    parser.add_argument(
        "--fresh", action="store_true", help="pay for a new one, although there is one already"
    )
    add_output(parser)
    add_project(parser)


def run(options: argparse.Namespace) -> CommandResult:
    """Explain, or publish."""
    asked = _asked(options)
    if options.explain:
        with connect(options.project, analyst=options.analyst) as connection:
            found = connection.explain_publishing(options.table, **asked)
        return CommandResult(spelled(str(found)), found.to_json())
    with (
        destination(options) as place,
        connect(options.project, analyst=options.analyst) as connection,
    ):
        place.require_apart(connection.catalog())
        release = connection.publish(options.table, fresh=options.fresh, **asked)
        result = _result(release, place)
        write_card(options.card, release.card)
        return result


def _result(release: PublishedCounts, place: Destination) -> CommandResult:
    """Write the counts, or return them to be shown."""
    if place.file is None and place.form.value in ("table", "json"):
        return CommandResult(str(release), release.to_json())
    cost = "a stored release" if release.is_stored else f"cost {release.cost}"
    notes = "\n".join(release.notes())
    counts = encoded(release, place.form)
    if place.file is None:
        return CommandResult("", None, output=counts, aside=f"{cost}\n{notes}")
    place.file.keep(counts)
    name = str(place.file.target)
    if place.form.value == "csv":  # it has no place for what it is
        write_about(place.file.target, release.about())
    told = f"Wrote {len(release):,} counts to {name}; {cost}"
    return CommandResult(f"{told}\n{notes}", release.about() | {"output": name})


def _asked(options: argparse.Namespace) -> dict[str, Any]:
    return {
        "epsilon": options.epsilon,
        "rho": options.rho,
        "delta": options.delta,
        "columns": options.columns or None,
        "keys": _keys(options.keys),
        "method": options.method,
        "options": _method_options(options.settings or [], options.tables),
        "rows_per_unit": options.rows_per_unit,
    }


def _keys(given: list[str] | None) -> dict[str, list[str]] | None:
    """Return lists of values by their columns."""
    if given is None:
        return None
    found = _named(given, "Values are not of the form COLUMN=A,B", "word=yes,no")
    return {name: values.split(",") for name, values in found.items()}


def _method_options(settings: list[str], tables: list[str] | None) -> dict[str, Any]:
    found: dict[str, Any] = dict(
        _named(settings, "An option is not of the form NAME=VALUE", "cells=64")
    )
    if tables is not None:
        found["tables"] = [one.split(",") for one in tables]
    return found


def _named(settings: list[str], what: str, example: str) -> dict[str, str]:
    """Return values by the names before them."""
    found: dict[str, str] = {}
    for one in settings:
        name, equals, value = one.partition("=")
        if not equals or not value or name in found:
            raise InvalidArgument(
                f"{what}, or given twice",
                must=f"be such as {example}",
                got=one[:40],
                next="Nothing was charged",
            )
        found[name] = value
    return found
