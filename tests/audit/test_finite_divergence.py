"""Divergences keep the laws that privacy rests on, on finite distributions with exact masses."""

import math
from fractions import Fraction
from itertools import chain, combinations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from discreet.audit.finite_divergence import (
    LossVariable,
    approximate_max_divergence,
    hockey_stick,
    kl_divergence,
    max_divergence,
    renyi_divergence,
    total_variation,
)
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import exp_bounds, log_bounds, sqrt_bounds
from tests.support.statistics.finite_laws import law, laws, mixed, orders, processed, response

shares = st.fractions(min_value=0, max_value=1, max_denominator=10)
epsilons = st.fractions(min_value=0, max_value=3, max_denominator=20)
channels = st.lists(laws(3), min_size=4, max_size=4)
all_orders = st.one_of(orders(), st.just(Fraction(1)), st.just(math.inf))


def events(p):
    return chain.from_iterable(combinations(p, size) for size in range(len(p) + 1))


def exp_ends(x):
    """Enclose ``e**x`` for an end of an enclosure."""
    return (math.inf, math.inf) if x == math.inf else exp_bounds(Fraction(x), 96)


@given(laws(), laws())
def test_total_variation_is_the_largest_gap(p, q):
    gaps = [abs(sum(p[o] for o in event) - sum(q[o] for o in event)) for event in events(p)]
    assert total_variation(p, q) == max(gaps) == total_variation(q, p)
    assert total_variation(p, q) == hockey_stick(p, q, 0)[0]


@given(laws(), laws(), st.fractions(min_value=0, max_value="99/100", max_denominator=100))
def test_approximate_max_divergence_is_the_largest_over_all_events(p, q, delta):
    low, high = approximate_max_divergence(p, q, delta)
    pairs = [(sum(p[o] for o in e) - delta, sum(q[o] for o in e)) for e in events(p)]
    pairs = [(above, below) for above, below in pairs if above > 0]
    if any(below == 0 for _, below in pairs):
        assert low == high == math.inf
    else:
        best = log_bounds(max(above / below for above, below in pairs), 96)
        assert (low, high) == best


@given(laws(least=1), laws(least=1), st.fractions(min_value=0, max_value="1/2", max_denominator=50))
def test_approximate_max_divergence_inverts_the_hockey_stick(p, q, delta):
    _, high = approximate_max_divergence(p, q, delta)
    assert hockey_stick(p, q, max(Fraction(0), high))[0] <= delta


@given(laws(), laws(), all_orders)
def test_no_divergence_is_negative_and_equal_laws_have_none(p, q, order):
    low, high = renyi_divergence(p, q, order)
    assert 0 <= low <= high
    assert renyi_divergence(p, p, order)[0] == 0
    assert renyi_divergence(p, p, order)[1] < Fraction(1, 2**80)
    if p != q:
        assert high > 0


@given(laws(), laws(), all_orders, all_orders)
def test_divergence_grows_with_the_order(p, q, first, second):
    low, high = sorted((first, second))
    assert renyi_divergence(p, q, low)[0] <= renyi_divergence(p, q, high)[1]


@given(laws(), laws(), channels, all_orders)
def test_post_processing_never_helps(p, q, channel, order):
    after = renyi_divergence(processed(p, channel), processed(q, channel), order)
    assert after[0] <= renyi_divergence(p, q, order)[1]


@given(laws(), laws(), channels, epsilons)
def test_post_processing_never_helps_the_hockey_stick(p, q, channel, epsilon):
    after = hockey_stick(processed(p, channel), processed(q, channel), epsilon)
    assert after[0] <= hockey_stick(p, q, epsilon)[1]


@given(laws(), laws(), laws(), laws(), shares, all_orders)
def test_divergence_is_quasi_convex(p0, q0, p1, q1, share, order):
    mixture = renyi_divergence(mixed(p1, p0, share), mixed(q1, q0, share), order)
    ends = renyi_divergence(p0, q0, order), renyi_divergence(p1, q1, order)
    assert mixture[0] <= max(end[1] for end in ends)


