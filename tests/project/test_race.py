"""Eight processes race for the last ε: exactly as many answers as the budget holds."""

import subprocess
import sys

from discreet.core.loss import Pure
from tests.support.house.paths import ROOT
from tests.support.projects.clinic import make_curator, visit, write_project

RACERS = 8
AFFORDABLE = 3


def start_all(racers):
    """Give every racer its starting shot, then collect what each says."""
    for racer in racers:
        racer.stdin.write("go\n")
        racer.stdin.flush()
    return [racer.communicate(timeout=120)[0] for racer in racers]


def test_racing_processes_never_overspend(tmp_path, rng):
    folder = write_project(tmp_path, [visit("p")], epsilon="0.75")
    ledger = make_curator(folder, rng).ledger
    command = [sys.executable, "-m", "tests.support.projects.racing_answer", str(folder)]
    racers = [
        subprocess.Popen(
            [*command, str(number)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(RACERS)
    ]
    for racer in racers:
        assert racer.stdout is not None
        assert racer.stdout.readline() == "ready\n"
    outcomes = [text.strip() for text in start_all(racers)]
    answered = [outcome for outcome in outcomes if outcome.startswith("answered")]
    assert len(answered) == AFFORDABLE == len(set(answered))
    assert outcomes.count("refused") == RACERS - AFFORDABLE
    assert ledger.spent("people") == Pure("3/4")
    ledger.verify()
