"""The gate: charged first, stored before it is shown, and one face for every failure."""

import traceback

import pytest

from discreet.core.errors import AnswerFailed, BudgetExhausted, LedgerError
from discreet.core.loss import Pure
from tests.ledger.orders import RELEASE, order, tells_no_cause
from tests.support.projects.gate import pass_gate

SECRET = "row 42 is Alice"


def kinds(ledger) -> list[str]:
    return [entry.kind.value for entry in ledger.entries()]


def test_the_charge_is_durable_before_work_and_the_release_before_return(ledger):
    def work():
        assert ledger.spent("people") == Pure(1)
        assert kinds(ledger) == ["budget", "reserve"]
        return RELEASE

    release, receipt = pass_gate(ledger, order(), work)
    assert release == RELEASE
    assert ledger.find_release("plan", 1) == (RELEASE, receipt)
    assert kinds(ledger) == ["budget", "reserve", "commit"]
    ledger.verify(receipt)


def test_a_refused_order_runs_nothing(ledger):
    with pytest.raises(BudgetExhausted):
        pass_gate(ledger, order(Pure(4)), lambda: pytest.fail("work was run"))
    assert kinds(ledger) == ["budget"]


def fail_with(error: BaseException):
    def work():
        raise error

    return work


def fail_inside_a_handler():
    try:
        raise ValueError(SECRET)
    except ValueError:
        raise KeyError(SECRET) from None


@pytest.mark.parametrize(
    "work",
    [
        fail_with(ValueError(SECRET)),
        fail_with(MemoryError(SECRET)),
        fail_with(LedgerError(SECRET)),
        fail_with(StopIteration(SECRET)),
        fail_with(KeyboardInterrupt(SECRET)),
        fail_with(SystemExit(SECRET)),
        fail_inside_a_handler,
        lambda: {"mean": 0.5},
        lambda: {SECRET: object()},
        lambda: SECRET,
        lambda: None,
    ],
)
def test_all_failures_look_alike_and_keep_the_charge(ledger, work):
    with pytest.raises(AnswerFailed) as caught:
        pass_gate(ledger, order(), work)
    error = caught.value
    assert str(error) == str(AnswerFailed())
    assert tells_no_cause(error)
    shown = "".join(traceback.format_exception(error))
    assert SECRET not in shown
    assert "in work" not in shown
    assert ledger.spent("people") == Pure(1)
    assert ledger.find_release("plan", 1) is None
    assert kinds(ledger) == ["budget", "reserve", "fail"]
    ledger.verify()


def test_a_ledger_that_fails_after_work_looks_like_work_that_failed(ledger, monkeypatch):
    def refuse(*_):
        raise LedgerError("the disk is full")

    for name in ("commit_sealed", "fail"):
        monkeypatch.setattr(type(ledger), name, refuse)
    with pytest.raises(AnswerFailed) as caught:
        pass_gate(ledger, order(), lambda: RELEASE)
    assert tells_no_cause(caught.value)
    assert ledger.spent("people") == Pure(1)


def test_the_release_that_is_returned_is_the_one_that_is_stored(ledger):
    handed_out = {"rows": (1, 2), "note": "ε"}
    release, _ = pass_gate(ledger, order(), lambda: handed_out)
    assert release == {"rows": [1, 2], "note": "ε"}
    found = ledger.find_release("plan", 1)
    assert found is not None
    assert found[0] == release
