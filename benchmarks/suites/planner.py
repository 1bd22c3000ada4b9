"""How long a plan takes, and what adaptive questions cost beside the same means, exactly.

A plan has all ways and all lower bounds, and looks for the people. There is no peer: nobody else
plans these. The target is a second, which a person waits for.
"""

from benchmarks.harness import Case, Program

PROGRAM = "benchmarks/programs/plan_time.py"
TASKS = (
    "count",
    "histogram",
    "microdata",
    "marginals",
    "sums",
    "means",
    "median",
    "quantiles",
    "thresholds",
    "k-way",
    "synthetic",
    "survey-shares",
    "survey-mean",
    "adaptive",
)

QUESTIONS = 100_000


def holdout(library: str) -> Program:
    """Return the program that asks statistical questions of a million rows."""
    return ("benchmarks/programs/holdout_rate.py", library, str(QUESTIONS))


HOLDOUT = [
    Case(
        name=f"{QUESTIONS:,} questions to a holdout of a million rows",
        unit="s",
        ours=holdout("discreet"),
        theirs=holdout("numpy"),
        peer="numpy",
        goal=0.5,
    )
]
"""Within twice the time of the exact means."""

CASES = [
    *HOLDOUT,
    *(
        Case(
            name=f"plan of {task} ({loss})",
            unit="s",
            ours=(PROGRAM, task, loss),
            theirs=1.0,
            goal=1.0,
        )
        for task in TASKS
        for loss in (("none",) if task == "adaptive" else ("pure", "approximate", "zcdp"))
    ),
]
