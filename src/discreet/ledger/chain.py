"""The chain: every entry carries the digest of the one before, so no past can be changed alone."""

import hashlib
import json
from collections.abc import Callable, Iterable
from enum import Enum
from functools import cached_property
from typing import Any

from attrs import frozen

from discreet.core.canonical import canonical
from discreet.core.errors import InvalidArgument, LedgerError
from discreet.core.html_text import html_page, html_steps


def parsed_json(text: object) -> dict[str, Any] | None:
    """Return the JSON object that a text is; ``None`` if it is no such thing.

    Example:
        >>> parsed_json('{"rows": [1]}'), parsed_json("[" * 100_000)
        ({'rows': [1]}, None)
    """
    try:
        found = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def public_json(value: dict[str, Any]) -> dict[str, Any]:
    """Return a deep copy of a JSON object; refuse what has no canonical text, without quoting it.

    Example:
        >>> public_json({"rows": (1, 2)})
        {'rows': [1, 2]}
    """
    copy: dict[str, Any] = json.loads(public_text(value))
    return copy


def public_text(value: dict[str, Any]) -> str:
    """Return the canonical text of a JSON object; refuse what has none, without quoting it."""
    try:
        text = canonical(value)
        text.encode()
    except (TypeError, ValueError, RecursionError):
        text = ""
    # Raised outside the handler: the cause may quote the value.
    if not text.startswith("{"):
        raise InvalidArgument(
            "That has no canonical JSON",
            must="be a JSON object whose numbers are integers or text",
        )
    return text


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
    EXACT = "exact"


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
        try:
            payload = json.loads(self.text)
        except (TypeError, ValueError, RecursionError):
            payload = None
        if not isinstance(payload, dict):
            raise broken(self.sequence, "it cannot be read")
        return payload

    @cached_property
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

    def _repr_html_(self) -> str:
        said = ((key, _plain_text(value)) for key, value in self.payload.items())
        kind = (f"Entry {self.sequence}", self.kind.value)
        return html_page(html_steps([kind, *said, ("digest", self.digest)]))


def _plain_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


WORDS: dict[Kind, tuple[str, ...]] = {
    Kind.BUDGET: ("id_space",),
    Kind.ALLOCATION: ("id_space", "share"),
    Kind.VERSION: ("id_space",),
    Kind.RESERVE: ("id_space", "share", "ticket"),
    Kind.COMMIT: ("ticket", "release", "question"),
    Kind.FAIL: ("id_space", "ticket", "counter"),
    Kind.GATE: ("id_space",),
    Kind.RESUME: ("id_space", "counter", "counters"),
    Kind.RENEWAL: ("id_space",),
    Kind.EXACT: ("id_space",),
}
"""How the subjects of each kind of entry begin."""

PARTS = {
    "id_space": 2,
    "share": 3,
    "ticket": 2,
    "release": 3,
    "question": 3,
    "counter": 3,
    "counters": 2,
}
"""How many parts a subject has that begins with a word."""

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


def answered(question: str, data_version: int) -> Subject:
    """The answers to a question on a version, whatever they cost, as a subject."""
    return ("question", question, str(data_version))


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
    version = entry.payload["data_version"]
    release = released(entry.payload["plan_digest"], version)
    # Ledgers from before questions had a name have entries without one.
    question = entry.payload.get("question")
    own = () if question is None else (answered(question, version),)
    return (ticket(entry.payload["ticket"]), release, *own)


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
    Kind.EXACT: _about_space,
}


@frozen
class Point:
    """A place in a chain: the number of an entry, and its digest; 0 is before the first one."""

    sequence: int = 0
    head: str = GENESIS

    def to_json(self) -> dict[str, Any]:
        """Return the point as plain JSON values."""
        return {"sequence": self.sequence, "head": self.head}

    @staticmethod
    def from_json(data: dict[str, Any]) -> "Point":
        """Read a point that :meth:`to_json` wrote."""
        return Point(int(data["sequence"]), str(data["head"]))


BEGINNING = Point()
"""Before the first entry."""


def verify_chain(entries: Iterable[Entry], since: Point = BEGINNING) -> Point:
    """Recompute every digest after ``since``; return the end, or name the first wrong entry.

    Guarantee:
        If this returns, and SHA-256 has no known collisions, the entries are the ones that led to
        the last digest. Cutting off the end leaves a valid, shorter chain: only somebody who kept a
        digest from there (every receipt holds one) can tell.
    """
    end = since
    for sequence, entry in enumerate(entries, start=since.sequence + 1):
        if entry.sequence != sequence or entry.previous != end.head:
            raise broken(sequence, "an entry is missing or out of place")
        require_unchanged(entry)
        end = Point(sequence, entry.digest)
    return end


def require_unchanged(entry: Entry) -> None:
    """Refuse an entry that does not have its digest."""
    try:
        is_same = entry.computed_digest() == entry.digest
    except (TypeError, ValueError, RecursionError):
        is_same = False
    if not is_same:
        raise broken(entry.sequence, "it was changed after it was written")


def broken(sequence: int, why: str) -> LedgerError:
    """Return the error that names a bad entry."""
    return _damaged(f" at entry {sequence}: {why}")


def forged(why: str) -> LedgerError:
    """Return the error about something beside the chain that belongs to no entry."""
    return _damaged(f": {why}")


def unmatched(ticket: int) -> LedgerError:
    """Return the error about a receipt that is for nothing in the chain."""
    return LedgerError(
        f"The ledger does not hold what the receipt of ticket {ticket} says",
        next="Either the ledger was cut short or rewritten since, or the receipt is not from this "
        "ledger. Compare more receipts before you believe either",
    )


def _damaged(where: str) -> LedgerError:
    return LedgerError(
        f"The ledger is damaged{where}",
        next="Stop answering, and restore the ledger from a copy that verifies",
    )
