"""How many answers the ledger can account for: passages of the gate in a second.

Beside it stands what durability alone allows: a program that writes as much to SQLite, as durably,
and checks nothing. So the ratio is below 1, and says what part of the disk's speed is left.
"""

from benchmarks.harness import Case

CASES = [
    Case(
        name=f"passages, {processes} process{'es' if processes > 1 else ''}",
        unit="1/s",
        ours=("benchmarks/programs/gate_rate.py", "discreet", str(processes)),
        theirs=("benchmarks/programs/gate_rate.py", "sqlite", str(processes)),
        peer="sqlite",
    )
    for processes in (1, 2, 8)
]
