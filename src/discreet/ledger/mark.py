"""A mark: how far a ledger was at some moment, kept apart from it."""

from typing import Any

from attrs import frozen

from discreet.accounting.losses.loss_json import loss_from_json
from discreet.core.canonical import canonical, digest
from discreet.core.errors import DiscreetError, LedgerError
from discreet.core.loss import PrivacyLoss
from discreet.ledger.entry import GENESIS
from discreet.ledger.public_json import parsed_json

_ABOUT = "how far the ledger of this project was; keep this file beside the declaration"


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


@frozen(kw_only=True)
class Mark:
    """Where a chain ended, what was spent by then, and up to where it was last verified.

    Guarantee:
        All of it is public: it is read from entries. No time, and nothing from rows.
    """

    count: int
    """How many marks were written before: the newest has the largest."""
    end: Point
    spent: dict[str, PrivacyLoss]
    verified: Point = BEGINNING

    def to_text(self) -> str:
        """Return the mark as one line of JSON that carries its own digest."""
        data = {
            "about": _ABOUT,
            "count": self.count,
            "end": self.end.to_json(),
            "spent": {name: loss.to_json() for name, loss in self.spent.items()},
            "verified": self.verified.to_json(),
        }
        return canonical(data | {"digest": digest(data)})

    @staticmethod
    def from_text(text: str) -> "Mark | None":
        """Read a mark that :meth:`to_text` wrote; ``None`` if that is not what it is."""
        data = parsed_json(text)
        if data is None:
            return None
        try:
            written = data.pop("digest")
            if digest(data) != written:
                return None
            return Mark(
                count=int(data["count"]),
                end=Point.from_json(data["end"]),
                spent={name: loss_from_json(loss) for name, loss in data["spent"].items()},
                verified=Point.from_json(data["verified"]),
            )
        except (KeyError, TypeError, ValueError, AttributeError, DiscreetError):
            return None


def behind(what: str, *, must: str = "", got: str = "") -> LedgerError:
    """Return the error about a ledger that has forgotten something."""
    return LedgerError(
        what,
        must=must,
        got=got,
        next="Nothing was spent. The newest entries are lost: the file is an older copy, or its "
        "log was. Put the newest copy back. If there is none, the owner runs 'discreet ledger "
        "--begin-again': what is known to be spent stays spent",
    )
