"""Tardos's code and its interactive form accuse all pirates and no innocent."""

import itertools
import math

import numpy as np
import pytest
from scipy import integrate

from discreet.attacks.statistics.fingerprint_code import (
    FingerprintCode,
    error_weight,
    score_parts,
)
from discreet.attacks.statistics.interactive_code import play_code
from discreet.attacks.statistics.pirates import PIRATES, mechanism_pirate, noisy
from discreet.attacks.statistics.tracing import standard_score
from discreet.core.errors import InvalidArgument
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from tests.support.statistics.exact_tests import alpha

USERS, COLLUDERS = 60, 10
MEMBERS = list(range(0, 60, 6))


SPARE = 1000
"""Tails of scores are a little heavier than normal ones: the level is divided by this."""


def rounded(means):
    return np.round(means / 0.4) * 0.4


@pytest.mark.parametrize("name", [*PIRATES, "noisy", "rounded means"])
def test_tardos_code_accuses_the_pirates_and_nobody_else(name, rng):
    failure = alpha("attacks/code/innocent", parts=8 * SPARE)
    code = FingerprintCode.practical(
        users=USERS, colluders=COLLUDERS, length=100_000, failure=failure
    )
    book = code.draw(rng)
    special = {
        "noisy": noisy(PIRATES["majority"], 0.05),
        "rounded means": mechanism_pirate(rounded),
    }
    pirate = {**PIRATES, **special}[name]
    found = book.accuse(pirate(book.words[MEMBERS], rng))
    guilty = np.zeros(USERS, dtype=bool)
    guilty[MEMBERS] = True
    assert not found.accused[~guilty].any()
    if name == "dictator":
        assert found.accused[MEMBERS[0]]
    elif name in ("noisy", "rounded means"):
        assert found.accused[guilty].sum() >= 5
    else:
        assert found.accused[guilty].all()


@pytest.mark.parametrize("name", ["minority", "random member"])
def test_the_interactive_code_accuses_all_ten(name, rng):
    code = FingerprintCode.practical(
        users=USERS,
        colluders=COLLUDERS,
        length=42_000,
        failure=alpha("attacks/code/play", parts=2 * SPARE),
    )
    game = play_code(code, PIRATES[name], MEMBERS, rng)
    assert sorted(game.accused_at) == MEMBERS
    assert game.innocent == 0
    assert game.rounds < code.length
    assert game.inconsistent == 0


def test_without_pirates_left_the_answers_become_wrong(rng):
    code = FingerprintCode.practical(users=20, colluders=2, length=12_000, fixed=3 / 8)
    game = play_code(code, PIRATES["majority"], [3, 7], rng, to_the_end=True)
    assert {3, 7} <= set(game.accused_at)
    after = code.length - max(game.accused_at[3], game.accused_at[7])
    width = standard_score(alpha("attacks/code/wrong", parts=2)) * math.sqrt(after / 4)
    assert abs(game.inconsistent - 3 / 8 * after) < width + 0.02 * after
    assert game.inconsistent > 1000


@pytest.mark.parametrize("fixed", [0.0, 3 / 8])
def test_innocents_score_with_mean_zero_and_the_stated_variance(fixed, rng):
    code = FingerprintCode.practical(users=800, colluders=10, length=2000, fixed=fixed)
    book = code.draw(rng)
    scores = book.accuse(book.words[0]).scores[1:]
    spread = math.sqrt((1 - 2 * fixed) * code.length)
    width = standard_score(alpha("attacks/code/scores", parts=4))
    assert abs(scores.mean()) < width * spread / math.sqrt(799) * 1.2
    # Biases are drawn as well, so a free position counts with its variance of one.
    free = int(((book.biases > 0) & (book.biases < 1)).sum())
    assert scores.std() == pytest.approx(math.sqrt(free), rel=width / math.sqrt(2 * 799) * 1.2)
    assert free == pytest.approx((1 - 2 * fixed) * 2000, abs=width * math.sqrt(2000 / 4) + 1e-9)


def worst_correlation(n, edge, fixed, weight):
    """Minimise over all pirates exactly: for each pattern of signs the worse answer is taken."""
    low = math.asin(math.sqrt(edge))
    scale = (1 - 2 * fixed) / (math.pi / 2 - 2 * low)
    total = 0.0
    for pattern in itertools.product((1, -1), repeat=n):
        ones = pattern.count(1)

        def density(angle, ones=ones):
            p = math.sin(angle) ** 2
            up, down = math.sqrt((1 - p) / p), -math.sqrt(p / (1 - p))
            return p**ones * (1 - p) ** (n - ones) * (ones * up + (n - ones) * down)

        drift, _ = integrate.quad(density, low, math.pi / 2 - low)
        drift *= scale
        all_up, all_down = fixed * (ones == n), fixed * (ones == 0)
        total += min(drift + weight * all_down, -drift + weight * all_up)
    return total


