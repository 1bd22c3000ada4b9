"""Print the seconds that a block of people takes: ``python census_time.py PEOPLE SECONDS``.

The people are made up, the table prints what a census does: counts, medians and means by sex, race,
state and all combinations of them, and nothing of fewer than three people. SECONDS is the time of
each stage. What is proved goes to the standard error.
"""

import json
import sys
import time
from collections.abc import Iterator
from itertools import combinations, product
from statistics import median
from typing import Any

import numpy as np

from discreet.attacks.reconstruction.census_block import reconstruct_block
from discreet.attacks.reconstruction.printed_table import PrintedTable, read_table

COLUMNS = {"sex": ["F", "M"], "race": ["black", "white"], "marital": ["single", "married"]}
LEAST = 3


def made_up(people: int) -> PrintedTable:
    """Return the printed table of people who are always the same."""
    rng = np.random.default_rng(1)
    rows = []
    for _ in range(people):
        row = {name: values[int(rng.integers(2))] for name, values in COLUMNS.items()}
        rows.append((int(rng.integers(15 if row["marital"] == "married" else 0, 95)), row))
    lines = []
    for where in groups():
        ages = [age for age, row in rows if where.items() <= row.items()]
        line: dict[str, Any] = {"name": " ".join(where.values()) or "all", "where": where}
        if len(ages) >= LEAST:
            line |= {"count": len(ages), "median": median(ages)}
            line |= {"mean": f"{sum(ages) / len(ages):.1f}", "mean_step": "0.1"}
        lines.append(line)
    rules = [{"where": {"marital": "married"}, "youngest": 15}]
    table = {"columns": COLUMNS, "ages": [0, 115], "statistics": lines, "rules": rules}
    return read_table(table)


def groups() -> Iterator[dict[str, str]]:
    """Return everybody, and the groups of one, two and all columns."""
    for width in range(4):
        for names in combinations(COLUMNS, width):
            for values in product(*(COLUMNS[name] for name in names)):
                yield dict(zip(names, values, strict=True))


if __name__ == "__main__":
    count_text, limit_text = sys.argv[1:]
    start = time.perf_counter()
    found = reconstruct_block(made_up(int(count_text)), seconds=limit_text)
    seconds = time.perf_counter() - start
    fixed = sum(cell.is_fixed for cell in found.cells)
    print(
        f"{found.verdict.value}: {len(found.people)} people, {len(found.certain)} certain, "
        f"{fixed} of {len(found.cells)} cells proved",
        file=sys.stderr,
    )
    print(json.dumps({"seconds": seconds}))
