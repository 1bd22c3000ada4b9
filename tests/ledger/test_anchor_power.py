"""An anchor on a disk that keeps what was flushed, and of the rest what it likes."""

import errno
import os
import shutil
import signal
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import product
from pathlib import Path

import pytest
from attrs import evolve

from discreet.core.errors import LedgerError, WrittenBefore
from discreet.core.loss import PrivacyLoss, Pure
from discreet.ledger import anchor as anchors
from discreet.ledger.anchor import Anchor, Mark
from discreet.ledger.chain import Point
from discreet.ledger.kept_open import FORK_GUARD
from discreet.ledger.ledger import Ledger
from discreet.ledger.sqlite_store import SqliteStore
from tests.ledger.orders import new_ledger, order

PAGE = 4096


class Died(BaseException):
    """A process was killed here."""


class Disk:
    """What one file of one folder may be after a power cut, at every step of who writes it."""

    def __init__(self, anchor: Anchor) -> None:
        self.anchor = anchor
        self.kept: dict[int, bytes] = {}
        self.pending: dict[int, list[tuple[int, bytes]]] = {}
        self.open: dict[int, int] = {}
        self.name: int | None = None
        self.durable_name: int | None = None
        self.least = -1
        self.steps_left = 10**9
        self.looks = 0
        self.pages_written = 0
        self.fails = self.is_short = False
        self.lost: dict[int, list[tuple[int, bytes]]] = {}

    def pwrite(self, handle: int, data: bytes, place: int) -> int:
        try:
            self.step()
        except Died:
            # A process can be killed between two pages of what it writes.
            data = data[: self.pages_written * PAGE]
            if data:
                self.pending.setdefault(self.known(handle), []).append((place, data))
                WRITE(handle, data, place)
            raise
        if self.is_short and len(data) > PAGE:
            self.is_short, data = False, data[:PAGE]
        self.pending.setdefault(self.known(handle), []).append((place, data))
        return WRITE(handle, data, place)

    def flush(self, handle: int) -> None:
        self.step()
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            self.durable_name = self.name
            return
        number = self.known(handle)
        if self.fails:
            # It says so once. What it could not write looks as if it was kept from then on.
            self.fails = False
            self.lost.setdefault(number, []).extend(self.pending.pop(number, []))
            raise OSError(errno.EIO, "Input/output error")
        for place, data in self.pending.pop(number, []):
            self.kept[number] = written(self.kept[number], place, data)

    def replace(self, source: Path, target: Path) -> Path:
        self.step()
        self.name = source.stat().st_ino
        return REPLACE(source, target)

    def known(self, handle: int) -> int:
        """Return the number of a file, and see to it that no other file gets it."""
        number = os.fstat(handle).st_ino
        if number not in self.kept:
            self.kept[number] = b""
            self.open[number] = os.dup(handle)
        return number

    def step(self) -> None:
        self.look()
        self.steps_left -= 1
        if self.steps_left < 0:
            raise Died

    def look(self) -> None:
        """Cut the power here, in every way, and look what is there."""
        for number in {self.name, self.durable_name} - {None}:
            assert number is not None
            for data in self.states(number):
                self.looks += 1
                marks = [anchors._mark(half.strip()) for half in anchors._halves(data)]
                counts = [mark.count for mark in marks if mark is not None]
                assert max(counts, default=-1) >= self.least, "less than the least is there"
        if self.durable_name is None:
            assert self.least == -1

    def states(self, number: int) -> Iterator[bytes]:
        writes = self.pending.get(number, [])
        for cuts in product(*((0, 100, len(data)) for _, data in writes)):
            found = self.kept[number]
            for cut, (place, data) in zip(cuts, writes, strict=True):
                found = written(found, place, data[:cut])
            yield found


WRITE, REPLACE = os.pwrite, Path.replace


def written(old: bytes, place: int, data: bytes) -> bytes:
    return old[:place].ljust(place, b"\0") + data + old[place + len(data) :]


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Disk]:
    found = Disk(Anchor(tmp_path / "x.anchor"))

    def replace(source: Path, target: Path) -> Path:
        return found.replace(source, target)

    monkeypatch.setattr(os, "pwrite", found.pwrite)
    monkeypatch.setattr(os, "fsync", found.flush)
    monkeypatch.setattr(anchors, "flush", found.flush)
    monkeypatch.setattr(Path, "replace", replace)
    yield found
    for handle in found.open.values():
        os.close(handle)


