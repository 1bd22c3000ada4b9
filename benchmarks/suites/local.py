"""Shares from randomised reports, at ε = 1: the processor's seconds, and squared errors.

Ours are exact, from secure randomness, with an interval for each share, and always of a million
people. The peers simulate, with floats and fast generators; NumPy's row is the quickest unsafe
way, for context. A peer has the million too, but where it would take hours: its local hashing tests
every value against every report, so with 100,000 values it gets a hundred people, as its row says,
which is to its advantage. Where five runs are needed for an error it gets fewer, and so do we.
pure-ldp's fast hashing has 50 maps that all people share, which makes it less exact. Unary encoding
has no row for 100,000 values: its reports would be 12.5 gigabytes.

Errors are compared with those of a peer of as many people, and with theory [WBLJ17]: what a right
implementation comes to. A mean over few runs is a tenth off by chance, so "no worse" is 0.85.

A collector runs as a process of its own beside one that sends over loopback, on two cores. No peer
has one; its rate stands beside a number that we set ourselves, and its memory beside its own with a
tenth of the reports: flat is 0.9.
"""

import math

from benchmarks.harness import ERRORS, OURSELVES, TARGET, Case, Program

PEOPLE = 1_000_000
FEWER = 100_000
FEW = 100
NO_WORSE = 0.85
FLAT = 0.9
BATCHES = 1_000.0
"""Of a collector in a second, for context: the clock also counts what else a machine does."""

SQUARED, PROJECTED = ERRORS
LEAST = 4 * math.e / (math.e - 1) ** 2 / PEOPLE
"""The least variance of unary encoding and of local hashing, for a rare value."""

LEAST_OF_FEWER = LEAST * PEOPLE / FEWER


def shares(
    library: str, scheme: str, values: int, people: int = PEOPLE, trials: int = 1
) -> Program:
    """Return the program that randomises and estimates with ``library``."""
    numbers = (str(values), str(people), str(trials))
    return ("benchmarks/programs/local_shares.py", library, scheme, *numbers)


def seconds(
    scheme: str,
    values: int,
    peer: str,
    *,
    goal: float | None = None,
    people: int = PEOPLE,
    theirs: str = "",
    trials: int = 1,
) -> Case:
    """Return the comparison of times; ``theirs`` is the peer's scheme, if it has another name."""
    fewer = f"; the peer: {people:,} people" if people != PEOPLE else ""
    other = f"; the peer: {theirs}" if theirs else ""
    return Case(
        name=f"{scheme}, {values:,} values{fewer}{other}",
        unit="s",
        ours=shares("discreet", scheme, values, trials=5),
        theirs=shares(peer, theirs or scheme, values, people, trials),
        peer=peer,
        goal=goal,
        reads="seconds",
    )


def error(
    scheme: str,
    values: int,
    kind: str,
    theirs: Program | float,
    peer: str,
    *,
    people: int = PEOPLE,
    other: str = "",
) -> Case:
    """Return the comparison of errors: of estimates, or of what was made a distribution."""
    of_whom = f", {people:,} people" if people != PEOPLE else ""
    whose = f"; the peer: {other}" if other else ""
    return Case(
        name=f"{scheme}, {values:,} values{of_whom}{whose}",
        unit="mean squared error" if kind == SQUARED else "the same, summing to 1",
        ours=shares("discreet", scheme, values, people, trials=5),
        theirs=theirs,
        peer=peer,
        goal=NO_WORSE,
        reads=kind,
    )


def collector(reports: int, each: int, *more: str) -> Program:
    """Return the program that sends so many reports to a collector."""
    return ("benchmarks/programs/collector_rate.py", str(reports), str(each), *more)


def flat_memory(who: str, *more: str) -> Case:
    """Return the comparison of memory with that for a tenth of the reports."""
    return Case(
        name=f"{who}, 200,000 reports beside 20,000",
        unit="MiB",
        ours=collector(200_000, 100, *more),
        theirs=collector(20_000, 100, *more),
        peer=OURSELVES,
        goal=FLAT,
        reads="mebibytes",
    )


MULTI, PURE = "multi_freq_ldpy", "pure_ldp"

CASES = [
    seconds("unary", 128, MULTI, goal=8.0, trials=2),
    seconds("unary", 128, PURE, goal=8.0),
    seconds("unary", 128, "numpy", trials=2),
    error("unary", 128, PROJECTED, shares(MULTI, "unary", 128, trials=2), MULTI),
    error("unary", 128, SQUARED, LEAST, TARGET),
    seconds("hashing", 128, MULTI),
    seconds("hashing", 100_000, MULTI, goal=10.0, people=FEW),
    seconds("hashing", 100_000, PURE, goal=10.0, people=FEW),
    seconds("hashing", 100_000, PURE, goal=10.0, theirs="fast_hashing"),
    seconds("hadamard", 100_000, PURE, goal=10.0),
    error("hashing", 100_000, SQUARED, LEAST, TARGET),
    error(
        "hashing",
        128,
        PROJECTED,
        shares(MULTI, "hashing", 128, FEWER, trials=5),
        MULTI,
        people=FEWER,
    ),
    error("hashing", 128, SQUARED, shares(PURE, "hashing", 128, FEWER, 5), PURE, people=FEWER),
    error("hashing", 128, SQUARED, LEAST_OF_FEWER, TARGET, people=FEWER),
    error(
        "hashing",
        100_000,
        SQUARED,
        shares(PURE, "fast_hashing", 100_000, FEWER),
        PURE,
        people=FEWER,
        other="fast_hashing",
    ),
    Case(
        name="collector, batches of one report",
        unit="1/s",
        ours=collector(20_000, 1),
        theirs=BATCHES,
        reads="rate",
    ),
    flat_memory("collector"),
    flat_memory("its results", "results"),
]
