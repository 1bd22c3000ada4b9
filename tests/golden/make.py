"""How a folder here was made: ``python -m tests.golden.make FOLDER``.

It asks the questions of a project, and keeps its ledger with all answers, and what they showed, as
the version of today stores them. Every later version must read them. So what is there stays, and
what is stored in a new form gets a folder of its own.
"""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

from discreet.adaptive.gated.population_release import PopulationRelease
from discreet.releases.release import Release
from discreet.roles.connection import connect

ASKED, SHOWN, TOLD = "questions.json", "shown.json", "told.json"
LEDGER, FOLDER = "ledger.sqlite", ".discreet"


def shown(release: Release) -> dict[str, Any]:
    """Return the numbers of a release, its cost and its receipt; words may become better."""
    found = release.to_json()
    return {name: found[name] for name in ("columns", "rows", "errors", "cost", "receipt")}


def ask(connection: Any, question: dict[str, Any]) -> list[Release]:
    """Ask one question, or those of a batch."""
    options = dict(question)
    if "batch" in options:
        return list(connection.batch(options.pop("batch"), **options))
    return [connection.sql(options.pop("sql"), **options)]


def told(connection: Any, question: dict[str, Any]) -> list[PopulationRelease]:
    """Ask the questions to one holdout; its number of people is the first answer."""
    options = dict(question)
    table, asked = options.pop("holdout"), options.pop("ask")
    holdout = connection.holdout(table, **options)
    return [holdout.counted(is_stored=True), *(holdout.ask(**one) for one in asked)]


def told_as(release: PopulationRelease) -> dict[str, Any]:
    """Return the numbers of an answer of a holdout, and its cost."""
    found = release.to_json()
    return {name: found[name] for name in ("value", "low", "high", "number", "cost")}


def main(folder: Path) -> None:
    """Ask the questions of a folder, and keep the answers and the ledger beside them."""
    questions = json.loads((folder / ASKED).read_text(encoding="utf-8"))
    is_told = all("holdout" in one for one in questions)
    with connect(folder) as connection:
        if is_told:
            found = [[told_as(one) for one in told(connection, each)] for each in questions]
        else:
            found = [[shown(release) for release in ask(connection, one)] for one in questions]
    text = json.dumps(found, ensure_ascii=False, indent=1)
    (folder / (TOLD if is_told else SHOWN)).write_text(text + "\n", encoding="utf-8")
    (folder / FOLDER / LEDGER).rename(folder / LEDGER)
    shutil.rmtree(folder / FOLDER)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