def next_mark(known: Mark, size: int) -> Mark:
    spent: dict[str, PrivacyLoss] = {f"space {number}": Pure("1/3") for number in range(size)}
    return Mark(count=known.count + 1, end=Point(known.count + 1, "c" * 64), spent=spent)


def move(anchor: Anchor, size: int | None) -> int:
    """Take one turn, with a new mark or with the one that is there; return its count."""
    anchor.begin()
    with anchor.turn():
        known = anchor.read()
        assert known is not None
        if size is None:
            anchor.flush(known.count)
            return known.count
        mark = next_mark(known, size)
        anchor.write(mark)
        return mark.count


def live_and_die(
    disk: Disk, rng, moves: int = 500, *, is_failing: bool = False, is_short: bool = False
) -> int:
    """Let processes take turns, some of which die at a step, and tell how many did."""
    size = died = 0
    for word in map(int, rng.words(moves)):
        disk.steps_left = (word >> 2) % 8 if word >> 8 & 1 else 10**9
        disk.pages_written = word >> 17 & 1
        disk.is_short = is_short
        disk.fails = is_failing and word >> 18 & 3 == 0
        size += 8 * (word >> 10 & 15 == 0)
        try:
            disk.least = move(disk.anchor, None if word >> 14 & 3 == 0 else size)
        except Died:
            died += 1
        except LedgerError:
            assert is_failing
        disk.look()
    return died


def test_whoever_dies_when_no_mark_that_was_kept_is_lost_to_a_power_cut(disk: Disk, rng):
    """Processes take turns, some die at a step, and the power may fail at every step.

    A quarter of them die: 50 or fewer of 500 with a chance of 1e-16.
    """
    assert live_and_die(disk, rng) > 50
    assert disk.anchor.path.stat().st_size > 2 * anchors.SMALLEST_HALF, "it grew"
    assert disk.looks > 1000


def test_what_a_disk_did_not_keep_is_written_again_before_it_is_said_to_be_flushed(
    disk: Disk, rng, monkeypatch
):
    """A flush that fails says so once: the next one has nothing to keep, and succeeds."""
    live_and_die(disk, rng, is_failing=True)
    assert any(disk.lost.values())
    monkeypatch.setattr(os, "pwrite", not_again(disk))
    with pytest.raises(AssertionError, match="least"):
        live_and_die(disk, rng, moves=5_000, is_failing=True)


def not_again(disk: Disk) -> Callable[[int, bytes, int], int]:
    """The broken twin writes nothing that is there already, and flushes it."""

    def pwrite(handle: int, data: bytes, place: int) -> int:
        is_there = os.pread(handle, len(data), place) == data
        return len(data) if is_there else disk.pwrite(handle, data, place)

    return pwrite


def same_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Say of every mark with the same byte that it was flushed, also with one that is left over."""
    monkeypatch.setattr(anchors, "_FLUSHED", b"\t")


def too_early(monkeypatch: pytest.MonkeyPatch) -> None:
    """Say of a mark that it was flushed when it was only written."""
    monkeypatch.setattr(anchors, "flush", lambda _: None)


def in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take what a call has written for all that it was given."""
    monkeypatch.setattr(anchors, "write_all", os.pwrite)


@pytest.mark.parametrize("twin", [same_for_all, too_early, in_part])
def test_a_mark_that_is_said_to_be_kept_and_is_not_is_missed(disk: Disk, rng, monkeypatch, twin):
    """The broken twins, which the same looks catch."""
    twin(monkeypatch)
    with pytest.raises((AssertionError, LedgerError), match=r"least|cannot be understood"):
        live_and_die(disk, rng, moves=5_000, is_short=True)


def test_what_a_call_did_not_write_is_written_by_the_next(disk: Disk, rng):
    """A disk that is nearly full takes a part, and calls that no error."""
    live_and_die(disk, rng, is_short=True)
    assert disk.anchor.path.stat().st_size > 2 * anchors.SMALLEST_HALF, "it grew"


