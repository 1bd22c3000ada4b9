"""Differencing finds a bit in unprotected answers, and stays below its ceiling in private ones."""

from fractions import Fraction

import numpy as np
import pytest

from discreet.attacks.differencing import (
    difference,
    guess_by_refusal,
    padded_pairs,
    queries_to_average,
    track,
    track_groups,
    track_overlap,
)
from discreet.attacks.reconstruction.grouped_sum import GroupedSum, value_range
from discreet.attacks.reconstruction.guess_ceiling import (
    GuessingRecord,
    guess_ceiling,
    play_guessing,
)
from discreet.attacks.reconstruction.subset_counts import (
    AtomicCounts,
    ExactCounts,
    MemoisedCounts,
    NoisyCounts,
    RestrictedCounts,
    SuppressedCounts,
)
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Approximate, Pure
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from tests.support.statistics.exact_tests import alpha

PEOPLE = 24
EVERYBODY = np.ones(PEOPLE, dtype=np.bool_)
OTHERS = np.arange(PEOPLE) > 0
PAIR = (EVERYBODY, OTHERS)


def bits_of(bit: bool) -> np.ndarray:
    return np.array([bit, *([1, 0, 0] * 8)[: PEOPLE - 1]], dtype=np.int64)


# ---- The ceiling.


@pytest.mark.parametrize(
    ("loss", "value"),
    [
        (Pure(0), 0.5),
        (Pure(1), 0.7310585786300049),
        (Pure(3), 0.9525741268224334),
        (Approximate(1, Fraction(1, 10)), (np.e + 0.1) / (1 + np.e)),
        (Pure(1000), 1.0),
    ],
)
def test_ceiling_is_the_formula_rounded_up(loss, value):
    found = guess_ceiling(loss)
    assert value - 1e-15 <= found <= value + 1e-12


def test_ceiling_of_two_steps_is_that_of_a_group():
    assert guess_ceiling(Pure(1), steps=2) == guess_ceiling(Pure(2))
    with pytest.raises(InvalidArgument):
        guess_ceiling(Pure(1), steps=0)


def test_randomised_response_reaches_the_ceiling():
    """With a truth probability of e^ε/(1+e^ε) the best guess is the answer itself."""
    assert guess_ceiling(Pure(Fraction(2))) - Fraction(np.exp(2) / (1 + np.exp(2))) < 1e-12


# ---- Exact answers.


@pytest.mark.parametrize("bit", [False, True])
def test_exact_answers_give_the_bit_away(bit):
    found = difference(ExactCounts(bits=bits_of(bit)), [PAIR])
    assert (found.guess, found.estimate, found.queries, found.refused) == (bit, Fraction(bit), 2, 0)
    assert ("has the bit" in str(found)) is bit or "does not" in str(found)


@pytest.mark.parametrize("bit", [False, True])
@pytest.mark.parametrize("person", [0, 5, PEOPLE - 1])
def test_tracker_passes_the_rule_on_sizes(bit, person):
    bits = bits_of(False)
    bits[person] = bit
    ruled = RestrictedCounts(inner=ExactCounts(bits=bits), least=3)
    assert difference(ruled, [PAIR]).guess is None
    for size in (6, 12, 18):
        found = track(ruled, person, np.arange(PEOPLE) < size)
        assert (found.guess, found.queries) == (bit, 4)


def test_a_tracker_that_is_too_small_is_refused_and_says_so():
    ruled = RestrictedCounts(inner=ExactCounts(bits=bits_of(True)), least=3)
    found = track(ruled, 0, np.arange(PEOPLE) < 1)
    assert found.guess is None
    assert "Nothing was recovered" in str(found)


@pytest.mark.parametrize("least", [1, 2, 3, 5])
@pytest.mark.parametrize("bit", [False, True])
def test_grid_passes_the_rule_on_overlaps(least, bit, rng):
    people = max(least * (least - 1) + 1, 2 * least)
    bits = (rng.words(people) % np.uint64(2)).astype(np.int64)
    bits[1] = bit
    ruled = RestrictedCounts(inner=ExactCounts(bits=bits), least=least, most_overlap=1)
    found = track_overlap(ruled, 1, people, least)
    assert (found.guess, found.queries, found.refused) == (bit, 2 * least - 1, 0)


