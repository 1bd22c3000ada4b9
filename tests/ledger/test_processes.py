"""Real processes: killed at every step of an answer, and racing for the last of a budget."""

import os
import signal
import threading
import time
from pathlib import Path

import pytest

from discreet.core.loss import Pure
from discreet.ledger.ledger import Ledger
from discreet.ledger.sqlite_store import create_sqlite
from tests.ledger.children import start
from tests.ledger.gate_child import ANCHOR_STEPS, STEPS, anchored
from tests.ledger.orders import RELEASE, new_ledger, order
from tests.support.projects.gate import pass_gate

AFTER = {
    "before the reserve begins": (0, 0, []),
    "inside the reserve": (0, 0, []),
    "before the reserve is committed": (0, 0, []),
    "after the reserve": (1, 0, ["reserve"]),
    "during work": (1, 0, ["reserve"]),
    "after work": (1, 0, ["reserve"]),
    "inside the store": (1, 0, ["reserve"]),
    "before the store is committed": (1, 0, ["reserve"]),
    "after the commit": (1, 1, ["reserve", "commit"]),
}
"""What is spent, how many releases are stored, and what the chain holds, for each step."""


@pytest.mark.parametrize("step", STEPS)
def test_a_kill_at_any_step_never_leaves_less_spent_than_released(tmp_path: Path, step: str):
    new_ledger(tmp_path)
    file = tmp_path / "ledger.sqlite"
    with start("kill", step, str(file)) as child:
        output, _ = child.communicate(timeout=60)
    assert child.returncode == -signal.SIGKILL
    assert output == ""

    ledger = Ledger(create_sqlite(file))
    ledger.verify()
    spent, stored, kinds = AFTER[step]
    found = ledger.find_release("plan", 1)
    assert ledger.spent("people") == Pure(spent)
    assert (found is not None) == (stored == 1)
    assert Pure(stored) <= ledger.spent("people")
    assert [entry.kind.value for entry in ledger.entries()] == ["budget", *kinds]

    _, receipt = pass_gate(ledger, order(), lambda: RELEASE)
    ledger.verify(receipt)


@pytest.mark.parametrize("step", ANCHOR_STEPS)
def test_a_kill_while_the_anchor_moves_leaves_a_ledger_that_goes_on(tmp_path: Path, step: str):
    new_ledger(tmp_path)
    file = tmp_path / "ledger.sqlite"
    anchored(file).reserve(order(Pure("1/2")))
    before = anchored(file).anchors[0].read()
    with start("kill-anchored", step, str(file)) as child:
        output, _ = child.communicate(timeout=60)
    assert child.returncode == -signal.SIGKILL
    assert output == ""

    ledger = anchored(file)
    after = ledger.anchors[0].read()
    assert after is not None
    assert before is not None
    assert (after == before) == (not step.startswith("after"))
    assert ledger.spent("people") == Pure("3/2")
    assert ledger.find_release("plan", 1) is None, "no row was read"
    pass_gate(ledger, order(), lambda: RELEASE)
    ledger.verify()


def test_every_step_is_tested():
    assert tuple(AFTER) == STEPS


def test_racing_processes_spend_exactly_what_there_is(tmp_path: Path):
    ledger = new_ledger(tmp_path)
    go = tmp_path / "go"
    children = [start("race", str(tmp_path / "ledger.sqlite"), str(go), str(4)) for _ in range(8)]
    for child in children:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
    go.touch()
    passed = [int(child.communicate(timeout=120)[0]) for child in children]
    assert [child.returncode for child in children] == [0] * 8
    assert sum(passed) == 3
    assert ledger.spent("people") == Pure(3)
    kinds = [entry.kind.value for entry in ledger.entries()]
    assert kinds.count("reserve") == kinds.count("commit") == 3
    ledger.verify()


def test_a_forked_child_spends_from_the_same_budget(tmp_path: Path):
    ledger = new_ledger(tmp_path)
    ledger.reserve(order())
    child = os.fork()
    if child == 0:
        # Nothing of the test run may happen twice, so the child leaves at once.
        try:
            ledger.reserve(order())
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    ledger.reserve(order())
    assert ledger.remaining("people") == Pure(0)
    ledger.verify()


def test_a_fork_waits_until_no_transaction_is_open(tmp_path: Path):
    ledger = new_ledger(tmp_path)
    is_open, is_over = threading.Event(), threading.Event()

    def hold() -> None:
        with ledger.store.write():
            is_open.set()
            time.sleep(0.1)
            is_over.set()

    thread = threading.Thread(target=hold)
    thread.start()
    is_open.wait()
    child = os.fork()
    if child == 0:
        os._exit(0 if is_over.is_set() else 1)
    _, status = os.waitpid(child, 0)
    thread.join()
    assert status == 0
