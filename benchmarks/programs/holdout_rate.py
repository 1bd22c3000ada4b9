"""Print seconds of QUESTIONS statistical questions on a million rows.

``python holdout_rate.py LIBRARY QUESTIONS``: ``discreet`` asks a holdout that was made for a
hundred thousand of them and one, in expectation, in batches; ``numpy`` computes the exact means.
Every second question is a condition, and the others have a number for each row.
"""

import json
import sys
import time
from collections.abc import Callable

ROWS = 1_000_000
MADE_FOR = 100_001
"""One is asked before the clock runs."""

BATCH = 1_000


def discreet(questions: int) -> Callable[[], object]:
    """Return the questions to a holdout."""
    import numpy as np

    from discreet.adaptive import Holdout

    rows = np.random.default_rng(1).random(ROWS)
    holdout = Holdout(rows, questions=MADE_FOR, method="gaussian/expectation")
    cuts = np.linspace(0, 1, questions)
    parts = [cuts[begin : begin + BATCH] for begin in range(0, questions, BATCH)]
    holdout.ask_many([lambda x: x > 0.5])  # builds the tables of the noise

    def ask() -> object:
        said = []
        for part in parts:
            conditions = [lambda x, cut=cut: x > cut for cut in part[::2]]
            numbers = [lambda x, cut=cut: abs(x - cut) for cut in part[1::2]]
            said.append((holdout.ask_many(conditions), holdout.ask_many(numbers)))
        return said

    return ask


def numpy(questions: int) -> Callable[[], object]:
    """Return the exact means of the same questions."""
    import numpy as np

    rows = np.random.default_rng(1).random(ROWS)
    cuts = np.linspace(0, 1, questions)

    def compute() -> object:
        # To count is four times as quick as the mean of yes and no.
        shares = [np.count_nonzero(rows > cut) / ROWS for cut in cuts[::2]]
        return shares, [float(abs(rows - cut).mean()) for cut in cuts[1::2]]

    return compute


LIBRARIES = {"discreet": discreet, "numpy": numpy}

if __name__ == "__main__":
    task = LIBRARIES[sys.argv[1]](int(sys.argv[2]))
    start = time.perf_counter()
    task()
    print(json.dumps({"seconds": time.perf_counter() - start}))
