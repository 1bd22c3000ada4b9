"""Pictures of a noisy histogram: near the truth where it is clear, spread out where it is not."""

import numpy as np
import pytest
from attrs import evolve

from discreet.core.errors import Unsupported
from discreet.curator.limits.likely_histograms import PICTURES, likely
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.selection.quantile import Quantile
from discreet.releases.histogram import Histogram, count_bins

SPREAD = (np.arange(2000) + 0.5) / 2000
LAWS = {
    "ones": np.ones(3000, dtype=int),
    "up to ten": np.arange(5000) % 10 + 1,
    "geometric": np.ceil(np.log(SPREAD) / np.log(0.9)).astype(int),
    "two humps": np.concatenate([np.ones(2000, dtype=int), np.arange(100) + 200]),
    "heavy": np.minimum(SPREAD ** (-1 / 1.2), 900).astype(int),
}
ENDS = count_bins(1000)


def histogram_of(numbers, noise, *, most=1000) -> Histogram:
    places = np.searchsorted(np.array(ENDS), numbers, side="left")
    exact = np.bincount(places, minlength=len(ENDS) + 1)
    return Histogram(ends=ENDS, values=tuple(exact.tolist()), noise=noise, most=most)


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("most", [1000, None])
def test_clear_histograms_are_seen_as_they_are(name, most):
    """With hardly any noise every picture cuts what the rows say, but for the width of bins."""
    numbers = LAWS[name]
    histogram = histogram_of(numbers, DiscreteLaplace(scale="1/4"), most=most)
    found = likely(histogram, (len(numbers), 1.0))
    assert found.units.shape == (PICTURES, len(ENDS) + 1)
    assert (found.units >= 0).all()
    for limit in (1, 3, 10):
        cut = np.maximum(numbers - limit, 0).sum()
        assert (abs(found.beyond(limit) - cut) < 0.15 * numbers.sum()).all()


def test_noise_spreads_the_pictures_and_the_truth_is_among_them():
    """The same numbers under more noise: the pictures hold more that is possible."""
    numbers = LAWS["heavy"][::3]
    cut = np.maximum(numbers - 20, 0).sum()
    widths = []
    for scale in (1, 30, 300):
        histogram = histogram_of(numbers, DiscreteLaplace(scale=scale))
        found = likely(histogram, (len(numbers), 10.0 * scale)).beyond(20)
        assert found.min() < 2 * cut
        assert found.max() > cut / 2
        widths.append(found.max() - found.min())
    assert widths == sorted(widths)


def test_nobody_at_all_is_a_picture_too():
    histogram = Histogram(
        ends=ENDS, values=(0,) * (len(ENDS) + 1), noise=DiscreteLaplace(scale=3), most=1000
    )
    found = likely(histogram, (1.0, 20.0))
    assert np.isfinite(found.units).all()
    assert found.total().min() < 100


def test_one_bin_is_enough():
    histogram = Histogram(ends=(1,), values=(40, 0), noise=DiscreteLaplace(scale=3), most=1)
    found = likely(histogram, (40.0, 3.0))
    assert (abs(found.total() - 40) < 20).all()


def test_gaussian_noise_is_known_and_choices_are_not():
    numbers = LAWS["geometric"]
    found = likely(histogram_of(numbers, DiscreteGaussian(sigma_squared=9)), (2000.0, 10.0))
    assert abs(np.median(found.total()) - numbers.sum()) < 0.15 * numbers.sum()
    choice = Quantile(quantile="1/2", lower=0, upper=9, scale=1)
    with pytest.raises(Unsupported):
        likely(histogram_of(numbers, choice), (2000.0, 10.0))


@pytest.mark.parametrize(("heavy", "is_sure"), [(0, True), (7, False), (20, True)])
def test_heavy_units_who_may_be_noise_are_not_sure(heavy, is_sure):
    """Seven in the last of fifty bins are noise of scale 1 now and then; twenty never are."""
    clear = histogram_of(LAWS["up to ten"], DiscreteLaplace(scale=1), most=None)
    values = (*clear.values[:-1], clear.values[-1] + heavy)
    found = likely(evolve(clear, values=values), (5000.0, 10.0))
    without = found.without_unsure()
    assert (without.units <= found.units + 1e-9).all()
    assert np.median(found.units[:, -1]) == pytest.approx(heavy, abs=1)
    assert np.median(without.units[:, -1]) == pytest.approx(heavy if is_sure else 0, abs=1)
