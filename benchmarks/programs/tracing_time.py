"""Print the seconds to trace candidates: ``python tracing_time.py CANDIDATES ATTRIBUTES``.

Rows are signs of one byte each, as they come from a file. Making them up is not counted; checking
them is. The best of several trials counts, in seconds of the processor.
"""

import json
import sys
import time

import numpy as np

from discreet.attacks.statistics.tracing import trace_people

TRIALS = 5
REFERENCES = 20


def best_time(candidates: int, attributes: int) -> float:
    """Return the fewest seconds of several trials."""
    rng = np.random.default_rng(1)

    def rows(count: int) -> np.ndarray:
        return (2 * rng.integers(0, 2, (count, attributes), dtype=np.int8) - 1).astype(np.int8)

    people, references = rows(candidates), rows(REFERENCES)
    release = people[:10].mean(axis=0)
    times = []
    for _ in range(TRIALS):
        start = time.process_time()
        trace_people(release, people, references)
        times.append(time.process_time() - start)
    return min(times)


if __name__ == "__main__":
    count_text, size_text = sys.argv[1:]
    print(json.dumps({"seconds": best_time(int(count_text), int(size_text))}))
