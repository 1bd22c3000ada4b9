"""The SQLite store: durable settings, files that are no ledger, and a past that was changed."""

import shutil
import signal
import sqlite3
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from discreet.core.errors import LedgerError
from discreet.core.loss import Pure
from discreet.ledger.books import reservation
from discreet.ledger.budget import Allocation, Budget
from discreet.ledger.chain import WORDS, Kind, share, space, ticket
from discreet.ledger.gate_rules import GateRules
from discreet.ledger.kept_open import FORK_GUARD
from discreet.ledger.ledger import Ledger
from discreet.ledger.sqlite_file import VERSION
from discreet.ledger.sqlite_store import SqliteStore, _writers, create_sqlite
from discreet.ledger.sqlite_transaction import SqliteTransaction
from discreet.ledger.store import END
from tests.ledger.nobody import as_nobody
from tests.ledger.orders import RELEASE, new_ledger, order
from tests.support.projects.gate import pass_gate


@pytest.fixture
def used(tmp_path: Path, rng) -> Ledger:
    """1 budget, 2 version, 3 reserve, 4 commit, 5 reserve, 6 fail, 7 reserve."""
    ledger = new_ledger(tmp_path)
    ledger.data_version("people", rng)
    pass_gate(ledger, order(), lambda: RELEASE)
    ledger.fail(ledger.reserve(order(Pure("0.5"))))
    ledger.reserve(order(Pure("0.5")))
    ledger.verify()
    return ledger


def edit(file: Path, *statements: str, triggers: bool = False) -> None:
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        for (name,) in [] if triggers else names.fetchall():
            connection.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            connection.execute(statement)


@pytest.mark.usefixtures("at_rest")
def test_the_file_is_durable_private_and_complete(tmp_path: Path):
    store = create_sqlite(tmp_path / "ledger.sqlite")
    with store.read() as snapshot:
        pragma = {
            name: snapshot.connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("journal_mode", "synchronous", "user_version")
        }
    assert pragma == {"journal_mode": "wal", "synchronous": 2, "user_version": VERSION}
    file = tmp_path / "ledger.sqlite"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["ledger.sqlite"]


def told_to_keep_no_log(folder: Path, mode: str) -> sqlite3.Connection:
    """Return the connection of another program that has set the mode."""
    SqliteStore(folder / "ledger.sqlite").close()
    other = sqlite3.connect(folder / "ledger.sqlite", isolation_level=None)
    assert other.execute(f"PRAGMA journal_mode = {mode}").fetchone() == (mode.lower(),)
    return other


@pytest.mark.parametrize("is_known", [True, False])
@pytest.mark.parametrize("mode", ["DELETE", "TRUNCATE", "PERSIST"])
def test_a_file_that_was_told_to_keep_no_log_keeps_one_again(tmp_path: Path, mode, is_known):
    """The old code charged without one, and a power cut could bring back what was before."""
    ledger = new_ledger(tmp_path)
    ledger.reserve(order())
    told_to_keep_no_log(tmp_path, mode).close()
    if not is_known:
        ledger = Ledger(SqliteStore(tmp_path / "ledger.sqlite"))
    ledger.reserve(order(plan="other"))
    assert (tmp_path / "ledger.sqlite-wal").stat().st_size > 0
    assert ledger.spent("people") == Pure(2)


@pytest.mark.parametrize("begin", ["BEGIN IMMEDIATE", "BEGIN; SELECT * FROM entries"])
def test_a_file_that_can_keep_no_log_is_refused(tmp_path: Path, begin: str):
    new_ledger(tmp_path).reserve(order())
    with closing(told_to_keep_no_log(tmp_path, "DELETE")) as other:
        for statement in begin.split(";"):
            other.execute(statement).fetchall()
        with pytest.raises(LedgerError, match="keeps no write-ahead log") as caught:
            SqliteStore(tmp_path / "ledger.sqlite", timeout=0.1)
    assert caught.value.got == "journal_mode = delete"
    SqliteStore(tmp_path / "ledger.sqlite")


