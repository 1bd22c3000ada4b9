"""Publish rows that look like those of two related tables: what ``synthesise`` does with two."""

import argparse
from pathlib import Path
from typing import Any

from discreet.cli.command import CommandResult
from discreet.cli.files_beside import require_free, write_beside, write_card
from discreet.cli.spelling import spelled
from discreet.core.errors import InvalidArgument
from discreet.roles.connection import connect
from discreet.synthesis.related.related_release import RelatedRelease
from discreet.synthesis.related.related_rows import ENDINGS, related_files
from discreet.synthesis.synthetic_release import checked_tours
from discreet.tables.catalog import Catalog

_FREE = "Nothing was charged"


def run_related(options: argparse.Namespace) -> CommandResult:
    """Explain, or publish."""
    asked = _asked(options)
    names = (options.table, options.child)
    with connect(options.project, analyst=options.analyst) as connection:
        if options.explain:
            found = connection.explain_related(*names, published=not options.alone, **asked)
            return CommandResult(spelled(str(found)), found.to_json())
        if options.rehearse:
            made_up = connection.rehearse_related(*names, **asked)
            return CommandResult(str(made_up), made_up.to_json())
        ending = _ending(options)
        require_free(options.report, replaces=options.force)
        if options.output is not None:
            _require_free(Path(options.output), options, ending, connection.catalog())
        release = connection.synthesise_related(
            *names, published=not options.alone, fresh=options.fresh, **asked
        )
    if options.tours is not None:
        release = release.with_tours(options.tours)
    result = _result(release, options, ending)
    write_beside("report", options.report, lambda place: release.report().write(place))
    write_card(options.card, release.card)
    return result


def _result(release: RelatedRelease, options: argparse.Namespace, ending: str) -> CommandResult:
    """Write the rows, or return them to be shown."""
    if options.output is None:
        return CommandResult(str(release), release.to_json())
    place = release.write(options.output, ending=ending, replace=options.force)
    rows = " and ".join(f"{len(rows):,} of {name}" for name, rows in release.tables.items())
    cost = "a stored release" if release.is_stored else f"cost {release.cost}"
    told = "\n".join([f"Wrote synthetic rows to {place}: {rows}; {cost}", *release.notes()])
    return CommandResult(told, release.to_json() | {"output": str(place)})


def _asked(options: argparse.Namespace) -> dict[str, Any]:
    one_table = {"tables": "--together", "asserted": "--asserted", "quantiles": "--quantiles"}
    for name, said in one_table.items():
        if getattr(options, name) is not None:
            raise InvalidArgument(f"{said} is about one table", must="be left out", next=_FREE)
    if options.tours is not None:
        checked_tours(options.tours)
    if options.rehearse and options.output is not None:
        raise InvalidArgument(
            "A rehearsal is not written to a file",
            must="be shown: its rows look like no table",
            next=_FREE,
        )
    if options.method != "auto":
        raise InvalidArgument(
            "--method is about one table", must="be auto for two of them", next=_FREE
        )
    return {
        "epsilon": options.epsilon,
        "rho": options.rho,
        "delta": options.delta,
        "columns": _columns(options.columns),
        "by": options.by,
        "rows_per_unit": options.rows_per_unit,
    }


def _columns(given: list[str] | None) -> dict[str, list[str]] | None:
    """Return the columns of each table, which are named as TABLE.COLUMN."""
    if given is None:
        return None
    found: dict[str, list[str]] = {}
    for one in given:
        table, dot, column = one.partition(".")
        if not dot:
            raise InvalidArgument(
                f"--column {one} does not say of which table",
                must="be TABLE.COLUMN, for two tables",
                next=_FREE,
            )
        found.setdefault(table, []).append(column)
    return found


def _ending(options: argparse.Namespace) -> str:
    """Return how the names of files end."""
    if options.output is None:
        if options.format not in (None, "table", "json") or options.force:
            raise InvalidArgument(
                "Two tables are not written to the standard output",
                must="go into a folder",
                next=f"{_FREE}. Add -o FOLDER",
            )
        options.json = options.json or options.format == "json"
        return ENDINGS[0]
    ending = ENDINGS[0] if options.format is None else f".{options.format}"
    related_files(Path(options.output), ("", ""), ending=ending)
    return ending


def _require_free(folder: Path, options: argparse.Namespace, ending: str, catalog: Catalog) -> None:
    """Make sure of the folder before anything is paid for; nothing of the project is replaced."""
    if not (folder.is_dir() or (folder.absolute().parent.is_dir() and not folder.exists())):
        raise InvalidArgument(
            f"{folder} cannot be written", must="be a folder, in one that is there", next=_FREE
        )
    files = related_files(folder, (options.table, options.child), ending=ending)
    sources = [one.source.path for one in catalog.tables]
    sources += [one.source.path for one in catalog.public_tables]
    own = {path.resolve() for path in sources}
    for file in files.values():
        if file.resolve() in own:
            raise InvalidArgument(
                f"{file} is a part of the project", must="be in another folder", next=_FREE
            )
        if file.exists() and not options.force:
            raise InvalidArgument(
                f"{file} exists already",
                next=f"{_FREE}. Name another folder, or add --force to replace it",
            )
