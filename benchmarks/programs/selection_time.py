"""Print seconds of one private choice: ``python selection_time.py LIBRARY TASK SIZE``.

``choice`` is one choice among SIZE candidates by their integer scores, ``quantiles`` is the 99
percentiles of SIZE integers from 0 to a million. Each library is asked in the way that is quickest
for it. Only the standard library and the library itself are used, because this runs in the
environments of peers too. The first call, which may build tables, is not counted; nor is the making
of the data. The best of the trials counts.
"""

import json
import sys
import time
import warnings
from collections.abc import Callable
from importlib import import_module

TRIALS = 5
SHORTEST_TRIAL = 0.05
LARGEST = 1_000_000
SPREAD = 1000

Task = Callable[[], object]


def numbers(size: int, below: int) -> list[int]:
    """Return the same scattered integers in every environment."""
    return [i * 7_368_787 % 15_485_863 % below for i in range(size)]


def discreet(task: str, size: int) -> Task:
    """Return our mechanisms: exact, with their own generator."""
    import numpy as np

    from discreet.core.contribution import Contribution
    from discreet.core.loss import Pure
    from discreet.mechanisms.selection.exponential_mechanism import ExponentialMechanism
    from discreet.mechanisms.selection.quantiles import Quantiles
    from discreet.randomness.rng import SystemRng

    rng = SystemRng()
    if task == "choice":
        choice, scores = ExponentialMechanism(scale=20), np.array(numbers(size, SPREAD))
        return lambda: choice.select(scores, rng)
    percentiles = Quantiles.calibrate(
        d_in=Contribution(l1=1),
        loss=Pure(1),
        quantiles=[f"{i}/100" for i in range(1, 100)],
        lower=0,
        upper=LARGEST,
    )
    values = np.array(numbers(size, LARGEST))
    return lambda: percentiles.release(values, rng)


def opendp(task: str, size: int) -> Task:
    """Return OpenDP's noisy maximum; its quantiles are chosen among a thousand candidates each."""
    dp = import_module("opendp.prelude")
    dp.enable_features("contrib")
    if task == "choice":
        domain = dp.vector_domain(dp.atom_domain(T=int)), dp.linf_distance(T=int)
        choice, scores = (
            dp.m.make_noisy_max(*domain, dp.max_divergence(), scale=20.0),
            numbers(size, SPREAD),
        )
        return lambda: choice(scores)
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()
    candidates = list(range(0, LARGEST, LARGEST // SPREAD))
    quantiles = [
        dp.m.make_private_quantile(
            *space, dp.max_divergence(), candidates=candidates, alpha=i / 100, scale=100.0
        )
        for i in range(1, 100)
    ]
    values = numbers(size, LARGEST)
    return lambda: [quantile(values) for quantile in quantiles]


def diffprivlib(task: str, size: int) -> Task:
    """Return diffprivlib's mechanisms, which work on floats."""
    import numpy as np

    warnings.simplefilter("ignore")
    if task == "choice":
        mechanisms, scores = import_module("diffprivlib.mechanisms"), numbers(size, SPREAD)
        # It is made for one set of utilities, so making it is part of a choice.
        return lambda: mechanisms.Exponential(
            epsilon=0.1, sensitivity=1, utility=scores
        ).randomise()
    tools, values = import_module("diffprivlib.tools"), np.array(numbers(size, LARGEST))
    percents = list(range(1, 100))
    return lambda: tools.percentile(values, percents, epsilon=1.0, bounds=(0, LARGEST))


def numpy(task: str, size: int) -> Task:
    """Return an argmax of floats with Gumbel noise, or plain quantiles: unsafe, for context."""
    import numpy as np

    rng = np.random.default_rng()
    if task == "choice":
        scores = np.array(numbers(size, SPREAD))
        return lambda: np.argmax(scores + rng.gumbel(0.0, 20.0, size))
    values = np.array(numbers(size, LARGEST))
    return lambda: np.quantile(values, np.arange(1, 100) / 100)


LIBRARIES = {
    "diffprivlib": diffprivlib,
    "discreet": discreet,
    "numpy": numpy,
    "opendp": opendp,
}


def best_seconds(task: Task) -> float:
    """Return the least seconds of one call in several trials."""
    task()
    seconds = []
    for _ in range(TRIALS):
        calls, start = 0, time.perf_counter()
        while (elapsed := time.perf_counter() - start) < SHORTEST_TRIAL or not calls:
            task()
            calls += 1
        seconds.append(elapsed / calls)
        if elapsed > 100 * SHORTEST_TRIAL:
            break
    return min(seconds)


if __name__ == "__main__":
    library, task_name, size_text = sys.argv[1:]
    print(json.dumps({"seconds": best_seconds(LIBRARIES[library](task_name, int(size_text)))}))
