"""Private releases keep tracing below its ceiling; broken twins and exact means do not."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.attacks.statistics.membership_game import largest_mean_score, play_membership
from discreet.core.contribution import Contribution
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Approximate, Pure
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from tests.support.statistics.exact_tests import alpha

PEOPLE, ATTRIBUTES, ROUNDS = 5, 300, 1500
DELTA = "1e-5"
MOVES = Contribution(l0=ATTRIBUTES, linf=1, metric="change_one")


def played(noise, rng, rounds=ROUNDS):
    return play_membership(
        lambda counts: noise.release(counts, rng),
        people=PEOPLE,
        attributes=ATTRIBUTES,
        rounds=rounds,
        rng=rng,
    )


@pytest.mark.parametrize("epsilon", ["0.1", "1", "3"])
@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_our_mechanisms_stay_below_the_ceiling(kind, epsilon, rng):
    share = alpha("attacks/membership/ceiling", parts=12)
    pure, approximate = Pure(epsilon), Approximate(epsilon, DELTA)
    if kind == "laplace":
        loss: Pure | Approximate = pure
        game = played(DiscreteLaplace.calibrate(d_in=MOVES, loss=pure), rng)
    else:
        loss = approximate
        game = played(DiscreteGaussian.calibrate(d_in=MOVES, loss=approximate), rng)
    assert not game.breaks(loss, failure=share)
    assert not game.breaks_score_bound(loss, failure=share)
    assert game.least_epsilon(delta=DELTA, failure=share) <= float(loss.epsilon)


def test_noise_for_one_count_only_is_caught(rng):
    """The broken twin forgets that a person is in every count."""
    share = alpha("attacks/membership/twin")
    loss = Pure(1)
    noise = DiscreteLaplace.calibrate(d_in=Contribution(l1=1), loss=loss)
    game = played(noise, rng, rounds=600)
    assert game.breaks(loss, failure=share)
    assert game.least_epsilon(failure=share) > 1


def test_exact_means_break_every_loss_and_the_bound_on_scores(rng):
    share = alpha("attacks/membership/exact", parts=2)
    game = play_membership(lambda counts: counts, people=3, attributes=3000, rounds=1500, rng=rng)
    assert game.breaks(Pure(2), failure=share)
    assert game.breaks_score_bound(Pure("0.1"), failure=share)
    assert game.breaks_score_bound(Approximate("0.1", "1e-6"), failure=share)
    assert "of 1500 rounds" in str(game)


def test_the_bounds_on_scores_are_those_of_the_theorems():
    assert largest_mean_score(100, Pure(0)) == pytest.approx(10)
    assert largest_mean_score(100, Approximate(0, Fraction(1, 2))) == pytest.approx(110)
    small = largest_mean_score(10_000, Approximate(5, "1e-9"))
    assert small == pytest.approx(np.sqrt(2e4 * np.log(1e9)) + 2e4 * (np.exp(5) + 1) * 1e-9)


def test_bad_games_are_refused(rng):
    good = {"people": 3, "attributes": 4, "rounds": 3, "rng": rng}
    for change in ({"people": 0}, {"attributes": 0}, {"rounds": 1}, {"level": 0}):
        with pytest.raises(InvalidArgument):
            play_membership(lambda counts: counts, **{**good, **change})
    ways: list[Any] = [lambda counts: counts * float("nan"), lambda _: ["x"] * 4, lambda _: None]
    for gives in ways:
        with pytest.raises(InvalidArgument, match="no count"):
            play_membership(gives, **good)
    with pytest.raises(InvalidArgument, match="another number"):
        play_membership(lambda counts: counts[:2], **good)
