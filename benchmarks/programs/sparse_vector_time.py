"""Print seconds of SIZE sparse vector queries: ``python sparse_vector_time.py LIBRARY SIZE``.

All queries are below the threshold but for the last few, so that none is skipped. The first call,
which may build tables, is not counted. The best of the trials counts.
"""

import json
import sys
import time
from collections.abc import Callable

TRIALS = 7
ABOVE = 10
FAR = 100_000

Task = Callable[[], object]


def discreet(size: int) -> Task:
    """Return our machine: exact, with its own generator, opened anew each time."""
    import numpy as np

    from discreet.core.contribution import Contribution
    from discreet.core.loss import Pure
    from discreet.mechanisms.thresholds.sparse import sparse
    from discreet.randomness.rng import SystemRng

    rng, d_in = SystemRng(), Contribution(linf=1)
    machine = sparse(d_in=d_in, loss=Pure(1), most_above=ABOVE)
    values = np.full(size, -FAR)
    values[-ABOVE:] = FAR
    return lambda: machine.open(threshold=0, d_in=d_in, rng=rng).ask_many(values)


def numpy(size: int) -> Task:
    """Return a comparison with floats: seeded and unsafe, for context."""
    import numpy as np

    rng = np.random.default_rng()
    values = np.full(size, -FAR)
    values[-ABOVE:] = FAR
    scale = 2.0 * ABOVE
    return lambda: values + rng.laplace(0.0, 2 * scale, size) >= rng.laplace(0.0, scale)


LIBRARIES = {"discreet": discreet, "numpy": numpy}


def best_seconds(task: Task) -> float:
    """Return the least seconds of one call in several trials."""
    task()
    seconds = []
    for _ in range(TRIALS):
        start = time.perf_counter()
        task()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


if __name__ == "__main__":
    library, size_text = sys.argv[1:]
    print(json.dumps({"seconds": best_seconds(LIBRARIES[library](int(size_text)))}))