def test_a_full_disk_leaves_the_anchor_that_is_there(tmp_path: Path, monkeypatch):
    """The old code put a file in its place of which a part was written, and told of the charge."""
    anchor = Anchor(tmp_path / "x.anchor")
    anchor.begin()
    known = anchor.read()
    assert known is not None
    room = [2 * PAGE]

    def pwrite(handle: int, data: bytes, place: int) -> int:
        taken = WRITE(handle, data[: room[0]], place) if room[0] else 0
        room[0] -= taken
        return taken

    monkeypatch.setattr(os, "pwrite", pwrite)
    with pytest.raises(LedgerError, match="cannot be used") as caught:
        anchor.write(next_mark(known, 200))
    assert "No space left" in caught.value.got
    monkeypatch.undo()
    assert anchor.read() == known
    assert [path.name for path in tmp_path.iterdir()] == ["x.anchor"]


@pytest.mark.parametrize("step", range(8))
def test_who_comes_after_one_that_died_over_a_new_file_keeps_its_name(disk: Disk, step: int):
    """The first file is new, and so is each one that takes its place because it is larger."""
    for size in (0, 20, 60, 200):
        disk.steps_left = step
        with suppress(Died):
            disk.least = move(disk.anchor, size)
        disk.steps_left = 10**9
        for again in (None, size, size):
            disk.least = move(disk.anchor, again)
            disk.look()
        assert disk.name == disk.durable_name


def test_a_process_that_flushed_the_last_mark_does_not_flush_it_again(tmp_path, monkeypatch):
    ledger = Ledger(new_ledger(tmp_path).store, anchors=(Anchor(tmp_path / "x.anchor"),))
    ledger.reserve(order())
    flushed: list[int] = []
    monkeypatch.setattr(anchors, "flush", flushed.append)
    ledger.reserve(order())
    assert len(flushed) == 1


def test_a_queue_that_fails_for_one_alone_lets_nobody_write_beside_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Others may have their turn: only where nobody has one does the write lock decide."""
    ledger = Ledger(new_ledger(tmp_path).store, anchors=(Anchor(tmp_path / "x.anchor"),))
    ledger.reserve(order())
    before = ledger.anchors[0].read()

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOMEM, "no memory")

    with monkeypatch.context() as patch:
        patch.setattr("discreet.ledger.in_turn.fcntl.flock", refuse)
        with pytest.raises(WrittenBefore, match="no memory"):
            ledger.reserve(order())
    assert ledger.anchors[0].read() == before
    ledger.move_anchors()
    after = ledger.anchors[0].read()
    assert after is not None
    assert after.spent == {"people": Pure(2)}


def test_who_reads_in_the_middle_of_two_writes_reads_again(tmp_path, monkeypatch):
    anchor = Anchor(tmp_path / "x.anchor")
    anchor.begin()
    found = [b"\0" * 8192, b"\0" * 8192, anchor.path.read_bytes()]
    monkeypatch.setattr(Anchor, "_read", lambda _: found.pop(0))
    mark = anchor.read()
    assert mark is not None
    assert mark.count == 0


def test_an_interrupt_of_a_verification_lets_the_turn_end(tmp_path, monkeypatch):
    """Where it came in between, a lock or the fork guard could stay taken for good."""
    ledger = Ledger(new_ledger(tmp_path).store, anchors=(Anchor(tmp_path / "x.anchor"),))
    ledger.reserve(order())
    kept = Anchor.write

    def interrupted(anchor: Anchor, mark: Mark) -> None:
        signal.raise_signal(signal.SIGINT)
        kept(anchor, evolve(mark))

    monkeypatch.setattr(Anchor, "write", interrupted)
    with pytest.raises(KeyboardInterrupt):
        ledger.verify()
    mark = ledger.anchors[0].read()
    assert mark is not None
    assert mark.verified == mark.end
    with ledger.anchors[0].turn(5):
        assert FORK_GUARD._own.open == 1


def test_what_is_found_in_a_log_is_durable_before_it_is_told(tmp_path, monkeypatch):
    """Who wrote it may have been killed before the flush. An anchor must not be ahead of it."""
    (tmp_path / "running").mkdir()
    ledger = new_ledger(tmp_path / "running")
    with ledger.store.read():
        for name in ("ledger.sqlite", "ledger.sqlite-wal"):
            shutil.copy(tmp_path / "running" / name, tmp_path / name)
    flushed: list[int] = []

    def flush(handle: int) -> None:
        flushed.append(os.fstat(handle).st_ino)

    monkeypatch.setattr("discreet.ledger.durable.flush", flush)
    store = SqliteStore(tmp_path / "ledger.sqlite")
    assert flushed == [(tmp_path / "ledger.sqlite-wal").stat().st_ino]
    with store.read() as snapshot:
        assert snapshot.head() is not None
    assert len(flushed) == 1
