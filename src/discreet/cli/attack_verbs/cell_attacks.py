"""Attacks on printed tables: withheld cells, and the ages that a median and a mean leave."""

import argparse
import csv
from pathlib import Path
from typing import Any

from discreet.attacks.reconstruction.age_combinations import (
    all_ages,
    combinations_left,
    distinct_ages,
)
from discreet.attacks.reconstruction.withheld_cells import (
    CellTable,
    Place,
    audit_cells,
    read_cells,
)
from discreet.attacks.reconstruction.withhold_cells import withhold_more, withhold_small
from discreet.cli.attack_verbs.attack_verb import AttackVerb, Told, wrapped
from discreet.cli.progress import progress_bar
from discreet.core import check
from discreet.core.errors import InvalidArgument


def _add_cells(parser: argparse.ArgumentParser) -> None:
    one = parser.add_argument
    one("table", help="a file of CSV: names, counts, and totals in the last column and line")
    one("--below", metavar="N", help="withhold counts from 1 to less than this first")
    one("--more", action="store_true", help="and others, so that totals do not tell them")
    one(
        "--known",
        action="append",
        default=[],
        metavar="ROW,COLUMN=N",
        help="a withheld cell that the adversary knows",
    )


def _cells(options: argparse.Namespace) -> Told:
    if options.more and options.below is None:
        raise InvalidArgument("It is not said what is small", must="have --below with --more")
    table = _read(Path(options.table))
    parts: list[str] = []
    data: dict[str, Any] = {}
    if options.below is not None:
        below = check.at_least_one(options.below, "below")
        if options.more:
            made = withhold_more(table, below=below, on_step=progress_bar("small cells"))
        else:
            made = withhold_small(table, below=below)
        parts.append(str(made))
        data["withheld"] = made.to_json()
        table = made.table
    known = dict(_known(table, text) for text in options.known)
    found = audit_cells(table, known=known, on_step=progress_bar("cells"))
    return "\n\n".join([*parts, str(found)]), {**data, "ranges": found.to_json()}


def _read(path: Path) -> CellTable:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = list(csv.reader(file))
    except (OSError, ValueError, csv.Error):
        raise InvalidArgument(f"{path} cannot be read", must="be a file of CSV") from None
    return read_cells(lines)


def _known(table: CellTable, text: str) -> tuple[Place, int]:
    names, _, value = text.rpartition("=")
    places: dict[str, Any] = {
        f"{row},{column}": (one, two)
        for one, row in enumerate(table.rows)
        for two, column in enumerate(table.columns)
    }
    if names not in places:
        raise InvalidArgument("There is no such cell", must="be ROW,COLUMN=N", got=text)
    return places[names], check.whole(value)


def _add_ages(parser: argparse.ArgumentParser) -> None:
    one = parser.add_argument
    one("people", help="how many people are in the group")
    one("--median", required=True, metavar="A", help="their median age, as it is printed")
    one("--mean", required=True, metavar="A", help="their mean age, exactly")
    one("--youngest", default="0", metavar="A", help="the least age that is possible (default: 0)")
    one("--oldest", default="125", metavar="A", help="the greatest (default: 125)")


def _ages(options: argparse.Namespace) -> Told:
    people, ends = check.at_least_one(options.people, "people"), (options.youngest, options.oldest)
    youngest, oldest = map(check.whole, ends)
    left = combinations_left(
        people, median=options.median, mean=options.mean, youngest=youngest, oldest=oldest
    )
    every = all_ages(people, youngest=youngest, oldest=oldest)
    different = distinct_ages(people, youngest=youngest, oldest=oldest)
    told = (
        f"{left:,} of {every:,} combinations of {people:,} ages have this median and this mean. "
        f"({different:,} of all are of different ages.)"
    )
    if not left:
        told += " Then the mean is rounded, or a number has noise, and nothing can be told."
    return wrapped(told), {
        "people": people,
        "combinations": every,
        "distinct": different,
        "left": left,
    }


CELL_ATTACKS = (
    AttackVerb(
        "cells", "say what the totals of a table tell of withheld cells", _add_cells, _cells
    ),
    AttackVerb(
        "ages", "count the ages that a printed median and mean leave possible", _add_ages, _ages
    ),
)