def test_opening_again_begins_nothing_new(tmp_path: Path):
    ledger = new_ledger(tmp_path)
    ledger.reserve(order())
    assert Ledger(create_sqlite(tmp_path / "ledger.sqlite")).spent("people") == Pure(1)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entries SET payload = '{}'",
        "DELETE FROM entries",
        "INSERT OR REPLACE INTO entries SELECT 1, kind, '{}', previous, digest FROM entries",
        "UPDATE releases SET body = '{}'",
        "DELETE FROM releases",
        "INSERT OR REPLACE INTO releases SELECT ticket, '{}' FROM releases",
        "UPDATE subjects SET sequence = 1",
        "DELETE FROM subjects",
        "UPDATE salts SET salt = x'00'",
        "DELETE FROM salts",
    ],
)
def test_tables_can_only_be_added_to(used: Ledger, tmp_path: Path, statement: str):
    with pytest.raises(sqlite3.IntegrityError, match="only be added to"):
        edit(tmp_path / "ledger.sqlite", statement, triggers=True)
    used.verify()


TAMPERING = {
    "a cheaper charge": (
        "UPDATE entries SET payload = replace(payload, '1/2', '0') WHERE sequence = 5",
        5,
    ),
    "another cap": (
        "UPDATE entries SET payload = replace(payload, '3', '9') WHERE sequence = 1",
        1,
    ),
    "another kind": ("UPDATE entries SET kind = 'fail' WHERE sequence = 4", 4),
    "an unknown kind": ("UPDATE entries SET kind = 'refund' WHERE sequence = 4", 4),
    "no JSON": ("UPDATE entries SET payload = '{' WHERE sequence = 3", 3),
    "no object": ("UPDATE entries SET payload = '[]' WHERE sequence = 3", 3),
    "a float": ("UPDATE entries SET payload = '{\"ticket\": 0.5}' WHERE sequence = 6", 6),
    "another digest": ("UPDATE entries SET digest = previous WHERE sequence = 7", 7),
    "a missing entry": ("DELETE FROM entries WHERE sequence = 5", 5),
    "a missing first entry": ("DELETE FROM entries WHERE sequence = 1", 1),
    "another release": ("UPDATE releases SET body = '{\"rows\": []}'", 4),
    "a release that is no JSON": ("UPDATE releases SET body = '{'", 4),
    "a missing release": ("DELETE FROM releases", 4),
    "an unpaid release": ("INSERT INTO releases VALUES (5, '{}')", 5),
    "a missing salt": ("DELETE FROM salts", 2),
    "a forgotten charge": ("DELETE FROM subjects WHERE kind = 'reserve' AND sequence = 7", 7),
    "a forgotten commit": ("DELETE FROM subjects WHERE kind = 'commit'", 4),
}


@pytest.mark.parametrize("what", TAMPERING)
def test_verification_names_the_entry_that_was_changed(used: Ledger, tmp_path: Path, what: str):
    statement, sequence = TAMPERING[what]
    edit(tmp_path / "ledger.sqlite", statement)
    with pytest.raises(LedgerError, match=f"damaged at entry {sequence}:"):
        used.verify()


def test_a_changed_release_is_not_handed_out(used: Ledger, tmp_path: Path):
    edit(tmp_path / "ledger.sqlite", "UPDATE releases SET body = '{}'")
    with pytest.raises(LedgerError, match="entry 4:"):
        used.find_release("plan", 1)


def test_a_chain_made_again_from_wrong_totals_is_found(used: Ledger):
    """A forger who can compute digests still cannot spend more than the cap."""
    with used.store.write() as transaction:
        last = transaction.latest(Kind.RESERVE, ("id_space", "people"))
        assert last is not None
        transaction.append(Kind.RESERVE, last.payload)
    with pytest.raises(LedgerError, match="entry 8: this reserve was not allowed"):
        used.verify()


@pytest.mark.parametrize(
    ("kind", "payload"),
    [
        (Kind.COMMIT, {"ticket": 3, "plan_digest": "plan", "data_version": 1}),
        (Kind.COMMIT, {"ticket": 7, "plan_digest": "other", "data_version": 1}),
        (Kind.FAIL, {"ticket": 99}),
        (Kind.VERSION, {"id_space": "people", "number": 5}),
        (Kind.ALLOCATION, {"id_space": "shops", "analyst": "ann", "cap": Pure(1).to_json()}),
        (Kind.BUDGET, {"id_space": "shops", "cap": Pure(1).to_json(), "note": "x"}),
    ],
)
def test_entries_that_the_ledger_would_not_write_are_found(used: Ledger, kind: Kind, payload):
    with used.store.write() as transaction:
        transaction.append(kind, payload)
    with pytest.raises(LedgerError, match=f"entry 8: this {kind.value} was not allowed"):
        used.verify()


