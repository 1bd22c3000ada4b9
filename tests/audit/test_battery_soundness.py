"""The battery accuses no sound mechanism more often than it says, whatever it looks at."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

from discreet.audit.sampling import AuditResult, audit_outputs
from discreet.core.contribution import Contribution
from discreet.core.loss import PrivacyLoss, Pure, Zcdp
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.response.categorical_response import binary_response
from discreet.mechanisms.stability.thresholded_keys import ThresholdedKeys
from tests.support.statistics.exact_tests import alpha
from tests.support.statistics.numbered_rng import NumberedRng


@dataclass(frozen=True)
class Sound:
    """A mechanism on two neighbours, and what is lost between them."""

    name: str
    neighbours: tuple[Any, Any]
    loss: PrivacyLoss
    draw: Callable[[Any, NumberedRng, int], Any]

    def audit(self, rng: NumberedRng, samples: int, confidence: Any) -> AuditResult:
        first, second = (self.draw(centre, rng, samples) for centre in self.neighbours)
        return audit_outputs(first, second, confidence=confidence)


def noisy(noise: Any, unit: int = 1) -> Callable[[int, NumberedRng, int], Any]:
    """A number with noise, in whole units or as a float with decimals."""

    def draw(centre: int, rng: NumberedRng, size: int) -> Any:
        released = noise.release(np.full(size, centre), rng)
        return released if unit == 1 else released / unit

    return draw


def cells(noise: Any) -> Callable[[list[int], NumberedRng, int], Any]:
    return lambda centres, rng, size: noise.release(np.tile(centres, (size, 1)), rng)


def keys(mechanism: ThresholdedKeys) -> Callable[[int, NumberedRng, int], Any]:
    """What is said about a key: its noisy count, or nothing. Each key is one run."""

    def draw(count: int, rng: NumberedRng, size: int) -> list[Any]:
        released = mechanism.release(dict.fromkeys(range(size), count), rng)
        return [released.get(key) for key in range(size)]

    return draw


NARROW, WIDE = DiscreteLaplace(scale=2), DiscreteLaplace(scale=10**6)
NORMAL, WIDE_NORMAL = DiscreteGaussian(sigma_squared=25), DiscreteGaussian(sigma_squared=10**10)
ANSWER = binary_response("1.5")
KEYS = ThresholdedKeys.with_noise(NARROW, d_in=Contribution(l0=1, linf=1), delta="1/10")

SOUND = [
    Sound("narrow Laplace", (0, 1), Pure("1/2"), noisy(NARROW)),
    Sound("wide Laplace", (0, 1), Pure("1e-6"), noisy(WIDE)),
    Sound("wide Laplace, far apart", (0, 10**6), Pure(1), noisy(WIDE)),
    Sound("cents", (0, 12_345), Pure("0.012345"), noisy(WIDE, unit=100)),
    Sound("normal", (0, 1), Zcdp(rho="1/50"), noisy(NORMAL)),
    Sound("wide normal", (0, 1), Zcdp(rho="0.5e-10"), noisy(WIDE_NORMAL)),
    Sound("three cells", ([7, 7, 7], [7, 8, 7]), Pure("1/2"), cells(NARROW)),
    Sound("two wide cells", ([0, 0], [1, 0]), Pure("1e-6"), cells(WIDE)),
    Sound("a key or none", (4, 5), Pure("1/2"), keys(KEYS)),
    Sound(
        "a response",
        (0, 1),
        Pure("1.5"),
        lambda bit, rng, size: ANSWER.randomise_all(np.full(size, bit), rng),
    ),
]

AUDITS = 40
FEW = 160
COIN = Fraction(1, 2)


def alarms_p_value(alarms: int, audits: int) -> float:
    """Exact: if each independent audit is wrong at most half the time, so many are this rare."""
    return float(stats.binom(audits, float(COIN)).sf(alarms - 1))


def test_alarms_are_as_rare_as_claimed(rng):
    """Hundreds of audits, each with a confidence of one half, of mechanisms that are sound."""
    share = alpha("audit/battery level")
    scalars = [sound for sound in SOUND if not isinstance(sound.neighbours[0], list)]
    wrong = sum(
        sound.audit(rng, FEW, COIN).refutes(sound.loss) for sound in scalars for _ in range(AUDITS)
    )
    assert alarms_p_value(wrong, AUDITS * len(scalars)) > share


def test_an_auditor_that_learns_and_counts_on_the_same_samples_is_caught(rng):
    """Power: the same outputs four times over are learnt, weighed, chosen and counted as one."""
    share = alpha("audit/battery level twin")
    audits, wrong = 60, 0
    for _ in range(audits):
        first, second = (WIDE.release(np.full(FEW // 4, c), rng).tolist() for c in (0, 1))
        wrong += audit_outputs(first * 4, second * 4, confidence=COIN).refutes(Pure("1e-6"))
    assert alarms_p_value(wrong, audits) < share


@pytest.mark.parametrize("sound", SOUND, ids=lambda sound: sound.name)
def test_large_audits_accuse_nobody(sound: Sound, rng):
    """At the size and the confidence that people use."""
    confidence = 1 - Fraction(alpha("audit/battery soundness", parts=len(SOUND)))
    result = sound.audit(rng, 20_000, confidence)
    assert not result.refutes(sound.loss), str(result)
