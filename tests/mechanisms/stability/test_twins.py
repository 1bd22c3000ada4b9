"""Broken twins of the stability mechanisms: each is caught by the detector that it names."""

import math
from fractions import Fraction

import pytest

from discreet.accounting.accountants.approximate import own_keys_delta
from discreet.audit.law_pair import LawPair
from discreet.audit.laws import OutputLaw, discrete_laplace_law, enclosed, product, push_forward
from discreet.audit.sampling import audit
from discreet.audit.verdict import VerdictAnswer, verify
from discreet.core.contribution import Contribution
from discreet.core.loss import Approximate, ApproximateZcdp
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.stability.propose_test_release import ProposeTestRelease
from discreet.mechanisms.stability.stability_test import StabilityTest
from discreet.mechanisms.stability.thresholded_keys import ThresholdedKeys
from tests.mechanisms.stability.laws import NOTHING, Counts, one_key, released_law

TARGET = Approximate(3, "1/1000")
THREE = Contribution(l0=3, linf=1)
NOISE = DiscreteLaplace(scale=1)
SOUND = ThresholdedKeys.with_noise(NOISE, d_in=THREE, delta=TARGET.delta)
REACH = SOUND.threshold + 3


def pair_of(law, first: Counts, second: Counts) -> LawPair:
    laws = [product(*(law(count) for count in counts)) for counts in (first, second)]
    return LawPair(first=laws[0], second=laws[1])


def sound(count: int) -> OutputLaw:
    return one_key(SOUND, count, REACH)


ALONE = ((0, 0, 0), (1, 1, 1))


def test_the_sound_one_holds():
    assert verify(pair_of(sound, *ALONE), TARGET).answer is VerdictAnswer.HOLDS


# ---------------------------------------------------------------- exact verifier: keys


def test_verifier_catches_a_threshold_for_one_group_used_with_three():
    """δ must cover all groups of a unit jointly: nearly three times as much is lost."""
    one = ThresholdedKeys.with_noise(
        SOUND.noise, d_in=Contribution(l0=1, linf=1), delta=TARGET.delta
    )
    assert one.threshold < SOUND.threshold
    pair = pair_of(lambda count: one_key(one, count, REACH), *ALONE)
    assert verify(pair, TARGET).answer is VerdictAnswer.BROKEN


def test_verifier_catches_a_threshold_that_is_one_too_low():
    lower = ThresholdedKeys(noise=SOUND.noise, threshold=SOUND.threshold - 1)
    pair = pair_of(lambda count: one_key(lower, count, REACH), *ALONE)
    assert verify(pair, TARGET).answer is VerdictAnswer.BROKEN


def test_verifier_catches_a_choice_by_exact_counts():
    """Keys with enough units are listed, with noise: the list itself has none."""

    def listed(count: int) -> OutputLaw:
        if count < 5:
            return NOTHING
        return discrete_laplace_law(NOISE.scale, centre=count, window=(0, REACH))

    answer = verify(pair_of(listed, (4,), (5,)), TARGET)
    assert answer.answer is VerdictAnswer.BROKEN
    assert answer.measured.low > Fraction(99, 100)


@pytest.mark.parametrize("at_least", [2, 3, 5])
def test_verifier_catches_an_exact_filter_before_the_noise(at_least: int):
    """Dropping small groups first "to be safe" makes a larger one appear and vanish."""

    def filtered(count: int) -> OutputLaw:
        return sound(count) if count >= at_least else NOTHING

    pair = pair_of(filtered, (at_least - 1,) * 2, (at_least,) * 2)
    assert verify(pair, TARGET).answer is VerdictAnswer.BROKEN


def test_verifier_catches_counts_of_rows():
    """The threshold is for units. A unit with many rows in a group of its own is shown."""
    pair = pair_of(sound, (0,), (8,))
    assert verify(pair, TARGET).answer is VerdictAnswer.BROKEN
    rows = Contribution(l0=1, linf=8)
    assert verify(pair, SOUND.loss(rows)).answer is VerdictAnswer.HOLDS, "unless it is said"


def test_verifier_catches_empty_groups_of_one_data_set():
    """Noise on the keys of the neighbour too, if only for one of them, is another mechanism."""

    def padded(count: int) -> OutputLaw:
        law = discrete_laplace_law(NOISE.scale, centre=count, window=(0, REACH))
        return push_forward(law, lambda value: value if value >= 2 else None)

    pair = LawPair(first=NOTHING, second=padded(1))
    assert verify(pair, TARGET).answer is VerdictAnswer.BROKEN


