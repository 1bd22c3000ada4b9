"""How long privacy-loss distributions take, beside other libraries.

The ε of ours is certified from both sides and at most that of dp-accounting's accountant of
privacy-loss distributions on its default grid. The accountants of Rényi divergences are quicker and
looser; they are here for context.
"""

from benchmarks.harness import Case, Program

TASKS = {
    "gaussian_1000": "1,000 Gaussians",
    "gaussian_10000": "10,000 Gaussians",
    "distinct_20": "20 distinct × 50",
    "distinct_1000": "1,000 distinct",
    "laplace_1000": "1,000 Laplaces",
    "poisson_10000": "10,000 sampled",
    "mnist": "training, 14,063 steps",
    "calibrate_gaussian": "calibrate a Gaussian",
    "calibrate_laplace_pure": "calibrate a Laplace, δ = 0",
    "calibrate_laplace_100": "calibrate 100 Laplaces",
    "calibrate_mnist": "calibrate the training",
}
BATCHES = {"12_20": "12 groups × 20 rows", "200_2": "200 groups × 2 rows"}
"""Batches of one count, by the limits of a unit: groups and rows."""
SECONDS_A_BATCH = 3.0
GOAL = 10.0
CONTEXT = ("dp_accounting_rdp", "prv_accountant", "autodp")
ENVIRONMENTS = {"dp_accounting_rdp": "dp_accounting"}
SLOW = {("prv_accountant", "distinct_1000")}
"""Left out: it takes minutes, and several gigabytes."""


def accounting(library: str, task: str) -> Program:
    """Return the program that does ``task`` with ``library``."""
    return ("benchmarks/programs/accounting_time.py", library, task)


def _case(task: str, name: str, library: str, goal: float | None) -> Case:
    return Case(
        name=name if library == "dp_accounting" else f"{name} ({library})",
        unit="s",
        ours=accounting("discreet", task),
        theirs=accounting(library, task),
        peer=ENVIRONMENTS.get(library, library),
        goal=goal,
    )


def _epsilon(task: str, name: str) -> Case:
    """Compare what is found: ours is certified, and must be no larger (but for six digits)."""
    program = "benchmarks/programs/accounting_time.py"
    return Case(
        name=f"{name}: ε",
        unit="ε",
        ours=(program, "discreet", task, "epsilon"),
        theirs=(program, "dp_accounting", task, "epsilon"),
        peer="dp_accounting",
        goal=0.99999,
    )


EPSILONS = [
    _epsilon(task, name) for task, name in TASKS.items() if not task.startswith("calibrate")
]

CALIBRATED = [
    Case(
        name=f"calibrate a batch, {name}",
        unit="s",
        ours=("benchmarks/programs/batch_time.py", limits),
        theirs=SECONDS_A_BATCH,
        goal=1.0,
    )
    for limits, name in BATCHES.items()
]

CASES = (
    EPSILONS
    + CALIBRATED
    + [_case(task, name, "dp_accounting", GOAL) for task, name in TASKS.items()]
    + [
        _case(task, name, library, None)
        for task, name in TASKS.items()
        for library in CONTEXT
        if not task.startswith("calibrate") and (library, task) not in SLOW
    ]
)