@pytest.mark.parametrize(("n", "errors"), [(2, 0.0), (3, 0.1), (4, 0.2)])
def test_the_corrected_weight_of_errors_holds_and_the_printed_one_does_not(n, errors):
    edge, fixed = (0.5 - errors) / (4 * n), 3 / 8 + errors / 4
    floor = (1 - 2 * n * edge) * (1 - 2 * fixed)
    constant = 1 / (math.pi - 4 * math.asin(math.sqrt(edge)))
    right = worst_correlation(n, edge, fixed, error_weight(edge, fixed))
    assert right >= 2 * constant * floor - 1e-12
    printed = worst_correlation(n, edge, fixed, 2 / math.pi * (1 - 2 * fixed) / fixed)
    if n < 4:
        assert printed < 2 / math.pi * floor - 1e-3


def test_a_private_mechanism_is_a_pirate_that_is_not_traced(rng):
    """Noise for all positions drowns the signs, so nobody is accused: it is no honest pirate."""
    code = FingerprintCode.practical(
        users=50, colluders=5, length=4000, failure=alpha("attacks/code/private", parts=SPARE)
    )
    book = code.draw(rng)
    noise = DiscreteLaplace(scale=code.length)

    def private(means):
        counts = np.round((1 + means) / 2 * 5).astype(np.int64)
        return 2 * noise.release(counts, rng) / 5 - 1

    found = book.accuse(mechanism_pirate(private)(book.words[:5], rng))
    assert not found.accused.any()
    assert found.inconsistent >= 0


def test_scores_have_variance_one_and_fixed_biases_none():
    p = np.array([0.0, 0.01, 0.3, 0.9, 1.0])
    middle, half = score_parts(p)
    mean = p * (middle + half) + (1 - p) * (middle - half)
    square = p * (middle + half) ** 2 + (1 - p) * (middle - half) ** 2
    assert mean == pytest.approx(0, abs=1e-12)
    assert square == pytest.approx([0, 1, 1, 1, 0])


@pytest.mark.parametrize(
    "build",
    [
        lambda: FingerprintCode.practical(users=5, colluders=6, length=10),
        lambda: FingerprintCode.practical(users=5, colluders=0, length=10),
        lambda: FingerprintCode.practical(users=5, colluders=2, length=0),
        lambda: FingerprintCode.practical(users=5, colluders=2, length=9, fixed=0.5),
        lambda: FingerprintCode.practical(users=5, colluders=2, length=9, failure=0),
        lambda: FingerprintCode.proved(users=5, colluders=2, errors=0.5),
        lambda: FingerprintCode.proved(users=5, colluders=2, failure=1),
        lambda: error_weight(0.1, 0.0),
        lambda: noisy(PIRATES["coin"], 2),
    ],
)
def test_bad_codes_are_refused(build):
    with pytest.raises(InvalidArgument):
        build()


def test_bad_games_are_refused(rng):
    code = FingerprintCode.practical(users=5, colluders=2, length=9)
    for members in ([], [5], [-1], [1, 1], [[1]], [0.5]):
        with pytest.raises(InvalidArgument):
            play_code(code, PIRATES["coin"], members, rng)
    book = code.draw(rng)
    for copy in ([1] * 8, [0] * 9):
        with pytest.raises(InvalidArgument):
            book.accuse(copy)
    with pytest.raises(InvalidArgument, match="too large"):
        FingerprintCode.proved(users=100, colluders=10).draw(rng)
    with pytest.raises(InvalidArgument, match="no means"):
        mechanism_pirate(lambda means: means[:1])(book.words, rng)


def test_the_code_of_the_proof_is_run_in_whole(rng):
    """Two pirates and one innocent, δ = 2/5: each pirate's copy accuses somebody, and nobody else.

    The innocent may be accused with probability δ/2 by the proof, and with e^(−σ²/2ℓ) or so in
    truth: its scores are 60 deviations away.
    """
    code = FingerprintCode.proved(users=3, colluders=2, failure=0.4)
    assert code.length == 64 * 151**2 * 5
    book = code.draw(rng)
    for pirate in (PIRATES["majority"], PIRATES["minority"], noisy(PIRATES["coin"], 0.001)):
        found = book.accuse(pirate(book.words[:2], rng))
        assert found.accused[:2].any()
        assert not found.accused[2]
        innocent = abs(found.scores[2]) / math.sqrt((1 - 2 * code.fixed) * code.length)
        assert innocent < standard_score(alpha("attacks/code/proved", parts=3 * SPARE))


@pytest.mark.parametrize(("colluders", "errors", "against"), [(1, 0, 2), (2, 0.25, 4), (3, 0.0, 3)])
def test_few_pirates_get_the_code_against_as_many_as_the_proof_needs(colluders, errors, against):
    """(1/2 − β)n ≥ 1: a code against one pirate alone was outside the theorem that it named."""
    few, enough = (
        FingerprintCode.proved(users=9, colluders=count, errors=errors)
        for count in (colluders, against)
    )
    assert (0.5 - errors) * against >= 1
    assert (few.length, few.threshold, few.edge) == (enough.length, enough.threshold, enough.edge)
    assert few.colluders == colluders