def test_rule_on_overlaps_refuses_the_plain_difference():
    ruled = RestrictedCounts(inner=ExactCounts(bits=bits_of(True)), least=1, most_overlap=1)
    assert ruled.answers([OTHERS, EVERYBODY, OTHERS])[1] is None


def test_grid_needs_enough_people():
    with pytest.raises(InvalidArgument, match="too few people"):
        track_overlap(ExactCounts(bits=[0, 1, 1]), 0, 3, 3)


@pytest.mark.parametrize("bit", [False, True])
def test_refusal_leaks(bit):
    """Of the others in the query exactly two have the bit, and counts below three are refused."""
    query = np.arange(PEOPLE) < 5
    assert bits_of(bit)[1:5].sum() == 2
    printed = SuppressedCounts(inner=ExactCounts(bits=bits_of(bit)), below=3)
    assert guess_by_refusal(printed, query) is bit


# ---- Noisy answers.


def test_averaging_wins_when_nobody_counts_the_loss(rng):
    """The mean of 6400 differences has a deviation of 0.05 at most: 1/2 is ten of them away."""
    pairs = queries_to_average(8, "0.01")
    assert pairs == 6400
    for bit in (False, True):
        noisy = NoisyCounts(bits=bits_of(bit), noise=DiscreteLaplace(scale=2), rng=rng)
        assert difference(noisy, [PAIR] * pairs).guess is bit


def test_memory_stops_plain_averaging_and_not_padded_pairs(rng):
    def memory(bit: bool) -> MemoisedCounts:
        return MemoisedCounts(
            inner=NoisyCounts(bits=bits_of(bit), noise=DiscreteLaplace(scale=2), rng=rng)
        )

    kept = memory(True)
    once = difference(kept, [PAIR]).estimate
    assert difference(kept, [PAIR] * 500).estimate == once
    for bit in (False, True):
        assert difference(memory(bit), padded_pairs(0, PEOPLE, 6400, rng)).guess is bit


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(3)])
@pytest.mark.parametrize("times", [1, 4])
def test_private_answers_stay_below_the_ceiling(epsilon, times, rng):
    """The loss of all 2k answers together is ε: each has noise of scale 2k/ε."""
    noise = DiscreteLaplace(scale=2 * times / epsilon)
    record = play_guessing(
        lambda bit: NoisyCounts(bits=bits_of(bit), noise=noise, rng=rng),
        lambda interface: difference(interface, [PAIR] * times).guess,
        trials=400,
        loss=Pure(epsilon),
        rng=rng,
    )
    assert not record.breaks_ceiling(alpha("attacks/differencing/private", parts=6))


def test_broken_twin_that_forgets_to_compose_is_caught(rng):
    """Each of 40 answers is private at ε = 1, and the interface says that all of them are."""
    record = play_guessing(
        lambda bit: NoisyCounts(bits=bits_of(bit), noise=DiscreteLaplace(scale=1), rng=rng),
        lambda interface: difference(interface, [PAIR] * 20).guess,
        trials=400,
        loss=Pure(1),
        rng=rng,
    )
    assert record.breaks_ceiling("1e-9")
    assert "nobody can do better than 73.11 %" in str(record)


def test_refusal_on_a_private_count_stays_below_the_ceiling(rng):
    query = np.arange(PEOPLE) < 5

    def world(bit: bool) -> SuppressedCounts:
        noisy = NoisyCounts(bits=bits_of(bit), noise=DiscreteLaplace(scale=1), rng=rng)
        return SuppressedCounts(inner=noisy, below=3)

    record = play_guessing(
        world, lambda one: guess_by_refusal(one, query), trials=400, loss=Pure(1), rng=rng
    )
    assert not record.breaks_ceiling(alpha("attacks/differencing/refusal"))


