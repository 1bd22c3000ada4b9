"""Schemes for means: exactly unbiased, with the variance that is said, and valid intervals."""

from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from scipy import stats

from discreet.core.errors import InvalidArgument
from discreet.local.coins import part
from discreet.local.device.draws import UNIT
from discreet.local.numbers.d_bit_flip import DBitFlip
from discreet.local.numbers.hybrid import HybridMean
from discreet.local.numbers.local_laplace import LocalLaplace
from discreet.local.numbers.number_scheme import NumberScheme
from discreet.local.numbers.one_bit_mean import OneBitMean
from discreet.local.numbers.piecewise import PiecewiseMean
from discreet.local.tails import bennett_radius
from tests.local.case import Case
from tests.local.schemes import CASES
from tests.support.local.device_law import device_law

NUMBERS = [case for case in CASES if isinstance(case.scheme, NumberScheme)]
SCHEMES = [OneBitMean, PiecewiseMean, HybridMean, LocalLaplace]


def scheme_of(case: Case) -> NumberScheme:
    assert isinstance(case.scheme, NumberScheme)
    return case.scheme


@lru_cache
def told_law(scheme: NumberScheme, value: int) -> list[Fraction]:
    """The exact probability of each report, as a number, from the device's own code."""
    law = device_law(scheme.recipe(), value)
    return [
        law.get(told.to_bytes(scheme.size, "little"), Fraction(0))
        for told in range(scheme.outcomes)
    ]


@pytest.mark.parametrize("case", NUMBERS, ids=str)
def test_reports_are_worth_the_value_on_average_exactly(case: Case):
    scheme = scheme_of(case)
    worths = [scheme.worth(told) for told in range(scheme.outcomes)]
    assert scheme.worths() == pytest.approx([float(worth) for worth in worths], rel=1e-12)
    for value in case.values:
        law = told_law(scheme, value)
        assert sum(p * worth for p, worth in zip(law, worths, strict=True)) == value
        second = sum(p * worth**2 for p, worth in zip(law, worths, strict=True))
        assert second - value**2 == scheme.variance(value)


