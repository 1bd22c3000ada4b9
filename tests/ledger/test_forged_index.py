"""Rows beside the chain: what is only inserted into the index or the salts is found."""

import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from discreet.core.canonical import canonical
from discreet.core.errors import DiscreetError, LedgerError
from discreet.core.loss import Pure
from discreet.ledger.budget import Allocation
from discreet.ledger.chain import PARTS, WORDS, Kind, Subject, answered, released, share, space
from discreet.ledger.chain import ticket as ticket_subject
from discreet.ledger.ledger import Ledger
from discreet.ledger.sqlite_transaction import SqliteTransaction
from tests.ledger.orders import RELEASE, new_ledger, order
from tests.support.projects.gate import pass_gate

PEOPLE = space("people")
OTHER_PLAN = released("f" * 64, 1)


@pytest.fixture
def used(tmp_path: Path, rng) -> Ledger:
    """1 budget, 2 version, 3 bob's share, 4 reserve, 5 commit, 6 reserve, 7 fail."""
    ledger = new_ledger(tmp_path)
    ledger.data_version("people", rng)
    ledger.allocate(Allocation("people", "bob", Pure(3)))
    pass_gate(ledger, order(analyst="bob"), lambda: RELEASE)
    ledger.fail(ledger.reserve(order(Pure("1/2"), analyst="bob")))
    ledger.verify()
    return ledger


def insert(folder: Path, table: str, *values: Any) -> None:
    """Add a row as anybody can who may write the file: the triggers let tables grow."""
    marks = ", ".join("?" for _ in values)
    with closing(sqlite3.connect(folder / "ledger.sqlite", isolation_level=None)) as connection:
        connection.execute(f"INSERT INTO {table} VALUES ({marks})", values)


def forge(folder: Path, kind: Kind, subject: Subject, sequence: object) -> None:
    insert(folder, "subjects", kind.value, canonical(subject), sequence)


def assert_found(ledger: Ledger, message: str) -> None:
    with pytest.raises(LedgerError, match=f"The ledger is damaged{message}"):
        ledger.verify()


FORGED_ROWS = {
    "bob's share for mallory": (Kind.ALLOCATION, share("people", "mallory"), 3),
    "a release for another plan": (Kind.COMMIT, OTHER_PLAN, 5),
    "a release for another question": (Kind.COMMIT, answered("f" * 64, 1), 5),
    "a release for another version": (Kind.COMMIT, released("plan", 2), 5),
    "a commit of a failed ticket": (Kind.COMMIT, ticket_subject(6), 5),
    "a budget for another id space": (Kind.BUDGET, space("shops"), 1),
    "a failure made to resume": (Kind.RESUME, PEOPLE, 7),
    "a reserve that is a failure": (Kind.RESERVE, PEOPLE, 7),
    "a gate that is a budget": (Kind.GATE, PEOPLE, 1),
}


@pytest.mark.parametrize("what", FORGED_ROWS)
def test_a_row_that_the_chain_does_not_have_is_found(used: Ledger, tmp_path: Path, what: str):
    kind, subject, sequence = FORGED_ROWS[what]
    forge(tmp_path, kind, subject, sequence)
    assert_found(used, f" at entry {sequence}: the index finds it for what it is not about")


@pytest.mark.parametrize("sequence", [0, -1, 8, 2**62, 4.5, "soon", b"\x07"])
def test_a_row_that_leads_nowhere_is_found_and_hides_nothing(
    used: Ledger, tmp_path: Path, sequence: object
):
    forge(tmp_path, Kind.RESERVE, PEOPLE, sequence)
    assert used.spent("people") == Pure("3/2")
    assert_found(used, ": the index leads to an entry that is not there")


@pytest.mark.parametrize(
    ("kind", "subject"),
    [
        ("refund", canonical(PEOPLE)),
        ("reserve", '["id_space", "people"]'),
        ("reserve", "no JSON"),
        ("reserve", canonical(PEOPLE).encode()),
        (b"reserve", canonical(PEOPLE)),
    ],
)
def test_a_row_that_nothing_would_read_is_found_too(
    used: Ledger, tmp_path: Path, kind: object, subject: object
):
    insert(tmp_path, "subjects", kind, subject, 6)
    assert_found(used, " at entry 6: the index finds it for what it is not about")


def test_an_older_row_that_is_missing_is_found(used: Ledger, tmp_path: Path):
    """The newest reserve is still found, so only a comparison of all rows can tell."""
    with closing(sqlite3.connect(tmp_path / "ledger.sqlite", isolation_level=None)) as connection:
        connection.execute("DROP TRIGGER subjects_delete")
        connection.execute(
            "DELETE FROM subjects WHERE kind = 'reserve' AND sequence = 4 AND subject = ?",
            (canonical(PEOPLE),),
        )
    assert used.spent("people") == Pure("3/2")
    assert_found(used, " at entry 4: the index does not find it")


