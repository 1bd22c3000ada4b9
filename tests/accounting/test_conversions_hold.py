"""Conversions against exact laws: no bound is ever below the truth."""

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accounting.conversions.convert import convert
from discreet.accounting.curves.curve import RenyiCurve
from discreet.accounting.curves.line import BoundedLine, Line
from discreet.audit.finite_divergence import (
    LossVariable,
    excess,
    hockey_stick,
    max_divergence,
    renyi_divergence,
)
from discreet.core.errors import Unsupported
from discreet.core.loss import (
    Approximate,
    ApproximateZcdp,
    BoundedZcdp,
    GaussianDp,
    MeanConcentrated,
    Measure,
    Pure,
    Zcdp,
)
from discreet.core.numbers import exp_bounds, log_bounds
from tests.support.statistics.finite_laws import laws, orders, response

APPROXIMATE = Measure.APPROXIMATE
ask: Any = convert
METHODS = ("basic", "square_root", "reciprocal", "mills", "integral", "cks")

rhos = st.sampled_from(["1e-9", "1e-4", "0.003", "0.1", "0.5", "1", "7", "40", "1000"])
deltas = st.sampled_from(["1e-300", "1e-30", "1e-6", "1e-3", "0.1", "0.5", "0.9"])
small = st.fractions(min_value=0, max_value=3, max_denominator=20)
ratios = st.fractions(min_value="11/10", max_value=30, max_denominator=10)


def epsilon_of(loss, delta, method="auto"):
    return ask(loss, to=APPROXIMATE, delta=delta, method=method).loss.epsilon


def delta_of(loss, epsilon, method="auto"):
    return ask(loss, to=APPROXIMATE, epsilon=epsilon, method=method).loss.delta


def responses(ratio, count):
    """The number of truthful answers in ``count`` randomised responses, under both inputs."""
    total = (1 + ratio) ** count
    p = {i: math.comb(count, i) * ratio**i / total for i in range(count + 1)}
    return p, {i: p[count - i] for i in p}


# ---------------------------------------------------------------- never below the truth


@given(laws(least=1), laws(least=1), st.fractions(min_value=0, max_value=2, max_denominator=16))
def test_every_way_out_of_pure_is_above_the_truth(p, q, epsilon):
    loss = Pure(max(max_divergence(p, q)[1], max_divergence(q, p)[1]))
    truth = hockey_stick(p, q, epsilon)[0]
    ways = [
        loss,
        ask(loss, to=Measure.ZCDP).loss,
        ask(loss, to=Measure.ZCDP, method="equivalent").loss,
        ask(loss, to=Measure.RENYI).loss,
        ask(loss, to=Measure.MEAN_CONCENTRATED).loss,
        ask(loss, to=Measure.APPROXIMATE_ZCDP).loss,
    ]
    for way in ways:
        try:
            assert truth <= delta_of(way, epsilon), way
        except Unsupported:
            assert not isinstance(way, Pure)


@given(ratios, st.integers(1, 12), st.fractions(min_value=0, max_value=8, max_denominator=8))
def test_many_responses_are_below_every_bound(ratio, count, epsilon):
    p, q = responses(ratio, count)
    truth = hockey_stick(p, q, epsilon)[0]
    one = Pure(log_bounds(ratio, 96)[1])
    line = count * ask(one, to=Measure.ZCDP).loss
    curve = count * ask(one, to=Measure.RENYI).loss
    for loss, methods in ((line, METHODS), (curve, ("mironov", "improved"))):
        for method in methods:
            try:
                assert truth <= delta_of(loss, epsilon, method)
            except Unsupported:
                continue
    assert epsilon_of(curve, "1e-6", "improved") <= epsilon_of(curve, "1e-6", "mironov")