@given(laws(), laws(), laws(), laws(), shares, epsilons)
def test_hockey_stick_is_jointly_convex(p0, q0, p1, q1, share, epsilon):
    mixture, _ = hockey_stick(mixed(p1, p0, share), mixed(q1, q0, share), epsilon)
    first, second = hockey_stick(p1, q1, epsilon)[1], hockey_stick(p0, q0, epsilon)[1]
    assert mixture <= share * first + (1 - share) * second


@given(laws(), laws(), laws(), laws(), shares, orders())
def test_exponential_of_the_divergence_is_convex(p0, q0, p1, q1, share, order):
    """Lemma 2.2.3 of [Ste16]."""
    mixture = renyi_divergence(mixed(p1, p0, share), mixed(q1, q0, share), order)
    first, second = renyi_divergence(p1, q1, order), renyi_divergence(p0, q0, order)
    assume(max(first[1], second[1]) < math.inf)
    power = order - 1
    left = exp_ends(power * mixture[0])[0]
    right = share * exp_ends(power * first[1])[1] + (1 - share) * exp_ends(power * second[1])[1]
    assert left <= right + Fraction(1, 2**60) * (1 + right)


@given(laws(), laws(), laws(), st.integers(2, 5), orders(6))
def test_triangle_like_inequality(p, q, r, k, order):
    """Lemma 2.5.2 of [Ste16]."""
    far = renyi_divergence(p, q, order)[0]
    first = renyi_divergence(p, r, (k * order - 1) / (k - 1))[1]
    second = renyi_divergence(r, q, k * order)[1]
    factor = k * order / (k * order - 1)
    assert far == math.inf or far <= factor * first + second
    assert far < math.inf or max(first, second) == math.inf


@given(laws(), laws(), laws(), laws(), all_orders)
def test_divergences_of_products_add_up(p, q, other_p, other_q, order):
    def product(one, two):
        return {(a, b): one[a] * two[b] for a in one for b in two}

    together = renyi_divergence(product(p, other_p), product(q, other_q), order)
    apart = renyi_divergence(p, q, order), renyi_divergence(other_p, other_q, order)
    slack = Fraction(1, 2**60)
    assert together[0] <= sum(end[1] for end in apart) + slack
    assert together[1] + slack >= sum(end[0] for end in apart)


@given(st.lists(st.tuples(st.integers(1, 20), st.integers(1, 20)), min_size=1, max_size=5))
def test_log_sum_inequality(pairs):
    a, b = sum(x for x, _ in pairs), sum(y for _, y in pairs)
    left = sum(x * log_bounds(Fraction(x, y))[1] for x, y in pairs)
    assert left >= a * log_bounds(Fraction(a, b))[0]


@given(laws(), laws(), st.lists(st.fractions(-1, 1, max_denominator=9), min_size=4, max_size=4))
def test_pinsker(p, q, values):
    """Lemma 2.7.6 of [Ste16]: a statistic in [-1, 1] moves by at most sqrt(2 KL)."""
    high = kl_divergence(p, q)[1]
    assume(high < math.inf)
    gap = abs(sum((p[o] - q[o]) * values[o] for o in p))
    assert gap <= sqrt_bounds(2 * Fraction(high))[1]
    assert total_variation(p, q) <= sqrt_bounds(Fraction(high) / 2)[1]


@given(laws(), laws(), st.lists(st.fractions(-99, 99, max_denominator=9), min_size=4, max_size=4))
def test_pinsker_of_order_two_needs_no_bound(p, q, values):
    """Lemma 2.7.7 of [Ste16]."""
    high = renyi_divergence(p, q, 2)[1]
    assume(high < math.inf)
    gap = abs(sum((p[o] - q[o]) * values[o] for o in p))
    second_moment = sum(q[o] * values[o] ** 2 for o in p)
    assert gap <= sqrt_bounds(second_moment * (exp_bounds(Fraction(high), 96)[1] - 1))[1]


