"""Show the ledger's history, verify it, or read a stored release again."""

import argparse
from pathlib import Path

from discreet.cli.answer_file import shown
from discreet.cli.command import CommandResult, add_project
from discreet.core.errors import InvalidArgument
from discreet.core.terminal_text import lines
from discreet.ledger.chain import Kind
from discreet.ledger.history import LAST_SHOWN, totals_words
from discreet.ledger.order import read_receipts
from discreet.project.open_ledger import open_ledger
from discreet.roles.connection import Connection, connect
from discreet.tables.declarations.declaration import read_catalog


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
    parser.add_argument(
        "--moved",
        action="store_true",
        help="as the owner, say that the ledger was moved or put back, and is not a second one",
    )
    add_project(parser)


def run(options: argparse.Namespace) -> CommandResult:
    """Show the history or a release, verify, begin again, or know the file."""
    if (options.receipt or options.recent) and not options.verify:
        raise InvalidArgument("--receipt and --recent are for verifying", next="Say --verify too")
    if options.last is not None and (options.all or options.last < 1):
        raise InvalidArgument("--last is not usable", must="be above 0, and without --all")
    if options.begin_again:
        return _begun_again(options)
    if options.moved:
        return _moved(options)
    with connect(options.project) as connection:
        if options.release is not None:
            return _released(connection, options.release)
        if options.verify:
            return _verified(connection, options)
        last = None if options.all else options.last or LAST_SHOWN
        entries = connection.history(last=last)
        spent = _spent(connection)
    text = f"{entries}\n{spent}"
    if entries and entries[0].sequence > 1:
        text += f"\n{entries[0].sequence - 1:,} earlier entries: --last N or --all shows them"
    return CommandResult(text, [entry.to_json() for entry in entries])


def _spent(connection: Connection) -> str:
    """Return what is spent of every budget."""
    budgets = connection.budget()
    spent = (f"spent of {one.id_space}: {one.spent}, of {one.cap}" for one in budgets)
    return "\n".join([*spent, *(lines(text) for one in budgets for text in one.void)])


def _begun_again(options: argparse.Namespace) -> CommandResult:
    ledger = open_ledger(read_catalog(Path(options.project)), begin_again=True)
    entry = next(one for one in reversed(ledger.entries(last=99)) if one.kind is Kind.RENEWAL)
    spent = totals_words(entry.payload)
    text = f"The ledger goes on at entry {entry.sequence}. Spent until now: {spent or 'nothing'}"
    return CommandResult(text, entry.to_json())


def _moved(options: argparse.Namespace) -> CommandResult:
    ledger = open_ledger(read_catalog(Path(options.project)))
    was_elsewhere = ledger.is_elsewhere()
    ledger.move_anchors(is_here=True)
    text = "knows this file from now on" if was_elsewhere else "knows this file already"
    return CommandResult(f"The anchor of the ledger {text}", {"was_moved": was_elsewhere})


def _released(connection: Connection, ticket: int) -> CommandResult:
    releases = [answer.open() for answer in connection.releases(ticket)]
    text = "\n\n".join(map(shown, releases))
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
