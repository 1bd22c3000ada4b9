"""Adaptive lists recover the secret vector from fresh copies, and no more than a bit from one."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.attacks.online.vector_attack import (
    FreshVectors,
    KeptVector,
    as_secret,
    is_valid,
    least_agreement,
    noisy_copy,
    recover_vector,
    response_epsilon,
)
from discreet.attacks.reconstruction.guess_ceiling import guess_ceiling
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Pure
from tests.support.statistics.exact_tests import alpha, binomial_p_value

SIZE = 2000


def a_secret(rng):
    return np.where(rng.words(SIZE) % np.uint64(2) == 1, 1, -1)


@pytest.mark.parametrize("share", ["1/2", "3/10"])
def test_fresh_copies_give_everything_away(share, rng):
    """K = 100/α² queries [Ste16, theorem 7.4.2]: 95 % are proved for valid answers."""
    secret = a_secret(rng)
    queries = math.ceil(100 / Fraction(share) ** 2)
    found = recover_vector(FreshVectors(secret=secret, alpha=share, rng=rng), queries=queries)
    assert found.share_right(secret) > 0.999
    least = least_agreement(found.likeness(secret), found.overlap, queries)
    assert 2 * found.share_right(secret) - 1 >= least
    assert found.answers.shape == (queries, SIZE)


def test_one_copy_gives_away_what_it_says_and_is_no_valid_answer(rng):
    secret, share = a_secret(rng), 0.5
    found = recover_vector(KeptVector(secret=secret, alpha="1/2", rng=rng), queries=50)
    right = int(found.share_right(secret) * SIZE)
    assert binomial_p_value(right, SIZE, (1 + share) / 2) > alpha("attacks/vectors/kept", parts=2)
    assert found.overlap == 1.0
    ceiling = guess_ceiling(Pure(response_epsilon("1/2") * (1 + 1e-12)))
    assert (1 + share) / 2 <= float(ceiling) < (1 + share) / 2 + 1e-6
    assert not is_valid(found.vector, [found.vector], secret, share)


@pytest.mark.parametrize(("likeness", "overlap"), [(0.5, 0.3), (0.3, 0.2), (0.9, 0.85)])
def test_the_lemma_holds_for_any_answers(likeness, overlap, rng):
    """Answers need not be noisy copies: here their errors are shared, as an adversary would."""
    secret = a_secret(rng)
    for shared in (0.0, 0.1, 0.2):
        wrong = np.arange(SIZE) < shared * SIZE
        answers = [
            np.where(wrong, -secret, noisy_copy(as_secret(secret), likeness, rng))
            for _ in range(30)
        ]

        class Given:
            def __init__(self, left):
                self.left = left

            def answers(self, queries):
                return [self.left.pop()]

        found = recover_vector(Given(answers), queries=30)
        if found.likeness(secret) > 0:
            least = least_agreement(found.likeness(secret), found.overlap, 30)
            assert 2 * found.share_right(secret) - 1 >= least - 1e-12
    assert least_agreement(likeness, likeness**2, 10**9) == pytest.approx(1)
    assert least_agreement(likeness, overlap, 100) < 1


def test_constants_of_the_theorem():
    """A = .99α (printed α), b = 1.02α²: agreement .898, for every α."""
    for share in (0.01, 0.1, 0.5):
        k = math.ceil(100 / share**2)
        found = least_agreement(0.99 * share, 1.02 * share**2, k)
        assert found == pytest.approx(0.898, abs=1e-3)
    # The event-based form of fact 7.4.4: .99 · ¾ > e(¼ + 1/n) + 1/20 from n = 211 on.
    gap = [0.99 * 0.75 - math.e * (0.25 + 1 / n) - 0.05 for n in (210, 211)]
    assert gap[0] < 0 < gap[1]


def test_a_copy_is_valid_when_there_are_enough_signs():
    """The tolerance is α²n/100; a deviation is √n: so α⁴n must be large [Ste16, theorem 7.4.1]."""
    secret = np.ones(10**6, dtype=np.int8)
    half = np.where(np.arange(10**6) % 4 < 3, 1, -1)
    assert is_valid(half, [], secret, 0.5)
    assert not is_valid(half, [], secret, 0.6)
    assert not is_valid(half, [half], secret, 0.5)
    evens = np.where(np.arange(10**6) % 2 == 0, 1, -1)
    assert not is_valid(half, [evens], secret, 0.5)
    assert is_valid(half, [np.where(np.arange(10**6) // 4 % 2 == 0, 1, -1)], secret, 0.5)


def test_copies_are_randomised_response(rng):
    kept = int((noisy_copy(np.ones(50_000, dtype=np.int8), "1/3", rng) == 1).sum())
    share = alpha("attacks/vectors/copy", parts=2)
    assert binomial_p_value(kept, 50_000, 2 / 3) > share
    assert binomial_p_value(kept, 50_000, 0.62) < share
    assert response_epsilon("1/3") == pytest.approx(math.log(2))
    assert all(response_epsilon(one) <= 3 * one for one in (0.01, 0.2, 0.49))


def test_bad_vectors_are_refused(rng):
    class Says:
        def __init__(self, *replies):
            self.replies = list(replies)

        def answers(self, queries):
            return self.replies.pop(0)

    bad: list[Any] = [[[]], [[None]], [[[[1, 1]]]], [[[1, 0]]], [[[1, 1]], [[1]]]]
    for replies in bad:
        with pytest.raises(InvalidArgument):
            recover_vector(Says(*replies), queries=2)
    for build in (
        lambda: least_agreement(0, 0.1, 5),
        lambda: least_agreement(0.5, 0.1, 0),
        lambda: response_epsilon(1),
        lambda: recover_vector(FreshVectors(secret=[1], alpha=0, rng=rng), queries=0),
        lambda: FreshVectors(secret=[2], alpha=0, rng=rng),
        lambda: KeptVector(secret=[1], alpha=1, rng=rng),
    ):
        with pytest.raises(InvalidArgument):
            build()
