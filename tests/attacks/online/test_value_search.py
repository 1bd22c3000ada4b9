"""Binary search spells out a value where answers are close, and cannot where they are private."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.attacks.online.sample_answers import AskedMachine, ExactMeans, NoisyMeans
from discreet.attacks.online.value_search import (
    ThresholdQuery,
    play_search,
    search_value,
    value_ceiling,
)
from discreet.attacks.reconstruction.guess_ceiling import guess_ceiling
from discreet.core.contribution import Contribution
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Approximate, Pure
from discreet.core.numbers import exp_bounds
from discreet.core.rounding import exp_up
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.thresholds.adaptive_thresholds import AdaptiveThresholds
from tests.support.statistics.exact_tests import alpha


@given(
    st.lists(st.integers(0, 200), min_size=1, max_size=40),
    st.fractions(0, Fraction(1, 5)),
    st.randoms(use_true_random=False),
)
def test_the_result_is_an_approximate_median(values, off, chance):
    """For any answers within α, however they are off [Ste16, lemma 7.5.5]."""

    class Off:
        def answers(self, queries):
            exact = ExactMeans(rows=values).answers(queries)
            return [one + chance.choice([-1, 0, 1]) * float(off) for one in exact]

    found = search_value(Off(), lower=0, upper=200)
    size, slack = len(values), float(off) + 1e-9
    assert sum(one <= found.value for one in values) / size >= 0.5 - slack or found.value == 200
    assert sum(one >= found.value for one in values) / size >= 0.5 - slack or found.value == 0
    assert found.queries <= 8


@given(st.integers(0, 2**40 - 1), st.integers(1, 9), st.integers(0, 3))
def test_one_person_between_others_is_spelt_out(secret, sides, more):
    values = [0] * sides + [secret] * (1 + more) + [2**40 - 1] * sides
    found = search_value(ExactMeans(rows=values), lower=0, upper=2**40 - 1)
    assert found.value == secret
    assert found.queries == 40


def test_the_group_pays_for_accuracy(rng):
    """With noise far below the group the search wins; the ceiling for such a group is 1."""
    noise = DiscreteLaplace(scale=2)
    record = play_search(
        lambda values: NoisyMeans(rows=values, noise=noise, rng=rng),
        sides=200,
        domain=256,
        rounds=40,
        loss=Pure(4),
        rng=rng,
        holders=150,
    )
    assert record.right == 40
    assert record.ceiling == 1
    assert not record.breaks_ceiling("1e-9")


def test_a_private_machine_of_the_house_spells_nobody_out(rng):
    """AdaptiveThresholds answers any number of points; one person is not found in its answers."""
    one = Contribution(linf=1, metric="change_one")
    loss = Approximate(3, "1e-6")
    machine = AdaptiveThresholds.calibrate(
        d_in=one, loss=loss, alpha="0.2", beta="0.05", queries=10
    )
    sides = 40

    def open_values(values):
        run = machine.open(values, size=len(values), d_in=one, rng=rng)
        return AskedMachine(machine=run, put=lambda query: query.point)

    record = play_search(
        open_values, sides=sides, domain=1024, rounds=30, loss=machine.loss(one), rng=rng
    )
    assert not record.breaks_ceiling(alpha("attacks/search/machine", parts=2))
    exactly = play_search(
        lambda values: ExactMeans(rows=values),
        sides=sides,
        domain=1024,
        rounds=30,
        loss=machine.loss(one),
        rng=rng,
    )
    assert exactly.breaks_ceiling(alpha("attacks/search/exact"))


def test_the_ceiling_is_that_of_groups():
    assert value_ceiling(Pure(0), values=50) == Fraction(1, 50)
    assert value_ceiling(Pure(1), values=1) == 1
    of_a_hundred = np.e / (np.e + 99)
    assert float(value_ceiling(Pure(1), values=100)) == pytest.approx(of_a_hundred)
    assert float(value_ceiling(Pure("0.5"), values=100, holders=2)) == pytest.approx(of_a_hundred)
    small = Approximate("0.5", "1e-3")
    grown = float(value_ceiling(small, values=100, holders=2))
    delta = 1e-3 * (1 + np.exp(0.5))
    assert grown == pytest.approx((np.e + 99 * delta) / (np.e + 99))
    assert value_ceiling(Pure(1000), values=10**9) == 1


def test_bad_searches_are_refused(rng):
    class Silent:
        def answers(self, queries):
            return []

    with pytest.raises(InvalidArgument, match="no share"):
        search_value(Silent(), lower=0, upper=5)
    with pytest.raises(InvalidArgument, match="empty"):
        search_value(Silent(), lower=6, upper=5)
    assert search_value(Silent(), lower=5, upper=5).value == 5
    assert ThresholdQuery(3)(3) == 1
    for change in ({"sides": 0}, {"domain": 0}, {"rounds": 0}, {"holders": 0}):
        shape = {"sides": 2, "domain": 4, "rounds": 1, "loss": Pure(1), "rng": rng}
        with pytest.raises(InvalidArgument):
            play_search(lambda v: ExactMeans(rows=v), **{**shape, **change})


@pytest.mark.parametrize(
    "loss", [Pure("1/10"), Pure(1), Approximate(1, "0.1"), Approximate(0, "0.9")]
)
@pytest.mark.parametrize("values", [2, 3, 10])
def test_the_ceiling_is_reached_by_randomised_response_that_tells_once_in_a_while(values, loss):
    """With probability δ the value is told, else it is a random answer: the best guess by hand."""
    factor = exp_up(loss.epsilon)
    delta = loss.delta if isinstance(loss, Approximate) else Fraction(0)
    best = delta + (1 - delta) * factor / (factor + values - 1)
    assert value_ceiling(loss, values=values) == best
    if values == 2:
        assert best == guess_ceiling(loss)


@given(
    st.lists(st.lists(st.integers(1, 30), min_size=3, max_size=3), min_size=2, max_size=4),
    st.sampled_from(["0", "1/2", "1"]),
)
def test_no_best_guess_about_any_mechanism_is_above_the_ceiling(weights, epsilon):
    """Its δ is enumerated, and so is what the best adversary wins."""
    laws = [[Fraction(one, sum(row)) for one in row] for row in weights]
    factor = exp_bounds(Fraction(epsilon))[0]
    delta = max(
        sum(max(Fraction(0), p - factor * q) for p, q in zip(one, other, strict=True))
        for one in laws
        for other in laws
    )
    best = sum(max(column) for column in zip(*laws, strict=True)) / len(laws)
    assert best <= value_ceiling(Approximate(epsilon, delta), values=len(laws))
