"""The lemma behind every promise, attacked by the best private mechanism of small models.

The lemma says that E[(q(S) - q(P) - wτ) 1_B] is at most d/2, for every set B of transcripts. A
linear program finds the (ε, δ)-DP mechanism for which that is largest: a transcript outside of B
counts nothing, so it may say nothing.
"""

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import optimize, sparse

from discreet.adaptive.question_mix import CHOICE_WIDTH, MixedAnswers, QuestionMix
from discreet.adaptive.transfer import PosteriorTransfer, SampleAccuracy
from discreet.core.loss import Approximate

LOSSES = [(0.3, 0.0), (1.0, 0.0), (1.0, 0.05), (0.0, 0.1), (2.0, 0.01)]


def worst_excess(gains, law, epsilon, delta):
    """Return the largest E[gain of the transcript on the sample] of all (ε, δ)-DP mechanisms.

    ``gains`` has a row for each data set (all samples of two, in order), and a column for each
    transcript; a last transcript that gains nothing is added. ``law`` is that of one row.
    """
    size, rows = len(law), round(math.log(len(gains)) / math.log(len(law)))
    samples = list(product(range(size), repeat=rows))
    chances = np.array([math.prod(law[one] for one in sample) for sample in samples])
    gains = np.column_stack([gains, np.zeros(len(gains))])
    count = gains.shape[1]
    pairs = [
        (first, second)
        for first, second in product(range(len(samples)), repeat=2)
        if sum(a != b for a, b in zip(samples[first], samples[second], strict=True)) == 1
    ]
    inside, over = len(samples) * count, len(pairs) * count
    bounds, values, places = [], [], []
    for number, (first, second) in enumerate(pairs):
        for transcript in range(count):
            row = number * count + transcript
            places += [(row, first * count + transcript), (row, second * count + transcript)]
            places.append((row, inside + row))
            values += [1.0, -math.exp(epsilon), -1.0]
    for number in range(len(pairs)):
        for transcript in range(count):
            places.append((over + number, inside + number * count + transcript))
            values.append(1.0)
    bounds = [0.0] * over + [delta] * len(pairs)
    at = np.array(places).T
    limits = sparse.coo_array((values, (at[0], at[1])), shape=(over + len(pairs), inside + over))
    whole = np.zeros((len(samples), inside + over))
    for place in range(len(samples)):
        whole[place, place * count : (place + 1) * count] = 1
    goal = np.concatenate([-(chances[:, None] * gains).ravel(), np.zeros(over)])
    found = optimize.linprog(
        goal, A_ub=limits.tocsr(), b_ub=bounds, A_eq=whole, b_eq=np.ones(len(samples))
    )
    assert found.status == 0
    return -found.fun


def means(questions, law, rows):
    """Return for each sample and question how much the sample exceeds the population."""
    samples = list(product(range(len(law)), repeat=rows))
    return np.array([[q[list(s)].mean() - q @ law for q in questions] for s in samples])


@pytest.mark.parametrize(("epsilon", "delta"), LOSSES)
@pytest.mark.parametrize("width", [1, 2])
def test_no_mechanism_overfits_means_by_more(epsilon, delta, width, soak):
    """Of width 2: differences of two losses, as choices have them, in both directions."""
    random = np.random.default_rng(round(10 * epsilon) + width)
    tilt = width * math.tanh(epsilon / 4)
    for _ in range(soak.cases(6)):
        size, rows = int(random.integers(2, 4)), int(random.integers(1, 3))
        law = random.dirichlet(np.ones(size))
        questions = np.array(list(product((0, width), repeat=size)), dtype=float)
        gains = means(questions - (width - 1), law, rows)
        assert worst_excess(gains - tilt, law, epsilon, delta) <= width * delta + 1e-8


def low_sensitivity(random, size, rows, count):
    """Return values of random questions for all samples that one row moves by 1/rows at most."""
    samples = list(product(range(size), repeat=rows))
    found = np.empty((len(samples), count))
    for question in range(count):
        wild = random.random(len(samples)) * 3
        for place, one in enumerate(samples):
            distance = [sum(a != b for a, b in zip(one, two, strict=True)) for two in samples]
            found[place, question] = (wild + np.array(distance) / rows).min()
    return samples, found


