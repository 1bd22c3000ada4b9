"""Show the ledger's history, verify it, or read a stored release again."""

import argparse
from typing import Any

from discreet.cli.shown import Shown, add_project
from discreet.core.loss import loss_from_json
from discreet.curator.connection import connect
from discreet.curator.releases.text_table import text_table
from discreet.ledger.entry import Entry, Kind

LONGEST_SHOWN = 60


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--verify", action="store_true", help="recompute the chain and the totals")
    parser.add_argument("--release", type=int, metavar="TICKET", help="show what a ticket paid for")
    add_project(parser)


def run(options: argparse.Namespace) -> Shown:
    """Show the history or a release, or verify."""
    with connect(options.project) as connection:
        ledger = connection.ledger()
        if options.release is not None:
            releases = connection.releases(options.release)
            text = "\n\n".join(str(release) for release in releases)
            return Shown(text, [release.to_json() for release in releases])
        if options.verify:
            ledger.verify()
        entries = list(ledger.entries())
    if options.verify:
        head = entries[-1].digest if entries else ""
        text = f"The ledger holds: {len(entries)} entries, head {head[:16]}"
        return Shown(text, {"ok": True, "entries": len(entries), "head": head})
    rows = [[str(entry.sequence), entry.kind.value, *_columns(entry)] for entry in entries]
    text = text_table(["entry", "kind", "who", "loss", "what"], rows)
    return Shown(text, [entry.to_json() for entry in entries])


def _columns(entry: Entry) -> list[str]:
    payload: dict[str, Any] = entry.payload
    if entry.kind is Kind.RESERVE:
        order = payload["order"]
        losses = "; ".join(str(loss_from_json(charge["loss"])) for charge in order["charges"])
        return [order["analyst"], losses, _shortened(str(order["description"].get("sql", "")))]
    if entry.kind in (Kind.BUDGET, Kind.ALLOCATION):
        who = str(payload.get("analyst", ""))
        return [who, str(loss_from_json(payload["cap"])), f"cap of {payload['id_space']}"]
    if entry.kind is Kind.FAIL:
        return ["", "", _shortened(_failed(payload))]
    return ["", "", _shortened(_plain(payload))]


def _failed(payload: dict[str, Any]) -> str:
    counts = [
        f"failure {item['count']} of {item['id_space']}" for item in payload.get("failures", [])
    ]
    return ", ".join([f"ticket {payload['ticket']}", *counts])


def _plain(payload: dict[str, Any]) -> str:
    return ", ".join(f"{key} {value}" for key, value in payload.items())


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_SHOWN else f"{line[: LONGEST_SHOWN - 3]}..."
