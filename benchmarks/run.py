"""Run one suite: ``python -m benchmarks.run SUITE``. Exits with 1 if a goal is missed."""

import importlib
import sys
from pathlib import Path

from benchmarks.harness import ROOT, Runs, as_table, measure, write_rows

SUITES = Path(__file__).parent / "suites"
RESULTS = ROOT / "benchmarks" / "results"


def suite_names() -> list[str]:
    """Return the names of all suites."""
    return sorted(path.stem for path in SUITES.glob("*.py") if path.stem != "__init__")


def main(arguments: list[str]) -> int:
    """Run the suite named by the only argument."""
    names = suite_names()
    if len(arguments) != 1 or arguments[0] not in names:
        print(f"Name one suite. Suites: {', '.join(names)}.", file=sys.stderr)
        return 2
    (name,) = arguments
    suite = importlib.import_module(f"benchmarks.suites.{name}")
    runs = Runs()
    rows = [measure(case, runs=runs) for case in suite.CASES]
    target = RESULTS / f"{name}.json"
    write_rows(rows, target)
    print(as_table(rows))
    print(f"\nwritten to {target.relative_to(ROOT)}")
    return int(any(row.missed for row in rows))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
