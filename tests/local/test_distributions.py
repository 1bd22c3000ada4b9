"""Distributions and quantiles: square wave, reconstruction, and intervals of quantiles."""

import numpy as np
import pytest
from scipy import stats

from discreet.core.errors import InvalidArgument
from discreet.local.frequency.k_ary import KaryResponse
from discreet.local.numbers.d_bit_flip import DBitFlip
from discreet.local.numbers.linear import decoder, linear_estimate
from discreet.local.numbers.quantiles import cumulative_shares
from discreet.local.numbers.reconstruct import added_noise_law, reconstruct
from discreet.local.numbers.square_wave import SquareWave
from tests.support.local.device_law import device_law
from tests.support.statistics.exact_tests import alpha


def hump(values: int) -> np.ndarray:
    """A distribution with one hump."""
    weights = np.exp(-(((np.arange(values) - values / 3) / (values / 8)) ** 2))
    return weights / weights.sum()


def test_the_law_in_floats_is_that_of_the_device():
    scheme = SquareWave.calibrate(most=7, epsilon=1)
    for value, row in enumerate(scheme.law()):
        law = device_law(scheme.recipe(), value)
        exact = [float(law[bytes([place])]) for place in range(scheme.outcomes)]
        assert row == pytest.approx(exact, rel=1e-14)


def test_exact_expected_counts_give_back_the_distribution():
    law = SquareWave.calibrate(most=15, epsilon=3).law()
    truth = hump(16)
    tally = np.rint(1e12 * truth @ law).astype(np.int64)
    assert reconstruct(law, tally, rounds=100_000) == pytest.approx(truth, abs=2e-3)


def test_the_likelihood_never_falls(rng):
    scheme = SquareWave.calibrate(most=30, epsilon=1)
    values = np.repeat(np.arange(31), 40)
    tally = scheme.tally(scheme.randomise_many(values, rng))
    law = scheme.law()
    fits = [
        tally @ np.log(reconstruct(law, tally, rounds=rounds) @ law) for rounds in (1, 2, 5, 20, 80)
    ]
    assert (np.diff(fits) >= -1e-9).all()
    assert fits[-1] > fits[0]


def test_smoothing_keeps_the_sum_and_lowers_the_error(rng):
    """At 4,000 reports and ε = 1 unsmoothed shares follow noise: ten times as far off.

    One run in 60,000 would show less than twice as far, by the deviation of the logarithm; of five
    runs together none does.
    """
    scheme, truth = SquareWave.calibrate(most=63, epsilon=1), hump(64)
    values = np.repeat(np.arange(64), np.rint(4000 * truth).astype(np.int64))
    held = np.bincount(values, minlength=64) / len(values)
    off = np.zeros(2)
    for _ in range(5):
        reports = scheme.randomise_many(values, rng)
        smooth, rough = (scheme.distribution(reports, smooth=one) for one in (True, False))
        assert smooth.sum() == pytest.approx(1)
        off += [np.square(one - held).sum() for one in (smooth, rough)]
    assert off[0] < off[1] / 2


def test_reconstruction_from_added_noise_as_in_the_classic():
    """Values with uniform noise: the distribution comes back where the noisy one is far off."""
    noise = np.full(9, 1 / 9)
    law, truth = added_noise_law(20, list(noise)), hump(20)
    tally = np.rint(1e9 * truth @ law).astype(np.int64)
    found = reconstruct(law, tally)
    noisy = np.convolve(truth, noise)[4:-4]
    assert np.abs(found - truth).sum() < 0.02
    assert np.abs(noisy - truth).sum() > 0.2


def test_uniform_noise_has_no_finite_loss():
    law = added_noise_law(3, [0.5, 0.5])
    assert ((law[0] > 0) & (law[2] == 0)).any()


def test_a_tally_of_another_scheme_is_refused():
    with pytest.raises(InvalidArgument):
        reconstruct(np.eye(3), np.array([1, 2]))


def test_decoders_are_unbiased_and_refuse_what_cannot_be_told():
    scheme = SquareWave.calibrate(most=20, epsilon=1)
    below = np.tri(21).T
    assert scheme.law() @ decoder(scheme.law(), below) == pytest.approx(below, abs=1e-9)
    with pytest.raises(InvalidArgument):
        decoder(np.full((2, 3), 1 / 3), np.eye(2))


def test_linear_intervals_cover(rng):
    """Each of 200 collections misses with probability at most 1 in 20, all functions at once."""
    scheme = SquareWave.calibrate(most=5, epsilon=2)
    values = np.repeat(np.arange(6), [10, 40, 20, 5, 0, 25])
    truth = np.cumsum([0.1, 0.4, 0.2, 0.05, 0.0, 0.25])
    missed = 0
    for _ in range(200):
        found = scheme.cumulative(scheme.randomise_many(values, rng))
        missed += not ((found.low <= truth + 1e-9) & (truth <= found.high + 1e-9)).all()
    assert stats.binom.sf(missed - 1, 200, 0.05) > alpha("local/cumulative")


@pytest.mark.parametrize(
    "scheme",
    [
        KaryResponse.calibrate(categories=8, epsilon=2),
        DBitFlip.calibrate(categories=8, bits=8, epsilon=4),
    ],
    ids=["k-ary", "flipped bits"],
)
def test_quantiles_of_shares_lie_in_their_intervals(scheme, rng):
    """The interval fails with probability at most 1e-9."""
    values = np.repeat(np.arange(8), [500, 1500, 3000, 2000, 1000, 900, 600, 500])
    reports = scheme.randomise_many(values, rng)
    found = cumulative_shares(scheme, scheme.tally(reports), len(values), confidence="0.999999999")
    for share in ("0.1", "0.5", "0.9", "1"):
        quantile = found.quantile(share)
        truth = int(np.sort(values)[int(np.ceil(float(share) * len(values))) - 1])
        assert quantile.low <= truth <= quantile.high
        assert quantile.low <= quantile.value <= quantile.high
    assert found.quantile("0.5").high - found.quantile("0.5").low <= 4


def test_quantiles_of_a_square_wave(rng):
    scheme = SquareWave.calibrate(most=20, epsilon=3)
    values = np.repeat(np.arange(21), 2000)
    found = scheme.cumulative(scheme.randomise_many(values, rng), confidence="0.999999999")
    median = found.quantile("0.5")
    assert median.low <= 10 <= median.high
    assert median.high - median.low <= 12
    with pytest.raises(InvalidArgument):
        found.quantile(0)


def test_a_mean_is_a_linear_function_too(rng):
    scheme = SquareWave.calibrate(most=10, epsilon=2)
    reports = scheme.randomise_many(np.full(5000, 7), rng)
    grid = np.arange(11.0)[:, None]
    found = linear_estimate(scheme.law(), grid, scheme.tally(reports), confidence="0.999999999")
    assert found.low[0] <= 7 <= found.high[0]
    other = scheme.estimate(reports, confidence="0.999999999")
    assert other.low <= 7 <= other.high


def test_the_largest_value_is_not_lost_to_rounding():
    """Sums of floats that should be 1 were just below it; the last values are held by nobody."""
    scheme = KaryResponse.calibrate(categories=12, epsilon=10)
    for step in range(1, 200):
        tally = np.array([1000 + step * place for place in range(1, 11)] + [0, 0])
        largest = cumulative_shares(scheme, tally, int(tally.sum())).quantile(1)
        assert largest.low <= 9
