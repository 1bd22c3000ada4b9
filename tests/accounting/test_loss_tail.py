"""Tails of the privacy loss, and distances of the outputs, against exact laws."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accounting.conversions.convert import convert
from discreet.accounting.losses.bounds import kl_bound, loss_tail, total_variation_bound
from discreet.audit.finite_divergence import (
    LossVariable,
    hockey_stick,
    kl_divergence,
    max_divergence,
    renyi_divergence,
    total_variation,
)
from discreet.core.errors import Unsupported
from discreet.core.loss import Approximate, GaussianDp, Measure, Pure, Zcdp
from discreet.core.numbers import log_bounds
from tests.support.statistics.finite_laws import laws, response

ask: Any = convert
thresholds = st.fractions(min_value=-2, max_value=5, max_denominator=16)
epsilons = st.fractions(min_value=0, max_value=2, max_denominator=16)


@given(laws(least=1), laws(least=1), thresholds)
def test_tails_of_pure_and_zcdp_pairs(p, q, threshold):
    pure = Pure(max(max_divergence(p, q)[1], max_divergence(q, p)[1]))
    truth = LossVariable.of(p, q).exceeds(threshold)[0]
    for loss in (pure, ask(pure, to=Measure.ZCDP).loss, Zcdp(rho=0, xi=pure.epsilon)):
        assert truth <= loss_tail(loss, threshold)


@given(laws(), laws(), epsilons, st.fractions(min_value=0, max_value=4, max_denominator=16))
def test_tails_of_approximate_pairs(p, q, epsilon, gap):
    delta = min(Fraction(999, 1000), hockey_stick(p, q, epsilon)[1])
    if delta < Fraction(999, 1000):
        truth = LossVariable.of(p, q).exceeds(epsilon + gap)[0]
        assert truth <= loss_tail(Approximate(epsilon, delta), epsilon + gap)


def test_tails_at_their_ends():
    assert loss_tail(Pure(1), "0.999") == 1
    assert loss_tail(Zcdp(rho=1, xi=1), 2) == 1
    assert loss_tail(Zcdp(rho=0, xi=1), 1) == 0
    assert float(loss_tail(Zcdp(rho="0.1"), "2.450788")) == pytest.approx(1e-6, rel=1e-5)
    assert loss_tail(Approximate(1, 0), 1) == 0
    assert loss_tail(Approximate(1, "0.1"), 1) == 1
    assert loss_tail(Approximate(1, "0.1"), "1.0000001") == 1
    with pytest.raises(Unsupported, match="Convert"):
        loss_tail(GaussianDp(1), 1)


@given(laws(), laws(), epsilons)
def test_total_variation_of_an_approximate_pair(p, q, epsilon):
    delta = max(hockey_stick(p, q, epsilon)[1], hockey_stick(q, p, epsilon)[1])
    if delta < 1:
        assert total_variation(p, q) <= total_variation_bound(Approximate(epsilon, delta))


@given(st.fractions(min_value="51/50", max_value=100, max_denominator=50))
def test_distances_of_randomised_response_are_attained(ratio):
    p, q = response(ratio)
    low, high = (Pure(end) for end in log_bounds(ratio, 96))
    slack = Fraction(1, 2**50)
    assert total_variation(p, q) <= total_variation_bound(high)
    assert total_variation_bound(low) <= total_variation(p, q) + slack
    assert kl_divergence(p, q)[0] <= kl_bound(high)
    assert kl_bound(low) <= kl_divergence(p, q)[1] + slack


@given(laws(least=1), laws(least=1))
def test_distances_of_zcdp_pairs(p, q):
    pure = Pure(max(max_divergence(p, q)[1], max_divergence(q, p)[1]))
    line = ask(pure, to=Measure.ZCDP).loss
    assert renyi_divergence(p, q, 1)[0] <= kl_bound(line)
    assert total_variation(p, q) <= total_variation_bound(line)


def test_no_distance_is_made_up():
    with pytest.raises(Unsupported):
        kl_bound(Approximate(1, "1e-6"))
    with pytest.raises(Unsupported):
        total_variation_bound(GaussianDp(1))
