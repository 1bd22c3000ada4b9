"""What one person can add to an answer: the worst questions that are accepted.

Targets are the public bounds: about a second of processor time, half a gibibyte of memory. They
hold for whole questions, and for what is counted of each function that copies texts.
"""

from benchmarks.harness import Case
from benchmarks.programs.work_of_one import CASES as FAMILIES
from benchmarks.programs.work_of_texts import FUNCTIONS

TARGETS = {"seconds": 1.5, "mebibytes": 600.0}
UNITS = {"seconds": "s", "mebibytes": "MiB"}
PROGRAMS = {
    "benchmarks/programs/work_of_one.py": tuple(FAMILIES),
    "benchmarks/programs/work_of_texts.py": tuple(FUNCTIONS),
}

CASES = [
    Case(
        name=f"{name}: {part}",
        unit=UNITS[part],
        ours=(program, name, part),
        theirs=target,
        goal=1.0,
    )
    for program, names in PROGRAMS.items()
    for name in names
    for part, target in TARGETS.items()
]
