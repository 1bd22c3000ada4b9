"""Broken twins: each must be caught by the detector that it names, and its sound sibling must not.

The twins are mistakes that people make: half the noise, one draw for all cells, noise that cannot
be negative, a scale turned upside down, a formula for other noise, rounding in the wrong place, and
floats whose low bits give the data away.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from discreet.audit.finding import FindingKind, replay_audit
from discreet.audit.law_pair import LawPair
from discreet.audit.laws import (
    ExactLaw,
    OutputLaw,
    discrete_gaussian_law,
    discrete_laplace_law,
    product,
    push_forward,
)
from discreet.audit.recorder import Recorder
from discreet.audit.sampling import audit_outputs
from discreet.audit.verdict import VerdictAnswer, pure_epsilon, verify
from discreet.core.contribution import Contribution
from discreet.core.loss import Approximate, PrivacyLoss, Pure
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.randomness.samplers import discrete_laplace
from tests.support.statistics.exact_tests import alpha
from tests.support.statistics.numbered_rng import NumberedRng

EPSILON = Fraction(1, 2)
WIDE = (-12, 13)


def laplace(scale, centre: int) -> ExactLaw:
    return discrete_laplace_law(scale, centre=centre, window=WIDE)


def pair(law_of: Callable[[int], OutputLaw]) -> LawPair:
    """The laws of a count that is 0 without one person, and 1 with her."""
    return LawPair(first=law_of(0), second=law_of(1))


def kept(value: int) -> int:
    """Clamp to the window: a public function of the output, which never adds to the loss."""
    return max(WIDE[0], min(WIDE[1], value))


# ---------------------------------------------------------------- caught by the exact verifier


@dataclass(frozen=True)
class Twin:
    """A mistake, the claim that it breaks, and the mechanism that was meant."""

    name: str
    loss: PrivacyLoss
    broken: Callable[[int], OutputLaw]
    sound: Callable[[int], OutputLaw]
    is_infinite: bool = False


def continuous_delta(epsilon: float, sigma: float) -> str:
    """δ of *continuous* Gaussian noise for a move by 1, rounded up by far more than its error."""
    a, b = 1 / (2 * sigma), epsilon * sigma
    delta = stats.norm.cdf(a - b) - math.exp(epsilon) * stats.norm.cdf(-a - b)
    return f"{delta * (1 + 1e-6):.12f}"


def gaussian(centre: int) -> OutputLaw:
    return discrete_gaussian_law(1, centre=centre, radius=40)


def rounded_towards_zero(centre: int) -> OutputLaw:
    """Noise on half steps, cut to whole ones towards zero *before* it is added."""
    halves = discrete_laplace_law(2 / EPSILON, centre=0, window=(-40, 40))
    return push_forward(halves, lambda z: kept(centre + int(z / 2)))


def rounded_down(centre: int) -> OutputLaw:
    """Noise on half steps, added, and the *sum* floored: a public function of the output."""
    halves = discrete_laplace_law(2 / EPSILON, centre=2 * centre, window=(-22, 26))
    return push_forward(halves, lambda z: z // 2)


TWINS = [
    Twin(
        name="half the noise",
        loss=Pure(EPSILON),
        broken=lambda centre: laplace(1 / EPSILON / 2, centre),
        sound=lambda centre: laplace(1 / EPSILON, centre),
    ),
    Twin(
        name="one draw shared by all cells",
        loss=Pure(EPSILON),
        broken=lambda centre: push_forward(laplace(1 / EPSILON, 0), lambda z: (centre + z, z)),
        sound=lambda centre: product(laplace(1 / EPSILON, centre), laplace(1 / EPSILON, 0)),
        is_infinite=True,
    ),
    Twin(
        name="max(0, noise) instead of max(0, value + noise)",
        loss=Pure(EPSILON),
        broken=lambda centre: push_forward(
            laplace(1 / EPSILON, 0), lambda z: kept(centre + max(0, z))
        ),
        sound=lambda centre: push_forward(laplace(1 / EPSILON, centre), lambda z: max(0, z)),
        is_infinite=True,
    ),
    Twin(
        name="DGeo(1/ε) instead of DGeo(ε)",
        loss=Pure(EPSILON),
        broken=lambda centre: laplace(1 / (1 / EPSILON), centre),
        sound=lambda centre: laplace(1 / EPSILON, centre),
    ),
    Twin(
        name="the σ of continuous Gaussian noise on discrete noise",
        loss=Approximate(1, continuous_delta(1.0, 1.0)),
        broken=gaussian,
        sound=lambda centre: discrete_gaussian_law("1.2", centre=centre, radius=40),
    ),
    Twin(
        name="a biased rounding of the noise",
        loss=Pure(EPSILON),
        broken=rounded_towards_zero,
        sound=rounded_down,
    ),
]


@pytest.mark.parametrize("twin", TWINS, ids=lambda twin: twin.name)
def test_exact_verifier_catches(twin: Twin):
    verdict = verify(pair(twin.broken), twin.loss)
    assert verdict.answer is VerdictAnswer.BROKEN
    assert (pure_epsilon(pair(twin.broken)).low == math.inf) == twin.is_infinite


@pytest.mark.parametrize("twin", TWINS, ids=lambda twin: twin.name)
def test_sound_sibling_holds(twin: Twin):
    assert verify(pair(twin.sound), twin.loss).answer is VerdictAnswer.HOLDS


# ---------------------------------------------------------------- caught by replay


def rounded_after_the_bound(data: list[float], recorder: Recorder) -> np.ndarray:
    """One person adds at most 1/2, but the rounded sum that is released can move by 1."""
    noise = recorder.watch(DiscreteLaplace(scale=1), d_in=Contribution(l0=1, linf="1/2"))
    total = np.array([math.floor(sum(data) + 0.5)])
    return noise.release(total, recorder.rng)


def rounded_before_the_bound(data: list[float], recorder: Recorder) -> np.ndarray:
    """Each person's number goes to whole halves, and the bound is in halves."""
    noise = recorder.watch(DiscreteLaplace(scale=2), d_in=Contribution(l0=1, linf=1))
    halves = np.array([sum(math.floor(2 * value + 0.5) for value in data)])
    return noise.release(halves, recorder.rng)


