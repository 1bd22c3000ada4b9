"""Print seconds to certify exact histograms: ``python histogram_time.py TASK CELLS``.

``poisson``, ``sampled`` and ``sized`` certify a truncated histogram of CELLS cells: δ at ε = 0.6
for each cell and, for the first two, the least k and the other breaking points. ``population`` adds
up the exact law of one cell of 20,000 people. The bounds hold for every cell at once, so that CELLS
is counted by asking for each; what is kept from an earlier call is thrown away before each trial.
The best trial counts.
"""

import json
import sys
import time
from collections.abc import Callable
from fractions import Fraction

from discreet.noiseless.certifiable import Certifiable, PrivacyTarget
from discreet.noiseless.histograms import poisson_cells, sampled_cells, sized_histogram
from discreet.noiseless.histograms.size_laws import two_sided_geometric
from discreet.noiseless.histograms.sized_histogram import PopulationHistogram, SizedHistogram
from discreet.noiseless.histograms.truncated_histogram import PoissonHistogram, SampledHistogram

TRIALS = 3
TARGET = PrivacyTarget(Fraction("0.6"), Fraction("3e-6"))


def histogram(task: str) -> Certifiable:
    """Return what is certified."""
    if task == "poisson":
        return PoissonHistogram(truncation=60)
    if task == "sampled":
        return SampledHistogram(truncation=120, share="0.5")
    if task == "sized":
        return SizedHistogram(truncation=60, sizes=two_sided_geometric(5000, "0.2"))
    sizes = two_sided_geometric(19900, "0.2", largest=20000)
    return PopulationHistogram(truncation=60, population=20000, cells=[10000], sizes=sizes)


def certified(task: str, cells: int) -> Callable[[], object]:
    """Return one certificate: a δ for every cell, and for closed forms the breaking points."""
    statistic = histogram(task)

    def run() -> object:
        for kept in (
            poisson_cells.poisson_sides,
            sampled_cells.sampled_sides,
            sized_histogram._spread,
            sized_histogram._enumeration,
        ):
            kept.cache_clear()
        deltas = [max(statistic.deltas(TARGET.epsilon).values()) for _ in range(cells)]
        is_closed = task in ("poisson", "sampled")
        return deltas, statistic.breaking_points(TARGET) if is_closed else ()

    return run


def main() -> None:
    """Print the seconds of one certificate as JSON."""
    task, cells = sys.argv[1], int(sys.argv[2])
    run, best = certified(task, cells), float("inf")
    for _ in range(TRIALS):
        start = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - start)
    print(json.dumps({"seconds": best}))


if __name__ == "__main__":
    main()
