"""Separations: hard instances, their bounds against mechanisms, and what breaks without order."""

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from discreet.adaptive.separations.false_discovery_limit import false_discovery_limit
from discreet.adaptive.separations.prefix_separation import (
    answers_from_questions,
    hard_prefixes,
    most_offline_prefixes,
    most_online_prefixes,
    offline_error,
    show_prefixes,
)
from discreet.adaptive.separations.separation_pictures import (
    prefix_picture,
    threshold_picture,
    vector_picture,
)
from discreet.adaptive.separations.threshold_separation import (
    people_adaptive,
    people_offline,
    people_online,
    search_median,
)
from discreet.adaptive.separations.vector_separation import (
    VectorQuestions,
    can_reconstruct,
    reconstructed,
    reconstructed_share,
    show_vectors,
)
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Approximate
from discreet.mechanisms.query_release.prefix_queries import PrefixQueries
from tests.support.statistics.exact_tests import alpha

# ---- Prefix questions.


def test_hard_questions_ask_for_the_means_of_columns(rng):
    """By the release's own reading of prefixes [Ste16, claims 7.3.4 and 7.3.7]."""
    hard = hard_prefixes(people=7, questions=9, rng=rng)
    queries = PrefixQueries([hard.question(number) for number in range(9)])
    texts = [hard.text(person) for person in range(7)]
    counts = queries.linear.table @ queries.histogram(texts)
    assert ((2 * counts - 7) / 7).tolist() == pytest.approx(hard.means().tolist())
    # A person who is replaced, by one with another number, has none of the prefixes.
    counts = queries.linear.table @ queries.histogram([*texts[:2], "none", *texts[3:]])
    assert ((2 * counts - 7) / 7).tolist() == pytest.approx(hard.means(2).tolist())


@pytest.mark.parametrize("people", [1, 2, 3])
def test_the_fingerprinting_lemma_by_enumeration(people):
    """Over all answers on a grid: the least of E f Σ(c - p) + 2|f - mean| is 2/3, at the mean.

    P of k ones among n is 1/(n + 1), and E[p | c] = n c/(n + 2), for a uniform bias.
    """
    total = Fraction(0)
    for signs in product((-1, 1), repeat=people):
        ones = signs.count(1)
        chance = Fraction(1, (people + 1) * math.comb(people, ones))
        mean = Fraction(sum(signs), people)
        leaning = people * (mean - people * mean / (people + 2))
        grid = [Fraction(step, 12) for step in range(-12, 13)]
        total += chance * min(f * leaning + 2 * abs(f - mean) for f in [*grid, mean])
    assert total == Fraction(2, 3)


def test_members_are_traced_and_others_are_not(rng):
    """Sums of members are at least (2/3 - 2 error) k; others have the mean 0, and 2k/3 at most."""
    people, questions = 30, 40_000
    found = show_prefixes(people=people, questions=questions, deviation=0.05, rng=rng)
    level = float(alpha("adaptive/prefix-members"))
    # The sum over members is a mean over columns, each within 2 n of 0: far narrower in truth.
    spread = stats.norm.isf(level / 4) * 2 * math.sqrt(questions)
    assert sum(found.members) >= (2 / 3 - 2 * found.online_error) * questions - spread
    deviation = math.sqrt(2 * questions / 3)
    assert abs(sum(found.outsiders)) < stats.norm.isf(level / 4) * deviation * math.sqrt(people)
    assert min(found.members) > max(found.outsiders)
    assert found.offline_error == 0
    assert found.loss_needed > 1


def test_no_gaussian_mechanism_passes_the_bound():
    """ε = 1 by zCDP: noise for k answers, whose error the bound turns into more than k questions.

    With a third of that noise it would be passed: that is what the bound is for.
    """
    for people, questions in product((20, 100, 1_000), (10**3, 10**5, 10**7)):
        delta = 1 / (30 * people)
        rho = (math.sqrt(1 + math.log(1 / delta)) - math.sqrt(math.log(1 / delta))) ** 2
        deviation = 2 / people * math.sqrt(questions / (2 * rho))
        error = min(1.0, math.sqrt(2 / math.pi) * deviation)
        most = most_online_prefixes(
            people=people, loss=Approximate(1, Fraction(1, 30 * people)), error=error
        )
        assert most is None or most >= questions
    weak = most_online_prefixes(people=20, loss=Approximate(1, "1/600"), error="0.03")
    assert weak is not None
    assert weak < 1_700


