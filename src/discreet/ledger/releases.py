"""Stored releases: what was paid for, found again with its receipt."""

import json
from typing import Any

from discreet.core.canonical import digest
from discreet.ledger.chain import broken
from discreet.ledger.charge import Charge
from discreet.ledger.entry import Entry, Kind
from discreet.ledger.entry import ticket as ticket_subject
from discreet.ledger.receipt import Receipt
from discreet.ledger.store import Snapshot
from discreet.ledger.ticket import Ticket


def make_receipt(reserve: Entry, commit: Entry) -> Receipt:
    """Return the receipt of what ``reserve`` charged and ``commit`` settled."""
    order = reserve.payload["order"]
    return Receipt(
        ticket=Ticket(reserve.sequence, reserve.payload["order_digest"]),
        charges=tuple(Charge.from_json(charge) for charge in order["charges"]),
        plan_digest=order["plan_digest"],
        data_version=order["data_version"],
        release_digest=commit.payload["release_digest"],
        head=commit.digest,
    )


def stored_release(snapshot: Snapshot, commit: Entry) -> tuple[dict[str, Any], Receipt]:
    """Return the release that ``commit`` settled; refuse one that is not what was committed."""
    number = commit.payload["ticket"]
    reserve = snapshot.latest(Kind.RESERVE, ticket_subject(number))
    text = snapshot.release(number)
    if reserve is None or text is None:
        raise broken(commit.sequence, "its release or its charge is missing")
    try:
        release: dict[str, Any] = json.loads(text)
        is_same = digest(release) == commit.payload["release_digest"]
    except (TypeError, ValueError):
        is_same = False
    if not is_same:
        raise broken(commit.sequence, "its release was changed after it was stored")
    return release, make_receipt(reserve, commit)
