"""What a loss means: never less than the best attack can do."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accounting.deployments import DEPLOYMENTS
from discreet.accounting.meaning import Meaning
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Approximate, Pure

epsilons = st.fractions(min_value="1/100", max_value=10, max_denominator=100)
rates = st.fractions(min_value="1/1000", max_value="999/1000", max_denominator=1000)


@given(epsilons, rates)
def test_randomised_response_attains_the_posterior(epsilon, prior):
    e, p = math.exp(epsilon), float(prior)
    truth = p * e / (p * e + 1 - p)
    assert math.isclose(float(Meaning.of(Pure(epsilon)).posterior(prior)), truth, rel_tol=1e-12)


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
    assert "73.2 %" in meaning.sentence()
    assert "1e-06" in meaning.sentence()
    data = meaning.to_json()
    assert 0.731 < data["posterior"]["0.5"] < 0.7311
    assert data["group"]["2"]["epsilon"] == "2"


@pytest.mark.parametrize("prior", [0, 1, -1, 2])
def test_certainties_are_refused(prior):
    with pytest.raises(InvalidArgument):
        Meaning.of(Pure(1)).posterior(prior)


def test_deployments_say_what_they_are():
    assert all(d.label.startswith(d.name) and d.loss for d in DEPLOYMENTS)
    assert all(d.epsilon is None or f"{Fraction(str(d.epsilon))}" for d in DEPLOYMENTS)