def test_a_receipt_shows_that_the_chain_was_cut_short(used: Ledger, tmp_path: Path):
    _, receipt = pass_gate(used, order(Pure("0.5"), plan="late"), lambda: RELEASE)
    used.verify(receipt)
    file = tmp_path / "ledger.sqlite"
    edit(
        file,
        "DELETE FROM entries WHERE sequence >= 8",
        "DELETE FROM subjects WHERE sequence >= 8",
        "DELETE FROM releases WHERE ticket >= 8",
    )
    used.verify()
    with pytest.raises(LedgerError, match="receipt of ticket 8"):
        used.verify(receipt)


def no_database(file: Path) -> None:
    file.write_bytes(b"certainly not a database" * 100)


def empty(file: Path) -> None:
    file.touch()


def another_database(file: Path) -> None:
    edit(file, "CREATE TABLE t (x)")


def newer(file: Path) -> None:
    create_sqlite(file)
    edit(file, f"PRAGMA user_version = {VERSION + 2}")


def is_folder(file: Path) -> None:
    file.mkdir()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (no_database, "is not a ledger"),
        (empty, "is not a ledger"),
        (another_database, "is not a ledger"),
        (newer, f"must have schema version {VERSION} or {VERSION + 1}; got {VERSION + 2}"),
        (is_folder, "cannot be opened"),
    ],
)
def test_what_is_not_our_ledger_is_refused(tmp_path: Path, make: Callable, message: str):
    file = tmp_path / "ledger.sqlite"
    make(file)
    for use in (create_sqlite, SqliteStore):
        with pytest.raises(LedgerError, match=message) as caught:
            use(file)
        assert caught.value.next


@pytest.mark.usefixtures("at_rest")
def test_a_missing_file_is_never_a_fresh_budget(used: Ledger, tmp_path: Path):
    (tmp_path / "ledger.sqlite").unlink()
    with pytest.raises(LedgerError, match="cannot be opened"):
        used.spent("people")
    with pytest.raises(LedgerError, match="cannot be opened"):
        SqliteStore(tmp_path / "ledger.sqlite")
    assert {file.name for file in tmp_path.iterdir()} <= {"ledger.sqlite-flights"}


def test_a_missing_folder_is_named(tmp_path: Path):
    with pytest.raises(LedgerError, match="Check that its folder exists"):
        create_sqlite(tmp_path / "nowhere" / "ledger.sqlite")


@pytest.mark.usefixtures("at_rest")
def test_a_damaged_file_is_an_error_and_nothing_else(used: Ledger, tmp_path: Path):
    file = tmp_path / "ledger.sqlite"
    whole = file.read_bytes()
    for start in range(4096, len(whole), 4096):
        file.write_bytes(whole[:start] + b"\xa5" * 512 + whole[start + 512 :])
        try:
            used.verify()
        except LedgerError:
            continue
        assert used.spent("people") == Pure(2), "a page that holds nothing we read"
    file.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(LedgerError):
        used.verify()


def test_a_busy_ledger_says_so(tmp_path: Path):
    new_ledger(tmp_path)
    file = tmp_path / "ledger.sqlite"
    waiting = Ledger(SqliteStore(file, timeout=0.05))
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(LedgerError, match="is busy") as caught:
            waiting.reserve(order())
        assert waiting.spent("people") == Pure(0), "readers do not wait"
    assert "ask again" in caught.value.next


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that other users can look into, unlike pytest's own."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def test_a_folder_that_cannot_be_written_is_an_error_that_helps(open_folder: Path):
    ledger = new_ledger(open_folder)
    for path in (open_folder / "ledger.sqlite", open_folder):
        path.chmod(0o555)
    created = as_nobody(lambda: create_sqlite(open_folder / "other.sqlite"))
    assert "cannot be opened. Check that its folder exists and is writable" in created
    reserved = as_nobody(lambda: ledger.reserve(order()))
    assert "ledger.sqlite cannot be" in reserved
    assert "writable" in reserved
    open_folder.chmod(0o755)