@pytest.mark.parametrize("kind", SCHEMES, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("epsilon", ["0.3", "1", "2.5", "6"])
def test_the_worst_variance_is_at_an_end_or_in_the_middle(kind: Any, epsilon: str):
    for most in (1, 2, 7, 20):
        scheme = kind.calibrate(most=most, epsilon=epsilon)
        assert scheme.worst_variance() == max(scheme.variance(x) for x in range(most + 1))


@pytest.mark.parametrize("kind", SCHEMES, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("most", [1, 2, 9, 100])
def test_calibration_spends_what_it_may_and_no_more(kind: Any, most: int):
    for epsilon in ("0.01", "0.5", "1", "3"):
        spent = kind.calibrate(most=most, epsilon=epsilon).event().epsilon
        assert spent <= Fraction(epsilon)
        if kind is not LocalLaplace:
            assert spent > Fraction(epsilon) * (1 - Fraction(1, 10**6))


def test_the_decay_of_laplace_is_the_least_that_may_be():
    for most, epsilon in [(4, "1.5"), (20, "1"), (100, "0.5"), (1, "2")]:
        scheme = LocalLaplace.calibrate(most=most, epsilon=epsilon)
        if scheme.decay > 2:
            less = LocalLaplace(most=most, decay=scheme.decay - 1)
            assert less.event().epsilon > Fraction(epsilon)


def test_clamped_noise_that_counts_for_itself_is_biased():
    """A twin: the usual clamp, whose ends are worth no more than they say, and the check above."""
    scheme = LocalLaplace.calibrate(most=4, epsilon="1.5")
    means = [sum(told * p for told, p in enumerate(told_law(scheme, value))) for value in range(5)]
    assert means[2] == 2
    assert means[0] > Fraction(1, 2)
    assert means[4] < Fraction(7, 2)


def test_the_bit_of_duchi_has_the_law_of_the_one_bit_mean():
    """Its two reports ±(e^ε + 1)/(e^ε - 1), as likely as it says, for a value put onto [-1, 1]."""
    scheme = OneBitMean.calibrate(most=10, epsilon=1)
    e = scheme.odds()
    for value in (0, 3, 10):
        t = Fraction(2 * value, 10) - 1
        up = (t * (e - 1) + e + 1) / (2 * e + 2)
        assert told_law(scheme, value) == [1 - up, up]
        assert (2 * scheme.worth(1) / 10 - 1, 2 * scheme.worth(0) / 10 - 1) == (
            (e + 1) / (e - 1),
            -(e + 1) / (e - 1),
        )


def test_laplace_comes_near_to_its_law_over_the_real_numbers():
    scheme = LocalLaplace.calibrate(most=1000, epsilon=1)
    unclamped = Fraction(2 * (scheme.decay - 1) * scheme.decay)
    assert float(unclamped) == pytest.approx(2 * 1000**2, rel=0.01)
    assert scheme.variance(500) < unclamped


@pytest.mark.parametrize("epsilon", [1, 2, 4])
def test_piecewise_comes_near_to_its_law_over_the_real_numbers(epsilon: int):
    scheme = PiecewiseMean.calibrate(most=2000, epsilon=epsilon)
    s = np.exp(epsilon / 2)
    for value in (0, 1000, 2000):
        t = value / 1000 - 1
        real = 1000**2 * (t**2 / (s - 1) + (s + 3) / (3 * (s - 1) ** 2))
        assert float(scheme.variance(value)) == pytest.approx(real, rel=0.01)


def test_hybrid_is_never_worse_than_the_better_of_its_parts():
    for epsilon in ("0.4", "0.7", "1", "1.5", "3", "5"):
        scheme = HybridMean.calibrate(most=200, epsilon=epsilon)
        better = min(scheme.places.worst_variance(), scheme.bit.worst_variance())
        assert scheme.worst_variance() <= better * Fraction(101, 100)


def exact_sum_law(scheme: NumberScheme, values: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """All tallies are too many; of schemes with equally spaced worths, the law of their sum."""
    law = np.ones(1)
    for value in values:
        law = np.convolve(law, [float(p) for p in told_law(scheme, value)])
    return np.arange(len(law)), law


def covered(scheme: NumberScheme, values: list[int], found: np.ndarray, law: np.ndarray) -> float:
    """How often the mean is in the interval, given all estimates and their exact law."""
    worths = scheme.worths()
    low, high = bennett_radius(
        np.full(2, float(scheme.worst_variance())),
        np.array([worths.max(), scheme.most - worths.min()]),
        len(values),
        0.025,
    )
    mean = np.mean(values)
    return float(law[(found - low <= mean) & (mean <= found + high)].sum())


def test_intervals_of_places_cover_exactly():
    """Convolution of the enumerated laws: how often the mean is in the interval, exactly."""
    scheme = PiecewiseMean.calibrate(most=6, epsilon=2)
    for values in ([0] * 40, [3] * 40, [6] * 20 + [0] * 20, [0, 1, 2, 3, 4, 5, 6, 6]):
        sums, law = exact_sum_law(scheme, values)
        slope = float(scheme.worth(1) - scheme.worth(0))
        found = float(scheme.worth(0)) + slope * sums / len(values)
        assert 0.95 <= covered(scheme, values, found, law) < 1


def test_intervals_of_clamped_noise_cover_exactly():
    scheme = LocalLaplace.calibrate(most=4, epsilon="1.5")
    beyond = scheme.decay - 1
    for values in ([0] * 30, [2] * 30, [4] * 10 + [0] * 20, [1, 2]):
        law = np.ones(1)
        for value in values:
            spread = np.zeros(scheme.most + 2 * beyond + 1)
            for told, p in enumerate(told_law(scheme, value)):
                spread[int(scheme.worth(told)) + beyond] = p
            law = np.convolve(law, spread)
        found = np.arange(len(law)) / len(values) - beyond
        assert covered(scheme, values, found, law) >= 0.95
        assert law @ found == pytest.approx(np.mean(values))


@pytest.mark.parametrize("values", [[0] * 50, [5] * 50, [10] * 25 + [0] * 25, [1] * 49 + [10]])
def test_intervals_of_one_bit_cover_exactly(values: list[int]):
    scheme = OneBitMean.calibrate(most=10, epsilon=1)
    _, law = exact_sum_law(scheme, values)
    people = len(values)
    estimates = [
        scheme.estimate_tally(np.array([people - ones, ones])) for ones in range(people + 1)
    ]
    mean = np.mean(values)
    covers = np.array([each.low <= mean <= each.high for each in estimates])
    assert law[covers].sum() >= 0.95
    shares = np.array([each.mean for each in estimates])
    assert law @ shares == pytest.approx(mean)
    variance = sum(float(scheme.variance(value)) for value in values) / people**2
    assert law @ (shares - mean) ** 2 == pytest.approx(variance)


def test_tails_of_one_bit_are_below_the_theorem():
    """The exact tail of a sum of coins against the theorem's bound, at many distances."""
    scheme, people = OneBitMean.calibrate(most=100, epsilon=1), 400
    p = float(part(scheme.truth))
    for value in (0, 50, 100):
        one = 1 - p + value / 100 * (2 * p - 1)
        ones = np.arange(people + 1)
        law = stats.binom.pmf(ones, people, one)
        means = 100 * (ones / people - (1 - p)) / (2 * p - 1)
        for delta in (0.5, 0.2, 0.05, 1e-3):
            within = scheme.within(people, delta)
            assert law[np.abs(means - value) >= within].sum() <= delta
            theta = within / 100
            lemma = 2 * np.exp(-2 * theta**2 * people * (2 * p - 1) ** 2)
            assert lemma == pytest.approx(delta)


def test_the_known_numbers_of_the_one_bit_mean():
    """Simulated tails lie between the exact ones of people all at an end and all in the middle.

    With n = 10,000, m = 100 and ε = 1 they were .002 (at most .05) and .022 (at most .2).
    """
    scheme, people = OneBitMean.calibrate(most=100, epsilon=1), 10_000
    p = float(part(scheme.truth))
    for delta, simulated in ((0.05, 0.002), (0.2, 0.022)):
        far = scheme.within(people, delta) * (2 * p - 1) / 100 * people
        tails = []
        for one in (1 - p, 0.5):
            law = stats.binom(people, one)
            tails.append(law.cdf(people * one - far) + law.sf(people * one + far))
        assert tails[0] - 0.0005 < simulated < tails[1] < delta


def test_bennett_is_sharper_than_hoeffding_where_variance_is_small():
    one = np.ones(1)
    hoeffding = np.sqrt(np.log(40) / (2 * 1000)) * 2
    assert bennett_radius(0.05 * one, one, 1000, 0.025) < hoeffding / 3
    rare = bennett_radius(one * 1e-12, one, 10, 0.025)
    assert np.isfinite(rare).all()


def test_flipped_bits_of_all_buckets_use_zeros_too():
    scheme = DBitFlip.calibrate(categories=32, bits=4, epsilon=1)
    p, q = scheme.held, scheme.other
    by_ones = q * (1 - q) / (p - q) ** 2
    assert float(scheme.variance(1) / by_ones) == pytest.approx(0.65, abs=0.02)


@pytest.mark.parametrize("kind", SCHEMES, ids=lambda kind: kind.__name__)
def test_what_is_no_value_is_refused_unquoted(kind: Any, rng):
    scheme = kind.calibrate(most=9, epsilon=1)
    for values in ([10], [-1], [0.5]):
        with pytest.raises(InvalidArgument) as refused:
            scheme.randomise_many(np.array(values), rng)
        assert "10" not in str(refused.value)
    with pytest.raises(InvalidArgument):
        kind.calibrate(most=0, epsilon=1)
    impossible = np.full((1, scheme.size), 255, dtype=np.uint8)
    with pytest.raises(InvalidArgument):
        scheme.tally(impossible)


def test_a_coin_that_tells_nothing_is_refused():
    for truth in (UNIT // 2, UNIT):
        with pytest.raises(InvalidArgument):
            OneBitMean(most=5, truth=truth)
    with pytest.raises(InvalidArgument):
        PiecewiseMean(most=5, width=2, inside=UNIT * 2 // 7)
