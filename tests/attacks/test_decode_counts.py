"""Decoders find nearly all bits below noise of √n, and hardly any of private answers."""

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.attacks.models.exact_attack import read_totals, solve_rows
from discreet.attacks.reconstruction.decode_counts import (
    all_subsets,
    consistent_bits,
    decode_linear,
    decode_squares,
    expected_share,
    find_undetermined,
    random_subsets,
)
from discreet.attacks.reconstruction.guess_ceiling import GuessingRecord, guess_ceiling
from discreet.attacks.reconstruction.subset_counts import ExactCounts, NoisyCounts
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Pure
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.randomness.samplers import bernoulli, discrete_gaussian
from tests.support.statistics.exact_tests import alpha, bernstein_slack

DECODERS = [decode_squares, decode_linear]


def secret(people: int, rng) -> np.ndarray:
    return bernoulli(Fraction(1, 2), people, rng).astype(np.int64)


def noisy(bits, sets, deviation: float, rng) -> np.ndarray:
    noise = discrete_gaussian(Fraction(deviation) ** 2, len(sets), rng)
    return sets.astype(np.int64) @ bits + noise


def share(decode, people: int, queries: int, noise: float, rng) -> Fraction:
    bits, sets = secret(people, rng), random_subsets(people, queries, rng)
    answers = noisy(bits, sets, noise * math.sqrt(people), rng)
    return decode(sets, answers, people=people).share_right(bits)


# ---- The exhaustive search.


def test_exact_answers_leave_one_candidate(rng):
    bits, sets = secret(9, rng), all_subsets(9)
    found = consistent_bits(sets, ExactCounts(bits=bits).answers(sets), people=9, error=0)
    assert (found.count, found.decided) == (1, 9)
    assert found.first is not None
    assert found.first.tolist() == bits.tolist()
    assert found.always.tolist() == np.flatnonzero(bits).tolist()


@pytest.mark.parametrize("error", [1, 2])
def test_candidates_differ_from_the_truth_in_at_most_four_errors(error, rng):
    """Whatever errors of at most E are made: here random ones and the worst of one sign."""
    bits, sets = secret(10, rng), all_subsets(10)
    exact_counts = sets.astype(np.int64) @ bits
    for errors in (
        (rng.words(len(sets)) % np.uint64(2 * error + 1)).astype(np.int64) - error,
        np.full(len(sets), error),
        np.where(exact_counts % 2 == 0, error, -error),
    ):
        found = consistent_bits(sets, exact_counts + errors, people=10, error=error)
        assert found.first is not None
        assert int((found.first != bits).sum()) <= 4 * error


def test_answers_that_contradict_the_error_say_nothing():
    sets = all_subsets(3)
    answers = sets.astype(np.int64) @ np.array([1, 1, 0])
    answers[-1] += 2
    found = consistent_bits(sets, answers, people=3, error=0)
    assert (found.count, found.first, found.decided) == (0, None, 0)


def test_a_fractional_error_is_exact():
    """An answer of 1/2 is within 1/2 of 0 and of 1, and within less of neither."""
    one = np.array([[True]])
    assert consistent_bits(one, [0.5], people=1, error="0.5").count == 2
    assert consistent_bits(one, [0.5], people=1, error="0.4999999999999999999").count == 0


# ---- The frontier.


@pytest.mark.parametrize("decode", DECODERS)
def test_bits_are_found_below_the_frontier(decode, rng):
    assert share(decode, 60, 480, 0.05, rng) >= Fraction(95, 100)


def test_hardly_any_are_found_far_above_it(rng):
    """About 63 % of 800 nearly independent bits: three in four with a chance of 1e-11."""
    found = [share(decode_squares, 200, 1600, 2, rng) for _ in range(4)]
    assert sum(found) / 4 <= Fraction(75, 100)


def test_frontier_of_five_hundred_people(soak, rng):
    """Of nearly independent bits 63 % are found: more than 78 % of 500 with a chance of 3e-13."""
    for _ in range(soak.cases(1)):
        assert share(decode_squares, 500, 4000, 0.05, rng) >= Fraction(95, 100)
        assert Fraction(1, 2) < share(decode_squares, 500, 4000, 2, rng) <= Fraction(78, 100)