def test_replay_catches_a_rounding_outside_the_sensitivity(rng):
    findings = replay_audit(rounded_after_the_bound, [0.25, 0.5], [0.25], rng)
    assert {finding.kind for finding in findings} == {FindingKind.CONTRIBUTION}
    assert not replay_audit(rounded_before_the_bound, [0.25, 0.5], [0.25], rng)


# ---------------------------------------------------------------- caught by the sampling auditor

SAMPLES = 6000


def float_laplace(centre: float, rng: NumberedRng) -> np.ndarray:
    """Laplace noise as everybody writes it: floats, a uniform number, a logarithm [Mir12]."""
    words = rng.words(2 * SAMPLES)
    uniform = ((words[:SAMPLES] >> np.uint64(11)) + 1) * 2.0**-53
    sign = 1.0 - 2.0 * (words[SAMPLES:] & np.uint64(1))
    return np.asarray(centre + sign * np.log(uniform))


def lowest_bit(value: float) -> int:
    """The place of the lowest bit that is set: 54 for an odd multiple of 2**-54."""
    numerator, denominator = value.as_integer_ratio()
    if not numerator:
        return -2000
    return denominator.bit_length() - (numerator & -numerator).bit_length()


def test_sampling_catches_porous_low_bits():
    """Around 0 small noise keeps more bits than 1 plus noise can have: the bits tell 0 from 1."""
    first, second = (float_laplace(c, NumberedRng(1, label=f"mironov {c}")) for c in (0.0, 1.0))
    confidence = 1 - Fraction(alpha("audit/float laplace"))
    result = audit_outputs(first, second, confidence=confidence, statistic=lowest_bit)
    assert result.refutes(Pure(1))
    assert result.epsilon_lower > 2
    unasked = audit_outputs(first, second, confidence=confidence)
    assert unasked.refutes(Pure(1)), "the battery looks at low bits too"


def test_sampling_passes_the_same_noise_on_a_grid():
    first, second = (
        c + discrete_laplace(Fraction(1), SAMPLES, NumberedRng(1, label=f"grid {c}"))
        for c in (0, 1)
    )
    confidence = 1 - Fraction(alpha("audit/grid laplace"))
    result = audit_outputs(
        first, second, confidence=confidence, statistic=lambda value: lowest_bit(float(value))
    )
    assert not result.refutes(Pure(1))


def test_sampling_catches_one_draw_for_all_cells():
    confidence = 1 - Fraction(alpha("audit/shared draw"))
    shared = []
    for centre in (0, 1):
        noise = discrete_laplace(Fraction(2), SAMPLES, NumberedRng(2, label=f"shared {centre}"))
        shared.append(np.stack([centre + noise, noise], axis=1))
    told = audit_outputs(*shared, confidence=confidence, statistic=lambda row: row[0] - row[1])
    assert told.refutes(Pure(EPSILON))
    assert audit_outputs(*shared, confidence=confidence).refutes(Pure(EPSILON))
