"""The ledger of a project: budgets and shares are noted, and none is raised by chance."""

from pathlib import Path

import pytest

from discreet.core.errors import LedgerError
from discreet.core.loss import Pure
from discreet.ledger.chain import Kind
from discreet.ledger.gate_rules import GateRules
from discreet.ledger.ledger import Ledger
from discreet.ledger.order import Charge, Order
from discreet.project.open_ledger import open_ledger
from tests.support.projects.declared import GOOD, changed, parsed
from tests.support.projects.gate import pass_gate


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


def test_the_rules_of_the_gate_are_noted(tmp_path):
    gate = "[gate]\nsuspend_after = 3\nsuspend_all_after = 7\nmost_in_flight = 2\ndeadline = 9\n"
    price = changed("budget = { epsilon = 3 }", "budget = { epsilon = 3 }\nleast_price.epsilon = 1")
    ledger = opened(tmp_path, price + gate)
    assert ledger.rules("people") == GateRules(
        id_space="people",
        suspend_after=3,
        suspend_all_after=7,
        most_in_flight=2,
        least_price=1,
        deadline=9,
    )
    assert ledger.rules("days").least_price is None
    opened(tmp_path, GOOD)
    assert ledger.rules("people") == GateRules(id_space="people")
    ledger.verify()


def test_a_total_below_the_usual_limit_of_one_counter_is_the_limit_of_both(tmp_path):
    ledger = opened(tmp_path, GOOD + "[gate]\nsuspend_all_after = 3\n")
    rules = ledger.rules("people")
    assert (rules.suspend_after, rules.most_failures) == (3, 3)


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


def spend(ledger: Ledger, loss: str = "1/4") -> None:
    charge = Charge("people", Pure(loss))
    asked = Order(plan_digest="plan", data_version=1, analyst="kim", charges=(charge,))
    pass_gate(ledger, asked, lambda: {"rows": []})


def test_a_project_that_had_a_ledger_gets_no_other_one(tmp_path):
    spend(opened(tmp_path))
    (tmp_path / "books.sqlite").unlink()
    with pytest.raises(LedgerError, match="this project had one") as caught:
        opened(tmp_path)
    assert "--begin-again" in caught.value.next
    assert not (tmp_path / "books.sqlite").exists()
    again = open_ledger(parsed(GOOD, tmp_path), begin_again=True)
    assert again.spent("people") == Pure("1/4")
    assert again.remaining("people") == Pure("11/4")
    again.verify()
    spend(opened(tmp_path))


def test_a_ledger_that_was_never_spent_from_is_missed_too(tmp_path):
    opened(tmp_path)
    (tmp_path / "books.sqlite").unlink()
    with pytest.raises(LedgerError, match="this project had one"):
        opened(tmp_path)


def test_a_second_place_is_enough(tmp_path):
    """Who takes the whole folder away, the first anchor included, still leaves the second."""
    text = changed('path = "books.sqlite"', 'path = "books.sqlite"\nanchor = "../far.anchor"')
    folder = tmp_path / "project"
    folder.mkdir()
    spend(opened(folder, text))
    assert (tmp_path / "far.anchor").exists()
    for name in ("books.sqlite", "discreet.anchor"):
        (folder / name).unlink()
    with pytest.raises(LedgerError, match="this project had one"):
        opened(folder, text)


def test_a_ledger_from_before_there_were_anchors_gets_one(tmp_path):
    spend(opened(tmp_path))
    (tmp_path / "discreet.anchor").unlink()
    assert opened(tmp_path).spent("people") == Pure("1/4")
    assert (tmp_path / "discreet.anchor").exists()


def test_a_ledger_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(LedgerError, match="folder of the ledger"):
        opened(tmp_path, changed("books.sqlite", "file/books.sqlite"))