def test_known_at_once_the_bound_is_false(rng):
    """The broken twin of the order: the questions alone tell the answers, for no loss at all."""
    hard = hard_prefixes(people=4, questions=40, rng=rng)
    said = answers_from_questions([hard.question(number) for number in range(40)])
    errors = np.abs(np.array([float(one) for one in said]) - hard.means())
    error = Fraction(float(errors.mean())).limit_denominator(10**6)
    assert errors[:-1].max() == 0
    most = most_online_prefixes(people=4, loss=Approximate(0, 0), error=error)
    assert most is not None
    assert most < 40
    with pytest.raises(InvalidArgument):
        answers_from_questions([])


def test_offline_numbers_grow_faster_than_online_ones():
    loss = Approximate(1, Fraction(1, 30 * 10**8))
    many = most_offline_prefixes(people=10**8, texts=10**8, epsilon=1, error="0.2")
    most = most_online_prefixes(people=10**8, loss=loss, error="0.2")
    assert most is not None
    assert many > 10**30 * most
    for questions in (10**3, 10**12):
        found = offline_error(people=10**7, questions=questions, texts=9, epsilon=1, beta="0.01")
        tried = [
            2 * (math.sqrt(math.log(2 * questions) / (2 * rows))
                 + 2e-7 * (rows * math.log(9 * questions + 1) + math.log(100)))
            for rows in range(1, 20_000)
        ]  # fmt: skip
        assert min(tried) <= float(found) * (1 + 1e-9)
        assert float(found) <= min(tried) * 1.001
    assert most_offline_prefixes(people=100, texts=9, epsilon=1, error="0.01") == 0


# ---- Correlated vectors.


def test_one_response_is_valid_for_fixed_vectors_and_not_for_itself(rng):
    asked = VectorQuestions.of("0.2", "0.03")
    assert float(asked.epsilon) == pytest.approx(math.log(1.2 / 0.8))
    found = show_vectors(asked, people=30_000, fixed=40, adaptive=60, rng=rng)
    assert asked.failure(people=30_000, vectors=40) < 1.2e-4
    assert found.online_valid == 40
    assert found.once_valid == 1, "its inner product with itself is n"
    assert found.fresh_valid == 60
    assert found.agreed[-1] > 0.93
    with pytest.raises(InvalidArgument):
        VectorQuestions.of(1)


def test_the_numbers_of_the_source_are_asymptotic():
    """At a slack of α²/100 one question takes millions of people [Ste16, theorem 7.4.1]."""
    asked = VectorQuestions.of("0.3")
    assert asked.people_needed(vectors=1, beta=1) == pytest.approx(3.42e6, rel=0.01)
    many = asked.people_needed(vectors=1_000, beta="0.05")
    assert asked.failure(people=many, vectors=1_000) <= 0.05 * (1 + 1e-9)
    assert asked.failure(people=many - 1_000, vectors=1_000) > 0.05


@given(st.integers(0, 10**6), st.integers(1, 40), st.floats(0.05, 0.9))
def test_reconstructions_are_as_good_as_the_lemma_says(seed, answers, kept):
    random = np.random.default_rng(seed)
    signs = random.choice([-1, 1], 40)
    kept_signs = random.random((answers, 40)) < (1 + kept) / 2
    given_answers = list(np.where(kept_signs, signs, -signs))
    correlation = min(Fraction(int(one @ signs), 40) for one in given_answers)
    overlaps = [
        Fraction(abs(int(one @ two)), 40)
        for place, one in enumerate(given_answers)
        for two in given_answers[:place]
    ]
    if correlation > 0:
        least = reconstructed_share(
            correlation=correlation, overlap=max(overlaps, default=Fraction(0)), answers=answers
        )
        assert Fraction(int(reconstructed(given_answers) @ signs), 40) >= least


def test_the_adaptive_bound_of_the_source():
    """100/α² answers within α²/100 reconstruct 0.898 of the data: that is more than a half."""
    for kept in (Fraction(1, 10), Fraction(3, 10)):
        share = reconstructed_share(
            correlation=Fraction(99, 100) * kept,
            overlap=Fraction(102, 100) * kept**2,
            answers=math.ceil(100 / kept**2),
        )
        assert float(share) == pytest.approx(0.898, abs=1e-3)


@pytest.mark.parametrize("people", [8, 40, 211, 1_000])
def test_no_randomised_response_reconstructs_what_is_impossible(people):
    """Its chance of agreeing with more than 3/4 is a binomial tail; it never passes the bound."""
    for epsilon in (0.25, 0.5, 1.0, 2.0, 3.0):
        truth = math.exp(epsilon) / (1 + math.exp(epsilon))
        chance = float(stats.binom.sf(math.floor(3 * people / 4), people, truth))
        loss = Approximate(Fraction(epsilon), 0)
        assert can_reconstruct(people=people, loss=loss, chance=chance)
    assert not can_reconstruct(people=people * 1_000, loss=Approximate(1, "0.05"), chance="0.99")


