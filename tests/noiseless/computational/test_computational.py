"""Computational privacy: games that refute, oracles that are random, ideals that are near."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.core.errors import InvalidArgument, Unsupported
from discreet.mechanisms.noise.uniform_smoothing import smoothed_delta
from discreet.noiseless.computational import generator_claim as claims
from discreet.noiseless.computational import random_oracle
from discreet.noiseless.computational.computational_definitions import (
    DEFINITIONS_SAY,
    ComputationalDefinition,
    check_simulation,
    simulate_pair,
)
from discreet.noiseless.computational.distinguishing_game import play_distinguishing
from discreet.noiseless.computational.generator_claim import generator_claim
from discreet.noiseless.computational.random_oracle import LazyOracle, with_random_oracle
from discreet.noiseless.finite.checked_delta import factors
from discreet.noiseless.finite.compared_laws import check_differential, closeness
from discreet.randomness import rng as generator
from tests.support.statistics.exact_tests import alpha, binomial_p_value
from tests.support.statistics.finite_laws import laws, response

# ---- The game


def respond(bit, rng):
    """Randomised response that tells the truth in 3 of 4 cases: ln 3 is its loss."""
    return bit if int(rng.words(1)[0]) % 4 else 1 - bit


def is_one(answer, _):
    return answer == 1


def test_the_game_refutes_what_is_false_and_not_what_is_true(rng):
    level = alpha("distinguishing/response", parts=3)
    trials = 4000
    right = play_distinguishing(
        respond, is_one, (1, 0), "1.0987", rng, trials=trials, failure=level
    )
    assert not right.refutes()
    assert "proves nothing" in str(right)
    wrong = play_distinguishing(respond, is_one, (1, 0), "0.5", rng, trials=trials, failure=level)
    assert wrong.refutes("0.1")
    assert "Refuted at ε = 0.5" in str(wrong)
    backwards = play_distinguishing(
        respond, is_one, (0, 1), "0.5", rng, trials=trials, failure=level
    )
    assert backwards.refutes("0.1")


def test_a_bound_is_below_the_true_advantage(rng):
    """The true one is 3/4 - e^0.5 / 4 = 0.3378."""
    game = play_distinguishing(
        respond, is_one, (1, 0), "0.5", rng, trials=5000, failure=alpha("distinguishing/bound")
    )
    assert Fraction("0.2") < game.advantage <= Fraction("0.3379")


def test_a_test_that_looks_at_nothing_refutes_nothing(rng):
    game = play_distinguishing(
        lambda x, _: x,
        lambda _, words: bool(int(words.words(1)[0]) % 2),
        (0, 1),
        0,
        rng,
        trials=500,
        failure=alpha("distinguishing/blind"),
    )
    assert not game.refutes()


@pytest.mark.parametrize(
    "bad",
    [
        {"epsilon": -1},
        {"epsilon": 65},
        {"epsilon": "nan"},
        {"trials": 0},
        {"trials": "1/2"},
        {"failure": 0},
        {"failure": 1},
        {"neighbours": (1, 2, 3)},
    ],
)
def test_games_out_of_range(rng, bad):
    asked = {"neighbours": (0, 1), "epsilon": 1, "trials": 10, "failure": "0.05", **bad}
    with pytest.raises(InvalidArgument):
        play_distinguishing(respond, is_one, rng=rng, **asked)


def test_a_delta_out_of_range(rng):
    game = play_distinguishing(respond, is_one, (0, 1), 1, rng, trials=2)
    with pytest.raises(InvalidArgument):
        game.refutes(2)


# ---- The random oracle


def test_an_oracle_is_a_function_that_keeps_lengths(rng):
    oracle = LazyOracle(rng)
    asked = [bytes([i]) * size for i in range(20) for size in range(12)]
    first = [oracle(question) for question in asked]
    assert [oracle(question) for question in reversed(asked)] == first[::-1]
    assert [len(answer) for answer in first] == [len(question) for question in asked]
    assert oracle(b"") == b""


def test_each_invocation_has_its_own(rng):
    asked = with_random_oracle(lambda x, oracle, _: oracle(x))
    assert len({asked(b"sixteen bytes ..", rng) for _ in range(50)}) == 50


def test_answers_are_uniform(rng):
    oracle = LazyOracle(rng)
    drawn = np.frombuffer(b"".join(oracle(i.to_bytes(5, "big")) for i in range(2000)), np.uint8)
    ones = int(np.unpackbits(drawn).sum())
    level = alpha("random oracle/bits")
    assert binomial_p_value(ones, 80_000, Fraction(1, 2)) > level
    assert binomial_p_value(ones + 4000, 80_000, Fraction(1, 2)) < level


def test_a_mechanism_that_hides_by_its_function_is_private_once_that_is_random(rng):
    """A bit is masked by the function's value at a random point that is not released."""

    def masked(bit, oracle, words):
        point = words.words(2).tobytes()
        return (oracle(point)[0] & 1) ^ bit

    game = play_distinguishing(
        with_random_oracle(masked),
        is_one,
        (0, 1),
        0,
        rng,
        trials=2000,
        failure=alpha("random oracle/masked"),
    )
    assert not game.refutes()

    def leaks(bit, oracle, _):
        return int(oracle(b"0") == oracle(bytes([bit + 48])))

    twin = play_distinguishing(
        with_random_oracle(leaks),
        is_one,
        (0, 1),
        1,
        rng,
        trials=500,
        failure=alpha("random oracle/leaks"),
    )
    assert twin.refutes("0.7")


