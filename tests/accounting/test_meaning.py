"""What a loss means: never less than the best attack can do."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accounting.meaning import DEPLOYMENTS, Meaning
from discreet.core.contribution import Contribution, Metric
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.loss import Approximate, Pure
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace

epsilons = st.fractions(min_value="1/100", max_value=10, max_denominator=100)
rates = st.fractions(min_value="1/1000", max_value="999/1000", max_denominator=1000)


@given(epsilons, rates)
def test_the_worst_pure_mechanism_attains_the_belief_in_membership(epsilon, prior):
    e, p = math.exp(epsilon), float(prior)
    truth = p * e / (p * e + 1 - p)
    assert math.isclose(float(Meaning.of(Pure(epsilon)).membership(prior)), truth, rel_tol=1e-12)


def test_our_own_noise_attains_the_belief_in_a_fact():
    """A sum of values of ±1 under add/remove: that the value is +1 is two steps from -1."""
    noise = DiscreteLaplace(scale=1)
    assert noise.loss(Contribution(l0=1, linf=1)) == Pure(1)
    # At any output of 1 or more the law centred on +1 is e^(2/scale) times that centred on -1.
    odds = math.exp((abs(1 + 1) - abs(1 - 1)) / float(noise.scale))
    posterior = odds / (1 + odds)
    assert math.isclose(posterior, float(Meaning.of(Pure(1)).fact("0.5")), rel_tol=1e-9)
    assert posterior > float(Meaning.of(Pure(1)).membership("0.5"))


def test_under_change_one_a_fact_is_one_step():
    meaning = Meaning.of(Pure(1), metric=Metric.CHANGE_ONE)
    assert meaning.fact("0.5") == Meaning.of(Pure(1)).membership("0.5")
    assert "anything about a person" in meaning.sentence()
    with pytest.raises(Unsupported, match="being in the data"):
        meaning.membership("0.5")


def test_with_a_delta_the_exception_is_larger_than_delta():
    """Randomised response at 1.001 is (1, 7.31e-4)-DP, and its loss is above 1 most of the time."""
    loose = Meaning.of(Approximate(1, "0.000732"))
    truth = math.exp(1.001) / (1 + math.exp(1.001))
    assert float(loose.membership("0.5")) > truth
    assert loose.exception > loose.loss.delta


@given(epsilons, st.fractions(min_value=0, max_value="1/10", max_denominator=1000), rates)
def test_no_test_on_the_complete_mechanism_does_better(epsilon, delta, false_alarm):
    """Neyman and Pearson: throw the four outcomes in, likeliest first, a part of the last."""
    odds = math.exp(epsilon)
    rest = 1 - float(delta)
    outcomes = [
        (float(delta), 0.0),
        (rest * odds / (1 + odds), rest / (1 + odds)),
        (rest / (1 + odds), rest * odds / (1 + odds)),
        (0.0, float(delta)),
    ]
    budget, found = float(false_alarm), 0.0
    for hit, alarm in outcomes:
        share = 1.0 if alarm <= budget else budget / alarm
        found += share * hit
        budget -= share * alarm
        if share < 1:
            break
    bound = float(Meaning.of(Approximate(epsilon, delta)).detection(false_alarm))
    assert math.isclose(bound, found, rel_tol=1e-9)


def test_groups():
    assert Meaning.of(Pure("0.5")).group(4) == Pure(2)
    group = Meaning.of(Approximate(1, "0.01")).group(2)
    assert isinstance(group, Approximate)
    assert math.isclose(float(group.delta), 0.01 * (1 + math.e))
    assert Meaning.of(Approximate(1, "0.01")).group(10) is None


def test_in_words_and_numbers():
    meaning = Meaning.of(Approximate(1, "1e-6"))
    assert "but for a chance of" in meaning.sentence()
    data = meaning.to_json()
    assert 0.75 < data["membership"]["0.5"] < 0.7503
    # A fact is two steps away: (2, (1+e)δ), whose loss is above 2.2 with this chance at most.
    assert math.isclose(data["exception"], (1 + math.e) * 1e-6 / -math.expm1(-0.2), rel_tol=1e-6)
    assert 0.73 < Meaning.of(Pure(1)).to_json()["membership"]["0.5"] < 0.7311
    assert data["group"]["2"]["epsilon"] == "2"


@pytest.mark.parametrize("prior", [0, 1, -1, 2])
def test_certainties_are_refused(prior):
    with pytest.raises(InvalidArgument):
        Meaning.of(Pure(1)).fact(prior)


def test_deployments_say_what_they_are():
    assert all(d.label.startswith(d.name) and d.loss for d in DEPLOYMENTS)
    assert all(d.epsilon is None or f"ε = {d.epsilon:g}" in d.loss for d in DEPLOYMENTS)
