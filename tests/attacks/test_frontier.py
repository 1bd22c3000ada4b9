"""Below the square root of the people nearly all bits are found, above it hardly any; and facts."""

from fractions import Fraction

import pytest

from discreet.attacks.reconstruction.frontier import measure_frontier
from discreet.attacks.reconstruction.population_fact import play_population_fact
from discreet.core.errors import InvalidArgument
from tests.support.statistics.exact_tests import alpha


def test_frontier_runs_from_nearly_everything_to_hardly_anything(rng):
    """A share of 300 fair bits is within 0.2 of its mean but for 8e-11 (Hoeffding)."""
    found = measure_frontier(300, 2400, rng=rng, noises=["0.05", 2, 4])
    low, high, higher = found.points
    assert low.found >= Fraction(95, 100)
    assert abs(high.found - Fraction(high.expected)) < Fraction(2, 10)
    assert higher.found < Fraction(higher.expected) + Fraction(2, 10) < Fraction(8, 10)
    assert "bits found" in str(found)
    assert found.to_json()["points"][0]["found"] >= 0.95


def test_no_noise_and_bad_frontiers(rng):
    assert measure_frontier(10, 100, rng=rng, noises=[0]).points[0].found == 1
    for people, queries, noises in ((10, 10, [1]), (10, 100, []), (10, 100, [-1])):
        with pytest.raises(InvalidArgument):
            measure_frontier(people, queries, rng=rng, noises=noises)


def test_a_fact_tells_the_bit_of_somebody_who_is_not_there(rng):
    found = play_population_fact(1000, epsilon=1, trials=400, rng=rng)
    assert found.absent.breaks_ceiling(alpha("population/absent"))
    assert found.present.breaks_ceiling(alpha("population/present"))
    gap = abs(Fraction(found.present.right - found.absent.right, 400))
    assert gap <= found.added
    assert "not what a fact about everybody tells" in str(found)


def test_of_one_person_alone_there_is_no_fact_to_learn(rng):
    """A crowd of one says little, and the ceiling holds for the bit itself."""
    found = play_population_fact(1, epsilon="0.1", trials=400, rng=rng)
    assert not found.absent.breaks_ceiling(alpha("population/few"))


@pytest.mark.parametrize(("epsilon", "gap"), [(0, "0.2"), (1, 0), (1, 2)])
def test_bad_games_are_refused(rng, epsilon, gap):
    with pytest.raises(InvalidArgument):
        play_population_fact(10, epsilon=epsilon, trials=5, rng=rng, gap=gap)
