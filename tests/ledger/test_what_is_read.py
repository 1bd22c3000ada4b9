"""What is read from the ledger is compared with its digest, and what is kept in it is bounded."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from discreet.core.canonical import canonical, digest
from discreet.core.errors import DiscreetError, LedgerError
from discreet.core.loss import Pure
from discreet.ledger.ledger import Ledger
from discreet.ledger.order import LONGEST_TEXT, Charge, Order
from tests.ledger.orders import RELEASE, new_ledger, order
from tests.support.projects.gate import pass_gate


def change(file: Path, sequence: int, payload: str) -> None:
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.execute("DROP TRIGGER IF EXISTS entries_update")
        connection.execute("UPDATE entries SET payload = ? WHERE sequence = ?", (payload, sequence))


def stored(ledger: Ledger) -> list[str]:
    return [canonical(entry.payload) for entry in ledger.entries()]


def test_a_changed_budget_sells_nothing(tmp_path: Path):
    ledger = new_ledger(tmp_path)
    (text,) = stored(ledger)
    change(tmp_path / "ledger.sqlite", 1, text.replace('"3"', '"9"'))
    for use in (lambda: ledger.reserve(order()), lambda: ledger.budget("people"), ledger.entries):
        with pytest.raises(LedgerError, match="entry 1: it was changed after it was written"):
            use()


def test_whatever_is_changed_in_an_entry_is_an_error_of_the_ledger(tmp_path: Path, rng):
    """Every use either says what it said before, or refuses; it never breaks in another way."""
    ledger = new_ledger(tmp_path)
    pass_gate(ledger, order(), lambda: RELEASE)
    texts = stored(ledger)
    refused = 0
    for word in rng.words(150):
        number = int(word) % len(texts)
        place, letter = int(word) >> 8, chr(33 + (int(word) >> 40) % 90)
        place %= len(texts[number])
        text = texts[number][:place] + letter + texts[number][place + 1 :]
        change(tmp_path / "ledger.sqlite", number + 1, text)
        try:
            assert ledger.spent("people") == Pure(1)
            assert ledger.remaining("people", "ann") == Pure(2)
            found = ledger.find_release("plan", 1)
            assert found is not None
            assert found[0] == RELEASE
        except LedgerError:
            refused += 1
        change(tmp_path / "ledger.sqlite", number + 1, texts[number])
    assert refused > 100


def test_a_payload_that_is_nested_too_deeply_is_damage(tmp_path: Path):
    ledger = new_ledger(tmp_path)
    for depth in (500, 200_000):
        change(tmp_path / "ledger.sqlite", 1, '{"a":' * depth + "1" + "}" * depth)
        for use in (ledger.verify, lambda: ledger.spent("people")):
            with pytest.raises(DiscreetError, match="damaged at entry 1"):
                use()


def test_a_long_question_is_kept_by_its_beginning_and_a_digest(tmp_path: Path):
    ledger = new_ledger(tmp_path)
    sql = "SELECT COUNT(*) FROM visits -- " + "é" * 100_000
    asked = Order(
        plan_digest="plan",
        data_version=1,
        analyst="ann",
        charges=(Charge("people", Pure(1)),),
        description={"sql": sql, "method": "m"},
    )
    _, receipt = pass_gate(ledger, asked, lambda: RELEASE)
    kept = ledger.entries()[1].payload["order"]["description"]
    assert kept == {
        "sql": f"{sql[:LONGEST_TEXT]} ...",
        "sql_digest": digest(sql),
        "method": "m",
    }
    assert len(canonical(ledger.entries()[1].payload)) < 2 * LONGEST_TEXT
    ledger.verify(receipt)
    short = order()
    assert short.shortened() == short
