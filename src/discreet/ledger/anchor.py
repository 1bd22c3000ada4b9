"""An anchor: a small file apart from the ledger that knows how far the ledger was.

A chain cannot tell that its end was cut off, and a file cannot tell that it was removed. So the end
of the chain is also written somewhere else: beside ``discreet.toml``, not in the ledger's folder,
and in a second place if the owner declares one. A ledger that is ahead of its anchor is whole: the
process died between the two. One that is behind has lost entries, and is refused.

The file has two halves, and a new mark goes into the one that holds the older mark. So whenever the
power fails, one whole mark is there: the new one or the one before it. Each mark carries its own
digest, which shows a half that was cut or damaged. Its size stays the same from mark to mark, so
that one flush of the data makes a mark durable.

That rests on the newer mark being durable before the older one is written over. Whoever wrote it
may have died before it was. So a half ends with a byte that says of its mark that it was flushed,
and a mark without that is written again and flushed first, by whoever comes next: a flush that
fails may say so once, and the next one keeps only what is written anew. The byte depends on the
number of the mark, so that one that is left over from the mark before says nothing of the next. It
need not be durable itself: what a disk has kept of a mark is kept. The halves of a new file are
equal: as long as they are, its name may not be durable either.
"""

import hashlib
import os
import re
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from pathlib import Path

from attrs import field, frozen

from discreet.accounting.losses.loss_json import loss_from_json
from discreet.core.canonical import canonical, digest
from discreet.core.errors import DiscreetError, LedgerError
from discreet.core.interrupts import Uninterrupted
from discreet.core.loss import PrivacyLoss
from discreet.ledger.chain import BEGINNING, Point, parsed_json
from discreet.ledger.durable import flush, write_all
from discreet.ledger.in_turn import NO_QUEUE, in_turn
from discreet.ledger.kept_open import FORK_GUARD

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
    file: str = ""
    """The number that the ledger's file has on its disk, if it is in one: a copy has another."""

    def to_text(self) -> str:
        """Return the mark as one line of JSON that carries its own digest."""
        data = {
            "about": _ABOUT,
            "count": self.count,
            "end": self.end.to_json(),
            "spent": {name: loss.to_json() for name, loss in self.spent.items()},
            "verified": self.verified.to_json(),
            **({"void": list(self.void)} if self.void else {}),
            **({"file": self.file} if self.file else {}),
        }
        return canonical(data | {"digest": digest(data)})

    @staticmethod
    def from_text(text: str) -> "Mark | None":
        """Read a mark that :meth:`to_text` wrote; ``None`` if that is not what it is."""
        data = parsed_json(text)
        if data is None:
            return None
        try:
            if _text_digest(text, data["digest"]) != data["digest"]:
                return None
            return Mark(
                count=int(data["count"]),
                end=Point.from_json(data["end"]),
                spent={name: loss_from_json(loss) for name, loss in data["spent"].items()},
                verified=Point.from_json(data["verified"]),
                void=tuple(map(str, data.get("void", ()))),
                file=str(data.get("file", "")),
            )
        except (KeyError, TypeError, ValueError, AttributeError, DiscreetError):
            return None


def _text_digest(text: str, written: str) -> str:
    """Return the digest of a mark, of its text without the digest that is ``written`` in it."""
    # Names are in order, and what stands before it is the same in every mark.
    return hashlib.sha256(text.replace(f'"digest":"{written}",', "", 1).encode()).hexdigest()


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


PATIENCE = 60.0
"""How many seconds to wait for one's turn."""

SMALLEST_HALF = 4096
"""A page: a write to one half never touches the other."""

LOOKS = 3
"""How often to read a file before it is said that there is no mark in it. Nobody who writes waits
for a slow reader, who may see the middle of two writes, one in each half."""

_WRITTEN, _FLUSHED = b"\n", b"\t\r\v\f"
"""How a half ends: with space, so that programs which do not know of it read the same mark."""


