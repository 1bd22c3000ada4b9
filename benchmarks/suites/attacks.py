"""How long attacks take on data of the size that people publish.

There is no peer: nobody else has these in one place. The target is a time that a person waits for.
Seconds are those of the processor, but for the census, whose solver is given a time by the clock.
"""

from benchmarks.harness import Case

PROGRAMS = "benchmarks/programs"


def _case(name: str, program: str, *arguments: str, within: float) -> Case:
    ours = (f"{PROGRAMS}/{program}.py", *arguments)
    return Case(name=name, unit="s", ours=ours, theirs=within, goal=1.0)


CASES = [
    _case(
        "trace 1,000 candidates by 100,000 attributes",
        "tracing_time",
        *("1000", "100000"),
        within=1.0,
    ),
    _case(
        "reconstruct 2,000 bits from 8,000 counts by a linear programme",
        "reconstruction_time",
        *("2000", "8000"),
        within=120.0,
    ),
    _case(
        "unique rows of a million, all sets of up to 3 of 12 columns",
        "uniqueness_time",
        *("1000000", "12", "3"),
        within=30.0,
    ),
    _case(
        "a block of 30 people from its printed table", "census_time", *("30", "60"), within=600.0
    ),
]
