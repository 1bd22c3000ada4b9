"""Runs the cases of a suite, ours beside a peer's, and reports the ratio.

A *program* is a Python file with arguments. It runs in a process of its own and prints one JSON
object: ``{"seconds": 1.5}``, where lower is better, or ``{"rate": 2e6}``, where higher is. Every
peer has a virtual environment of its own, ``.bench/<peer>``, made when it is first needed from the
pins in ``benchmarks/peers/<peer>.txt``.

A ratio above 1 always means that we are better. A case's goal is the least ratio that we promise;
no goal means that the row is there for context.
"""

import hashlib
import json
import subprocess
import sys
import venv
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PEERS = ROOT / "benchmarks" / "peers"
ENVIRONMENTS = ROOT / ".bench"
TARGET = "target"

Program = tuple[str, ...]

LOWER_IS_BETTER = ("seconds", "epsilon", "mebibytes")


@dataclass(frozen=True)
class Measurement:
    """What a program printed: seconds, memory or an ε (lower is better), or a rate (higher is)."""

    kind: str
    value: float

    def ratio_to(self, other: "Measurement") -> float:
        """Return how many times better this is than ``other``."""
        if self.kind != other.kind:
            raise ValueError(f"both must measure the same; got {self.kind} and {other.kind}.")
        if self.kind in LOWER_IS_BETTER:
            return other.value / self.value
        return self.value / other.value


@dataclass(frozen=True, kw_only=True)
class Case:
    """One comparison: our program beside a peer's program, or beside a number to reach.

    ``theirs`` is a program that runs in the environment of ``peer``, or a number, in the unit of
    ours, that we set ourselves as a target.
    """

    name: str
    unit: str
    ours: Program
    theirs: Program | float
    peer: str = TARGET
    goal: float | None = None


@dataclass(frozen=True)
class Row:
    """One line of a result. ``theirs`` and ``ratio`` are None if the peer could not be run."""

    case: str
    peer: str
    unit: str
    ours: float
    theirs: float | None
    ratio: float | None
    goal: float | None

    @property
    def missed(self) -> bool:
        """Whether the goal was missed."""
        return self.goal is not None and (self.ratio is None or self.ratio < self.goal)


class PeerUnavailable(Exception):
    """A peer's environment could not be made, or its program failed."""


def run_program(python: str, program: Program) -> Measurement:
    """Run a program with an interpreter and read what it measured."""
    script, *arguments = program
    command = [python, str(ROOT / script), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    if done.returncode:
        raise PeerUnavailable(f"{' '.join(program)} failed:\n{done.stderr}")
    ((kind, value),) = json.loads(done.stdout).items()
    if kind not in (*LOWER_IS_BETTER, "rate"):
        raise ValueError(f"a program must print seconds, mebibytes, epsilon or rate; got {kind!r}.")
    return Measurement(kind, float(value))


def peer_python(peer: str) -> str:
    """Return the interpreter of a peer's environment; make the environment if need be."""
    pins = PEERS / f"{peer}.txt"
    folder = ENVIRONMENTS / peer
    python = str(folder / "bin" / "python")
    stamp = folder / ".installed"
    fingerprint = hashlib.sha256(pins.read_bytes()).hexdigest()
    if not stamp.exists() or stamp.read_text() != fingerprint:
        print(f"setting up {folder.relative_to(ROOT)} ...", file=sys.stderr)
        venv.create(folder, clear=True, with_pip=True)
        command = [python, "-m", "pip", "-qq", "--disable-pip-version-check", "install"]
        done = subprocess.run(
            [*command, "-r", str(pins)], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise PeerUnavailable(f"{peer} could not be installed:\n{done.stderr}")
        stamp.write_text(fingerprint)
    return python


def measure(case: Case, *, find_python: Callable[[str], str] = peer_python) -> Row:
    """Run both sides of a case."""
    ours = run_program(sys.executable, case.ours)
    theirs: Measurement | None
    try:
        if isinstance(case.theirs, tuple):
            theirs = run_program(find_python(case.peer), case.theirs)
        else:
            theirs = Measurement(ours.kind, case.theirs)
    except PeerUnavailable as reason:
        print(reason, file=sys.stderr)
        theirs = None
    ratio = ours.ratio_to(theirs) if theirs else None
    value = theirs.value if theirs else None
    return Row(case.name, case.peer, case.unit, ours.value, value, ratio, case.goal)


def write_rows(rows: Iterable[Row], target: Path) -> None:
    """Write the rows as a JSON list."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps([asdict(row) for row in rows], indent=2) + "\n")


def as_table(rows: Iterable[Row]) -> str:
    """Return the rows as an aligned table."""
    cells: list[tuple[str, ...]] = [("case", "peer", "unit", "ours", "theirs", "ratio", "goal", "")]
    for row in rows:
        numbers = (_short(number) for number in (row.ours, row.theirs, row.ratio, row.goal))
        cells.append((row.case, row.peer, row.unit, *numbers, "missed" if row.missed else ""))
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in cells
    )


def _short(number: float | None) -> str:
    return "-" if number is None else f"{number:.3g}"
