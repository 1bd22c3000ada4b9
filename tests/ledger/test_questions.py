"""The name of a question: by it answers are found at all prices, and old orders have none."""

import pytest
from attrs import evolve

from discreet.core.errors import InvalidArgument
from discreet.core.loss import Pure
from discreet.ledger.chain import Kind
from discreet.ledger.order import Order
from tests.ledger.orders import RELEASE, new_ledger, order
from tests.support.projects.gate import pass_gate


def priced(price: str, *, question: str | None = "q", version: int = 1) -> Order:
    named = order(Pure(price), plan=f"{question} at {price}", version=version)
    return evolve(named, question=question)


def test_answers_are_found_at_all_prices_the_newest_first(tmp_path, rng):
    ledger = new_ledger(tmp_path, Pure(20))
    ledger.data_version("people", rng)
    for price in ("1", "3", "2"):
        pass_gate(ledger, priced(price), lambda: RELEASE)
    pass_gate(ledger, priced("4", question="other"), lambda: RELEASE)
    pass_gate(ledger, priced("4", version=2), lambda: RELEASE)
    pass_gate(ledger, priced("1/2", question=None), lambda: RELEASE)
    ledger.fail(ledger.reserve(priced("5")))
    found = ledger.answers_to("q", 1)
    assert [one.receipt.charges[0].loss for one in found] == [Pure(2), Pure(3), Pure(1)]
    assert [one.receipt.plan_digest for one in found] == ["q at 2", "q at 3", "q at 1"]
    assert ledger.answers_to("q", 3) == ()
    ledger.verify(*(one.receipt for one in found))


def test_an_order_without_a_question_is_written_as_before(tmp_path, rng):
    ledger = new_ledger(tmp_path)
    ledger.data_version("people", rng)
    pass_gate(ledger, order(), lambda: RELEASE)
    reserve, commit = ledger.entries(last=2)
    assert (reserve.kind, commit.kind) == (Kind.RESERVE, Kind.COMMIT)
    assert "question" not in reserve.payload["order"]
    assert set(commit.payload) == {"ticket", "plan_digest", "data_version", "release_digest"}


@pytest.mark.parametrize("question", [None, "q"])
def test_an_order_is_read_back_with_its_name(question):
    found = evolve(order(), question=question)
    again = Order.from_json(found.to_json())
    assert (again, again.digest) == (found, found.digest)
    assert (found.digest == order().digest) == (question is None)


def test_a_question_has_a_name():
    with pytest.raises(InvalidArgument):
        evolve(order(), question="")