@frozen
class Anchor:
    """A place where marks are kept."""

    path: Path = field(converter=Path)

    def read(self) -> Mark | None:
        """Return the newest mark, or ``None`` if there never was one."""
        for _ in range(LOOKS):
            with self._explained():
                data = self._read()
            if data is None:
                return None
            mark = _newest(_halves(data))
            if mark is not None:
                return mark
        raise LedgerError(
            f"The anchor {self.path} cannot be understood",
            must="be as Discreet wrote it",
            next="Restore it from a copy. If there is none and the ledger is surely the newest "
            "one, the owner removes the anchor; it is then written anew",
        )

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
        """Keep a mark, durably. The caller has the :meth:`turn`."""
        text = mark.to_text()
        with self._explained():
            if not self._put(text.encode(), mark.count):
                self._begin(_two_halves(text))

    def flush(self, count: int) -> None:
        """Make the mark that is there durable: who wrote it may have died before that."""
        with self._explained():
            handle = self._opened()
            try:
                self._settle(handle, count)
            finally:
                os.close(handle)

    def _settle(self, handle: int, count: int) -> None:
        """Make the newest mark durable, and the name of a new file as well."""
        size = os.fstat(handle).st_size
        data = os.pread(handle, size, 0)
        begin = count % 2 * (size // 2)
        half = data[begin : begin + size // 2]
        if half.endswith(_flushed(count)):
            return
        write_all(handle, half, begin)
        flush(handle)
        one, other = _halves(data)
        if one == other:
            self._flush_folder()
        write_all(handle, _flushed(count), begin + len(half) - 1)

    @contextmanager
    def turn(self, timeout: float = PATIENCE) -> Iterator[None]:
        """Be the only one, among all processes and threads, who writes here.

        No fork comes in between: the child would hold the turn as well. Nor does an interrupt: what
        was taken must be given back. Where the file system has no queue, ``OSError`` is raised.
        """
        with Uninterrupted(), FORK_GUARD.transaction(), ExitStack() as stack:
            while not self._is_next(stack, timeout):
                # What was waited for is given up: a larger file has its place.
                stack.close()
            yield

    def _is_next(self, stack: ExitStack, timeout: float) -> bool:
        """Wait for one's turn; tell whether it is one at the file that is here by then."""
        handle = self._opened()
        try:
            has_turn = stack.enter_context(in_turn(handle, timeout))
        except OSError as cause:
            if cause.errno in NO_QUEUE:
                raise
            # Others may have theirs: who went on without it would write at the same time.
            error = self._unusable(cause)
        else:
            is_here = self._is_here(handle)
            if is_here and not has_turn:
                raise self._busy(timeout)
            return has_turn and is_here
        raise error

    def _opened(self) -> int:
        with self._explained():
            return os.open(self.path, os.O_RDWR | os.O_CLOEXEC)

    def _is_here(self, handle: int) -> bool:
        """Tell whether the anchor is still the file that was opened."""
        with self._explained():
            return os.path.samestat(os.fstat(handle), os.stat(self.path))

    def _busy(self, seconds: float) -> LedgerError:
        return LedgerError(
            f"The anchor {self.path} is busy: others have held it for {seconds:g} seconds",
            next="Ask again in a moment",
        )

    def begin(self) -> None:
        """Put a file in place that knows of nothing yet, if there is none.

        The caller sees to it that nobody else begins one at the same time.
        """
        with self._explained():
            if not self.path.exists():
                self._begin(_two_halves(Mark(count=0, end=BEGINNING, spent={}).to_text()))

    def require_writable(self) -> None:
        """Refuse now what could not be written later, when something has been charged."""
        with self._explained():
            if self.path.exists():
                os.close(os.open(self.path, os.O_RDWR | os.O_CLOEXEC))
            elif not os.access(self.path.parent, os.W_OK | os.X_OK):
                raise PermissionError

    def _put(self, text: bytes, count: int) -> bool:
        """Write one half of the file, if there is one and the text has room in it."""
        try:
            handle = os.open(self.path, os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        try:
            size = os.fstat(handle).st_size
            if len(text) >= size // 2:
                return False
            self._settle(handle, count - 1)
            half, begin = text.ljust(size // 2 - 1) + _WRITTEN, count % 2 * (size // 2)
            write_all(handle, half, begin)
            flush(handle)
            write_all(handle, _flushed(count), begin + len(half) - 1)
        finally:
            os.close(handle)
        return True

    def _begin(self, data: bytes) -> None:
        """Put a whole new file in place, at once."""
        folder = self.path.parent
        handle, name = tempfile.mkstemp(dir=folder, prefix=f".{self.path.name}.", suffix=".new")
        try:
            write_all(handle, data, 0)
            flush(handle)
            Path(name).replace(self.path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
        finally:
            os.close(handle)
        self._flush_folder()

    def _flush_folder(self) -> None:
        handle = os.open(self.path.parent, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except OSError as cause:
            error = self._unusable(cause)
        else:
            return
        raise error

    def _unusable(self, cause: OSError) -> LedgerError:
        return LedgerError(
            f"The anchor {self.path} cannot be used",
            got=cause.strerror or type(cause).__name__,
            next="Nothing is answered without it. Make the file and its folder writable",
        )


def _newest(halves: Iterable[bytes]) -> Mark | None:
    """Return the newest mark that is whole: of the older half no more is read than its number."""
    likely = sorted(halves, key=_number, reverse=True)
    return next((mark for half in likely if (mark := _mark(half.strip())) is not None), None)


def _number(half: bytes) -> int:
    found = _NUMBER.search(half)
    return int(found[1]) if found else -1


_NUMBER = re.compile(rb'"count":([0-9]{1,18}),')


@lru_cache(maxsize=16)
def _mark(half: bytes) -> Mark | None:
    try:
        return Mark.from_text(half.decode())
    except UnicodeDecodeError:
        return None


def _two_halves(text: str) -> bytes:
    """Return the bytes of a new file with room for a longer mark."""
    written = text.encode()
    half = max(SMALLEST_HALF, 1 << (2 * len(written)).bit_length())
    return (written.ljust(half - 1) + _WRITTEN) * 2


def _flushed(count: int) -> bytes:
    """Return how a half ends whose mark was flushed."""
    place = count // 2 % len(_FLUSHED)
    return _FLUSHED[place : place + 1]


def _halves(data: bytes) -> tuple[bytes, bytes]:
    middle = len(data) // 2
    return data[:middle], data[middle:]
