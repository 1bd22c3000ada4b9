"""True δ(ε) and other divergences, against closed forms and against the definition."""

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.audit.divergence import (
    INFINITE,
    CertifiedInterval,
    delta,
    excess,
    max_divergence,
    renyi_divergence,
)
from discreet.audit.exponential_sum import exp
from discreet.audit.finite_divergence import hockey_stick
from discreet.audit.laws import (
    EnclosedLaw,
    ExactLaw,
    discrete_gaussian_law,
    discrete_laplace_law,
    enclosed,
    finite_law,
    product,
    push_forward,
)
from discreet.core.errors import InvalidArgument

SCALES = ["1/3", "1", "7/2", "100"]
NARROW = Fraction(1, 2**60)


def laplace(scale, *, shift: int, reach: int = 6):
    window = (-reach, shift + reach)
    return [discrete_laplace_law(scale, centre=centre, window=window) for centre in (0, shift)]


def response(epsilon, *, choices: int) -> list[ExactLaw]:
    """Say the truth with odds e^ε to 1 against each lie."""
    return [
        ExactLaw({said: exp(epsilon) if said == truth else 1 for said in range(choices)})
        for truth in (0, 1)
    ]


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("share", ["0", "1/3", "9/10", "1", "2"])
def test_discrete_laplace_closed_form(scale, share):
    """For a move by 1, δ(ε) = max(0, (1 - q e^ε) / (1 + q)) with q = e^(-1/scale)."""
    p, q = laplace(scale, shift=1)
    rate = 1 / Fraction(scale)
    epsilon = Fraction(share) * rate
    above, below = excess(p, q, epsilon)
    closed_above, closed_below = 1 - exp(epsilon - rate), 1 + exp(-rate)
    if closed_above <= 0:
        closed_above = closed_above * 0
    assert above * closed_below == closed_above * below
    found = delta(p, q, epsilon)
    assert found.high - found.low <= NARROW
    assert delta(q, p, epsilon).low <= found.high, "the pair is symmetric"


@pytest.mark.parametrize("choices", [2, 5])
@pytest.mark.parametrize("epsilon", ["0", "1/2", "1", "3/2"])
def test_randomised_response_closed_form(choices, epsilon):
    """At a claim ε, k-ary response with odds e^1 has δ = max(0, (e - e^ε) / (e + k - 1))."""
    p, q = response(1, choices=choices)
    found = delta(p, q, epsilon)
    truth = max(0.0, (math.e - math.exp(Fraction(epsilon))) / (math.e + choices - 1))
    assert float(found.low) == pytest.approx(truth, abs=1e-15)
    assert found.high - found.low <= NARROW


@pytest.mark.parametrize("sigma_squared", ["1/2", "4", "30"])
@pytest.mark.parametrize("epsilon", ["0", "1/10", "1", "2"])
def test_discrete_gaussian_formula(sigma_squared, epsilon):
    """δ = P[Y > εσ²/Δ - Δ/2] - e^ε P[Y > εσ²/Δ + Δ/2] in one dimension [CKS20, Theorem 7]."""
    shift, variance, rate = 2, float(Fraction(sigma_squared)), float(Fraction(epsilon))
    radius = 40 + int(12 * variance**0.5)
    p, q = (
        discrete_gaussian_law(sigma_squared, centre=centre, radius=radius) for centre in (0, shift)
    )
    weight = {k: math.exp(-k * k / 2 / variance) for k in range(-radius, radius + 1)}

    def beyond(limit: float) -> float:
        return math.fsum(w for k, w in weight.items() if k > limit) / math.fsum(weight.values())

    middle = rate * variance / shift
    truth = beyond(middle - shift / 2) - math.exp(rate) * beyond(middle + shift / 2)
    found = delta(p, q, epsilon)
    assert float(found.low) == pytest.approx(truth, rel=1e-9)
    assert found.high - found.low <= NARROW


def test_a_short_list_gives_a_wide_interval_that_holds_the_truth():
    def found(radius: int) -> CertifiedInterval:
        p, q = (discrete_gaussian_law(9, centre=c, radius=radius) for c in (0, 1))
        return delta(p, q, "1/2")

    wide, narrow = found(4), found(60)
    assert wide.low < narrow.low <= narrow.high < wide.high


