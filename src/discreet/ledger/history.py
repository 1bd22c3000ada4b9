"""The history: entries of the ledger as people read them, one line each."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from itertools import islice
from typing import Any

from discreet.accounting.losses.loss_json import loss_from_json
from discreet.core.overview import Overview
from discreet.ledger.chain import Entry, Kind, require_unchanged
from discreet.ledger.store import Snapshot

LAST_SHOWN = 50
"""How many entries, the newest ones, are shown if nobody says how many."""

LONGEST_SHOWN = 60


class History(Overview[Entry]):
    """Entries of the ledger, oldest first."""

    __slots__ = ()

    def headings(self) -> tuple[str, ...]:
        """Return what is shown of an entry."""
        return ("entry", "time", "kind", "who", "loss", "spent by all", "what")

    def cells(self) -> list[list[str]]:
        """Return each entry as texts."""
        return [
            [str(entry.sequence), _time(entry), entry.kind.value, *_columns(entry)]
            for entry in self
        ]


def read_history(
    read: Callable[[], AbstractContextManager[Snapshot]], last: int | None = None
) -> History:
    """Return all entries, or the ``last`` so many; ``read`` opens the ledger for each page."""
    with read() as snapshot:
        head = snapshot.head()
    end = head.sequence if head else 0
    count = end if last is None else min(last, end)
    return History(islice(_pages(read, end - count, end), count))


def _pages(
    read: Callable[[], AbstractContextManager[Snapshot]], after: int, end: int
) -> Iterator[Entry]:
    while after < end:
        with read() as snapshot:
            page = snapshot.entries(after)
        for entry in page:
            require_unchanged(entry)
        yield from page
        after = page[-1].sequence if page else end


def _time(entry: Entry) -> str:
    """Return when an entry was made, if it says so: after a charge, a time would measure work."""
    at = str(entry.payload.get("reserved_at", ""))
    return at.replace("T", " ").replace("+00:00", "Z")


def _columns(entry: Entry) -> list[str]:
    payload: dict[str, Any] = entry.payload
    if entry.kind is Kind.RESERVE:
        order = payload["order"]
        losses = "; ".join(str(loss_from_json(charge["loss"])) for charge in order["charges"])
        losses = "exact" if "exact" in order else losses
        totals = "; ".join(str(loss_from_json(total["everybody"])) for total in payload["totals"])
        sql = _shortened(str(order["description"].get("sql", "")))
        return [_shortened(order["analyst"]), losses, totals, sql]
    if entry.kind in (Kind.BUDGET, Kind.ALLOCATION):
        who = _shortened(str(payload.get("analyst", "")))
        return [who, str(loss_from_json(payload["cap"])), "", f"cap of {payload['id_space']}"]
    if entry.kind is Kind.FAIL:
        return ["", "", "", _shortened(_failed(payload))]
    if entry.kind is Kind.RESUME:
        return ["", "", "", _shortened(_resumed(payload))]
    if entry.kind is Kind.EXACT:
        what = f"{payload['name']}: no worst-case claim for {payload['id_space']} any more"
        return ["", "", "", _shortened(what)]
    if entry.kind is Kind.RENEWAL:
        return ["", "", "", _shortened(f"begun again, spent before: {totals_words(payload)}")]
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
    return "without a share" if who is None else f"by {_shortened(who)}"


def _resumed(payload: dict[str, Any]) -> str:
    if "counter" not in payload:
        return _plain(payload)
    left = f"{payload['count']} failures are left"
    return f"id_space {payload['id_space']}, {_whose(payload['counter'])}: {left}"


def totals_words(payload: dict[str, Any]) -> str:
    """Return what an entry says is spent of every id space."""
    return "; ".join(
        f"{loss_from_json(total['everybody'])} of {total['id_space']}"
        for total in payload["totals"]
    )


def _plain(payload: dict[str, Any]) -> str:
    return ", ".join(f"{key} {value}" for key, value in payload.items())


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_SHOWN else f"{line[: LONGEST_SHOWN - 3]}..."