def test_who_cannot_tell_tosses_a_coin(rng):
    record = play_guessing(
        lambda bit: SuppressedCounts(inner=ExactCounts(bits=bits_of(bit)), below=100),
        lambda interface: difference(interface, [PAIR]).guess,
        trials=1000,
        loss=Pure(0),
        rng=rng,
    )
    share = alpha("attacks/differencing/coin", parts=2)
    assert not record.breaks_ceiling(share)
    assert record.highest(share) > Fraction(1, 2)


# ---- Sums of groups.


def test_extreme_sum_gives_all_values_away():
    assert value_range(GroupedSum(people=3, total=0, low=0, high=9)) == (Fraction(0), Fraction(0))
    assert value_range(GroupedSum(people=3, total=27, low=0, high=9)) == (Fraction(9), Fraction(9))


@pytest.mark.parametrize("people", [1, 2, 3])
def test_range_is_what_enumeration_finds(people):
    grid = np.stack(np.meshgrid(*[np.arange(-1, 4)] * people), axis=-1).reshape(-1, people)
    for total in range(-people, 3 * people + 1):
        rows = grid[grid.sum(axis=1) == total]
        group = GroupedSum(people=people, total=total, low=-1, high=3)
        assert value_range(group) == (rows.min(), rows.max())


def test_impossible_sum_is_refused():
    with pytest.raises(InvalidArgument, match="have the sum"):
        GroupedSum(people=2, total=19, low=0, high=9)


# ---- Bad input.


def test_bad_input_is_refused():
    with pytest.raises(InvalidArgument, match="nothing to ask"):
        difference(ExactCounts(bits=[1]), [])
    with pytest.raises(InvalidArgument, match="secret bits"):
        ExactCounts(bits=[2, 0])
    with pytest.raises(InvalidArgument, match="sets of people"):
        ExactCounts(bits=[1, 0]).answers([[True]])
    with pytest.raises(InvalidArgument, match="no such person"):
        track(ExactCounts(bits=[1, 0]), 2, np.array([True, False]))
    with pytest.raises(InvalidArgument):
        GuessingRecord(right=0, trials=0, ceiling=Fraction(1))


class _Mute:
    def answers(self, queries):
        return []


def test_interface_that_does_not_answer_is_refused():
    with pytest.raises(InvalidArgument, match="answer each query once"):
        difference(_Mute(), [PAIR])


# ---- Groups that are counted as a whole.


def test_whole_groups_are_counted_and_no_part_of_one():
    groups = np.array([0, 0, 1, 1, 1])
    ruled = AtomicCounts(inner=ExactCounts(bits=[1, 0, 1, 1, 1]), groups=groups)
    assert ruled.answers([groups == 0, groups == 1, groups >= 0]) == [1, 3, 4]
    assert difference(ruled, [(groups >= 0, np.arange(5) > 0)]).guess is None


def test_groups_tell_exactly_what_all_bits_that_fit_have_in_common():
    """Every assignment of bits to five people in two groups, against all that fit its counts."""
    groups = np.array([0, 0, 1, 1, 1])
    every = [np.array([code >> place & 1 for place in range(5)]) for code in range(32)]
    for bits in every:
        for known in ({}, {1: bool(bits[1])}, {2: bool(bits[2]), 4: bool(bits[4])}):
            ruled = AtomicCounts(inner=ExactCounts(bits=bits), groups=groups)
            fitting = [
                one
                for one in every
                if all(one[groups == name].sum() == bits[groups == name].sum() for name in (0, 1))
                and all(one[place] == bit for place, bit in known.items())
            ]
            common = {
                place: bool(bits[place])
                for place in range(5)
                if place not in known and len({int(one[place]) for one in fitting}) == 1
            }
            assert track_groups(ruled, groups, known=known) == common


def test_groups_that_contradict_what_is_known_tell_nothing():
    ruled = AtomicCounts(inner=ExactCounts(bits=[0, 0]), groups=[0, 0])
    assert track_groups(ruled, [0, 0], known={0: True}) == {}