weights = st.lists(st.integers(min_value=0, max_value=9), min_size=3, max_size=3).filter(any)


@given(weights, weights, st.fractions(min_value=0, max_value=2, max_denominator=8))
def test_finite_laws_agree_with_the_definition(first, second, epsilon):
    plain_p, plain_q = (
        {k: Fraction(w, sum(ws)) for k, w in enumerate(ws)} for ws in (first, second)
    )
    low, high = hockey_stick(plain_p, plain_q, epsilon)
    p, q = finite_law(plain_p), finite_law(plain_q)
    for found in (delta(p, q, epsilon), delta(enclosed(p), enclosed(q), epsilon)):
        assert found.low <= high
        assert found.high >= low
        assert found.high - found.low <= NARROW


@given(weights, weights)
def test_finite_laws_have_the_right_ratios(first, second):
    p, q = ExactLaw(dict(enumerate(first))), ExactLaw(dict(enumerate(second)))
    found = max_divergence(p, q)
    if any(a and not b for a, b in zip(first, second, strict=True)):
        assert found == INFINITE == renyi_divergence(p, q, 2)
        return
    ratios = [a * sum(second) / (b * sum(first)) for a, b in zip(first, second, strict=True) if a]
    truth = math.log(max(ratios))
    assert float(found.low) == pytest.approx(truth, abs=1e-12)
    assert float(found.high) == pytest.approx(truth, abs=1e-12)
    for order in (2, 5):
        moments = (
            a / sum(first) * (a * sum(second) / (b * sum(first))) ** (order - 1)
            for a, b in zip(first, second, strict=True)
            if a
        )
        renyi = renyi_divergence(p, q, order)
        assert float(renyi.low) == pytest.approx(math.log(sum(moments)) / (order - 1), abs=1e-9)
        assert renyi.high - renyi.low <= NARROW
        assert renyi.low <= found.high


@given(weights, weights, st.fractions(min_value=0, max_value=2, max_denominator=8))
def test_post_processing_never_raises_delta(first, second, epsilon):
    p, q = ExactLaw(dict(enumerate(first))), ExactLaw(dict(enumerate(second)))
    coarse_p, coarse_q = (push_forward(law, lambda k: k // 2) for law in (p, q))
    assert delta(coarse_p, coarse_q, epsilon).low <= delta(p, q, epsilon).high


def test_independent_coordinates_add_up():
    p, q = laplace(2, shift=1, reach=3)
    both = max_divergence(product(p, p), product(q, q))
    assert both.low <= 1 <= both.high
    assert both.high - both.low <= NARROW


def test_discrete_gaussian_renyi_is_the_bound_at_whole_orders():
    """D_α = αΔ²/2σ² when αΔ is whole: the shifted sum is a sum over the same lattice."""
    p, q = (discrete_gaussian_law(4, centre=c, radius=80) for c in (0, 1))
    for order in (2, 4):
        found = renyi_divergence(p, q, order)
        assert found.high == math.inf, "mass that is not listed could have any ratio"
        assert found.low <= Fraction(order, 8)
        assert Fraction(order, 8) - found.low < Fraction(1, 10**9)


def test_unlisted_mass_may_lie_anywhere():
    half = (Fraction(1, 2), Fraction(1, 2))
    p = EnclosedLaw(masses={0: half}, outside=Fraction(1, 2))
    q = EnclosedLaw(masses={0: half, 1: half}, outside=Fraction(0))
    assert delta(p, q, 0) == CertifiedInterval(Fraction(0), Fraction(1, 2))
    assert max_divergence(p, q).high == math.inf
    assert delta(q, p, 0) == CertifiedInterval(Fraction(0), Fraction(1, 2))


def test_bad_parameters():
    p, q = laplace(1, shift=1)
    with pytest.raises(InvalidArgument, match="epsilon"):
        delta(p, q, -1)
    bad_orders: list[Any] = [1, 0, "3/2"]
    for order in bad_orders:
        with pytest.raises(InvalidArgument):
            renyi_divergence(p, q, order)
    with pytest.raises(InvalidArgument):
        CertifiedInterval(Fraction(1), Fraction(0))