@pytest.mark.parametrize("noise", [0.3, 0.6, 1.2])
def test_law_of_least_squares(noise, rng):
    """Runs are independent; the entries of one nearly are, so its variance is about theirs.

    Of 3,000 runs the mean was off the law of large numbers by .003, and the variance by 7 %. Twice
    the noise is .09 away, and looks like it with a chance of 4e-13, by Bernstein's inequality.
    """
    people, queries, count = 50, 300, 400
    deviation = noise * math.sqrt(people)
    runs = [float(share(decode_squares, people, queries, noise, rng)) for _ in range(count)]
    law = expected_share(people, queries, deviation)
    slack = 0.005 + bernstein_slack(
        count,
        variance=1.1 * law * (1 - law) / people,
        most=max(law, 1 - law),
        rate=alpha("attacks/decode/law", parts=3),
        sides=2,
    )
    assert abs(np.mean(runs) - law) < slack
    assert abs(np.mean(runs) - expected_share(people, queries, 2 * deviation)) > slack


def test_linear_programme_resists_wild_answers(rng):
    """Least squares find as many as a coin: nine tenths of 100 are over six deviations away."""
    bits, sets = secret(100, rng), random_subsets(100, 800, rng)
    answers = sets.astype(np.int64) @ bits
    answers[::10] = 10_000
    assert decode_linear(sets, answers, people=100).share_right(bits) == 1
    assert decode_squares(sets, answers, people=100).share_right(bits) < Fraction(9, 10)


# ---- Private answers.


def _first_bits(noise_of, trials: int, rng) -> GuessingRecord:
    """Play for the first bit of each run: runs are independent, bits of one run are not."""
    right = 0
    for _ in range(trials):
        bits, sets = secret(8, rng), random_subsets(8, 96, rng)
        held = int(sets.sum(axis=0).max())
        world = NoisyCounts(bits=bits, noise=noise_of(max(held, 1)), rng=rng)
        found = decode_squares(sets, world.answers(sets), people=8)
        right += int(found.bits[0] == bits[0])
    return GuessingRecord(right=right, trials=trials, ceiling=guess_ceiling(Pure(1)))


def test_private_answers_stay_below_the_ceiling(rng):
    """A bit is counted by so many sets: with noise of that scale they lose ε = 1 together."""
    record = _first_bits(lambda held: DiscreteLaplace(scale=held), 500, rng)
    assert not record.breaks_ceiling(alpha("attacks/decode/private"))


def test_broken_twin_that_pays_for_one_query_is_caught(rng):
    record = _first_bits(lambda _: DiscreteLaplace(scale=1), 500, rng)
    assert record.breaks_ceiling("1e-9")


# ---- What counts do not determine.


def test_undetermined_bits_are_those_that_exact_elimination_leaves_open(rng):
    for people in range(2, 9):
        for count in (1, people // 2, people - 1, people, 2 * people):
            bits, sets = secret(people, rng), random_subsets(people, max(1, count), rng)
            answers = ExactCounts(bits=bits).answers(sets)
            answers[0] = None if count > 2 else answers[0]
            totals = [
                {"of": np.flatnonzero(members).tolist(), "total": answer}
                for members, answer in zip(sets, answers, strict=True)
                if answer is not None
            ]
            solved = solve_rows(read_totals({"rows": people, "totals": totals})).values
            left = find_undetermined(sets, answers, people=people).tolist()
            assert left == [one for one in range(people) if one not in solved]


def test_sums_of_prefixes_determine_everybody():
    sets = np.tri(300, dtype=bool)
    assert find_undetermined(sets, range(300), people=300).size == 0
    assert find_undetermined(sets[1:], range(299), people=300).tolist() == [0, 1]


# ---- Bad input.


def test_refused_answers_are_left_out(rng):
    bits, sets = secret(12, rng), random_subsets(12, 120, rng)
    answers = ExactCounts(bits=bits).answers(sets)
    answers[:40] = [None] * 40
    for decode in DECODERS:
        assert decode(sets, answers, people=12).share_right(bits) == 1


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ([1], "do not belong together"),
        ([None, None], "nothing to decode"),
        ([math.nan, 1], "nothing to decode"),
        (["a", 1], "nothing to decode"),
    ],
)
def test_bad_answers_are_refused(answers, message):
    for decode in DECODERS:
        with pytest.raises(InvalidArgument, match=message):
            decode(np.ones((2, 3), dtype=bool), answers, people=3)


def test_bad_parameters_are_refused():
    ones = np.ones((1, 30), dtype=bool)
    with pytest.raises(InvalidArgument, match="too many candidates"):
        consistent_bits(ones, [1], people=30, error=0)
    with pytest.raises(InvalidArgument, match="at least 0"):
        consistent_bits(ones[:, :3], [1], people=3, error=-1)
    with pytest.raises(InvalidArgument, match="at most 20"):
        all_subsets(21)
    with pytest.raises(InvalidArgument, match="more queries"):
        expected_share(10, 10, 1)
    with pytest.raises(InvalidArgument, match="same people"):
        decode_squares(ones, [1], people=30).share_right([1])
