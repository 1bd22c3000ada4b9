"""What a curator waits for: a large answer with limits, a small one, and the command line.

The large one is of ten million rows about a million people. OpenDP answers privately too, from 10
rows of each person. The queries written by hand keep the same limits as ours, but add no noise and
account for nothing. The unbounded one is what the data costs without any limits, for context.
"""

from benchmarks.harness import Case, Program

ROWS = 10_000_000
UNITS = {"seconds": "s", "mebibytes": "MiB"}
PEERS = {
    "opendp": "opendp_polars",
    "polars_windows": "polars",
    "polars_lists": "polars",
    "duckdb_windows": "duckdb",
    "duckdb_lists": "duckdb",
    "duckdb_unbounded": "duckdb",
}
"""Who answers, in which environment."""

TIMES_AS_QUICK = {
    "opendp": 10.0,
    "polars_windows": 2.0,
    "polars_lists": 2.0,
    "duckdb_windows": 2.0,
    "duckdb_lists": 2.0,
}
MEBIBYTES_AT_MOST = 1_024.0
WAITS = {
    "query": ("query of 30 rows", 0.010),
    "profiled": ("query of 30 rows, with a profile", 0.010),
    "command": ("start of the command", 0.5),
}
"""What is small, what it is called, and how many seconds it may take."""


def answering(who: str, kind: str) -> Program:
    """Return the program in which ``who`` answers the large question."""
    return ("benchmarks/programs/bounded_time.py", who, str(ROWS), kind)


LARGE = [
    Case(
        name=f"{ROWS:,} rows, {who}",
        unit=unit,
        ours=answering("discreet", kind),
        theirs=answering(who, kind),
        peer=peer,
        goal=TIMES_AS_QUICK.get(who) if kind == "seconds" else None,
    )
    for kind, unit in UNITS.items()
    for who, peer in PEERS.items()
]

MEMORY = Case(
    name=f"{ROWS:,} rows",
    unit="MiB",
    ours=answering("discreet", "mebibytes"),
    theirs=MEBIBYTES_AT_MOST,
    goal=1.0,
)

SMALL = [
    Case(
        name=name,
        unit="s",
        ours=("benchmarks/programs/waiting_time.py", what),
        theirs=seconds,
        goal=1.0,
    )
    for what, (name, seconds) in WAITS.items()
]

CASES = [*LARGE, MEMORY, *SMALL]
