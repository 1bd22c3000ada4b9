"""Print the seconds of one accounting task: ``python accounting_time.py LIBRARY TASK``.

Only the standard library and the library itself are used, because this runs in the environments
of peers too. The first call, which loads libraries, is not counted; the best of the others is.
What was found goes to the standard error, for a reader: ε, and how wide the interval is where the
library gives one.

Our own ε is certified from both sides, on a grid fine enough that it is at most what dp-accounting
says on its own default grid, which is certified from above. Where a task is about a single
Gaussian, we use the closed form.
"""

import json
import sys
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

TRIALS = 5
LONGEST = 20.0
DELTA = 1e-6
MNIST = (256 / 60_000, 1.1, 14_063, 1e-5)

Task = Callable[[], tuple[float, ...]]


def distinct(count: int) -> list[tuple[str, float]]:
    """Return different Gaussians and Laplaces in turn, with their scales."""
    base = 60.0 if count <= 100 else 90.0
    return [
        ("gaussian" if k % 2 else "laplace", round(base * (1 + k / count), 6)) for k in range(count)
    ]


def workloads() -> dict[str, tuple[list[tuple[str, float, float, int]], float, str]]:
    """Return (kind, scale, rate, count) lists, δ, and the width that we ask for."""
    twenty = [(kind, 10 * scale**0.5, 1.0, 50) for kind, scale in distinct(20)]
    return {
        "gaussian_1000": ([("gaussian", 100.0, 1.0, 1000)], DELTA, "1e-3"),
        "gaussian_10000": ([("gaussian", 300.0, 1.0, 10_000)], DELTA, "1e-3"),
        "distinct_20": (twenty, DELTA, "4e-4"),
        "distinct_1000": ([(k, s, 1.0, 1) for k, s in distinct(1000)], DELTA, "1e-3"),
        "laplace_1000": ([("laplace", 10.0, 1.0, 1000)], 1e-5, "4e-4"),
        "poisson_10000": ([("gaussian", 1.0, 0.01, 10_000)], DELTA, "5e-4"),
        "mnist": ([("gaussian", MNIST[1], MNIST[0], MNIST[2])], MNIST[3], "2e-3"),
    }


CALIBRATIONS = {
    "calibrate_gaussian": ("gaussian", 1.0, 1, 1.0, DELTA),
    "calibrate_laplace_pure": ("laplace", 1.0, 1, 1.0, 0.0),
    "calibrate_laplace_100": ("laplace", 1.0, 100, 1.0, DELTA),
    "calibrate_mnist": ("gaussian", MNIST[0], MNIST[2], 2.5, MNIST[3]),
}
"""(kind, rate, count, ε, δ)."""


def discreet(name: str) -> Task:
    """Return our task."""
    from fractions import Fraction

    from discreet.accounting.pld.accountant import pld_epsilon
    from discreet.accounting.pld.parameters import least_scale
    from discreet.core.event import PoissonSampledEvent
    from discreet.core.stated_event import GaussianEvent, LaplaceEvent

    kinds: dict[str, Any] = {"gaussian": GaussianEvent, "laplace": LaplaceEvent}

    def event(kind: str, scale: Any, rate: float) -> Any:
        inner = kinds[kind](scale=scale)
        return inner if rate == 1 else PoissonSampledEvent(inner=inner, rate=rate)

    if name in CALIBRATIONS:
        kind, rate, count, epsilon, delta = CALIBRATIONS[name]

        def events(scale: Fraction) -> Any:
            return {event(kind, scale, rate): count}

        return lambda: (float(least_scale(events, epsilon=epsilon, delta=delta)),)
    parts, delta, width = workloads()[name]

    def task() -> tuple[float, ...]:
        counts = {event(kind, scale, rate): count for kind, scale, rate, count in parts}
        result: Any = pld_epsilon(counts, delta=delta, width=width)
        high = float(result.loss.epsilon)
        return high, high - float(result.lower.epsilon)

    return task


def dp_accounting(name: str) -> Task:
    """Return the task with the accountant of privacy-loss distributions, at its defaults."""
    from dp_accounting.pld import PLDAccountant

    return _google(name, PLDAccountant)


def dp_accounting_rdp(name: str) -> Task:
    """Return the task with the Rényi accountant."""
    from dp_accounting.rdp import RdpAccountant

    return _google(name, RdpAccountant)


