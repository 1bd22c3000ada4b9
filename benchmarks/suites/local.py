"""Shares from randomised reports, at ε = 1: the processor's seconds, and squared errors.

Ours are exact, from secure randomness, with an interval for each share. The peers simulate, with
floats and fast generators; NumPy's row is the quickest unsafe way, for context. Their local hashing
tests every value against every report, which a million people and 100,000 values would keep busy
for most of a day, so there a peer gets a thousand people where we get a million. pure-ldp's fast
hashing has 50 maps that all people share, which makes it less exact. Unary encoding has no
row for 100,000 values: its reports would be 12.5 gigabytes.

Errors are measured on few runs, so a ratio has an error of a tenth itself; the goal is 0.85 where
it means "no worse".
"""

from benchmarks.harness import ERRORS, Case, Program

PEOPLE = 1_000_000
FEWER = 1_000
NO_WORSE = 0.85
SQUARED, PROJECTED = ERRORS


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
    scheme: str, values: int, peer: str, kind: str, *, theirs: str = "", trials: int = 1
) -> Case:
    """Return the comparison of errors: of estimates, or of what was made a distribution."""
    return Case(
        name=f"{scheme}, {values:,} values{f'; the peer: {theirs}' if theirs else ''}",
        unit="mean squared error" if kind == SQUARED else "the same, summing to 1",
        ours=shares("discreet", scheme, values, trials=5),
        theirs=shares(peer, theirs or scheme, values, PEOPLE, trials),
        peer=peer,
        goal=NO_WORSE,
        reads=kind,
    )


CASES = [
    seconds("unary", 128, "multi_freq_ldpy", goal=8.0, trials=5),
    seconds("unary", 128, "pure_ldp", goal=8.0, trials=3),
    seconds("unary", 128, "numpy", trials=5),
    error("unary", 128, "multi_freq_ldpy", PROJECTED, trials=5),
    error("unary", 128, "pure_ldp", SQUARED, trials=3),
    seconds("hashing", 128, "multi_freq_ldpy"),
    error("hashing", 128, "multi_freq_ldpy", PROJECTED),
    seconds("hashing", 100_000, "multi_freq_ldpy", goal=10.0, people=FEWER),
    seconds("hashing", 100_000, "pure_ldp", goal=10.0, people=FEWER),
    seconds("hashing", 100_000, "pure_ldp", goal=10.0, theirs="fast_hashing"),
    error("hashing", 100_000, "pure_ldp", SQUARED, theirs="fast_hashing"),
    seconds("hadamard", 100_000, "pure_ldp", goal=10.0),
    error("hadamard", 100_000, "pure_ldp", SQUARED),
]
