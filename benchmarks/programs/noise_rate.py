"""Print samples a second of one sampler: ``python noise_rate.py LIBRARY LAW SCALE``.

Each library is asked in the way that is quickest for it: a whole array at once where it can. Only
the standard library and the library itself are used, because this runs in the environments of
peers too. The first call, which may build tables, is not counted; a trial lasts at least a tenth of
a second, and the best of the trials counts.
"""

import json
import sys
import time
from collections.abc import Callable
from importlib import import_module

TRIALS = 7
SHORTEST_TRIAL = 0.1
ARRAY = 1_000_000
"""Values at a time, for libraries that work on arrays."""

Sampler = Callable[[], object]


def discreet(law: str, scale: int) -> tuple[Sampler, int]:
    """Return our sampler, exact, with its own generator."""
    from discreet.randomness.rng import SystemRng
    from discreet.randomness.samplers import discrete_gaussian, discrete_laplace

    rng = SystemRng()
    if law == "laplace":
        return lambda: discrete_laplace(scale, ARRAY, rng), ARRAY
    return lambda: discrete_gaussian(scale**2, ARRAY, rng), ARRAY


def numpy(law: str, scale: int) -> tuple[Sampler, int]:
    """Return NumPy's floats: fast, seeded and unsafe, for context."""
    import numpy as np

    rng = np.random.default_rng()
    if law == "laplace":
        return lambda: rng.laplace(0.0, scale, ARRAY), ARRAY
    return lambda: rng.normal(0.0, scale, ARRAY), ARRAY


def opendp(law: str, scale: int) -> tuple[Sampler, int]:
    """Return OpenDP's vector mechanism on integers."""
    dp = import_module("opendp.prelude")
    dp.enable_features("contrib")
    size = 20_000
    domain = dp.vector_domain(dp.atom_domain(T=int), size=size)
    if law == "laplace":
        mechanism = dp.m.make_laplace(domain, dp.l1_distance(T=int), scale=float(scale))
    else:
        mechanism = dp.m.make_gaussian(domain, dp.l2_distance(T=int), scale=float(scale))
    zeros = [0] * size
    return lambda: mechanism(zeros), size


def diffprivlib(law: str, scale: int) -> tuple[Sampler, int]:
    """Return diffprivlib's mechanism on integers, which takes one value at a time."""
    mechanisms = import_module("diffprivlib.mechanisms")
    size = 1_000
    if law == "laplace":
        mechanism = mechanisms.Geometric(epsilon=1 / scale, sensitivity=1)
    else:
        mechanism = mechanisms.GaussianDiscrete(epsilon=1.0, delta=1e-5, sensitivity=1)
        mechanism._scale = float(scale)  # it can be made for an epsilon only
        size = max(1, size // scale)  # one value takes a second at a scale of a million
    return lambda: [mechanism.randomise(0) for _ in range(size)], size


LIBRARIES = {
    "diffprivlib": diffprivlib,
    "discreet": discreet,
    "numpy": numpy,
    "opendp": opendp,
}


def best_rate(sampler: Sampler, size: int) -> float:
    """Return the most samples a second of several trials."""
    sampler()
    rates = []
    for _ in range(TRIALS):
        calls, start = 0, time.perf_counter()
        while (elapsed := time.perf_counter() - start) < SHORTEST_TRIAL or not calls:
            sampler()
            calls += 1
        rates.append(calls * size / elapsed)
    return max(rates)


if __name__ == "__main__":
    library, law_name, scale_text = sys.argv[1:]
    print(json.dumps({"rate": best_rate(*LIBRARIES[library](law_name, int(scale_text)))}))
