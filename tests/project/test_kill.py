"""Killing the process at each step never leaves less spent than released."""

import signal
import subprocess
import sys

import pytest

from discreet.core.loss import Pure
from discreet.curator.answer import answer
from tests.support.house.paths import ROOT
from tests.support.projects.clinic import make_curator, visit, write_project
from tests.support.projects.killed_answer import SQL, STEPS

CHARGED = {step: step != "before the charge" for step in STEPS}
STORED = {"after the release is stored", "after the answer is seen"}


@pytest.mark.parametrize("step", STEPS)
def test_a_kill_never_leaves_less_spent_than_released(tmp_path, step, rng):
    folder = write_project(tmp_path, [visit("p"), visit("q", "b")], epsilon="2")
    command = [sys.executable, "-m", "tests.support.projects.killed_answer", str(folder), step]
    child = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert child.returncode == -signal.SIGKILL, child.stderr

    curator = make_curator(folder, rng)
    curator.ledger.verify()
    seen = bool(child.stdout.strip())
    assert seen == (step == "after the answer is seen")
    assert curator.ledger.spent("people") == Pure(1 if CHARGED[step] else 0)

    # What was stored is given again for nothing; what was not is asked and paid for again.
    release = answer(curator, SQL, terms=Pure(1), analyst="a")
    assert release.is_stored == (step in STORED)
    if seen:
        assert child.stdout.strip() == str(release.rows)
    expected = 1 + (CHARGED[step] and step not in STORED)
    assert curator.ledger.spent("people") == Pure(expected)
