"""Private choices in seconds, beside other libraries.

OpenDP's noisy maximum is exact too; its quantiles are chosen among a thousand candidates each,
where ours and diffprivlib's are chosen among all integers. diffprivlib computes with floats.
NumPy's row is an unsafe argmax (or no privacy at all), for what exactness is said to cost.
"""

from benchmarks.harness import Case, Program

CANDIDATES = (1_000, 10_000, 100_000, 1_000_000)
VALUES = 1_000_000
PEERS = ("opendp", "diffprivlib", "numpy")
GOALS = {("opendp", 1_000_000): 10.0}


def choosing(library: str, task: str, size: int) -> Program:
    """Return the program that does ``task`` with ``library``."""
    return ("benchmarks/programs/selection_time.py", library, task, str(size))


CHOICES = [
    Case(
        name=f"one of {size:,}",
        unit="s",
        ours=choosing("discreet", "choice", size),
        theirs=choosing(peer, "choice", size),
        peer=peer,
        goal=GOALS.get((peer, size)),
    )
    for size in CANDIDATES
    for peer in PEERS
]

QUANTILES = [
    Case(
        name=f"99 quantiles of {VALUES:,}",
        unit="s",
        ours=choosing("discreet", "quantiles", VALUES),
        theirs=choosing(peer, "quantiles", VALUES),
        peer=peer,
    )
    for peer in PEERS
]

QUERIES = 100_000


def comparing(library: str) -> Program:
    """Return the program that asks sparse vector queries of ``library``."""
    return ("benchmarks/programs/sparse_vector_time.py", library, str(QUERIES))


SPARSE_VECTOR = [
    Case(
        name=f"{QUERIES:,} sparse vector queries",
        unit="s",
        ours=comparing("discreet"),
        theirs=comparing("numpy"),
        peer="numpy",
    ),
    Case(
        name=f"{QUERIES:,} sparse vector queries, within",
        unit="s",
        ours=comparing("discreet"),
        theirs=0.1,
        goal=1.0,
    ),
]

CASES = [*CHOICES, *QUANTILES, *SPARSE_VECTOR]
"""Add further kinds of choice as a list of their own, above."""
