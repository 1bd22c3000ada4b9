"""What a reader waits for: large answers as values and as text, and explanations.

Targets are in seconds of processor time. Running a query is DuckDB's time, and not measured here.
"""

from benchmarks.harness import Case

GROUPS = 100_000
TARGETS = {
    ("rows", GROUPS): 1.0,
    ("text", GROUPS): 2.0,
    ("again", GROUPS): 2.0,
    ("explain", 100): 0.1,
}

CASES = [
    Case(
        name=f"{part} of {groups:,} groups",
        unit="s",
        ours=("benchmarks/programs/answer_time.py", part, str(groups)),
        theirs=target,
        goal=1.0,
    )
    for (part, groups), target in TARGETS.items()
]
