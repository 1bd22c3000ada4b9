"""Runs the cases of a suite, ours beside a peer's, and reports the ratio.

A *program* is a Python file with arguments. It runs in a process of its own and prints one JSON
object: ``{"seconds": 1.5}``, where lower is better, or ``{"rate": 2e6}``, where higher is. Every
peer has a virtual environment of its own, ``.bench/<peer>``, made when it is first needed from the
pins in ``benchmarks/peers/<peer>.txt``.

A program may also print several numbers at once. Then it runs once for all cases that read one of
them. Where chance decides by how much one run is better than another, a case asks for several runs
of both sides and compares means; the first of them is the run that all other cases read.

A ratio above 1 always means that we are better. A case's goal is the least ratio that we promise;
no goal means that the row is there for context. A peer that has used ten minutes of the processor
is stopped; the row says that it did not finish.
"""

import hashlib
import json
import os
import resource
import signal
import subprocess
import sys
import venv
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean

ROOT = Path(__file__).resolve().parent.parent
PEERS = ROOT / "benchmarks" / "peers"
ENVIRONMENTS = ROOT / ".bench"
TARGET = "target"
OURSELVES = "discreet"
"""The peer of a case that compares two ways of our own."""

MOST_SECONDS = 600
"""How many seconds of the processor a peer may use."""

Program = tuple[str, ...]

DISTANCES = tuple(f"{which}_{width}_way" for width in (1, 2, 3) for which in ("mean", "worst"))
"""Of synthetic rows from the true ones, over all tables of so many columns."""

ERRORS = ("squared_error", "projected_error")
"""Mean squared errors of shares: as they are estimated, and after these were made to sum to 1."""

LOWER_IS_BETTER = ("seconds", "epsilon", "mebibytes", *DISTANCES, *ERRORS)
KINDS = (*LOWER_IS_BETTER, "rate")


@dataclass(frozen=True)
class Measurement:
    """What a program printed: seconds, memory, an ε or a distance (lower is better), or a rate."""

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
    ours, that we set ourselves as a target. ``reads`` says which number is compared, where programs
    print several; then it can be the mean of several ``runs``.
    """

    name: str
    unit: str
    ours: Program
    theirs: Program | float
    peer: str = TARGET
    goal: float | None = None
    reads: str | None = None
    runs: int = 1


@dataclass(frozen=True)
class Row:
    """One line of a result. ``theirs`` and ``ratio`` are None if the peer could not be run.

    ``note`` then says why.
    """

    case: str
    peer: str
    unit: str
    ours: float
    theirs: float | None
    ratio: float | None
    goal: float | None
    note: str = ""

    @property
    def missed(self) -> bool:
        """Whether the goal was missed."""
        return self.goal is not None and (self.ratio is None or self.ratio < self.goal)


class PeerUnavailable(Exception):
    """A peer's environment could not be made, or its program failed."""

    note = "could not be run"


class DidNotFinish(PeerUnavailable):
    """A peer's program was stopped, because it took too long."""

    note = "did not finish"


def printed_by(
    python: str, program: Program, *, most_seconds: int | None = None
) -> dict[str, float]:
    """Run a program with an interpreter and return the numbers that it prints, by their kinds.

    It is stopped when it has used ``most_seconds`` of the processor.
    """
    script, *arguments = program
    command = [python, str(ROOT / script), *arguments]

    def keep_to_limit() -> None:
        if most_seconds is not None:
            resource.setrlimit(resource.RLIMIT_CPU, (most_seconds, most_seconds + 5))

    # A library that is installed was compiled once; so is one that is run from its source.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
        env=environment,
        preexec_fn=keep_to_limit,
    )
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL) and most_seconds is not None:
        raise DidNotFinish(f"{' '.join(program)} was stopped after {most_seconds} CPU seconds")
    if done.returncode:
        raise PeerUnavailable(f"{' '.join(program)} failed:\n{done.stderr}")
    numbers = json.loads(done.stdout)
    for kind in numbers:
        if kind not in KINDS:
            raise ValueError(f"a program must print one of {', '.join(KINDS)}; got {kind!r}.")
    return {kind: float(value) for kind, value in numbers.items()}


def run_program(python: str, program: Program, *, most_seconds: int | None = None) -> Measurement:
    """Run a program with an interpreter and read the only number that it prints."""
    ((kind, value),) = printed_by(python, program, most_seconds=most_seconds).items()
    return Measurement(kind, value)


class Runs:
    """Runs programs; those that print several numbers no more often than asked for.

    One that fails is not tried again.
    """

    def __init__(self) -> None:
        """Begin without any."""
        self._printed: dict[tuple[str, Program], list[dict[str, float]]] = {}
        self._failed: dict[tuple[str, Program], PeerUnavailable] = {}

    def measured(
        self,
        python: str,
        program: Program,
        reads: str | None,
        *,
        runs: int = 1,
        most_seconds: int | None = None,
    ) -> Measurement:
        """Return the number that a program prints; of several, the mean of that kind."""
        if reads is None:
            return run_program(python, program, most_seconds=most_seconds)
        name = (python, program)
        printed = self._printed.setdefault(name, [])
        while len(printed) < runs and name not in self._failed:
            try:
                printed.append(printed_by(python, program, most_seconds=most_seconds))
            except PeerUnavailable as reason:
                self._failed[name] = reason
        if len(printed) < runs:
            raise self._failed[name]
        return Measurement(reads, fmean(one[reads] for one in printed[:runs]))


def peer_python(peer: str) -> str:
    """Return the interpreter of a peer's environment; make the environment if need be."""
    if peer == OURSELVES:
        return sys.executable
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


def measure(
    case: Case, *, find_python: Callable[[str], str] = peer_python, runs: Runs | None = None
) -> Row:
    """Run both sides of a case; ``runs`` has what ran before."""
    runs = runs or Runs()
    ours = runs.measured(sys.executable, case.ours, case.reads, runs=case.runs)
    theirs, note = None, ""
    try:
        if isinstance(case.theirs, tuple):
            python = find_python(case.peer)
            theirs = runs.measured(
                python, case.theirs, case.reads, runs=case.runs, most_seconds=MOST_SECONDS
            )
        else:
            theirs = Measurement(ours.kind, case.theirs)
    except PeerUnavailable as reason:
        print(reason, file=sys.stderr)
        note = reason.note
    ratio = ours.ratio_to(theirs) if theirs else None
    value = theirs.value if theirs else None
    return Row(case.name, case.peer, case.unit, ours.value, value, ratio, case.goal, note)


def write_rows(rows: Iterable[Row], target: Path) -> None:
    """Write the rows as a JSON list."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps([asdict(row) for row in rows], indent=2) + "\n")


def as_table(rows: Iterable[Row]) -> str:
    """Return the rows as an aligned table."""
    cells: list[tuple[str, ...]] = [("case", "peer", "unit", "ours", "theirs", "ratio", "goal", "")]
    for row in rows:
        numbers = (_short(number) for number in (row.ours, row.theirs, row.ratio, row.goal))
        notes = ", ".join(filter(None, ["missed" if row.missed else "", row.note]))
        cells.append((row.case, row.peer, row.unit, *numbers, notes))
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in cells
    )


def _short(number: float | None) -> str:
    return "-" if number is None else f"{number:.3g}"
