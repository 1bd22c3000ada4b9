"""Publish rows that look like those of a table, and are nobody's."""

import argparse
from typing import Any

from discreet.cli.answer_file import Destination, add_output, destination, encoded
from discreet.cli.command import CommandResult, add_project
from discreet.cli.files_beside import require_free, write_beside, write_card
from discreet.cli.related_tables import run_related
from discreet.cli.spelling import spelled
from discreet.core.errors import InvalidArgument
from discreet.roles.connection import Connection, connect
from discreet.synthesis.read_facts import facts_of_file
from discreet.synthesis.synthesise import METHODS
from discreet.synthesis.synthetic_release import SyntheticRelease, checked_tours, write_about


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("table", help="the private table")
    parser.add_argument(
        "child", nargs="?", help="a second one, with the rows that belong to each of the first"
    )
    parser.add_argument("--epsilon", metavar="E", help="what it may cost, such as 1")
    parser.add_argument("--rho", metavar="R", help="the same in zCDP, where the budget is in rho")
    parser.add_argument("--delta", metavar="D", help="the δ that may be spent besides ε")
    parser.add_argument(
        "--column",
        action="append",
        dest="columns",
        metavar="COLUMN",
        help="a column to publish (repeat it for more; all but those that name the unit if none "
        "is named); of two tables as TABLE.COLUMN",
    )
    parser.add_argument(
        "--by",
        action="append",
        metavar="COLUMN",
        help="of two tables: a column of the first that rows of the second depend on (repeat it "
        "for more), instead of choosing privately",
    )
    parser.add_argument(
        "--together",
        action="append",
        dest="tables",
        metavar="A,B",
        help="columns to measure together (repeat it for more), instead of choosing privately",
    )
    parser.add_argument(
        "--quantiles",
        action="append",
        metavar="COLUMN",
        help="a number, date or time to divide where the rows are (repeat it for more), for a "
        "tenth of the price; else its range is divided evenly",
    )
    parser.add_argument(
        "--method",
        choices=METHODS,
        default=METHODS[0],
        help="which columns are measured together (default: chosen privately)",
    )
    parser.add_argument(
        "--rows-per-unit", type=int, metavar="N", help="how many rows of one unit count"
    )
    parser.add_argument(
        "--alone",
        action="store_true",
        help="use nothing that was published before; else the rows agree with it, and reveal it",
    )
    parser.add_argument(
        "--asserted",
        metavar="FILE",
        help="a file of TOML with what you assert to be public: rows, [[impossible]] combinations"
        " of values, and [totals.COLUMN]",
    )
    parser.add_argument("--analyst", default="local", metavar="NAME", help="who publishes")
    parser.add_argument(
        "--explain", action="store_true", help="say what it would do and cost; nothing is spent"
    )
    parser.add_argument(
        "--rehearse",
        action="store_true",
        help="show what it would give for made-up rows; nothing is read or spent",
    )
    parser.add_argument(
        "--report",
        metavar="FILE",
        help="write a report on how far the rows can be trusted (.html or .json); it costs nothing",
    )
    parser.add_argument(
        "--card", metavar="FILE", help="write a release card besides: what, how and at which cost"
    )
    parser.add_argument(
        "--tours",
        type=int,
        metavar="N",
        help="search for the model so long at most, where a shorter search was stopped before its "
        "end; what was measured is kept, so that it costs nothing",
    )
    parser.add_argument(
        "--fresh", action="store_true", help="pay for a new one, although there is one already"
    )
    add_output(parser)
    add_project(parser)


def run(options: argparse.Namespace) -> CommandResult:
    """Explain, or publish."""
    if options.child is not None:
        return run_related(options)
    if options.by is not None:
        raise InvalidArgument("--by is about two tables", must="have a second table too")
    if options.explain:
        with connect(options.project, analyst=options.analyst) as connection:
            found = connection.explain_synthesis(options.table, **_asked(options))
        return CommandResult(spelled(str(found)), found.to_json())
    if options.rehearse:
        return _rehearsed(options)
    require_free(options.report, replaces=options.force)
    if options.tours is not None:
        checked_tours(options.tours)
    with destination(options) as place:
        if place.file is not None and place.form.value in ("table", "json"):
            raise InvalidArgument(
                "Rows are not written in this form",
                must="be .parquet, .arrow, .feather or .csv",
                next="Nothing was charged. --json prints what the release is",
            )
        return _published(options, place)


def _rehearsed(options: argparse.Namespace) -> CommandResult:
    if options.output is not None:
        raise InvalidArgument(
            "A rehearsal is not written to a file", must="be shown: its rows look like no table"
        )
    about = ("published", "totals", "rows")
    asked = {name: value for name, value in _asked(options).items() if name not in about}
    with connect(options.project, analyst=options.analyst) as connection:
        found = connection.rehearse_synthesis(options.table, **asked)
    return CommandResult(str(found), found.to_json())


def _published(options: argparse.Namespace, place: Destination) -> CommandResult:
    with connect(options.project, analyst=options.analyst) as connection:
        place.require_apart(connection.catalog())
        release = _release(connection, options)
    result = _result(release, place)
    write_beside("report", options.report, lambda place: release.report().write(place))
    write_card(options.card, release.card)
    return result


def _result(release: SyntheticRelease, place: Destination) -> CommandResult:
    """Write the rows, or return them to be shown."""
    if place.file is None and place.form.value in ("table", "json"):
        return CommandResult(str(release), release.to_json())
    cost = "a stored release" if release.is_stored else f"cost {release.cost}"
    notes = "\n".join(release.notes())
    rows = encoded(release, place.form)
    if place.file is None:
        return CommandResult("", None, output=rows, aside=f"{cost}\n{notes}")
    place.file.keep(rows)
    name = str(place.file.target)
    if place.form.value == "csv":  # it has no place for what it is
        write_about(place.file.target, release.about())
    told = f"Wrote {len(release):,} synthetic rows to {name}; {cost}"
    return CommandResult(f"{told}\n{notes}", release.to_json() | {"output": name})


def _release(connection: Connection, options: argparse.Namespace) -> SyntheticRelease:
    found = connection.synthesise(options.table, fresh=options.fresh, **_asked(options))
    return found if options.tours is None else found.with_tours(options.tours)


def _asked(options: argparse.Namespace) -> dict[str, Any]:
    tables = options.tables
    return {
        "epsilon": options.epsilon,
        "rho": options.rho,
        "delta": options.delta,
        "columns": options.columns,
        "tables": None if tables is None else [one.split(",") for one in tables],
        "quantiles": options.quantiles,
        "method": options.method,
        "rows_per_unit": options.rows_per_unit,
        "published": not options.alone,
        **({} if options.asserted is None else facts_of_file(options.asserted)),
    }
