"""Coins and noisy maxima have the laws that they claim, and do the same work for all scores."""

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.core.errors import InvalidArgument
from discreet.randomness.argmax import exponential_argmax, gumbel_argmax
from discreet.randomness.samplers import bernoulli, bernoulli_exp, bernoulli_exp_each
from tests.randomness import oracles
from tests.randomness.references import SCALES, WRONG, permute_and_flip_law, softmax
from tests.randomness.scripted_rng import ScriptedRng, SilentRng
from tests.support.statistics.exact_tests import alpha, binomial_p_value, cells_p_value

N = 100_000
N_CHOICES = 15_000
CHOICES = {
    "gumbel": (gumbel_argmax, softmax, oracles.exponential_choice),
    "exponential": (exponential_argmax, permute_and_flip_law, oracles.permute_and_flip),
}
BEST_OF_41 = {
    "gumbel": lambda coin: 1 / (1 + 40 * coin),
    "exponential": lambda coin: (1 - (1 - coin) ** 41) / (41 * coin),
}


@pytest.mark.parametrize("temperature", SCALES, ids=str)
@pytest.mark.parametrize("name", CHOICES)
def test_choices_fit_and_would_notice(name, temperature, rng):
    """One candidate three temperatures above forty others: how often is it the one?"""
    choose, _, _ = CHOICES[name]
    gap = math.ceil(3 * temperature)
    scores = np.array([0] * 7 + [gap] + [0] * 33)
    sample = np.array([choose(scores, temperature, rng) for _ in range(N_CHOICES)])
    share = alpha("argmax/fit", parts=len(CHOICES) * len(SCALES))

    def p_value(scale: Fraction) -> float:
        best = BEST_OF_41[name](math.exp(-gap / scale))
        others = dict.fromkeys(range(41), (1 - best) / 40)
        return cells_p_value(sample, others | {7: best})

    assert p_value(temperature) > share
    for factor in WRONG:
        assert p_value(temperature * factor) < share


@pytest.mark.parametrize("name", CHOICES)
def test_choices_among_unlike_candidates(name, rng):
    choose, law_of, _ = CHOICES[name]
    scores, temperature = [-4, 0, 12, 8, 8], Fraction(7, 2)
    sample = np.array([choose(np.array(scores), temperature, rng) for _ in range(N_CHOICES)])
    share = alpha("argmax/unlike", parts=len(CHOICES))
    assert cells_p_value(sample, dict(enumerate(law_of(scores, temperature)))) > share


@pytest.mark.parametrize("name", CHOICES)
def test_oracle_of_choices_agrees(name, rng):
    _, law_of, oracle = CHOICES[name]
    scores, temperature, bits = [-4, 0, 12, 8, 8], Fraction(7, 2), oracles.Bits(rng)
    sample = np.array([oracle(scores, temperature, bits) for _ in range(N_CHOICES)])
    share = alpha("argmax/oracle", parts=len(CHOICES))
    assert cells_p_value(sample, dict(enumerate(law_of(scores, temperature)))) > share


@pytest.mark.parametrize("size", [1, 7, 16_384, 16_385, 100_000])
def test_choice_among_equals_is_the_digit_of_the_word(size, rng):
    scores = np.full(size, -5)
    for word in rng.words(20).tolist():
        assert gumbel_argmax(scores, "1/7", ScriptedRng([word])) == word * size >> 64


def test_choice_among_many_agrees_with_floats(rng):
    """With 40,000 candidates, a float sum that is good to 1e-12 tells the same index."""
    scores = rng.words(40_000).astype(np.int64) % 4000
    sums = np.cumsum(np.exp((scores - scores.max()) / 1000.0).astype(np.longdouble))
    for word in rng.words(50).tolist():
        point = np.longdouble(word) / 2**64 * sums[-1]
        index = gumbel_argmax(scores, 1000, ScriptedRng([word]))
        assert sums[index] > point * (1 - 1e-12)
        assert index == 0 or sums[index - 1] < point * (1 + 1e-12)


