"""How long ``import discreet`` takes, beside the imports of other libraries."""

from benchmarks.harness import Case, Program

SECONDS_AT_MOST = 0.5


def importing(module: str) -> Program:
    """Return the program that imports ``module``."""
    return ("benchmarks/programs/import_time.py", module)


OURS = importing("discreet")

READY = importing("discreet.roles.connection")  # what the first use of the package loads

CASES = [
    Case(name="import", unit="s", ours=OURS, theirs=SECONDS_AT_MOST, goal=1.0),
    Case(name="import, ready to ask", unit="s", ours=READY, theirs=SECONDS_AT_MOST),
    Case(name="import", unit="s", ours=OURS, theirs=importing("opendp"), peer="opendp"),
    Case(name="import", unit="s", ours=OURS, theirs=importing("diffprivlib"), peer="diffprivlib"),
]