def _google(name: str, accountant: Any) -> Task:
    import dp_accounting as dp

    kinds: dict[str, Any] = {"gaussian": dp.GaussianDpEvent, "laplace": dp.LaplaceDpEvent}

    def event(kind: str, scale: float, rate: float) -> Any:
        return (
            kinds[kind](scale) if rate == 1 else dp.PoissonSampledDpEvent(rate, kinds[kind](scale))
        )

    if name in CALIBRATIONS:
        kind, rate, count, epsilon, delta = CALIBRATIONS[name]

        def calibrate() -> tuple[float, ...]:
            found = dp.calibrate_dp_mechanism(
                accountant,
                lambda scale: dp.SelfComposedDpEvent(event(kind, scale, rate), count),
                epsilon,
                delta,
                dp.LowerEndpointAndGuess(0.5, 2.0),
                tol=1e-4,
            )
            return (float(found),)

        return calibrate
    parts, delta, _ = workloads()[name]

    def task() -> tuple[float, ...]:
        spent = accountant()
        for kind, scale, rate, count in parts:
            spent.compose(event(kind, scale, rate), count)
        return (float(spent.get_epsilon(delta)),)

    return task


def prv_accountant(name: str) -> Task:
    """Return the task with the privacy-random-variable accountant, to ±0.01 in ε."""
    library = import_module("prv_accountant")
    variables = import_module("prv_accountant.privacy_random_variables")
    parts, delta, _ = workloads()[name]

    def variable(kind: str, scale: float, rate: float) -> Any:
        if rate != 1:
            return variables.PoissonSubsampledGaussianMechanism(
                noise_multiplier=scale, sampling_probability=rate
            )
        if kind == "gaussian":
            return variables.GaussianMechanism(scale)
        return variables.LaplaceMechanism(mu=1 / scale)

    def task() -> tuple[float, ...]:
        accountant = library.PRVAccountant(
            prvs=[variable(kind, scale, rate) for kind, scale, rate, _ in parts],
            max_self_compositions=[count for *_, count in parts],
            eps_error=0.01,
            delta_error=delta / 1000,
        )
        low, _, high = accountant.compute_epsilon(delta, [count for *_, count in parts])
        return float(high), float(high - low)

    return task


def autodp(name: str) -> Task:
    """Return the task with autodp's Rényi accountant."""
    zoo = import_module("autodp.mechanism_zoo")
    transform = import_module("autodp.transformer_zoo")
    parts, delta, _ = workloads()[name]

    def mechanism(kind: str, scale: float, rate: float) -> Any:
        if kind == "laplace":
            return zoo.LaplaceMechanism(b=scale)
        inner = zoo.GaussianMechanism(sigma=scale, approxDP_off=True)
        if rate == 1:
            return inner
        sampling = transform.AmplificationBySampling(PoissonSampling=True)
        inner.neighboring = "add_remove"
        return sampling(inner, rate, improved_bound_flag=True)

    def task() -> tuple[float, ...]:
        mechanisms = [mechanism(kind, scale, rate) for kind, scale, rate, _ in parts]
        composed = transform.Composition()(mechanisms, [count for *_, count in parts])
        return (float(composed.get_approxDP(delta)),)

    return task


LIBRARIES = {
    "autodp": autodp,
    "discreet": discreet,
    "dp_accounting": dp_accounting,
    "dp_accounting_rdp": dp_accounting_rdp,
    "prv_accountant": prv_accountant,
}


def best_seconds(task: Task) -> tuple[float, tuple[float, ...]]:
    """Return the least time of several trials, and what was found."""
    times: list[float] = []
    found, start = task(), time.perf_counter()
    while len(times) < TRIALS and (not times or time.perf_counter() - start < LONGEST):
        begun = time.perf_counter()
        found = task()
        times.append(time.perf_counter() - begun)
    return min(times), found


if __name__ == "__main__":
    library, task_name, *wanted = sys.argv[1:]
    if wanted == ["epsilon"]:
        print(json.dumps({"epsilon": LIBRARIES[library](task_name)()[0]}))
        sys.exit(0)
    seconds, numbers = best_seconds(LIBRARIES[library](task_name))
    print(library, task_name, *(f"{number:.6g}" for number in numbers), file=sys.stderr)
    print(json.dumps({"seconds": seconds}))
