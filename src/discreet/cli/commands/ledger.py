"""Show the ledger's history, verify it, or read a stored release again."""

import argparse
from pathlib import Path
from typing import Any

from discreet.accounting.losses.loss_json import loss_from_json
from discreet.cli.command import CommandResult, add_project
from discreet.core.errors import InvalidArgument
from discreet.core.terminal_text import text_table
from discreet.curator.connection import Connection, connect
from discreet.ledger.chain import Entry, Kind
from discreet.ledger.order import read_receipts
from discreet.project.open_ledger import open_ledger
from discreet.tables.declarations.declaration import read_catalog

LONGEST_SHOWN = 60
LAST_SHOWN = 50


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--verify", action="store_true", help="recompute the chain and the totals")
    parser.add_argument(
        "--recent",
        action="store_true",
        help="with --verify: only what came after the last time that it held",
    )
    parser.add_argument(
        "--last", type=int, metavar="N", help=f"show the last N entries (default: {LAST_SHOWN})"
    )
    parser.add_argument("--all", action="store_true", help="show every entry")
    parser.add_argument(
        "--receipt",
        action="append",
        default=[],
        metavar="FILE",
        help="with --verify: check that the ledger still holds what this receipt (or the release "
        "that carries it, as JSON) says; can be given several times",
    )
    parser.add_argument("--release", type=int, metavar="TICKET", help="show what a ticket paid for")
    parser.add_argument(
        "--begin-again",
        action="store_true",
        help="as the owner, go on although the ledger is gone or is an older copy; what is known "
        "to be spent stays spent",
    )
    add_project(parser)


def run(options: argparse.Namespace) -> CommandResult:
    """Show the history or a release, verify, or begin again."""
    if (options.receipt or options.recent) and not options.verify:
        raise InvalidArgument("--receipt and --recent are for verifying", next="Say --verify too")
    if options.last is not None and (options.all or options.last < 1):
        raise InvalidArgument("--last is not usable", must="be above 0, and without --all")
    if options.begin_again:
        return _begun_again(options)
    with connect(options.project) as connection:
        if options.release is not None:
            return _released(connection, options.release)
        if options.verify:
            return _verified(connection, options)
        last = None if options.all else options.last or LAST_SHOWN
        entries = connection.history(last=last)
        spent = _spent(connection)
    rows = [
        [str(entry.sequence), _time(entry), entry.kind.value, *_columns(entry)] for entry in entries
    ]
    text = text_table(["entry", "time", "kind", "who", "loss", "spent by all", "what"], rows)
    text += f"\n{spent}"
    if entries and entries[0].sequence > 1:
        text += f"\n{entries[0].sequence - 1:,} earlier entries: --last N or --all shows them"
    return CommandResult(text, [entry.to_json() for entry in entries])


def _time(entry: Entry) -> str:
    """Return when an entry was made, if it says so: after a charge, a time would measure work."""
    at = str(entry.payload.get("reserved_at", ""))
    return at.replace("T", " ").replace("+00:00", "Z")


def _spent(connection: Connection) -> str:
    """Return what is spent of every budget."""
    return "\n".join(
        f"spent of {status.id_space}: {status.spent}, of {status.cap}"
        for status in connection.budget()
    )


def _begun_again(options: argparse.Namespace) -> CommandResult:
    ledger = open_ledger(read_catalog(Path(options.project)), begin_again=True)
    entry = next(one for one in reversed(ledger.entries(last=99)) if one.kind is Kind.RENEWAL)
    spent = _totals(entry.payload)
    text = f"The ledger goes on at entry {entry.sequence}. Spent until now: {spent or 'nothing'}"
    return CommandResult(text, entry.to_json())


def _released(connection: Connection, ticket: int) -> CommandResult:
    releases = connection.releases(ticket)
    text = "\n\n".join(str(release) for release in releases)
    return CommandResult(text, [release.to_json() for release in releases])


def _verified(connection: Connection, options: argparse.Namespace) -> CommandResult:
    receipts = [one for name in options.receipt for one in read_receipts(Path(name))]
    end = connection.verify(*receipts, is_recent=options.recent)
    head = end.head if end.sequence else ""
    text = f"The ledger holds: {end.sequence} entries, head {head[:16]}"
    if receipts:
        text += f". Receipts that it matches: {len(receipts)}"
    data = {"ok": True, "entries": end.sequence, "head": head, "receipts": len(receipts)}
    return CommandResult(text, data)


def _columns(entry: Entry) -> list[str]:
    payload: dict[str, Any] = entry.payload
    if entry.kind is Kind.RESERVE:
        order = payload["order"]
        losses = "; ".join(str(loss_from_json(charge["loss"])) for charge in order["charges"])
        totals = "; ".join(str(loss_from_json(total["everybody"])) for total in payload["totals"])
        sql = _shortened(str(order["description"].get("sql", "")))
        return [order["analyst"], losses, totals, sql]
    if entry.kind in (Kind.BUDGET, Kind.ALLOCATION):
        who = str(payload.get("analyst", ""))
        return [who, str(loss_from_json(payload["cap"])), "", f"cap of {payload['id_space']}"]
    if entry.kind is Kind.FAIL:
        return ["", "", "", _shortened(_failed(payload))]
    if entry.kind is Kind.RESUME:
        return ["", "", "", _shortened(_resumed(payload))]
    if entry.kind is Kind.RENEWAL:
        return ["", "", "", _shortened(f"begun again, spent before: {_totals(payload)}")]
    return ["", "", "", _shortened(_plain(payload))]


def _failed(payload: dict[str, Any]) -> str:
    counts = [_count(item) for item in payload.get("failures", [])]
    return ", ".join([f"ticket {payload['ticket']}", *counts])


def _count(item: dict[str, Any]) -> str:
    """Return the count of all failures of an id space, and of the counter that it is one of."""
    everybody = f"failure {item['count']} of {item['id_space']}"
    if "counter" not in item:
        return everybody
    return f"{everybody} ({item['counter']['count']} {_whose(item['counter'])})"


def _whose(counter: dict[str, Any]) -> str:
    who = counter["analyst"]
    return "without a share" if who is None else f"by {who}"


def _resumed(payload: dict[str, Any]) -> str:
    if "counter" not in payload:
        return _plain(payload)
    left = f"{payload['count']} failures are left"
    return f"id_space {payload['id_space']}, {_whose(payload['counter'])}: {left}"


def _totals(payload: dict[str, Any]) -> str:
    return "; ".join(
        f"{loss_from_json(total['everybody'])} of {total['id_space']}"
        for total in payload["totals"]
    )


def _plain(payload: dict[str, Any]) -> str:
    return ", ".join(f"{key} {value}" for key, value in payload.items())


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_SHOWN else f"{line[: LONGEST_SHOWN - 3]}..."
