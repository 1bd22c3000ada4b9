"""Print how long somebody waits for something small: ``python waiting_time.py WHAT``.

``query`` is a fresh answer about 30 rows, from a connection that has answered before; ``profiled``
is one whose totals are read off a profile, which was paid for before. ``command``
is the command line as a process of its own, from its start to its end, when it only prints its
help. Seconds are the median of many.
"""

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import discreet

REPEATS = 21

DECLARATION = """\
[id_spaces.people]
unit = "a person"
budget = { epsilon = 100 }

[tables.visits]
source = "visits.csv"
id_space = "people"
unit = "person"
rows_per_group = 2
groups_per_unit = 1

[tables.visits.columns]
person = { type = "text" }
clinic = { type = "text", keys = ["north", "south", "harbour"] }
cost = { type = "integer", min = 0, max = 500 }
"""

QUERY = "SELECT clinic, COUNT(*) AS n, AVG(cost) AS mean FROM visits GROUP BY clinic"


@contextmanager
def query(*, has_profile: bool = False) -> Iterator[Callable[[], object]]:
    """Return a question to a small project, which is paid for again each time."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        (folder / "discreet.toml").write_text(DECLARATION, encoding="utf-8")
        clinics = ("north", "south", "harbour")
        lines = [f"p{i // 2},{clinics[i % 3]},{i * 37 % 500}" for i in range(30)]
        (folder / "visits.csv").write_text("\n".join(["person,clinic,cost", *lines, ""]))
        if has_profile:
            with discreet.own(folder) as owner:
                owner.profile("visits", epsilon="0.1")
        with discreet.connect(folder / "discreet.toml") as connection:
            yield lambda: str(connection.sql(QUERY, epsilon="0.1", fresh=True))


@contextmanager
def profiled() -> Iterator[Callable[[], object]]:
    """Return the same question, where a profile was paid for before."""
    with query(has_profile=True) as asked:
        yield asked


@contextmanager
def command() -> Iterator[Callable[[], object]]:
    """Return a start of the command line."""
    words = [sys.executable, "-m", "discreet", "--help"]
    yield lambda: subprocess.run(words, check=True, capture_output=True)


WAITS = {"query": query, "profiled": profiled, "command": command}


def median_seconds(task: Callable[[], object]) -> float:
    """Return the median seconds of many; the first, which warms up, is not counted."""
    task()
    seconds = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        task()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


if __name__ == "__main__":
    with WAITS[sys.argv[1]]() as waited_for:
        print(json.dumps({"seconds": median_seconds(waited_for)}))