@given(ratios, st.integers(1, 8), st.fractions(min_value=0, max_value="1/2", max_denominator=20))
def test_exceptional_events_are_paid_for(ratio, count, own):
    """Tell the input with probability ``own``, else respond ``count`` times."""
    p, q = responses(ratio, count)
    line = count * ask(Pure(log_bounds(ratio, 96)[1]), to=Measure.ZCDP).loss
    loss = ApproximateZcdp(rho=line.rho, delta=own)
    for epsilon in (line.rho, line.rho + 1, line.rho + 4):
        truth = own + (1 - own) * hockey_stick(p, q, epsilon)[0]
        for method in METHODS:
            try:
                assert truth <= delta_of(loss, epsilon, method)
            except Unsupported:
                continue
    if own > 0:
        with pytest.raises(Unsupported, match="does not follow"):
            epsilon_of(loss, own)
    later = Fraction(9, 10)
    found = epsilon_of(loss, later)
    assert own + (1 - own) * hockey_stick(p, q, found)[0] <= later


@given(ratios, st.fractions(min_value=0, max_value="1/2", max_denominator=20), small)
def test_the_complete_mechanism_is_exactly_its_curve(ratio, own, epsilon):
    often, rarely = (1 - own) * ratio / (1 + ratio), (1 - own) / (1 + ratio)
    p = {"a": often, "b": rarely, "told 0": own, "told 1": Fraction(0)}
    q = {"a": rarely, "b": often, "told 0": Fraction(0), "told 1": own}
    low, high = (Approximate(end, own) for end in log_bounds(ratio, 96))
    truth = hockey_stick(p, q, epsilon)
    slack = Fraction(1, 2**60)
    assert delta_of(low, epsilon) <= truth[1] + slack
    assert truth[0] <= delta_of(high, epsilon)
    target = own + (1 - own) / 3
    found = epsilon_of(high, target)
    assert hockey_stick(p, q, found)[0] <= target
    if found > Fraction(1, 100):
        assert hockey_stick(p, q, found - Fraction(1, 1000))[0] > target


@given(st.fractions(min_value="1/50", max_value=9, max_denominator=50), small)
def test_the_gaussian_curve_is_the_formula(mu_squared, epsilon):
    mu, e = math.sqrt(mu_squared), float(epsilon)

    def upper_tail(x):
        return math.erfc(x / math.sqrt(2)) / 2

    truth = upper_tail(e / mu - mu / 2) - math.exp(e) * upper_tail(e / mu + mu / 2)
    result = ask(GaussianDp(mu_squared), to=APPROXIMATE, epsilon=epsilon)
    assert float(result.loss.delta) == pytest.approx(truth, rel=1e-6, abs=1e-13)
    assert result.loss.delta >= result.lower.delta
    assert result.loss.delta - result.lower.delta <= result.loss.delta * Fraction(1, 2**30)


@pytest.mark.parametrize("mu_squared", ["1e-20", "1e-6", "0.2", 1, 10, 1000])
@pytest.mark.parametrize("delta", ["1e-300", "1e-30", "1e-6", "0.01", "0.7"])
def test_the_gaussian_curve_at_its_ends(mu_squared, delta):
    loss = GaussianDp(mu_squared)
    result = ask(loss, to=APPROXIMATE, delta=delta)
    assert delta_of(loss, result.loss.epsilon) <= Fraction(delta)
    assert result.lower.epsilon <= result.loss.epsilon
    assert result.loss.epsilon - result.lower.epsilon <= result.loss.epsilon * Fraction(1, 10**5)


@given(rhos, deltas)
def test_a_bounded_line_is_never_better_than_a_whole_one(rho, delta):
    whole = RenyiCurve.of(Line(rho=rho))
    found = [epsilon_of(BoundedZcdp(rho=rho, order=order), delta) for order in (2, 4, 64, 10**9)]
    assert all(later <= first * (1 + Fraction(1, 10**6)) for first, later in pairwise(found))
    assert epsilon_of(whole, delta) <= found[-1] * (1 + Fraction(1, 10**6))