def test_an_entry_of_another_kind_does_not_reset_failures(used: Ledger, tmp_path: Path):
    assert used.failures("people") == 1
    forge(tmp_path, Kind.RESUME, PEOPLE, 7)
    assert used.failures("people") == 1


def test_an_entry_of_another_kind_hides_neither_charge_nor_release(used: Ledger, tmp_path: Path):
    kept = used.find_release("plan", 1)
    forge(tmp_path, Kind.RESERVE, PEOPLE, 7)
    forge(tmp_path, Kind.COMMIT, released("plan", 1), 6)
    forge(tmp_path, Kind.COMMIT, OTHER_PLAN, 7)
    assert used.spent("people") == Pure("3/2")
    assert used.find_release("plan", 1) == kept
    assert used.find_release("f" * 64, 1) is None


def test_the_newest_entry_is_found_without_reading_the_others(used: Ledger):
    seen: list[str] = []
    with used.store.read() as snapshot:
        assert isinstance(snapshot, SqliteTransaction)
        snapshot.connection.set_trace_callback(seen.append)
        snapshot.latest(Kind.RESERVE, PEOPLE)
        snapshot.connection.set_trace_callback(None)
        steps = [row[3] for row in snapshot.connection.execute(f"EXPLAIN QUERY PLAN {seen[0]}")]
    assert any("subjects USING PRIMARY KEY (kind=? AND subject=?" in step for step in steps)
    assert not any("SCAN" in step or "TEMP B-TREE" in step for step in steps)


@pytest.mark.parametrize(
    ("id_space", "version"),
    [("people", 2), ("people", 0), ("people", "one"), ("shops", 1), (b"people", 1)],
)
def test_a_salt_without_a_version_is_found(
    used: Ledger, tmp_path: Path, id_space: object, version: object
):
    insert(tmp_path, "salts", id_space, version, b"\x5a" * 32)
    assert_found(used, ": a salt is stored for a version that never began")


@pytest.mark.parametrize("salt", [b"", b"\x5a" * 31, b"\x5a" * 33, "Z" * 32, 10**18])
def test_a_salt_of_another_length_is_found_and_not_shown(
    used: Ledger, tmp_path: Path, salt: object
):
    with closing(sqlite3.connect(tmp_path / "ledger.sqlite", isolation_level=None)) as connection:
        connection.execute("DROP TRIGGER salts_update")
        connection.execute("UPDATE salts SET salt = ?", (salt,))
    with pytest.raises(LedgerError) as caught:
        used.verify()
    assert str(caught.value) == (
        "The ledger is damaged at entry 2: the salt of this version is not 32 bytes. Stop "
        "answering, and restore the ledger from a copy that verifies."
    )


def test_a_forged_row_buys_nothing_before_anybody_verifies(used: Ledger, tmp_path: Path):
    forge(tmp_path, Kind.ALLOCATION, share("people", "mallory"), 3)
    with pytest.raises(LedgerError, match="leads to an entry about something else"):
        used.reserve(order(Pure("1/2"), analyst="mallory"))
    forge(tmp_path, Kind.COMMIT, OTHER_PLAN, 5)
    with pytest.raises(LedgerError, match="leads to an entry about something else"):
        used.find_release("f" * 64, 1)
    forge(tmp_path, Kind.COMMIT, answered("f" * 64, 1), 5)
    with pytest.raises(LedgerError, match="leads to an entry about something else"):
        used.answers_to("f" * 64, 1)
    assert used.spent("people") == Pure("3/2")


@pytest.mark.parametrize("subject", [("id_space",), ("id_space", "people", "more"), ("share", "x")])
@pytest.mark.parametrize("kind", [Kind.RESERVE, Kind.ALLOCATION, Kind.EXACT])
def test_a_forged_subject_of_another_length_is_no_raw_error(used, tmp_path, kind, subject):
    """Subjects are listed by how they begin, and taken apart."""
    forge(tmp_path, kind, subject, 4)
    with pytest.raises(LedgerError, match="is damaged"):
        used.verify()
    for read in (used.spent_spaces, used.shares, lambda: used.reserve(order(Pure("1/10")))):
        with suppress(DiscreetError):
            read()


def test_every_subject_has_as_many_parts_as_its_word_says(used: Ledger):
    """A word without a number, or with a wrong one, would call whole ledgers damaged."""
    assert PARTS.keys() == {word for words in WORDS.values() for word in words}
    used.resume("people", "bob")
    subjects = [subject for entry in used.entries() for subject in entry.subjects]
    subjects += [answered("q", 1), OTHER_PLAN]
    assert {subject[0] for subject in subjects} == PARTS.keys()
    assert all(len(subject) == PARTS[subject[0]] for subject in subjects)
