"""Every attack on statistics stays below its ceiling against our own mechanisms, and exact breaks.

All checks share one rate of false alarms: over the whole family a private mechanism is called a
broken one at most that often. Each attack is also played on exact answers, in the same shape, and
must break every ceiling there: so a mechanism that lost so much would be caught.
"""

from fractions import Fraction

import numpy as np
import pytest

from discreet.attacks.online.codeword_attack import play_codewords
from discreet.attacks.online.prefix_attack import play_prefixes
from discreet.attacks.online.sample_answers import ExactMeans, NoisyMeans
from discreet.attacks.online.value_search import play_search
from discreet.attacks.online.vector_attack import (
    FreshVectors,
    KeptVector,
    recover_vector,
)
from discreet.attacks.reconstruction.guess_ceiling import play_guessing
from discreet.attacks.statistics.copy_game import play_copies
from discreet.attacks.statistics.membership_game import play_membership
from discreet.attacks.statistics.overfitting import play_overfitting
from discreet.attacks.statistics.pirates import PIRATES, mechanism_pirate
from discreet.core.contribution import Contribution
from discreet.core.loss import Approximate, Pure
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from tests.support.statistics.exact_tests import alpha

EPSILONS = ("0.1", "1", "3")
DELTA = "1e-4"
PRIVATE, EXACT, FITTED = 150, 650, 1050


def rounds(loss, exact=EXACT):
    """How many rounds are played: more where it takes more, to break the ceiling of ε = 3."""
    return exact if loss is None else PRIVATE


def noise_for(queries, loss, *, moves=2):
    """Noise for so many totals, each moved by at most so much by a row; none without a loss."""
    if loss is None:
        return None
    d_in = Contribution(l0=queries, linf=moves, metric="change_one")
    law = DiscreteLaplace if isinstance(loss, Pure) else DiscreteGaussian
    return law.calibrate(d_in=d_in, loss=loss)


def answering(queries, loss, rng, *, moves=2):
    """What makes an interface of rows: exact without a loss."""
    noise = noise_for(queries, loss, moves=moves)
    if noise is None:
        return lambda rows: ExactMeans(rows=rows)
    return lambda rows: NoisyMeans(rows=rows, noise=noise, rng=rng)


def by_tracing(loss, rng):
    noise = noise_for(60, loss, moves=1)

    def release(counts):
        return counts if noise is None else noise.release(counts, rng)

    shape = {"people": 1, "attributes": 60, "rounds": rounds(loss), "level": 0.001}
    return play_membership(release, rng=rng, **shape)


def by_prefixes(loss, rng):
    shape = {"people": 1, "queries": 40, "rounds": rounds(loss), "level": 0.01}
    return play_prefixes(answering(40, loss, rng), rng=rng, **shape)


def by_codewords(loss, rng):
    shape = {"people": 1, "queries": 60, "rounds": rounds(loss), "level": 0.001}
    return play_codewords(answering(60, loss, rng), rng=rng, **shape)


def by_copies(loss, rng):
    noise = noise_for(60, loss)

    def release(means):
        return noise.release(np.round(means).astype(np.int64), rng)

    pirate = PIRATES["majority"] if loss is None else mechanism_pirate(release)
    return play_copies(pirate, colluders=1, length=60, rounds=rounds(loss), rng=rng, level=0.001)


def by_overfitting(loss, rng):
    people, queries = 3, 30
    noise = noise_for(queries, loss, moves=1)

    def open_answer():
        if loss is None:
            return lambda query: float(query[0])  # what tells most of point 0
        count = lambda query: np.array([query[:people].sum()], dtype=np.int64)  # noqa: E731
        return lambda query: float(noise.release(count(query), rng)[0]) / people

    shape = {
        "universe": 4,
        "queries": queries,
        "rounds": rounds(loss, FITTED),
        "loss": loss or Pure(3),
    }
    return play_overfitting(open_answer, rng=rng, **shape)


def by_vectors(loss, rng):
    """One noisy copy for all queries reaches the ceiling; a new one each time passes it."""

    def world(bit):
        secret = np.array([1 if bit else -1, 1, -1])
        if loss is None:
            return FreshVectors(secret=secret, alpha="0.9", rng=rng)
        share = Fraction(np.tanh(float(loss.epsilon) / 2) * (1 - 1e-9))
        return KeptVector(secret=secret, alpha=share, rng=rng)

    def attack(interface):
        return bool(recover_vector(interface, queries=9).vector[0] > 0)

    return play_guessing(world, attack, trials=rounds(loss), loss=loss or Pure(3), rng=rng)


def by_search(loss, rng):
    return play_search(
        answering(6, loss, rng, moves=1),
        sides=5,
        domain=64,
        rounds=rounds(loss),
        loss=loss or Pure(3),
        rng=rng,
    )


ATTACKS = {
    attack.__name__: attack
    for attack in (
        by_tracing,
        by_prefixes,
        by_codewords,
        by_copies,
        by_overfitting,
        by_vectors,
        by_search,
    )
}


PURE = [Pure(epsilon) for epsilon in EPSILONS]
APPROXIMATE = [Approximate(epsilon, DELTA) for epsilon in EPSILONS]


@pytest.mark.parametrize("name", ATTACKS)
def test_private_answers_stay_below_the_ceiling_and_exact_ones_do_not(name, soak, rng):
    """Discrete Laplace noise for a pure loss, and discrete Gaussian noise for one with a δ."""
    attack, losses = ATTACKS[name], PURE + (APPROXIMATE if soak.active else APPROXIMATE[1:2])
    failure = Fraction(alpha("attacks/ceilings", parts=len(ATTACKS) * 14))
    for loss in losses:
        played = attack(loss, rng)
        if hasattr(played, "breaks_ceiling"):
            assert not played.breaks_ceiling(failure)
        else:
            assert not played.breaks(loss, failure=failure)
            if hasattr(played, "breaks_score_bound"):
                assert not played.breaks_score_bound(loss, failure=float(failure))
    exact = attack(None, rng)
    if hasattr(exact, "breaks_ceiling"):
        assert exact.breaks_ceiling(failure)
    else:
        assert exact.breaks(Pure(3), failure=failure)


def test_noise_for_one_answer_alone_is_caught(rng):
    """The broken twin forgets that a row is in every answer."""
    twin = play_prefixes(
        answering(1, Pure(1), rng), people=1, queries=120, rounds=400, rng=rng, level=0.01
    )
    assert twin.breaks(Pure(1), failure=Fraction(alpha("attacks/ceilings/twin")))