def test_bounded_orders_are_kept():
    """At order 2 and δ = 1e-6 the basic bound cannot be below ln(1e6)."""
    assert epsilon_of(BoundedZcdp(rho="1e-9", order=2), "1e-6", "mironov") > Fraction("13.8155")
    curve = ask(BoundedZcdp(rho=1, order=3, xi=1), to=Measure.RENYI).loss
    assert curve == RenyiCurve.of(BoundedLine(rho=1, order=3, xi=1))


# ---------------------------------------------------------------- concentration in both senses


LAMBDAS = [Fraction(n, 4) for n in (-80, -24, -8, -5, -4, -3, -2, -1, 1, 2, 3, 4, 8, 24, 80)]


def is_mean_concentrated(p, q, loss):
    variable = LossVariable.of(p, q)
    mean_low, mean_high = variable.mean
    assert mean_low <= loss.mu
    for power in LAMBDAS:
        shift = -power * Fraction(mean_high if power > 0 else mean_low)
        centred = variable.moment(power)[0] * exp_bounds(shift, 96)[0]
        if centred > exp_bounds(min(Fraction(1000), power**2 * loss.tau_squared / 2), 96)[1]:
            return False
    return True


@given(laws(least=1), laws(least=1))
def test_pure_pairs_are_mean_concentrated_as_claimed(p, q):
    pure = Pure(max(max_divergence(p, q)[1], max_divergence(q, p)[1]))
    loss = ask(pure, to=Measure.MEAN_CONCENTRATED).loss
    assert is_mean_concentrated(p, q, loss)
    line = ask(loss, to=Measure.ZCDP).loss
    for order in (Fraction(11, 10), Fraction(2), Fraction(9)):
        assert renyi_divergence(p, q, order)[0] <= line.xi + line.rho * order


@pytest.mark.parametrize("method", ["safe", "sharp", "auto"])
@pytest.mark.parametrize("ratio", [Fraction(11, 10), Fraction(2), Fraction(8), Fraction(60)])
def test_zcdp_pairs_are_mean_concentrated_as_claimed(method, ratio):
    epsilon = log_bounds(ratio, 96)[1]
    half = Fraction(1, 2)
    lopsided = ({0: half, 1: half}, {0: half / ratio, 1: 1 - half / ratio})
    for p, q in (response(ratio), lopsided, lopsided[::-1]):
        for line in (Zcdp(rho=0, xi=epsilon), ask(Pure(epsilon), to=Measure.ZCDP).loss):
            loss = ask(line, to=Measure.MEAN_CONCENTRATED, method=method).loss
            assert is_mean_concentrated(p, q, loss)


def test_the_test_of_concentration_has_power():
    ratio = Fraction(8)
    too_little = MeanConcentrated(mu=3, tau_squared="1/100")
    assert not is_mean_concentrated(*response(ratio), too_little)


def test_gaussian_mean_concentration_loses_nothing():
    loss = MeanConcentrated(mu="1/2", tau_squared=1)
    assert ask(loss, to=Measure.ZCDP).loss == Zcdp(rho="1/2")
    assert ask(MeanConcentrated(mu=0, tau_squared=1), to=Measure.ZCDP).loss == Zcdp(rho="1/2")
    found = ask(loss, to=APPROXIMATE, delta="1e-6")
    assert found.loss == ask(Zcdp(rho="1/2"), to=APPROXIMATE, delta="1e-6").loss
    assert "2.4.2" in found.theorem


@given(laws(), laws(), orders())
def test_probability_preservation(p, q, order):
    """P(S) is at most (e^D Q(S))^(1 - 1/α), the exponent covering both factors."""
    high = renyi_divergence(p, q, order)[1]
    for event in ((0,), (0, 1), (1, 2, 3)):
        above, below = sum(p[o] for o in event), sum(q[o] for o in event)
        if above and below and high < math.inf:
            power = 1 - 1 / order
            assert log_bounds(above)[0] <= power * (high + log_bounds(below)[1])


@given(ratios)
def test_excess_is_the_hockey_stick_at_a_rational_factor(ratio):
    p, q = response(ratio)
    assert excess(p, q, ratio) == 0
    assert excess(p, q, Fraction(1)) == (ratio - 1) / (ratio + 1)
