"""From one neighbour relation to the other, and never back."""

from fractions import Fraction

import pytest

from discreet.accounting.conversions.convert import convert
from discreet.accounting.losses.group import convert_neighbours
from discreet.audit.finite_divergence import hockey_stick, max_divergence
from discreet.core.contribution import Metric
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.loss import Approximate, ApproximateZcdp, GaussianDp, Pure, Zcdp
from discreet.core.numbers import exp_bounds, log_bounds
from discreet.core.stated_event import PureEvent


def changed(loss):
    return convert_neighbours(loss, source=Metric.ADD_REMOVE, target=Metric.CHANGE_ONE)


def test_a_change_is_a_removal_and_an_addition():
    assert changed(Pure("0.5")).loss == Pure(1)
    assert changed(Zcdp(rho="0.5")).loss == Zcdp(rho=2)
    assert changed(Zcdp(rho="0.5", xi=1)).loss == Zcdp(rho=2, xi=3)
    assert changed(GaussianDp(mu_squared=1)).loss == GaussianDp(mu_squared=4)
    loss = changed(Approximate(1, "0.01")).loss
    low, high = exp_bounds(Fraction(1), 128)
    assert loss.epsilon == 2
    assert (1 + low) / 100 <= loss.delta <= (1 + high) / 100 + Fraction(1, 10**12)
    assert changed(Pure(1)).method == "remove and add"


def test_the_factor_two_is_attained():
    # Say whether a unit is in part A and whether one is in part B, each by randomised response.
    # Adding or removing a unit moves one answer; moving it from A to B moves both.
    def answers(in_a: int, in_b: int):
        says = {0: Fraction(1, 3), 1: Fraction(2, 3)}
        return {(a, b): says[int(a == in_a)] * says[int(b == in_b)] for a in (0, 1) for b in (0, 1)}

    low, high = log_bounds(Fraction(2), 96)
    single = max_divergence(answers(1, 0), answers(0, 0))
    moved = max_divergence(answers(1, 0), answers(0, 1))
    assert low <= single[1]
    assert single[0] <= high
    bound = changed(Pure(high)).loss.epsilon
    assert moved[0] <= bound <= moved[1] + Fraction(1, 2**90)
    assert hockey_stick(answers(1, 0), answers(0, 1), high)[0] > 0


def test_the_same_relation_changes_nothing():
    for metric in Metric:
        assert convert_neighbours(Pure(1), source=metric, target=metric).loss == Pure(1)


def test_there_is_no_way_back():
    # Publishing the number of units has no loss when units only change, and no privacy otherwise.
    with pytest.raises(Unsupported) as caught:
        convert_neighbours(Pure(0), source=Metric.CHANGE_ONE, target=Metric.ADD_REMOVE)
    assert caught.value.next


def test_approximate_zcdp_is_refused():
    with pytest.raises(Unsupported):
        changed(ApproximateZcdp(rho=1, delta="1e-6"))


def test_names_stand_for_enums_wherever_they_are_taken():
    event = PureEvent(epsilon=1, metric="change_one")
    assert event.metric is Metric.CHANGE_ONE
    named = convert_neighbours(Pure(1), source="add_remove", target="change_one")
    assert named.loss == Pure(2)
    assert convert(Zcdp(rho="0.1"), to="approximate", delta="1e-6").method == "cks"
    for wrong in (
        lambda: PureEvent(epsilon=1, metric="friends"),
        lambda: convert(Pure(1), to="vibes"),
        lambda: convert_neighbours(Pure(1), source="x", target="add_remove"),
    ):
        with pytest.raises(InvalidArgument, match="There is no such"):
            wrong()
