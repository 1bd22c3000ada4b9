"""Print seconds of one part of an answer: ``python answer_time.py PART GROUPS``.

A project of so many public groups, with five people each, is made in a folder of its own and asked
for a count, a sum and an average of every group. ``rows`` and ``text`` are what a reader then does
with the release, ``again`` is the same question answered from the ledger, and ``explain`` is what
it would cost, for another price each time. Processor time counts, and the best of the trials.
"""

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
from attrs import evolve

import discreet

TRIALS = 5

DECLARATION = """\
[id_spaces.people]
unit = "a person"
budget = { epsilon = 100 }

[tables.facts]
source = "facts.parquet"
id_space = "people"
unit = "person"
rows_per_group = 1
groups_per_unit = 1

[tables.facts.columns]
person = { type = "integer" }
part = { type = "integer" }
size = { type = "integer", min = 0, max = 1000 }

[public_tables.parts]
source = "parts.csv"

[public_tables.parts.columns]
part = { type = "integer" }
"""

QUERY = (
    "SELECT parts.part, COUNT(*) AS n, SUM(size) AS total, AVG(size) AS mean"
    " FROM facts JOIN parts ON facts.part = parts.part GROUP BY parts.part"
)


def make_project(folder: Path, groups: int) -> None:
    """Write the declaration and the tables."""
    (folder / "discreet.toml").write_text(DECLARATION, encoding="utf-8")
    facts = f"SELECT i AS person, i % {groups} AS part, hash(i) % 1000 AS size"
    for sql, name in (
        (f"{facts} FROM range({5 * groups}) AS rows(i)", "facts.parquet"),
        (f"SELECT i AS part FROM range({groups}) AS rows(i)", "parts.csv"),
    ):
        duckdb.sql(f"COPY ({sql}) TO '{folder / name}'")


def parts_of(connection: Any) -> dict[str, Callable[[int], object]]:
    """Return what can be timed; each gets the number of the trial."""
    release = connection.sql(QUERY, epsilon=1)
    return {
        "rows": lambda _: evolve(release).rows,
        "text": lambda _: str(evolve(release)),
        "again": lambda _: connection.sql(QUERY, epsilon=1),
        "explain": lambda trial: str(connection.explain(QUERY, epsilon=2 + trial)),
    }


def best_seconds(task: Callable[[int], object]) -> float:
    """Return the least seconds of processor time in several trials."""
    seconds = []
    for trial in range(TRIALS):
        start = time.process_time()
        task(trial)
        seconds.append(time.process_time() - start)
    return min(seconds)


if __name__ == "__main__":
    part, groups_text = sys.argv[1:]
    with tempfile.TemporaryDirectory() as made:
        make_project(Path(made), int(groups_text))
        with discreet.connect(Path(made) / "discreet.toml") as opened:
            print(json.dumps({"seconds": best_seconds(parts_of(opened)[part])}))