@pytest.mark.parametrize(("epsilon", "delta"), LOSSES)
def test_no_mechanism_overfits_any_question_by_more(epsilon, delta, soak):
    """Least upper envelopes of random values have the sensitivity; they are no means."""
    random = np.random.default_rng(round(10 * epsilon) + 7)
    for _ in range(soak.cases(5)):
        size, rows = int(random.integers(2, 4)), 2
        law = random.dirichlet(np.ones(size))
        samples, values = low_sensitivity(random, size, rows, 8)
        chances = np.array([math.prod(law[one] for one in sample) for sample in samples])
        gains = np.column_stack([values - chances @ values, chances @ values - values])
        worst = worst_excess(gains - math.tanh(epsilon / 2), law, epsilon, delta)
        assert worst <= 2 * delta / (1 + math.exp(epsilon)) + 1e-8


@pytest.mark.parametrize(("size", "inside"), [(8, 3), (6, 2), (5, 1)])
@pytest.mark.parametrize("delta", [0.0, 0.01])
def test_the_bound_of_choices_is_attained_and_less_is_false(size, inside, delta):
    """One row of a uniform population, and two losses that add up to one: 2 tanh(ε/4) is reached.

    The first loss is 1 on a set that is chosen; a part f = 1/(1 + e^{ε/2}) of all elements is in
    it. A broken twin, the tilt of width 1 at twice the loss, tanh(ε/2), is passed.
    """
    law = np.full(size, 1 / size)
    sets = [chosen for chosen in product((-1.0, 1.0), repeat=size) if chosen.count(1.0) == inside]
    epsilon = 2 * math.log((size - inside) / inside)
    best = worst_excess(means(np.array(sets), law, 1), law, epsilon, delta)
    tilt = 2 * math.tanh(epsilon / 4)
    assert tilt - 1e-8 <= best <= tilt + 2 * delta + 1e-8
    assert best > math.tanh(epsilon / 2) + 0.01


def test_what_choices_promise_holds_in_every_small_game():
    """Exactly, over all samples and choices of the exponential mechanism on three rows.

    The bound of the theorem, at the mechanism's own pure loss and error of the sample; where a
    chance is above it, that is counted.
    """
    random = np.random.default_rng(3)
    for _ in range(40):
        law = random.dirichlet(np.ones(2))
        losses = random.random((4, 2)).round(1)
        scale = random.choice([0.3, 0.7, 1.5])
        samples = list(product(range(2), repeat=3))
        chances = np.array([math.prod(law[one] for one in sample) for sample in samples])
        totals = np.array([[row[list(sample)].sum() for row in losses] for sample in samples])
        weights = np.exp(-totals / scale)
        chosen = weights / weights.sum(axis=1, keepdims=True)
        # A row moves a total by 1 at most, up or down: the loss is 2/scale.
        epsilon = 2 / scale
        excess = losses @ law - (losses @ law).min()
        of_sample = (totals - totals.min(axis=1, keepdims=True)) / 3
        for within in (0.0, 0.2, 0.5):
            sample_beta = float((chosen * (of_sample > within)).sum(axis=1).max())
            for beta in (0.05, 0.3):
                bound: Any = PosteriorTransfer().alpha(
                    SampleAccuracy(Fraction(within), Fraction(sample_beta)),
                    Approximate(Fraction(epsilon), 0),
                    beta=Fraction(beta),
                    rows=3,
                    width=CHOICE_WIDTH,
                )
                missed = chances @ (chosen @ (excess > float(bound)))
                assert missed <= beta + 1e-12


def test_choices_take_the_theorem_of_means_with_twice_the_width():
    """What is promised is what the lemma gives, and not the smaller one for width 1."""
    answers = MixedAnswers(
        rows=10**5, mix=QuestionMix(choices=3, candidates=4), rho_each=Fraction(1, 1000)
    )
    found = answers.alphas(
        beta=Fraction(1, 20), sample_beta=Fraction(1, 10**5), delta=Fraction(1, 10**7)
    )
    epsilon = float(answers.stability(Fraction(1, 10**7)).epsilon)
    assert float(found["choices"]) > 2 * math.tanh(epsilon / 4)
