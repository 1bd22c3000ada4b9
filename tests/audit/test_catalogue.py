"""The whole catalogue of noise, audited in one family: no bound exceeds the accountant's loss.

Every mechanism and every pair of neighbours is audited by sampling, by cells and, where cells are
independent, in one run. All of it together accuses a sound mechanism once in a million suites. The
same family catches every broken twin that names sampling as its detector.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.audit.histogram_bound import audit_histogram
from discreet.audit.one_run import audit_one_run
from discreet.audit.sampling import audit_outputs
from discreet.audit.worst_pair import moved_pairs, search_neighbours
from discreet.core.contribution import Contribution
from discreet.core.loss import Approximate, PrivacyLoss, Pure, Zcdp
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.noise.noisy_histogram import NoisyHistogram
from tests.mechanisms.cases import CASES, Case
from tests.support.statistics.exact_tests import alpha

SAMPLES = 4000
CANARIES = 2000
PAIRS = [(case, *pair) for case in CASES for pair in case.pairs]
ALONE = [case for case in CASES if case.name not in ("linf_exponential", "noisy_histogram")]
AUDITS = 3 * len(PAIRS) + len(ALONE) + len(CASES)
"""Sampling (for one loss or two) and cells for each pair, one run, and search."""


def sure() -> Fraction:
    return 1 - Fraction(alpha("audit/catalogue", parts=AUDITS))


def drawn(mechanism: Any, centre: Any, rng: Any, samples: int) -> np.ndarray:
    """Many outputs on one input: at once where cells are independent, else one by one."""
    row = np.array(centre, dtype=np.int64)
    if isinstance(mechanism, NoisyHistogram):
        mechanism = mechanism.noise
    if hasattr(mechanism, "dimension"):
        return np.stack([mechanism.release(row, rng) for _ in range(samples // 8)])
    return mechanism.release(np.tile(row, (samples, 1)), rng)


def losses(case: Case, d_in: Contribution) -> list[PrivacyLoss]:
    """What the accountant says: in the mechanism's own measure, and as (ε, δ) if it has a curve."""
    own = [case.mechanism.loss(d_in)]
    if isinstance(case.mechanism, DiscreteGaussian):
        own.append(case.mechanism.approximate_loss(d_in, epsilon=1))
    return own


def delta_of(loss: PrivacyLoss) -> Fraction:
    return loss.delta if isinstance(loss, Approximate) else Fraction(0)


IDS = [f"{case.name} {first} {second}" for case, first, second, _ in PAIRS]


@pytest.mark.parametrize(("case", "first", "second", "d_in"), PAIRS, ids=IDS)
def test_no_bound_exceeds_the_accountants_loss(case, first, second, d_in, rng):
    samples = [drawn(case.mechanism, centre, rng, SAMPLES) for centre in (first, second)]
    cells = audit_histogram(*samples, confidence=sure())
    for loss in losses(case, d_in):
        if not isinstance(loss, Pure | Approximate | Zcdp):
            continue
        found = audit_outputs(*samples, delta=delta_of(loss), confidence=sure())
        assert not found.refutes(loss), str(found)
        assert not cells.refutes(loss), str(cells)
        if isinstance(loss, Pure | Approximate):
            assert found.epsilon_lower <= loss.epsilon


@pytest.mark.parametrize("case", ALONE, ids=str)
def test_no_bound_of_one_run_exceeds_it(case, rng):
    loss = losses(case, Contribution(l0=1, linf=1))[-1]
    found = audit_one_run(
        lambda included: case.mechanism.release(included.astype(np.int64), rng),
        canaries=CANARIES,
        rng=rng,
        delta=delta_of(loss),
        confidence=sure(),
    )
    assert not found.refutes(loss), str(found)
    assert isinstance(loss, Pure | Approximate)
    assert found.epsilon_lower <= loss.epsilon


@pytest.mark.parametrize("case", CASES, ids=str)
def test_no_neighbour_exceeds_it(case, rng):
    (first, _, d_in) = case.pairs[-1]
    loss = losses(case, d_in)[-1]
    worst = search_neighbours(
        lambda row, count: drawn(case.mechanism, row, rng, count),
        moved_pairs(len(first), d_in),
        samples=1000,
        delta=delta_of(loss),
        confidence=sure(),
    )
    assert not worst.result.refutes(loss), str(worst)


