"""The ledger of a project: budgets and shares are noted, and none is raised by chance."""

from pathlib import Path

import pytest

from discreet.core.errors import LedgerError
from discreet.core.loss import Pure
from discreet.curator.open_ledger import open_ledger
from discreet.ledger.entry import Kind
from tests.support.declared import GOOD, changed, parsed


def opened(folder: Path, text: str = GOOD):
    return open_ledger(parsed(text, folder))


def test_budgets_and_shares_are_noted_once(tmp_path):
    for _ in range(2):
        ledger = opened(tmp_path)
        assert ledger.remaining("people") == Pure(3)
        assert ledger.remaining("people", "kim") == Pure(1)
        assert ledger.remaining("people", "lou@example.org") == Pure("5/2")
        kinds = [entry.kind for entry in ledger.entries()]
        assert kinds == [Kind.BUDGET] * 3 + [Kind.ALLOCATION] * 3
    ledger.verify()


def test_only_those_with_a_share_may_spend_where_shares_are_declared(tmp_path):
    ledger = opened(tmp_path)
    assert ledger.remaining("people", "somebody else") == Pure(0)
    assert ledger.remaining("calls", "somebody else") == ledger.budget("calls").cap


def test_a_share_can_be_changed(tmp_path):
    opened(tmp_path)
    for amount in ("2", "0"):
        text = changed("people = { epsilon = 1 }", f"people = {{ epsilon = {amount} }}")
        assert opened(tmp_path, text).remaining("people", "kim") == Pure(amount)


def test_leaving_somebody_out_raises_nobodys_share(tmp_path):
    opened(tmp_path)
    nobody = GOOD[: GOOD.index("[analysts.kim]")]
    ledger = opened(tmp_path, nobody)
    assert ledger.remaining("people", "kim") == Pure(1)
    assert ledger.remaining("people", "lou@example.org") == Pure("5/2")
    assert ledger.remaining("people", "local") == Pure(0)


def test_a_ledger_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(LedgerError, match="folder of the ledger"):
        opened(tmp_path, changed("books.sqlite", "file/books.sqlite"))