def test_gaussian_twin_with_the_delta_of_one_group():
    """The exact chance that any of three keys is shown is above the δ for one."""
    d_in = Contribution(l0=3, linf=1)
    loss = ApproximateZcdp(rho="1/2", delta="1/1000")
    right = ThresholdedKeys.calibrate(d_in=d_in, loss=loss)
    one = ThresholdedKeys.with_noise(right.noise, d_in=Contribution(l0=1, linf=1), delta=loss.delta)
    assert one.threshold < right.threshold
    hidden = enclosed(one_key(one, 1, 60)).masses[None]
    assert 1 - hidden[1] ** 3 > loss.delta
    assert own_keys_delta(one.event(d_in)) > loss.delta, "the accountant says so too"


# ---------------------------------------------------------------- sampling: keys


def test_sampling_catches_the_threshold_for_one_group(rng):
    """At a large δ the twin is caught by looking at what it releases."""
    target = Approximate("1/2", "1/10")
    d_in = Contribution(l0=20, linf=1)
    right = ThresholdedKeys.calibrate(d_in=d_in, loss=target)
    twin = ThresholdedKeys.with_noise(
        right.noise, d_in=Contribution(l0=1, linf=1), delta=target.delta
    )
    counts = dict.fromkeys(range(20), 1)

    def found(keys: ThresholdedKeys) -> bool:
        return audit(
            lambda: bool(keys.release(counts, rng)),
            lambda: bool(keys.release({}, rng)),
            samples=1500,
            delta=target.delta,
            confidence=1 - Fraction(1, 10**9),
        ).refutes(target)

    assert found(twin)
    assert not found(right)


# ---------------------------------------------------------------- exact verifier: tests


def test_verifier_catches_noise_for_the_local_sensitivity():
    """Without the test: scale = local sensitivity / ε. The scale tells."""
    epsilon = Fraction(1)
    laws = [
        discrete_laplace_law(scale / epsilon, centre=0, window=(-30, 30))
        for scale in (Fraction(1), Fraction(10))
    ]
    pair = LawPair(first=laws[0], second=laws[1])
    assert verify(pair, Approximate(epsilon, "1/1000")).answer is VerdictAnswer.BROKEN


def test_verifier_catches_a_test_without_noise():
    """A margin that is compared exactly tells when it crosses the threshold."""
    ptr = ProposeTestRelease(
        proposed=1, test=StabilityTest(scale=2, threshold=3), noise=DiscreteLaplace(scale=2)
    )
    sharp = ProposeTestRelease(
        proposed=1, test=StabilityTest(scale="1/1000", threshold=3), noise=ptr.noise
    )
    loss = ptr.loss(Contribution(l1=1))
    for mechanism, expected in ((ptr, VerdictAnswer.HOLDS), (sharp, VerdictAnswer.BROKEN)):
        pair = LawPair(
            first=released_law(mechanism, 0, 2, reach=6, window=(-3, 4)),
            second=released_law(mechanism, 1, 3, reach=6, window=(-3, 4)),
        )
        assert verify(pair, loss).answer is expected


def test_verifier_catches_the_unstable_margin_forgotten_for_two_steps():
    """Units of two rows have margins of up to 1 where all may change, not 0."""
    test, noise = StabilityTest(scale=2, threshold=3), DiscreteLaplace(scale="1/1000")
    ptr = ProposeTestRelease(proposed=1, test=test, noise=noise)
    forgotten = test.loss(distance=2, unstable=0)
    pair = LawPair(
        first=released_law(ptr, 0, 1, reach=6, window=(-1, 8)),
        second=released_law(ptr, 7, 1, reach=6, window=(-1, 8)),
    )
    assert verify(pair, forgotten).answer is VerdictAnswer.BROKEN
    assert verify(pair, test.loss(distance=2, unstable=1)).answer is VerdictAnswer.HOLDS


def test_printed_threshold_is_safe_but_larger():
    """ln(1/δ)/ε, rounded up, plus nothing for the discrete law: ours is never above it."""
    for exponent in (3, 6, 9):
        delta = Fraction(1, 10**exponent)
        test = StabilityTest.calibrate(distance=1, unstable=0, loss=Approximate("1/4", delta))
        printed = math.ceil(4 * exponent * math.log(10))
        assert test.threshold <= printed
        assert StabilityTest(scale=4, threshold=printed).loss(distance=1, unstable=0).delta <= delta
