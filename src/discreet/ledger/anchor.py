"""An anchor: a small file apart from the ledger that knows how far the ledger was.

A chain cannot tell that its end was cut off, and a file cannot tell that it was removed. So the end
of the chain is also written somewhere else: beside ``discreet.toml``, not in the ledger's folder,
and in a second place if the owner declares one. A ledger that is ahead of its anchor is whole: the
process died between the two. One that is behind has lost entries, and is refused.

The file has two halves, and a new mark goes into the one that holds the older mark. So whenever the
power fails, one whole mark is there: the new one or the one before it. Each mark carries its own
digest, which shows a half that was cut or damaged. Its size stays the same from mark to mark, so
that one flush of the data makes a mark durable.
"""

import fcntl
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

from attrs import field, frozen

from discreet.accounting.losses.loss_json import loss_from_json
from discreet.core.canonical import canonical, digest
from discreet.core.errors import DiscreetError, LedgerError
from discreet.core.loss import PrivacyLoss
from discreet.ledger.chain import BEGINNING, Point, parsed_json

_ABOUT = "how far the ledger of this project was; keep this file beside the declaration"


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
    void: tuple[str, ...] = ()
    """The id spaces whose worst-case claim has ended."""

    def to_text(self) -> str:
        """Return the mark as one line of JSON that carries its own digest."""
        data = {
            "about": _ABOUT,
            "count": self.count,
            "end": self.end.to_json(),
            "spent": {name: loss.to_json() for name, loss in self.spent.items()},
            "verified": self.verified.to_json(),
            **({"void": list(self.void)} if self.void else {}),
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
                void=tuple(map(str, data.get("void", ()))),
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


SMALLEST_HALF = 4096
"""A page: a write to one half never touches the other."""


@frozen
class Anchor:
    """A place where marks are kept."""

    path: Path = field(converter=Path)

    def read(self) -> Mark | None:
        """Return the newest mark, or ``None`` if there never was one."""
        with self._explained():
            data = self._read()
        if data is None:
            return None
        marks = [mark for mark in map(_mark, _halves(data)) if mark is not None]
        if not marks:
            raise LedgerError(
                f"The anchor {self.path} cannot be understood",
                must="be as Discreet wrote it",
                next="Restore it from a copy. If there is none and the ledger is surely the newest "
                "one, the owner removes the anchor; it is then written anew",
            )
        return max(marks, key=lambda mark: mark.count)

    def _read(self) -> bytes | None:
        try:
            handle = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return None
        try:
            return os.pread(handle, os.fstat(handle).st_size, 0)
        finally:
            os.close(handle)

    def write(self, mark: Mark) -> None:
        """Keep a mark, durably. The caller sees to it that nobody else writes at the same time."""
        text = mark.to_text().encode()
        with self._explained():
            if not self._put(text, mark.count % 2):
                half = max(SMALLEST_HALF, 1 << (2 * len(text)).bit_length())
                self._begin((text.ljust(half - 1) + b"\n") * 2)

    def require_writable(self) -> None:
        """Refuse now what could not be written later, when something has been charged."""
        with self._explained():
            if self.path.exists():
                os.close(os.open(self.path, os.O_RDWR | os.O_CLOEXEC))
            elif not os.access(self.path.parent, os.W_OK | os.X_OK):
                raise PermissionError

    def _put(self, text: bytes, half: int) -> bool:
        """Write one half of the file, if there is one and the text has room in it."""
        try:
            handle = os.open(self.path, os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        try:
            size = os.fstat(handle).st_size // 2
            if len(text) >= size:
                return False
            os.pwrite(handle, text.ljust(size - 1) + b"\n", half * size)
            _flush(handle)
        finally:
            os.close(handle)
        return True

    def _begin(self, data: bytes) -> None:
        """Put a whole new file in place, at once."""
        folder = self.path.parent
        handle, name = tempfile.mkstemp(dir=folder, prefix=f".{self.path.name}.", suffix=".new")
        try:
            os.pwrite(handle, data, 0)
            _flush(handle)
            Path(name).replace(self.path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
        finally:
            os.close(handle)
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except OSError as cause:
            reason = cause.strerror or type(cause).__name__
        else:
            return
        raise LedgerError(
            f"The anchor {self.path} cannot be used",
            got=reason,
            next="Nothing is answered without it. Make the file and its folder writable",
        )


@lru_cache(maxsize=16)
def _mark(half: bytes) -> Mark | None:
    try:
        return Mark.from_text(half.decode().strip())
    except UnicodeDecodeError:
        return None


def _halves(data: bytes) -> tuple[bytes, bytes]:
    middle = len(data) // 2
    return data[:middle], data[middle:]


def _flush(handle: int) -> None:
    """Make what was written durable, also where fsync alone leaves it in the disk's memory."""
    full: Any = getattr(fcntl, "F_FULLFSYNC", None)
    if full is not None:
        fcntl.fcntl(handle, full)
        return
    flush: Callable[[int], None] = getattr(os, "fdatasync", os.fsync)
    flush(handle)
