"""How many answers the ledger can account for: passages of the gate in a second.

Targets are twice what was measured on a quiet machine of two cores when every transaction opened
the file anew, with eleven flushes for a passage; now there are three.
"""

from benchmarks.harness import Case

TARGETS = {1: 276.0, 2: 394.0, 8: 474.0}

CASES = [
    Case(
        name=f"passages, {processes} process{'es' if processes > 1 else ''}",
        unit="1/s",
        ours=("benchmarks/programs/gate_rate.py", str(processes)),
        theirs=target,
    )
    for processes, target in TARGETS.items()
]
