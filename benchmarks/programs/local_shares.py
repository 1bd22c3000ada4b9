"""Print seconds and errors of shares from reports: ``local_shares.py LIBRARY SCHEME K N TRIALS``.

N people hold one of K values, at ε = 1; counted is the processor's time to randomise all their
values and to estimate the shares of all K. Only NumPy and the library itself are used, because this
runs in the environments of peers too. What is compiled is compiled before. Making the values is
not counted. ``squared_error`` is the mean squared error of unbiased estimates, ``projected_error``
that of estimates after each library's own way to make them a distribution.
"""

import json
import sys
import time
import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

EPSILON = 1
MAPS = 50
"""How many public maps pure-ldp's fast local hashing has here: with more it is slower."""

Found = dict[str, np.ndarray]
Run = Callable[[np.ndarray], Found]


def values_of(categories: int, people: int) -> np.ndarray:
    """Return the same values in every environment: few are common, and most are rare."""
    return (categories * ((np.arange(people) + 0.5) / people) ** 3).astype(np.int64)


def discreet(scheme: str, categories: int) -> Run:
    """Return our schemes: exact, with their own generator, and with intervals."""
    from discreet.local import LocalHashing, UnaryEncoding, hadamard_response
    from discreet.randomness.rng import SystemRng

    made = {
        "unary": UnaryEncoding.optimised,
        "hashing": LocalHashing.calibrate,
        "hadamard": hadamard_response,
    }[scheme](categories=categories, epsilon=EPSILON)
    rng = SystemRng()

    def run(values: np.ndarray) -> Found:
        estimate = made.estimate(made.randomise_many(values, rng))
        return {"squared_error": estimate.shares, "projected_error": estimate.consistent()}

    return run


def multi_freq_ldpy(scheme: str, categories: int) -> Run:
    """Return multi-freq-ldpy's, which are compiled and always make a distribution."""
    oracles = "multi_freq_ldpy.pure_frequency_oracles"
    if scheme == "unary":
        unary = import_module(f"{oracles}.UE")
        unary.UE_Client(0, categories, EPSILON)
        return lambda values: {
            "projected_error": unary.UE_Aggregator_MI(
                [unary.UE_Client(value, categories, EPSILON) for value in values.tolist()], EPSILON
            )
        }
    hashing = import_module(f"{oracles}.LH")
    hashing.LH_Client(0, categories, EPSILON)
    return lambda values: {
        "projected_error": hashing.LH_Aggregator_MI(
            [hashing.LH_Client(value, categories, EPSILON) for value in values.tolist()],
            categories,
            EPSILON,
        )
    }


def pure_ldp(scheme: str, categories: int) -> Run:
    """Return pure-ldp's, which take one person after another."""
    warnings.simplefilter("ignore")
    oracles = "pure_ldp.frequency_oracles"

    def pair() -> tuple[Any, Any]:
        if scheme == "unary":
            unary = import_module(f"{oracles}.unary_encoding")
            return (
                unary.UEClient(EPSILON, categories, use_oue=True),
                unary.UEServer(EPSILON, categories, use_oue=True),
            )
        if scheme == "hadamard":
            hadamard = import_module(f"{oracles}.hadamard_response")
            server = hadamard.HadamardResponseServer(EPSILON, categories)
            return hadamard.HadamardResponseClient(
                EPSILON, categories, server.get_hash_funcs()
            ), server
        hashing = import_module(f"{oracles}.local_hashing")
        if scheme == "hashing":
            return (
                hashing.LHClient(EPSILON, categories, use_olh=True),
                hashing.LHServer(EPSILON, categories, use_olh=True),
            )
        return (
            hashing.FastLHClient(EPSILON, categories, MAPS, use_olh=True),
            hashing.FastLHServer(EPSILON, categories, MAPS, use_olh=True),
        )

    def run(values: np.ndarray) -> Found:
        client, server = pair()
        for value in values.tolist():
            server.aggregate(client.privatise(value + 1))
        server.check_and_update_estimates()
        return {"squared_error": np.asarray(server.get_estimates) / values.size}

    return run


def numpy(scheme: str, categories: int) -> Run:
    """Return unary encoding with floats of a fast generator: unsafe, for context."""
    assert scheme == "unary"
    other = 1 / (np.exp(EPSILON) + 1)

    def run(values: np.ndarray) -> Found:
        rng = np.random.default_rng()
        counts = np.zeros(categories)
        for part in np.array_split(values, max(1, values.size // 10_000)):
            bits = rng.random((part.size, categories), dtype=np.float32) < other
            bits[np.arange(part.size), part] = rng.random(part.size) < 0.5
            counts += bits.sum(axis=0)
        return {"squared_error": (counts / values.size - other) / (0.5 - other)}

    return run


LIBRARIES = {
    "discreet": discreet,
    "multi_freq_ldpy": multi_freq_ldpy,
    "numpy": numpy,
    "pure_ldp": pure_ldp,
}


def measured(run: Run, categories: int, people: int, trials: int) -> dict[str, float]:
    """Return the best seconds of the trials, and the mean of their errors."""
    values = values_of(categories, people)
    shares = np.bincount(values, minlength=categories) / people
    seconds: list[float] = []
    errors: dict[str, list[float]] = {}
    for _ in range(trials):
        start = time.process_time()
        found = run(values)
        seconds.append(time.process_time() - start)
        for kind, estimates in found.items():
            errors.setdefault(kind, []).append(float(np.square(estimates - shares).mean()))
    return {"seconds": min(seconds)} | {kind: float(np.mean(all_)) for kind, all_ in errors.items()}


if __name__ == "__main__":
    library, scheme_name, categories_text, people_text, trials_text = sys.argv[1:]
    task = LIBRARIES[library](scheme_name, int(categories_text))
    found = measured(task, int(categories_text), int(people_text), int(trials_text))
    print(json.dumps(found))