def test_bad_questions(rng, monkeypatch):
    oracle = LazyOracle(rng)
    with pytest.raises(InvalidArgument, match="bytes"):
        oracle("text")  # type: ignore[arg-type]
    monkeypatch.setattr(random_oracle, "MOST_BYTES", 16)
    with pytest.raises(Unsupported):
        oracle(bytes(9))


# ---- Definitions


def test_every_definition_says_what_can_be_checked():
    assert set(DEFINITIONS_SAY) == set(ComputationalDefinition)
    assert all(words.says and words.checkable for words in DEFINITIONS_SAY.values())


@settings(max_examples=40)
@given(laws(), laws(), st.sampled_from(["0", "0.5", "2"]))
def test_for_each_pair_there_is_a_private_mechanism_as_near_as_delta_allows(p, q, epsilon):
    pair = simulate_pair(p, q, epsilon)
    _, low, high = factors(epsilon)
    assert closeness(*pair.ideal, low) == 0
    delta = closeness(p, q, low)
    assert pair.distance <= delta / (1 + low)
    assert closeness(p, q, high) <= (1 + high) * pair.distance


def test_a_real_mechanism_near_an_ideal_one():
    """The ideal one is pure; the real one leaks with probability 1/1000."""
    often, rarely = response(Fraction(3))
    ideal = {(0,): often, (1,): rarely}
    leak = Fraction(1, 1000)
    real = {
        x: {**{t: (1 - leak) * mass for t, mass in law.items()}, ("it is", x): leak}
        for x, law in ideal.items()
    }
    found = check_simulation(real, ideal, "1.0987")
    assert found.ideal_delta == 0
    assert found.distance == leak
    assert check_differential(real, "1.0987").high <= found.delta
    assert float(found.delta) == pytest.approx(0.004, rel=1e-3)
    with pytest.raises(InvalidArgument, match="different databases"):
        check_simulation(real, {(0,): often}, 1)


# ---- Our own generator, and smoothing


def test_the_claim_is_about_the_generator_that_there_is():
    assert claims.WORDS_PER_KEY == generator._WORDS_PER_KEY
    assert generator_claim(0).distinguishing == 0
    million = generator_claim(10**6)
    assert million.keys == 1
    assert float(million.distinguishing) == pytest.approx(2**-83)
    assert "1 keys" in str(million)
    assert generator_claim(2**24 + 1).keys == 2
    assert generator_claim(10**6, cipher=1).distinguishing == 1


@pytest.mark.parametrize("bad", [{"words": -1}, {"words": 1, "cipher": 2}, {"words": "x"}])
def test_claims_out_of_range(bad):
    with pytest.raises(InvalidArgument):
        generator_claim(**bad)


def test_with_smoothing_the_claim_becomes_one_against_everybody():
    """A million words, an answer with mean error 1: δ̂ at ε = 1 is about 4e-6."""
    smoothed = smoothed_delta(
        epsilon=1, distinguishing=generator_claim(10**6).distinguishing, error=1
    )
    assert smoothed.delta < Fraction(1, 10**5)


def test_smoothing_makes_a_lowest_bit_that_tells_all_private():
    """Laplace noise on a fine grid, whose lowest bit is the database.

    Every interval has nearly the right probability, and that is all that the theorem asks of the
    tests; but the lowest bit tells the two databases apart for certain. Smoothed, δ is below the
    theorem's, and the error is within its bound.
    """
    bits, epsilon, reach = 14, 1.0, 12
    grid = np.arange(-reach << bits, (reach + 1) << bits, dtype=np.int64)
    right, wrong = [], []
    for bit in (0, 1):
        law = np.exp(-epsilon * np.abs(grid / 2.0**bits - bit))
        law /= law.sum()
        right.append(law)
        moved = np.where(grid % 2 == bit, law + np.roll(law, -1), 0.0)
        wrong.append(moved / moved.sum())

    def stick(p, q):
        return float(np.maximum(p - np.exp(epsilon) * q, 0.0).sum())

    assert stick(wrong[0], wrong[1]) > 0.999
    gaps = [np.cumsum(a - b) for a, b in zip(right, wrong, strict=True)]
    advantage = max(float(gap.max() - gap.min()) for gap in gaps)
    error = max(
        float((law * np.abs(grid / 2.0**bits - bit)).sum()) for bit, law in enumerate(wrong)
    )
    smoothed = smoothed_delta(epsilon=1, distinguishing=advantage, error=error, grid_bits=bits)
    half = int(smoothed.radius * 2**bits)
    box = np.full(2 * half + 1, 1.0 / (2 * half + 1))
    soft = [np.convolve(law, box, mode="same") for law in wrong]
    assert max(stick(soft[0], soft[1]), stick(soft[1], soft[0])) < float(smoothed.delta) < 0.6
    after = max(float((law * np.abs(grid / 2.0**bits - bit)).sum()) for bit, law in enumerate(soft))
    assert error < after <= float(smoothed.error)