# ---- Thresholds.


@given(
    st.lists(st.integers(1, 64), min_size=1, max_size=40),
    st.lists(st.integers(-8, 8), min_size=6, max_size=6),
)
def test_a_search_finds_a_median_if_answers_are_near(rows, noise):
    """Answers are off by up to 8/80; ⌈log₂ 64⌉ questions."""
    off = iter(noise)

    def ask(threshold):
        share = Fraction(sum(row <= threshold for row in rows), len(rows))
        return share + Fraction(next(off), 80)

    found = search_median(ask, size=64)
    below = Fraction(sum(row <= found.value for row in rows), len(rows))
    above = Fraction(sum(row >= found.value for row in rows), len(rows))
    assert min(below, above) >= Fraction(1, 2) - Fraction(1, 10)
    assert found.questions == 6


def test_thresholds_one_by_one_need_more_people_than_all_at_once():
    asked: dict[str, Any] = {"alpha": "0.05", "beta": "0.05"}
    for questions in (10**15, 10, 1_000, 10**5):
        least = people_online(questions=questions, epsilon=1, **asked)
        wanted = (math.log(0.95 / 0.05) + questions * math.log(2) - 2) / 0.1
        assert least == pytest.approx(wanted, rel=1e-2)
        # What Laplace noise takes, for each answer an equal share of ε, is more than is needed.
        laplace = questions * math.log(questions / 0.05) / 0.05
        assert laplace > least
    assert people_offline(questions=10**5, epsilon=1, **asked) < least / 20
    adaptive = people_adaptive(questions=10**5, loss=Approximate(1, "1e-9"), **asked)
    assert adaptive < least / 5
    for wrong in ({"epsilon": 0}, {"alpha": "0.5"}, {"alpha": 0}, {"epsilon": "1e-300"}):
        for people in (people_online, people_offline):
            with pytest.raises(InvalidArgument):
                people(**{"questions": 5, "epsilon": 1, **asked, **wrong})
    with pytest.raises(InvalidArgument):
        people_adaptive(questions=0, loss=Approximate(1, "1e-9"), **asked)


def test_the_packing_bound_against_the_best_pure_mechanism():
    """Numbers 1 to T, all people at one of them: the exponential mechanism errs no less than said.

    With n people at t the median is t; α near a half makes the packing that of n replaced people.
    The best pure mechanism on T points at distance n finds t with e^{nε}/(e^{nε} + T - 1).
    """
    size, epsilon = 2**10, 0.25
    for people in (10, 25, 40):
        chance = math.exp(people * epsilon) / (math.exp(people * epsilon) + size - 1)
        miss = 1 - chance
        needed = people_online(
            questions=10, epsilon=Fraction(epsilon), alpha="0.49999", beta=repr(miss)
        )
        assert needed <= people


# ---- False discovery, and pictures.


def test_explicit_numbers_of_questions_that_break_every_mechanism():
    for people in (10, 1_000):
        found = false_discovery_limit(people=people)
        assert found.questions == pytest.approx(4.0e6 * people**2, rel=0.02)
        assert found.bits == pytest.approx(math.log2(3) * found.questions, rel=1e-3)
        assert found.bits > math.log2(3) * found.questions + math.log2(2_000 * people) - 1
    more = false_discovery_limit(people=10, beta="0.25")
    fewer = false_discovery_limit(people=10)
    assert more.questions == pytest.approx(16 * fewer.questions, rel=0.02)
    for wrong in ("0.5", "-0.1"):
        with pytest.raises(InvalidArgument):
            false_discovery_limit(people=10, beta=wrong)


def test_pictures_have_what_they_show(rng):
    pytest.importorskip("matplotlib")
    shown = show_prefixes(people=5, questions=200, deviation=0.1, rng=rng)
    figure = prefix_picture(shown)
    assert next(axes.get_xlabel() for axes in figure.axes) == "people"
    vectors = show_vectors(
        VectorQuestions.of("0.5", "0.2"), people=400, fixed=3, adaptive=5, rng=rng
    )
    (axes,) = vector_picture(vectors).axes
    assert list(axes.lines[0].get_ydata()) == list(vectors.agreed)
    (axes,) = threshold_picture().axes
    assert len(axes.lines) == 3


@pytest.mark.parametrize("wrong", ["0", "-0.5"])
def test_nothing_is_claimed_of_a_price_or_a_correlation_that_is_none(wrong):
    with pytest.raises(InvalidArgument, match="greater than 0"):
        most_offline_prefixes(people=50, texts=5, epsilon=wrong, error="0.1")
    with pytest.raises(InvalidArgument, match="greater than 0"):
        reconstructed_share(correlation=wrong, overlap="0.25", answers=50)
