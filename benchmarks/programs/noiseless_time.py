"""Print the seconds that a certificate takes: ``python noiseless_time.py TASK``.

Nothing was worked out before: libraries are loaded first, and then the first call counts.
"""

import json
import sys
import time
from collections.abc import Callable
from fractions import Fraction

from discreet.noiseless.laws.box_density import uniform_rows
from discreet.noiseless.laws.parametric import NormalRows
from discreet.noiseless.sums.exact_sum import ExactSum

NORMAL = NormalRows(0, 1, clamps=("-2.5", "2.5"))


def _curve(total: ExactSum, largest: str) -> None:
    for k in range(1, 21):
        total.delta(Fraction(largest) * k / 20)


TASKS: dict[str, Callable[[], object]] = {
    "curve_million": lambda: _curve(ExactSum(uniform_rows(0, 1), rows=10**6), "0.01"),
    "curve_grid": lambda: _curve(ExactSum(NORMAL.on_grid("0.02"), rows=10**4), "0.1"),
    "mixture": lambda: ExactSum(NORMAL, rows=10**4).delta("0.2"),
}


if __name__ == "__main__":
    task = TASKS[sys.argv[1]]
    ExactSum(uniform_rows(0, 1), rows=100).delta(1)
    ExactSum(NORMAL.on_grid("0.5"), rows=10).delta(1)
    begun = time.perf_counter()
    task()
    print(json.dumps({"seconds": time.perf_counter() - begun}))
