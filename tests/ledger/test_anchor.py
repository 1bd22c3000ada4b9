"""The anchor's file: one whole mark is there whatever happens to it while it is written."""

import shutil
import tempfile
from pathlib import Path

import pytest
from attrs import evolve

from discreet.core.errors import LedgerError
from discreet.core.loss import Approximate, Pure
from discreet.ledger.anchor import SMALLEST_HALF, Anchor, Mark
from discreet.ledger.chain import Point
from discreet.ledger.ledger import Ledger
from tests.ledger.nobody import as_nobody
from tests.ledger.orders import new_ledger, order

MARK = Mark(
    count=1,
    end=Point(7, "a" * 64),
    spent={"people": Pure("1/3"), "calls": Approximate(1, "1e-9")},
    verified=Point(3, "b" * 64),
)


def marks(number: int) -> Mark:
    return evolve(MARK, count=number, end=Point(number, "c" * 64))


def test_what_was_written_is_read(tmp_path: Path):
    anchor = Anchor(tmp_path / "x.anchor")
    assert anchor.read() is None
    for number in range(1, 6):
        anchor.write(marks(number))
        assert anchor.read() == marks(number)
    assert anchor.path.stat().st_size == 2 * SMALLEST_HALF
    assert [path.name for path in tmp_path.iterdir()] == ["x.anchor"]


def test_a_mark_that_is_cut_or_damaged_leaves_the_one_before(tmp_path: Path, rng):
    anchor = Anchor(tmp_path / "x.anchor")
    for number in (1, 2):
        anchor.write(marks(number))
    before = anchor.path.read_bytes()
    anchor.write(marks(3))
    after = anchor.path.read_bytes()
    changed = [i for i in range(len(after)) if before[i] != after[i]]
    for place in (*changed[::3], changed[-1]):
        anchor.path.write_bytes(after[:place] + before[place:])
        assert anchor.read() in (marks(2), marks(3))
        anchor.path.write_bytes(before[:place] + after[place:])
        assert anchor.read() in (marks(2), marks(3))
    for word in rng.words(200):
        place = int(word) % len(after)
        flipped = bytes([after[place] ^ 1 << int(word) % 7])
        anchor.path.write_bytes(after[:place] + flipped + after[place + 1 :])
        assert anchor.read() in (marks(2), marks(3))
        anchor.write(marks(4))
        assert anchor.read() == marks(4)


def test_a_mark_that_does_not_fit_gets_a_larger_file(tmp_path: Path):
    anchor = Anchor(tmp_path / "x.anchor")
    anchor.write(marks(1))
    large = evolve(marks(2), spent={f"space {i}": Pure(f"{i}/7") for i in range(200)})
    for number in (2, 3):
        anchor.write(evolve(large, count=number))
        assert anchor.read() == evolve(large, count=number)
    anchor.write(marks(4))
    assert anchor.read() == marks(4)


@pytest.mark.parametrize(
    "data", [b"", b"\0" * 8192, b"{}", b"[1]\n" * 9, b"\xff" * 64, b'{"digest":' * 999]
)
def test_what_is_no_anchor_is_refused(tmp_path: Path, data: bytes):
    anchor = Anchor(tmp_path / "x.anchor")
    anchor.path.write_bytes(data)
    with pytest.raises(LedgerError, match="cannot be understood") as caught:
        anchor.read()
    assert "Restore it" in caught.value.next


def test_an_anchor_that_cannot_be_written_stops_the_charge():
    folder = Path(tempfile.mkdtemp())
    try:
        (folder / "ledger").mkdir(mode=0o777)
        store = new_ledger(folder / "ledger").store
        for path in (folder / "ledger", *(folder / "ledger").iterdir()):
            path.chmod(0o777)
        folder.chmod(0o755)
        ledger = Ledger(store, anchors=(Anchor(folder / "x.anchor"),))
        told = as_nobody(lambda: ledger.reserve(order()))
        assert "x.anchor cannot be used" in told
        assert ledger.spent("people") == Pure(0)
        ledger.reserve(order())
        for path in (folder / "x.anchor", folder):
            path.chmod(0o555)
        assert "x.anchor cannot be used" in as_nobody(lambda: ledger.reserve(order()))
        assert ledger.spent("people") == Pure(1)
    finally:
        folder.chmod(0o755)
        shutil.rmtree(folder)
