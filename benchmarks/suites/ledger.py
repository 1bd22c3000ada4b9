"""How many answers the ledger can account for: passages of the gate in a second.

Beside it stands what durability alone allows: a program that writes as much to SQLite, as durably,
and checks nothing. So the ratio is below 1, and says what part of the disk's speed is left. And
beside it stands how many there should be, however many processes ask for them.

Then fresh answers to a small question, from the text of the query to the release, beside how many
there should be on two quiet cores, and how much work one may be.
"""

from benchmarks.harness import Case

PROGRAM = "benchmarks/programs/gate_rate.py"
ANSWERS = {1: 60.0, 2: 80.0, 8: 80.0}
"""How many answers there should be in a second, by the number of processes."""

LEAST_PASSAGES = 480.0
"""How many passages there should be in a second, by any number of processes."""

MOST_WORK = 0.012
"""How many seconds of the processor one may take."""


def _together(processes: int) -> str:
    return f"{processes} process{'es' if processes > 1 else ''}"


PASSAGES = [
    Case(
        name=f"passages, {_together(processes)}",
        unit="1/s",
        ours=(PROGRAM, "discreet", str(processes)),
        theirs=(PROGRAM, "sqlite", str(processes)),
        peer="sqlite",
        reads="rate",
    )
    for processes in ANSWERS
]


def _beside_a_goal(
    name: str, writer: str, processes: int, theirs: float, *, unit: str = "1/s", reads: str = "rate"
) -> Case:
    return Case(
        name=f"{name}, {_together(processes)}",
        unit=unit,
        ours=(PROGRAM, writer, str(processes)),
        theirs=theirs,
        goal=1.0,
        reads=reads,
    )


ENOUGH = [
    _beside_a_goal("passages that there should be", "discreet", processes, LEAST_PASSAGES)
    for processes in ANSWERS
]

RATES = [
    _beside_a_goal("fresh answers", "answers", processes, rate)
    for processes, rate in ANSWERS.items()
]

WORK = [
    _beside_a_goal(
        "work of a fresh answer", "answers", processes, MOST_WORK, unit="s", reads="seconds"
    )
    for processes in ANSWERS
]

CASES = [*PASSAGES, *ENOUGH, *RATES, *WORK]
