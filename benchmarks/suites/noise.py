"""Exact integer noise in samples a second, beside other libraries.

OpenDP's noise is exact too. diffprivlib's integer mechanisms draw from floats. NumPy's floats are
neither private nor unpredictable; they are here because they are what exactness is said to cost.
"""

from benchmarks.harness import Case, Program

SCALES = (1, 100, 1_000_000)
LAWS = ("laplace", "gaussian")
GOALS = {"opendp": 300.0, "numpy": 1.0, "diffprivlib": None}


def drawing(library: str, law: str, scale: int) -> Program:
    """Return the program that draws from ``law`` with ``library``."""
    return ("benchmarks/programs/noise_rate.py", library, law, str(scale))


CASES = [
    Case(
        name=f"{law}, scale {scale}",
        unit="samples/s",
        ours=drawing("discreet", law, scale),
        theirs=drawing(peer, law, scale),
        peer=peer,
        goal=goal,
    )
    for law in LAWS
    for scale in SCALES
    for peer, goal in GOALS.items()
]
