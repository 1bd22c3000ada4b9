"""Print the processor's seconds of one plan: ``python plan_time.py TASK LOSS``.

LOSS is ``pure``, ``approximate``, ``zcdp`` or ``none``. The number of people is looked for, so that
every way is tried for several numbers of them. Loading libraries is not counted. What was found
goes to the standard error.
"""

import json
import sys
import time

from discreet.core.loss import Approximate, Pure, Zcdp
from discreet.core.optional import load
from discreet.planner.plan import plan
from discreet.planner.task_names import TASKS

LOSSES = {"pure": Pure(1), "approximate": Approximate(1, "1e-6"), "zcdp": Zcdp("0.1"), "none": None}
DIMENSIONS = {"synthetic": 8, "k-way": 30, "quantiles": 1_000, "survey-shares": 20}


def main(task: str, loss: str) -> None:
    """Time one plan."""
    load("scipy.special")
    dimension = None if TASKS[task].dimension is None else DIMENSIONS.get(task, 1_000)
    within = "0.1" if task == "adaptive" else "0.01"
    start = time.process_time()
    found = plan(task, within=within, loss=LOSSES[loss], dimension=dimension)
    seconds = time.process_time() - start
    print(found, file=sys.stderr)
    print(json.dumps({"seconds": seconds}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
