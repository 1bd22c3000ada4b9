"""What one person can add to an answer: the worst questions that are accepted.

Targets are the public bounds: about a second of processor time, half a gibibyte of memory.
"""

from benchmarks.harness import Case
from benchmarks.programs.work_of_one import CASES as FAMILIES

TARGETS = {"seconds": 1.5, "mebibytes": 600.0}
UNITS = {"seconds": "s", "mebibytes": "MiB"}

CASES = [
    Case(
        name=f"{name}: {part}",
        unit=UNITS[part],
        ours=("benchmarks/programs/work_of_one.py", name, part),
        theirs=target,
        goal=1.0,
    )
    for name in FAMILIES
    for part, target in TARGETS.items()
]
