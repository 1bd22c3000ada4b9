"""Show a private answer from beginning to end, on a made-up clinic."""

import argparse
import tempfile
from pathlib import Path
from typing import Any

from discreet.cli.budget import shown as shown_budget
from discreet.cli.clinic import DECLARATION, PATIENTS, VISITS, make_clinic
from discreet.cli.shown import Shown
from discreet.core.errors import BudgetExhausted, DeclarationError
from discreet.curator.connection import Connection, connect

QUESTION = "SELECT clinic, COUNT(*) AS visits, SUM(cost) AS cost FROM visits GROUP BY clinic"
SECOND = "SELECT urgent, COUNT(*) AS visits FROM visits WHERE age >= 65 GROUP BY urgent"
THIRD = "SELECT COUNT(*) AS visits FROM visits WHERE visited >= DATE '2025-07-01'"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--keep", metavar="FOLDER", help="only make the clinic's project, in a new folder"
    )


def run(options: argparse.Namespace) -> Shown:
    """Run the demo in a fresh temporary project, or leave one behind to play with."""
    if options.keep:
        return _keep(Path(options.keep))
    with tempfile.TemporaryDirectory(prefix="discreet-demo-") as name:
        make_clinic(Path(name))
        with connect(name) as connection:
            return _tour(connection)


def _keep(folder: Path) -> Shown:
    if folder.exists() and any(folder.iterdir()):
        raise DeclarationError(f"The folder {folder} is not empty", must="be new or empty")
    make_clinic(folder)
    text = f"Made a clinic in {folder}. Try: discreet tables --project {folder}"
    return Shown(text, {"folder": str(folder)})


def _tour(connection: Connection) -> Shown:
    """Ask three questions; the last is one too many."""
    parts = [
        _part(f"A clinic: {VISITS:,} visits of about {PATIENTS:,} patients who do not exist"),
        _part("What the owner declared (discreet.toml)", DECLARATION),
    ]
    answers: list[dict[str, Any]] = []
    for sql, epsilon in ((QUESTION, "2"), (SECOND, "1")):
        explanation = connection.explain(sql, epsilon=epsilon)
        release = connection.sql(sql, epsilon=epsilon)
        answers.append(release.to_json())
        parts += [
            _part(f"A question, at ε = {epsilon}", sql),
            _part("What explain says (free)", str(explanation)),
            _part("The private answer", str(release)),
            _part("The budget", shown_budget(connection.budget())),
        ]
    again = connection.sql(QUESTION, epsilon="2")
    parts.append(_part("The first question again: the same release, at no cost", str(again)))
    refusal: dict[str, Any] = {}
    try:
        connection.sql(THIRD, epsilon="0.5")
    except BudgetExhausted as error:
        refusal = error.to_json()
        parts.append(_part("One question too many", f"{THIRD}\n{error}"))
    connection.ledger().verify()
    parts.append(_part("The ledger verifies: every release was paid for before it was made"))
    return Shown("\n\n".join(parts), {"answers": answers, "refusal": refusal})


def _part(title: str, body: str = "") -> str:
    return f"── {title}\n{body}".rstrip()
