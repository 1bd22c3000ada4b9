"""The sketch: unbiased over the choice of maps, biased given them, and honest about both."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from attrs import evolve
from scipy import stats

from discreet.core.errors import InvalidArgument
from discreet.local.frequency.hadamard_sketch import MOST_ASKED, HadamardSketch
from discreet.local.frequency.walsh_hadamard import walsh_hadamard
from tests.local.frequency_cases import sketch_of_all_maps
from tests.support.local.device_law import device_law
from tests.support.statistics.exact_tests import alpha

SMALL = sketch_of_all_maps(4, 1, Fraction(1))
PAIRS_OF_MAPS = [evolve(SMALL, maps=pair) for pair in itertools.product(SMALL.maps, repeat=2)]
"""Every sketch of two maps that :meth:`HadamardSketch.draw` can draw, all equally likely."""


def supported(scheme: HadamardSketch, held: int, asked: int) -> Fraction:
    """How likely a report supports a value, exactly, by enumeration of the device."""
    likely = Fraction(0)
    for report, weight in device_law(scheme.recipe(), held).items():
        row = np.frombuffer(report, dtype=np.uint8).reshape(1, -1)
        likely += weight * int(scheme.supports(scheme.tally(row))[asked])
    return likely


def collide(scheme: HadamardSketch, first: int, second: int) -> Fraction:
    apart = first ^ second
    together = [all((row & apart).bit_count() % 2 == 0 for row in rows) for rows in scheme.maps]
    return Fraction(sum(together), len(together))


@pytest.mark.parametrize("maps", [((1,), (2,)), ((3,), (3,)), ((0,), (2,))], ids=str)
def test_given_the_maps_values_that_collide_support_each_other(maps):
    scheme = evolve(SMALL, maps=maps)
    for held, asked in itertools.product(range(4), repeat=2):
        share = collide(scheme, held, asked)
        wanted = Fraction(1, 2) + (scheme.held - Fraction(1, 2)) * share
        assert supported(scheme, held, asked) == wanted


def moments(values: list[int], asked: int) -> tuple[Fraction, Fraction]:
    """Mean and variance of an estimated share over all pairs of maps and all coins, exactly."""
    mean = square = Fraction(0)
    people = len(values)
    for scheme in PAIRS_OF_MAPS:
        likely = [supported(scheme, held, asked) for held in values]
        scale = people * (scheme.held - scheme.other)
        given = (sum(likely) - people * scheme.other) / scale
        spread = sum(p * (1 - p) for p in likely) / scale**2
        mean += given / len(PAIRS_OF_MAPS)
        square += (given**2 + spread) / len(PAIRS_OF_MAPS)
    return mean, square - mean**2


@pytest.mark.parametrize("values", [[0, 1, 1, 3], [1, 1, 1, 1], [0, 0, 2, 3]], ids=str)
def test_over_maps_and_coins_mean_and_variance_are_exact(values: list[int]):
    shares = [Fraction(values.count(value), len(values)) for value in range(4)]
    for asked in range(4):
        squares = sum((s**2 for s in shares), start=-(shares[asked] ** 2))
        mean, variance = moments(values, asked)
        two = PAIRS_OF_MAPS[0]
        assert mean == shares[asked]
        assert variance == two.variance(len(values), share=shares[asked], squares=squares)
        assert variance <= two.variance(len(values), share=shares[asked])


def test_without_the_mean_of_collisions_it_is_biased():
    """A broken twin: the estimator of signs alone, as if no two values ever collided."""
    asked, values = 0, [1, 1, 1, 1]
    naive = Fraction(0)
    for scheme in PAIRS_OF_MAPS:
        likely = Fraction(sum(supported(scheme, held, asked) for held in values), len(values))
        naive += (likely - Fraction(1, 2)) / (scheme.held - Fraction(1, 2)) / len(PAIRS_OF_MAPS)
    assert naive == Fraction(1, 2)
    assert moments(values, asked)[0] == 0


def test_intervals_cover_over_maps_and_coins(rng):
    """All others hold one value, the worst case; sketches are drawn anew each time."""
    level = alpha("hadamard_sketch/coverage")
    runs, people, missed, naive = 200, 2000, 0, 0
    values = np.array([5] * (people // 4) + [9] * (3 * people // 4))
    for _ in range(runs):
        scheme = HadamardSketch.draw(categories=64, epsilon=4, maps=4, width=8, rng=rng)
        tally = scheme.tally(scheme.randomise_many(values, rng))
        found = scheme.estimate_of(tally, people, np.array([5]))
        missed += not found.low[0] <= 0.25 <= found.high[0]
        naive += abs(found.shares[0] - 0.25) > 2 * 0.011
    assert stats.binom.sf(missed - 1, runs, 0.05) > level
    assert naive > runs // 4, "without the doubt about maps they would miss far too often"


def test_errors_are_those_of_maps_and_coins(rng):
    scheme = HadamardSketch.draw(categories=64, epsilon=1, maps=16, width=16, rng=rng)
    values = np.array([1] * 1000)
    found = scheme.estimate(scheme.randomise_many(values, rng))
    rare = int(np.argmin(np.abs(found.shares)))
    share = Fraction(float(np.clip(found.shares[rare], 0, 1)))
    most = scheme.variance(1000, share=share) + (1 - share) / 1000 / (16 * 15)
    assert found.errors[rare] == pytest.approx(float(most) ** 0.5)


def test_a_huge_domain_is_asked_by_name(rng):
    scheme = HadamardSketch.draw(categories=2**31, epsilon=8, maps=64, width=256, rng=rng)
    common = 2**31 - 7
    values = np.array([common] * 3000 + list(range(1000)))
    reports = scheme.randomise_many(values, rng)
    tally = scheme.tally(reports)
    asked = np.array([common, 12345678])
    found = scheme.estimate_of(tally, len(values), asked, confidence="0.999999999")
    assert found.low[0] <= 0.75 <= found.high[0] < 0.9
    assert found.low[1] == 0
    with pytest.raises(InvalidArgument, match="estimate_of"):
        scheme.estimate(reports)
    assert scheme.categories > MOST_ASKED


def test_maps_that_take_nothing_apart_tell_nothing():
    scheme = evolve(SMALL, maps=((0,), (0,)))
    assert scheme.odds() == 1
    assert device_law(scheme.recipe(), 0) == device_law(scheme.recipe(), 3)


@pytest.mark.parametrize(
    "maps", [(), ((),), ((1,), (1, 2)), ((4,),), ((-1,),), ((1,) * 17,)], ids=str
)
def test_bad_maps_are_refused(maps):
    with pytest.raises(InvalidArgument, match="maps are out of range"):
        evolve(SMALL, maps=maps)


@pytest.mark.parametrize("width", [0, 1, 3])
def test_a_width_is_a_power_of_two(width: int, rng):
    with pytest.raises(InvalidArgument):
        HadamardSketch.draw(categories=4, epsilon=1, maps=1, width=width, rng=rng)


def test_the_transform_is_that_of_the_matrix(rng):
    """Rows of a table are transformed each by itself."""
    values = (rng.words(3 * 16) >> np.uint64(40)).astype(np.int64).reshape(3, 16)
    places = np.arange(16)
    shared = places[:, None] & places
    signs = 1 - 2 * np.vectorize(lambda number: int(number).bit_count() % 2)(shared)
    assert (walsh_hadamard(values) == values @ signs).all()