@pytest.mark.parametrize("name", CHOICES)
@pytest.mark.parametrize("scores", [[0] * 50, [0, *[-(2**63)] * 49], list(range(50))])
def test_words_drawn_do_not_depend_on_scores(name, scores):
    choose = CHOICES[name][0]
    rng = ScriptedRng([2**62 + 7 * i for i in range(100)])
    choose(np.array(scores), 3, rng)
    assert 100 - len(rng.script) == {"gumbel": 1, "exponential": 51}[name]


@pytest.mark.parametrize("name", CHOICES)
def test_extreme_scores(name, rng):
    choose = CHOICES[name][0]
    for temperature in ("1e-300", "1/1000", 10**12, 2**50):
        assert choose(np.array([-(2**63), 2**63 - 1]), temperature, rng) == 1
        assert choose(np.array([2**63 - 1]), temperature, rng) == 0


@pytest.mark.parametrize("temperature", [2**63, 2**64, 10**300])
@pytest.mark.parametrize("name", CHOICES)
def test_extreme_temperatures(name, temperature, rng):
    """The furthest scores there are, at a temperature as large as their distance or larger."""
    choose, law_of, _ = CHOICES[name]
    scores = [-(2**63), 2**63 - 1, 0]
    sample = np.array([choose(np.array(scores), temperature, rng) for _ in range(1000)])
    share = alpha("argmax/extremes", parts=len(CHOICES) * 3)
    assert cells_p_value(sample, dict(enumerate(law_of(scores, Fraction(temperature))))) > share


@pytest.mark.parametrize("name", CHOICES)
@pytest.mark.parametrize(
    ("scores", "temperature"),
    [
        (np.array([], dtype=np.int64), 1),
        (np.zeros((2, 2), dtype=np.int64), 1),
        (np.array([0.5]), 1),
        (np.array([1]), 0),
        (np.array([1]), -1),
        (np.array([1]), math.nan),
        (np.array([1]), math.inf),
    ],
)
def test_bad_choices_are_refused(name, scores, temperature):
    with pytest.raises(InvalidArgument):
        CHOICES[name][0](scores, temperature, SilentRng())


@pytest.mark.parametrize("p", [Fraction(1, 100), Fraction(1, 3), Fraction(1, 2), Fraction(9, 10)])
def test_bernoulli(p, rng):
    size = int(20_000 / p)
    heads = int(bernoulli(p, size, rng).sum())
    share = alpha("bernoulli/fit", parts=4)
    assert binomial_p_value(heads, size, p) > share
    for factor in WRONG:
        assert binomial_p_value(heads, size, p * factor) < share


@pytest.mark.parametrize("x", [Fraction(1, 3), Fraction(1), Fraction(7, 2)])
def test_bernoulli_exp(x, rng):
    heads = int(bernoulli_exp(x, N, rng).sum())
    share = alpha("bernoulli_exp/fit", parts=3)
    assert binomial_p_value(heads, N, math.exp(-x)) > share
    for factor in WRONG:
        assert binomial_p_value(heads, N, math.exp(-x * factor)) < share


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_bernoulli_exp_each(scale, rng):
    distance = math.ceil(scale)
    heads = int(bernoulli_exp_each(np.full(N, distance), scale, rng).sum())
    share = alpha("bernoulli_exp_each/fit", parts=5)
    assert binomial_p_value(heads, N, math.exp(-distance / scale)) > share
    for factor in WRONG:
        assert binomial_p_value(heads, N, math.exp(-distance / scale / factor)) < share


def test_each_coin_has_its_own_probability(rng):
    distances = np.tile(np.array([0, 1, 2, 10**6]), N)
    heads = bernoulli_exp_each(distances, 2, rng).reshape(N, 4).sum(axis=0).tolist()
    share = alpha("bernoulli_exp_each/own", parts=2)
    assert (heads[0], heads[3]) == (N, 0)
    assert binomial_p_value(heads[1], N, math.exp(-0.5)) > share
    assert binomial_p_value(heads[2], N, math.exp(-1)) > share
