"""Releases: how large one can be, how it is sealed, and how it is found again with its receipt."""

import hashlib
import json
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from attrs import field, frozen

from discreet.core import check
from discreet.core.canonical import digest
from discreet.core.errors import InvalidArgument, RefusedQuery
from discreet.ledger.chain import Entry, Kind, answered, broken, public_text, ticket
from discreet.ledger.order import Charge, Receipt, Ticket
from discreet.ledger.store import END, Snapshot

WRITTEN = 10_000_000
"""How many bytes of a release are written down in a second, at least."""

MADE = 200_000
"""How many cells of a release are made in a second, at least: drawn, put in order, written out."""

LONGEST_SETTLEMENT = 1
"""The most seconds of a deadline that are set aside for a settlement, beside the release's own."""


@frozen
class ReleaseSize:
    """The most that a release can be: bytes as it is stored, and cells (keys and values).

    All of it is public.

    Example:
        >>> 1000 * ReleaseSize(60, 3) + ReleaseSize(500, 0)
        ReleaseSize(bytes=60500, cells=3000)
    """

    bytes: int = field(default=0, converter=check.whole, validator=check.non_negative)
    cells: int = field(default=0, converter=check.whole, validator=check.non_negative)

    def __add__(self, other: "ReleaseSize") -> "ReleaseSize":
        """Return the size of both."""
        return ReleaseSize(self.bytes + other.bytes, self.cells + other.cells)

    def __rmul__(self, count: int) -> "ReleaseSize":
        """Return the size of so many."""
        return ReleaseSize(self.bytes * count, self.cells * count)

    def seconds(self) -> Fraction:
        """Return how long it takes to make it and to write it down, at most."""
        return Fraction(self.cells, MADE) + self.seconds_to_write()

    def seconds_to_write(self) -> Fraction:
        """Return how long it takes to write it down, at most."""
        return Fraction(self.bytes, WRITTEN)


SMALL = ReleaseSize(100_000, 100)
"""Of what is not said to be larger. So much is written down in the time of any settlement."""


def settlement_time(deadline: Fraction, size: ReleaseSize) -> Fraction:
    """Return how long before the deadline the settlement is begun.

    Example:
        >>> settlement_time(Fraction(20), ReleaseSize(5_000_000))
        Fraction(149, 100)
    """
    beyond = max(Fraction(0), size.seconds_to_write() - SMALL.seconds_to_write())
    return min(deadline / 10, Fraction(LONGEST_SETTLEMENT)) + beyond


def require_time(deadline: Fraction, size: ReleaseSize) -> None:
    """Refuse what may take more than half of its deadline to be made and written down.

    It would fail whatever the data are, and be charged for it.
    """
    if size.seconds() <= deadline / 2:
        return
    raise RefusedQuery(
        "The answer can be too large for its deadline",
        must=f"be made and written down in half of {float(deadline):g} s",
        got=f"up to {size.cells:,} cells and {size.bytes:,} bytes",
        next="Nothing was spent. Group by fewer keys, or have a deadline of"
        f" {math.ceil(2 * size.seconds()):,} s or more declared",
    )


def most_fitting(deadline: Fraction, fixed: ReleaseSize, each: ReleaseSize) -> int:
    """Return how many groups of a size can be made and written down in half of a deadline.

    Example:
        >>> most_fitting(Fraction(5), ReleaseSize(1000), ReleaseSize(6_030, 4))
        4012
    """
    return max(0, math.floor((deadline / 2 - fixed.seconds()) / each.seconds()))


@frozen
class SealedRelease:
    """A release as it is stored and handed over: nobody else can change it."""

    body: dict[str, Any]
    text: str
    """Its canonical text."""
    digest: str
    """The SHA-256 of the text."""


def seal(release: dict[str, Any], *, most_bytes: int | None = None) -> SealedRelease:
    """Return a release sealed; refuse what has no canonical text or is too long, and quote nothing.

    All that takes longer for a longer release is done here, so that it can be done by whoever does
    the work, and not when it is settled.

    Example:
        >>> sealed = seal({"rows": (1, 2)})
        >>> sealed.body, sealed.text
        ({'rows': [1, 2]}, '{"rows":[1,2]}')
    """
    text = public_text(release)
    stored = text.encode()
    if most_bytes is not None and len(stored) > most_bytes:
        raise InvalidArgument("That release is longer than its plan can make one")
    return SealedRelease(json.loads(text), text, hashlib.sha256(stored).hexdigest())


def commitment(reserve: Entry, sealed: SealedRelease) -> dict[str, Any]:
    """Return what the chain says of a release: for what it is, and what it is."""
    order = reserve.payload["order"]
    names = [name for name in ("plan_digest", "data_version", "question") if name in order]
    return {
        "ticket": reserve.sequence,
        **{name: order[name] for name in names},
        "release_digest": sealed.digest,
    }


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
    reserve = snapshot.latest(Kind.RESERVE, ticket(number))
    text = snapshot.release(number)
    if reserve is None or text is None:
        raise broken(commit.sequence, "its release or its charge is missing")
    try:
        release: dict[str, Any] = json.loads(text)
        # It is stored as its canonical text, so that mostly nothing need be written again.
        stored, named = hashlib.sha256(text.encode()), commit.payload["release_digest"]
        is_same = stored.hexdigest() == named or digest(release) == named
    except (TypeError, ValueError):
        is_same = False
    if not is_same:
        raise broken(commit.sequence, "its release was changed after it was stored")
    return release, make_receipt(reserve, commit)


MOST_ANSWERS = 100
"""Of so many answers to one question, the newest ones, it is asked whether one will do."""


@frozen
class PaidAnswer:
    """An answer that is stored: its receipt, and what the ledger shows of its order."""

    receipt: Receipt
    description: dict[str, Any]


def paid_answers(snapshot: Snapshot, question: str, data_version: int) -> Iterator[PaidAnswer]:
    """Yield the answers to a question on a version, whatever they cost: the newest first."""
    until = END
    for _ in range(MOST_ANSWERS):
        commit = snapshot.latest(Kind.COMMIT, answered(question, data_version), until)
        if commit is None:
            return
        reserve = snapshot.latest(Kind.RESERVE, ticket(commit.payload["ticket"]))
        if reserve is None:
            raise broken(commit.sequence, "its charge is missing")
        yield PaidAnswer(make_receipt(reserve, commit), reserve.payload["order"]["description"])
        until = commit.sequence - 1
