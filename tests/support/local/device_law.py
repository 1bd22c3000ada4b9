"""The exact law of a report: the device's own code, run once for every outcome of its draws."""

import json
import subprocess
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import discreet.local.device
from discreet.local.device.draws import UNIT, Draws
from discreet.local.device.randomise import randomise

Law = dict[bytes, Fraction]

SCRIPT = Path(__file__).parent / "device_law.mjs"
CLIENT = Path(discreet.local.device.__file__).parent / "device.js"
SECONDS = 60


class EveryOutcome:
    """A draws that walks through all outcomes of all draws, one after another, with their weights.

    A run of the code under test follows one path; ``next_path`` turns to the next one.
    """

    def __init__(self) -> None:
        self._path: list[tuple[int, int]] = []
        self._place = 0
        self.weight = Fraction(1)

    def coin(self, threshold: int) -> bool:
        assert 0 <= threshold <= UNIT
        if threshold in (0, UNIT):
            return threshold == UNIT
        came = self._take(2)
        self.weight *= Fraction(threshold if came else UNIT - threshold, UNIT)
        return came == 1

    def uniform(self, choices: int) -> int:
        self.weight /= choices
        return self._take(choices)

    def pick(self, cuts: Sequence[int]) -> int:
        ends = [0, *cuts, UNIT]
        chosen = self._take(len(cuts) + 1)
        self.weight *= Fraction(ends[chosen + 1] - ends[chosen], UNIT)
        return chosen

    def _take(self, outcomes: int) -> int:
        if self._place == len(self._path):
            self._path.append((0, outcomes))
        chosen, known = self._path[self._place]
        assert known == outcomes, "what is drawn must depend on earlier draws alone"
        self._place += 1
        return chosen

    def next_path(self) -> bool:
        """Turn to the next path; return false if there is none."""
        assert self._place == len(self._path)
        while self._path and self._path[-1][0] + 1 == self._path[-1][1]:
            self._path.pop()
        self._place, self.weight = 0, Fraction(1)
        if not self._path:
            return False
        chosen, outcomes = self._path[-1]
        self._path[-1] = (chosen + 1, outcomes)
        return True


def law_of(run: Callable[[Draws], bytes]) -> Law:
    """Return the exact law of what ``run`` gives if it is handed ideal coins and choices."""
    draws, law = EveryOutcome(), Law()
    while True:
        report = run(draws)
        law[report] = law.get(report, Fraction(0)) + draws.weight
        if not draws.next_path():
            assert sum(law.values()) == 1
            return law


def device_law(recipe: Mapping[str, Any], value: Any) -> Law:
    """Return the exact law of the report that the Python device makes of ``value``."""
    return law_of(lambda draws: randomise(recipe, value, draws))


def javascript_laws(
    cases: Sequence[tuple[Mapping[str, Any], Any]], *, report: str | None = None
) -> list[Law]:
    """Return the same of ``device.js``, run in Node, for each recipe and value.

    With the name of a ``report`` that is kept, values are histories, and reports come one after
    the other.
    """
    given = [{"recipe": dict(recipe), "value": value, "report": report} for recipe, value in cases]
    answer = run_node("laws", given)
    return [
        {bytes.fromhex(report): Fraction(*map(int, share)) for report, share in law.items()}
        for law in answer
    ]


def javascript_reports(
    cases: Sequence[tuple[Mapping[str, Any], Any]], stream: bytes
) -> list[bytes]:
    """Return what ``device.js`` reports for each case, drawing from ``stream``."""
    answer = run_node(
        "reports",
        {
            "stream": stream.hex(),
            "cases": [{"recipe": dict(recipe), "value": value} for recipe, value in cases],
        },
    )
    return [bytes.fromhex(report) for report in answer]


def run_node(task: str, given: Any) -> Any:
    """Hand a task to the script beside this file, in Node."""
    done = subprocess.run(
        ["node", str(SCRIPT), CLIENT.as_uri(), task],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