@given(st.lists(st.fractions(-4, 4, max_denominator=8), min_size=4, max_size=4), laws())
def test_centred_moment_inequality(values, weights):
    """Lemma 2.4.4 of [Ste16]: E[e^(X - EX)] is at most E[cosh 2X]."""
    mean = sum(weights[o] * values[o] for o in weights)
    left = sum(weights[o] * exp_bounds(values[o] - mean)[0] for o in weights)
    right = sum(
        weights[o] * (exp_bounds(2 * values[o])[1] + exp_bounds(-2 * values[o])[1]) / 2
        for o in weights
    )
    assert left <= right


@given(laws(), laws(), orders())
def test_loss_variable_carries_every_divergence(p, q, order):
    loss = LossVariable.of(p, q)
    assert sum(loss.ratios.values()) == 1
    assert loss.mean == kl_divergence(p, q)
    assert loss.delta("1/2") == hockey_stick(p, q, "1/2")
    low, high = renyi_divergence(p, q, order)
    moment = loss.moment(order - 1)
    assert (moment[0] == math.inf) == (low == math.inf)
    if low < math.inf:
        assert exp_ends((order - 1) * low)[0] <= moment[1]
        assert moment[0] <= exp_ends((order - 1) * high)[1]


def test_moments_of_an_infinite_loss():
    loss = LossVariable.of(law([1, 1]), law([1, 0]))
    assert loss.ratios[math.inf] == Fraction(1, 2)
    assert loss.moment(1) == (math.inf, math.inf)
    assert loss.moment(0) == (1, 1)
    assert loss.moment(-1)[0] <= 1 <= loss.moment(-1)[1]
    assert loss.exceeds(100) == (Fraction(1, 2), Fraction(1, 2))


@pytest.mark.parametrize("ratio", [Fraction(3, 2), Fraction(3), Fraction(50), Fraction(10**6)])
@pytest.mark.parametrize("order", [Fraction(21, 20), Fraction(2), Fraction(7, 2), Fraction(1000)])
def test_randomised_response_has_its_closed_form(ratio, order):
    p, q = response(ratio)
    low, high = renyi_divergence(p, q, order)
    t, a = float(ratio), float(order)
    expected = math.log(t) + math.log((1 + t ** (1 - 2 * a)) / (1 + 1 / t)) / (a - 1)
    assert float(low) == pytest.approx(expected, rel=1e-9)
    assert high - low < Fraction(1, 2**60)


def test_zero_denominators_are_infinite():
    p, q = law([1, 1]), law([1, 0])
    for order in (1, 2, math.inf):
        assert renyi_divergence(p, q, order) == (math.inf, math.inf)
        assert renyi_divergence(q, p, order)[1] < 1
    assert approximate_max_divergence(p, q, "1/2")[1] == log_bounds(Fraction(1, 2), 96)[1]
    assert max_divergence({0: Fraction(1)}, {1: Fraction(1)})[0] == math.inf


def test_huge_orders_and_ratios_do_not_overflow():
    p = {0: Fraction(1, 10**30), 1: 1 - Fraction(1, 10**30)}
    q = {0: Fraction(1, 10**300), 1: 1 - Fraction(1, 10**300)}
    low, high = renyi_divergence(p, q, 10**6)
    assert float(low) == pytest.approx(270 * math.log(10), rel=1e-4)
    assert high - low < Fraction(1, 2**60)
    assert renyi_divergence(p, q, 1 + Fraction(1, 10**9))[1] < 1


@pytest.mark.parametrize("order", [0, "0.99", -1, "nan"])
def test_bad_orders(order):
    with pytest.raises(InvalidArgument):
        renyi_divergence(law([1]), law([1]), order)


@pytest.mark.parametrize("delta", [-1, 1, "1.5"])
def test_bad_deltas(delta):
    with pytest.raises(InvalidArgument, match="delta"):
        approximate_max_divergence(law([1]), law([1]), delta)


@pytest.mark.parametrize("measure", [total_variation, kl_divergence, max_divergence])
def test_what_is_not_a_law_is_refused(measure):
    with pytest.raises(InvalidArgument, match="not a distribution"):
        measure({0: Fraction(1, 2)}, {0: Fraction(1)})
