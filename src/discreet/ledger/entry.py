"""One entry of the chain: what happened, and the digest of everything before it."""

import hashlib
import json
from collections.abc import Callable
from enum import Enum
from functools import cached_property
from typing import Any

from attrs import frozen

from discreet.core.canonical import canonical
from discreet.ledger.public_json import public_text

GENESIS = "0" * 64
"""The digest before the first entry."""

Subject = tuple[str, ...]
"""What an entry is about, so that the newest entry about it can be found."""


class Kind(Enum):
    """What an entry records."""

    # Each is there once. They are looked up all the time, and a hash of the name takes longer.
    __hash__ = object.__hash__

    BUDGET = "budget"
    ALLOCATION = "allocation"
    VERSION = "version"
    RESERVE = "reserve"
    COMMIT = "commit"
    FAIL = "fail"
    GATE = "gate"
    RESUME = "resume"
    RENEWAL = "renewal"


@frozen(kw_only=True)
class Entry:
    """A numbered, public record. Changing one breaks the digest of every later one."""

    sequence: int
    kind: Kind
    text: str
    """The payload as it is written: the digest is of this."""
    previous: str
    digest: str

    @cached_property
    def payload(self) -> dict[str, Any]:
        """What the text says."""
        payload: dict[str, Any] = json.loads(self.text)
        return payload

    @property
    def subjects(self) -> tuple[Subject, ...]:
        """All that the entry is about."""
        return _SUBJECTS[self.kind](self)

    def computed_digest(self) -> str:
        """Return the digest that the entry must have."""
        return _digest(self.sequence, self.kind, self.text, self.previous)

    def to_json(self) -> dict[str, Any]:
        """Return the entry as plain JSON values."""
        return {
            "sequence": self.sequence,
            "kind": self.kind.value,
            "payload": self.payload,
            "previous": self.previous,
            "digest": self.digest,
        }


WORDS: dict[Kind, tuple[str, ...]] = {
    Kind.BUDGET: ("id_space",),
    Kind.ALLOCATION: ("id_space", "share"),
    Kind.VERSION: ("id_space",),
    Kind.RESERVE: ("id_space", "share", "ticket"),
    Kind.COMMIT: ("ticket", "release"),
    Kind.FAIL: ("id_space", "ticket", "counter"),
    Kind.GATE: ("id_space",),
    Kind.RESUME: ("id_space", "counter", "counters"),
    Kind.RENEWAL: ("id_space",),
}
"""How the subjects of each kind of entry begin."""

Latest = Callable[[Kind, Subject], Entry | None]
"""Finds the newest entry of a kind about a subject."""


def follow(head: Entry | None, kind: Kind, payload: dict[str, Any]) -> Entry:
    """Return the entry that comes after ``head`` (``None``: the first one)."""
    sequence = head.sequence + 1 if head else 1
    previous = head.digest if head else GENESIS
    text = public_text(payload)
    digest = _digest(sequence, kind, text, previous)
    return Entry(sequence=sequence, kind=kind, text=text, previous=previous, digest=digest)


def space(id_space: str) -> Subject:
    """The id space as a subject."""
    return ("id_space", id_space)


def share(id_space: str, analyst: str) -> Subject:
    """An analyst's part of an id space as a subject."""
    return ("share", id_space, analyst)


def counter(id_space: str, analyst: str | None) -> Subject:
    """A counter of failures as a subject: an analyst's own, or that of all others together."""
    return ("counter", id_space, analyst or "")


def counters(id_space: str) -> Subject:
    """All counters of failures of an id space as a subject."""
    return ("counters", id_space)


def ticket(number: int) -> Subject:
    """A ticket as a subject."""
    return ("ticket", str(number))


def released(plan_digest: str, data_version: int) -> Subject:
    """The release of a plan on a version as a subject."""
    return ("release", plan_digest, str(data_version))


def _digest(sequence: int, kind: Kind, text: str, previous: str) -> str:
    """Return the digest of an entry: of the canonical JSON of its four parts."""
    # Their names are in order, so that the payload need not be written once more.
    ends = f'"previous":{canonical(previous)},"sequence":{sequence}'
    inside = f'"kind":"{kind.value}","payload":{text},{ends}'
    return hashlib.sha256(f"{{{inside}}}".encode()).hexdigest()


def _about_space(entry: Entry) -> tuple[Subject, ...]:
    return (space(entry.payload["id_space"]),)


def _about_allocation(entry: Entry) -> tuple[Subject, ...]:
    id_space, analyst = entry.payload["id_space"], entry.payload["analyst"]
    return (space(id_space), share(id_space, analyst))


def _about_reserve(entry: Entry) -> tuple[Subject, ...]:
    order = entry.payload["order"]
    names = [charge["id_space"] for charge in order["charges"]]
    shares = (share(name, order["analyst"]) for name in names)
    return (ticket(entry.sequence), *(space(name) for name in names), *shares)


def _about_commit(entry: Entry) -> tuple[Subject, ...]:
    release = released(entry.payload["plan_digest"], entry.payload["data_version"])
    return (ticket(entry.payload["ticket"]), release)


def _about_fail(entry: Entry) -> tuple[Subject, ...]:
    # Ledgers from before failures were counted have entries that name the ticket alone.
    counts = entry.payload.get("failures", [])
    spaces = (space(item["id_space"]) for item in counts)
    # And those from before each analyst was counted name the id space alone.
    own = (_counter(item) for item in counts if "counter" in item)
    return (ticket(entry.payload["ticket"]), *spaces, *own)


def _about_resume(entry: Entry) -> tuple[Subject, ...]:
    if "counter" not in entry.payload:
        return _about_space(entry)
    return (counters(entry.payload["id_space"]), _counter(entry.payload))


def _counter(item: dict[str, Any]) -> Subject:
    return counter(item["id_space"], item["counter"]["analyst"])


def _about_renewal(entry: Entry) -> tuple[Subject, ...]:
    return tuple(space(total["id_space"]) for total in entry.payload["totals"])


_SUBJECTS: dict[Kind, Callable[[Entry], tuple[Subject, ...]]] = {
    Kind.BUDGET: _about_space,
    Kind.ALLOCATION: _about_allocation,
    Kind.VERSION: _about_space,
    Kind.RESERVE: _about_reserve,
    Kind.COMMIT: _about_commit,
    Kind.FAIL: _about_fail,
    Kind.GATE: _about_space,
    Kind.RESUME: _about_resume,
    Kind.RENEWAL: _about_renewal,
}
