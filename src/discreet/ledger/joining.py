"""Joining: a question that is asked while it is being answered waits for the answer that is paid.

Guarantee: *one question, one charge.*

    However many processes and threads ask an equal question at once, of which none asks for a fresh
    answer, one of them is charged. Equal are the plan with its noise, the version of the data, and
    the charges. All others are handed what it is settled as: the release, or the failure, which
    counts once.

    Proof. Whether to join is decided in the transaction that would otherwise charge, and these are
    serialised. The first finds nothing and charges. Each later one finds its ticket: among the open
    ones, or as the newest committed release of the plan.

    Assumes: the one who pays comes to an end. If its process is gone
    (:class:`Presence`), or the ticket is older than an answer takes, whoever waits
    asks anew, without regard to that ticket: again one of them pays. Without a deadline nobody
    knows how long an answer takes; after ``LONGEST_JOIN`` it is waited for no longer.

Joining adds no loss: what is handed over is a release that is stored for everybody anyway.
"""

import fcntl
import os
import struct
from collections.abc import Collection
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from attrs import frozen

from discreet.core.canonical import digest
from discreet.ledger.chain import Entry, Kind, Latest, released
from discreet.ledger.failures import GRACE, open_tickets
from discreet.ledger.gate_rules import rules_of
from discreet.ledger.order import Order

_FLOCK = "hhqqi"
"""How Linux lays out a lock: type, whence, start, length, process."""

_SET, _GET = (getattr(fcntl, name, None) for name in ("F_OFD_SETLK", "F_OFD_GETLK"))


class Presence:
    """Whether somebody is at work on an order: this flight, or others on this machine.

    It is a lock on one byte of a file beside the ledger, which the kernel takes away when a process
    ends, however it ends. It decides nothing but how long others wait: the ledger alone decides who
    is charged. Where there is no such lock, nobody is ever known to be gone, and patience decides.

    Locks belong to the open file and not to the process, so that threads count one by one.
    """

    def __init__(self, ledger: Path | None, order: dict[str, Any]) -> None:
        """Prepare for an order, by what makes orders equal; ``None``: nothing is to be known."""
        self._file = None if ledger is None or _SET is None else Path(f"{ledger}-flights")
        self._place = int(digest(order)[:12], 16)
        self._handle: int | None = None

    def enter(self) -> None:
        """Be at work from now on, if that can be said."""
        self._handle = self._opened()
        if self._handle is not None and _SET is not None:
            try:
                fcntl.fcntl(self._handle, _SET, self._lock(fcntl.F_RDLCK))
            except OSError:
                self.leave()

    def leave(self) -> None:
        """Be gone."""
        if self._handle is not None:
            os.close(self._handle)
        self._handle = None

    def is_nobody_there(self) -> bool:
        """Tell whether it is certain that nobody on this machine is at work."""
        handle = self._opened()
        if handle is None or _GET is None:
            return False
        try:
            found = fcntl.fcntl(handle, _GET, self._lock(fcntl.F_WRLCK))
        except OSError:
            return False
        finally:
            os.close(handle)
        return bool(struct.unpack_from("h", found)[0] == fcntl.F_UNLCK)

    def _opened(self) -> int | None:
        if self._file is None:
            return None
        try:
            return os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError:
            return None

    def _lock(self, kind: int) -> bytes:
        return struct.pack(_FLOCK, kind, os.SEEK_SET, self._place, 1, 0)


LONGEST_JOIN = 600
"""So many seconds after its charge a question is no longer joined, where there is no deadline."""


@frozen
class Joined:
    """A ticket that somebody else paid for, and how long it is worth waiting for."""

    number: int
    until: datetime


def joinable(
    latest: Latest, order: Order, at: datetime, given_up: Collection[int] = ()
) -> Joined | None:
    """Return the ticket of an equal order that is answered already or is being answered.

    Tickets that were ``given_up`` are passed over.
    """
    committed = latest(Kind.COMMIT, released(order.plan_digest, order.data_version))
    if committed is not None:
        return Joined(committed.payload["ticket"], at)
    wait = _patience(latest, order)
    for reserve in reversed(open_tickets(latest, order.charges[0].id_space).reserves):
        until = datetime.fromisoformat(reserve.payload["reserved_at"]) + wait
        if reserve.sequence not in given_up and _asks_for(reserve, order) and at <= until:
            return Joined(reserve.sequence, until)
    return None


def asked_for(order: dict[str, Any]) -> dict[str, Any]:
    """Return what makes two orders equal: who asks, and in which words, does not matter."""
    return {name: order[name] for name in ("plan_digest", "data_version", "charges")}


def _asks_for(reserve: Entry, order: Order) -> bool:
    return asked_for(reserve.payload["order"]) == asked_for(order.to_json())


def _patience(latest: Latest, order: Order) -> timedelta:
    deadlines = [rules_of(latest, charge.id_space).deadline for charge in order.charges]
    declared = [float(deadline) for deadline in deadlines if deadline is not None]
    return timedelta(seconds=max(declared) + GRACE if declared else LONGEST_JOIN)
