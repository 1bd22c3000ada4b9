"""How long a certificate takes: curves of exact sums, histograms, and the checker of definitions.

There is no peer: nobody else computes these. The target is a time that a person waits for.
"""

from benchmarks.harness import Case

PROGRAM = "benchmarks/programs/noiseless_time.py"
TARGETS = {
    "curve_million": ("tight curve of 20 ε, a million rows", 1.0),
    "curve_grid": ("tight curve of 20 ε, 10,000 rounded rows of a normal law", 10.0),
    "mixture": ("mixture bound, 10,000 clipped normal rows", 2.0),
}
"""Each task, and the seconds that it may take."""

HISTOGRAM = "benchmarks/programs/histogram_time.py"
CHECKER = "benchmarks/programs/definition_check_time.py"

CASES = [
    *(
        Case(name=name, unit="s", ours=(PROGRAM, task), theirs=seconds, goal=1.0)
        for task, (name, seconds) in TARGETS.items()
    ),
    *(
        Case(
            name=f"histogram of 10,000 cells ({law})",
            unit="s",
            ours=(HISTOGRAM, law, "10000"),
            theirs=1.0,
            goal=1.0,
        )
        for law in ("poisson", "sampled", "sized")
    ),
    *(
        Case(
            name=f"definitions checked on 4,096 databases ({law})",
            unit="s",
            ours=(CHECKER, "distributional", law, "12"),
            theirs=60.0,
            goal=1.0,
        )
        for law in ("fair", "mixed", "any")
    ),
]