# ---------------------------------------------------------------- twins of mechanisms


@dataclass(frozen=True)
class CellTwin:
    """A mechanism that is wrong on vectors, what is claimed for it, and who is to notice."""

    name: str
    release: Callable[[np.ndarray, Any], np.ndarray]
    neighbours: tuple[tuple[int, ...], tuple[int, ...]]
    loss: PrivacyLoss
    detector: str


def laplace(scale: Any, shape: Any, rng: Any) -> np.ndarray:
    return DiscreteLaplace(scale=scale).release(np.zeros(shape, dtype=np.int64), rng)


def shared(rows: np.ndarray, rng: Any) -> np.ndarray:
    """Cells 0 and 5 share a draw; the cells between have their own."""
    noise = laplace(2, rows.shape, rng)
    noise[:, 5] = noise[:, 0]
    return rows + noise


def walked(rows: np.ndarray, rng: Any) -> np.ndarray:
    """Noise that is summed up along the row, so that all but the first step is known better."""
    noise = laplace(4, (len(rows), 1), rng) + np.cumsum(laplace("1/4", rows.shape, rng), axis=1)
    return rows + noise


WIDE = 24
TWINS = [
    CellTwin(
        "half the noise",
        lambda rows, rng: rows + laplace(1, rows.shape, rng),
        ((0,), (1,)),
        Pure("1/2"),
        "sampling",
    ),
    CellTwin(
        "one draw for two cells far apart",
        shared,
        ((0,) * 6, (1, *(0,) * 5)),
        Pure("1/2"),
        "learnt score",
    ),
    CellTwin(
        "many cells paid for as one",
        lambda rows, rng: rows + laplace(5, rows.shape, rng),
        ((0,) * WIDE, (1,) * WIDE),
        Pure("1/5"),
        "learnt score",
    ),
    CellTwin(
        "noise of a walk",
        walked,
        ((0, 0, 0), (0, 1, 0)),
        Pure(1),
        "sampling",
    ),
]


@pytest.mark.parametrize("twin", TWINS, ids=lambda twin: twin.name)
def test_sampling_catches_twins_of_vectors(twin: CellTwin, rng):
    samples = [
        twin.release(np.tile(np.array(row, dtype=np.int64), (SAMPLES, 1)), rng)
        for row in twin.neighbours
    ]
    found = audit_outputs(*samples, confidence=sure())
    assert found.refutes(twin.loss), str(found)
    assert (twin.detector == "learnt score") == ("learnt score" in str(found.event)), str(found)


def test_sampling_catches_normal_noise_of_half_the_variance_by_cells(rng):
    """At order 2 and above the cells of the outputs differ by more than ρ allows."""
    noise = DiscreteGaussian(sigma_squared=1)
    claim = DiscreteGaussian(sigma_squared=4).loss(Contribution(l0=1, linf=1))
    samples = [drawn(noise, (centre,), rng, 20_000) for centre in (0, 1)]
    found = audit_histogram(*samples, confidence=sure())
    assert found.refutes(claim), str(found)
    true = noise.loss(Contribution(l0=1, linf=1))
    assert all(found.renyi(order) <= true.rho * order for order in (2, 3, 8))
    assert not found.refutes(true)


def test_sampling_catches_a_clamp_that_is_looked_at_only_below(rng):
    """Only neighbours near 0 tell; the search finds them among others, which pass."""

    def draw(row, count):
        scale = 8 if row[0] > 100 else Fraction(1, 2)
        return np.tile(row, (count, 1)) + laplace(scale, (count, len(row)), rng)

    pairs = moved_pairs(2, Contribution(l0=2, linf=1))
    worst = search_neighbours(draw, pairs, samples=SAMPLES, confidence=sure())
    assert worst.pair[0].tolist() == [0, 0]
    assert worst.result.refutes(Pure("1/4"))
    far = [pair for pair in pairs if pair[0][0]]
    passed = search_neighbours(draw, far, samples=SAMPLES, confidence=sure())
    assert not passed.result.refutes(Pure("1/4"))
    assert "pairs the worst is" in str(passed)