def test_what_fails_inside_a_transaction_leaves_no_trace(tmp_path: Path):
    ledger = new_ledger(tmp_path)

    def half() -> None:
        with ledger.store.write() as transaction:
            transaction.append(Kind.FAIL, {"ticket": 1})
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        half()
    assert len(ledger.entries()) == 1
    ledger.reserve(order())
    ledger.verify()


@pytest.mark.parametrize("way", ["read", "write"])
def test_an_interrupt_leaves_no_lock_behind(tmp_path: Path, way: str):
    """Pressed at every step of a transaction, as far as Python tells them apart."""
    store = create_sqlite(tmp_path / "ledger.sqlite")
    presses = 0
    while _is_pressed(store, way, after=presses * STRIDE):
        presses += 1
        assert FORK_GUARD._changed.acquire(timeout=10)
        # The thread that closes what is kept may have a look just now.
        assert FORK_GUARD._changed.wait_for(lambda: FORK_GUARD._open == 0, timeout=10)
        FORK_GUARD._changed.release()
        assert not _writers[store.path].locked()
        with store.write() as transaction:
            assert transaction.head() is None
    assert presses > 20


STRIDE = 7
"""Each test presses at one step in so many, which is enough to meet every lock."""


def _is_pressed(store: SqliteStore, way: str, after: int) -> bool:
    """Open a transaction, press Ctrl-C after so many steps, and tell whether it took so many."""
    steps = 0

    def trace(frame: FrameType, event: str, _: object) -> Any:
        nonlocal steps
        if event == "line":
            steps += 1
            if steps == after + 1:
                signal.raise_signal(signal.SIGINT)
        return trace

    try:
        sys.settrace(trace)
        with getattr(store, way)():
            pass
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(None)
    return False


# ---- What entries are about.


def test_every_subject_begins_with_a_word_that_is_known_for_its_kind(used: Ledger):
    used.allocate(Allocation("people", "ann", Pure(3)))
    used.resume("people")
    used.resume("people", "ann")
    for entry in used.entries():
        assert {subject[0] for subject in entry.subjects} <= set(WORDS[entry.kind])


def test_a_kind_that_is_never_about_a_subject_is_not_looked_for(used: Ledger):
    with used.store.read() as snapshot, pytest.raises(LookupError, match="no budget is about"):
        snapshot.latest(Kind.BUDGET, ("ticket", "3"))


def test_what_a_transaction_remembers_is_what_it_would_find(tmp_path: Path, rng):
    """It remembers what it looked up, and what it appends changes that."""
    ledger = new_ledger(tmp_path, Pure(1000))
    ledger.set_rules(GateRules(id_space="people", most_in_flight=1000))
    store = SqliteStore(tmp_path / "ledger.sqlite")
    kinds = (Kind.RESERVE, Kind.COMMIT, Kind.FAIL, Kind.BUDGET, Kind.RENEWAL)
    for _ in range(6):
        with store.write() as transaction:
            for word in map(int, rng.words(30)):
                subjects = [space("people"), space("shops"), share("people", "ann")]
                subjects += [ticket(number) for number in range(2, 8)]
                kind, subject = kinds[word % 5], subjects[(word >> 8) % len(subjects)]
                if word >> 16 & 3 == 0:
                    budget = Budget(("people", "shops")[word >> 18 & 1], Pure(word % 9 + 100))
                    transaction.append(Kind.BUDGET, budget.to_json())
                elif word >> 16 & 3 == 1:
                    payload = reservation(transaction.latest, order(Pure(1)), datetime.now(UTC))
                    transaction.append(Kind.RESERVE, payload)
                fresh = SqliteTransaction(transaction.connection)
                assert transaction.head() == fresh.head()
                if subject[0] in WORDS[kind]:
                    for until in (END, word >> 20 & 15):
                        found = transaction.latest(kind, subject, until)
                        assert found == fresh.latest(kind, subject, until)
    assert len(ledger.entries()) > 60
