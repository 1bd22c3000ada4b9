"""The approximate accountant: truncation, uniform noise, responses, sums and refusals."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.accounting.accountants.approximate import approximate_loss, truncated_delta
from discreet.audit.law_pair import LawPair
from discreet.audit.laws import discrete_laplace_law, product
from discreet.audit.verdict import VerdictAnswer, verify, worst_delta
from discreet.core.errors import Unsupported
from discreet.core.loss import Approximate
from discreet.core.mechanism_event import (
    ApproximateResponseEvent,
    DiscreteGaussianEvent,
    DiscreteLaplaceEvent,
    TruncatedGeometricEvent,
    UniformNoiseEvent,
)

SCALES = st.fractions(min_value="1/3", max_value=8, max_denominator=6)


def clamped(scale: Fraction, bound: int, *centres: int):
    return product(
        *(discrete_laplace_law(scale, centre=c, window=(c - bound, c + bound)) for c in centres)
    )


@settings(max_examples=40)
@given(scale=SCALES, bound=st.integers(2, 12), shift=st.integers(1, 11))
def test_truncated_delta_is_the_hockey_stick(scale: Fraction, bound: int, shift: int):
    if shift >= bound:
        assert truncated_delta(scale, bound, shift) == (Fraction(1), Fraction(1))
        return
    pair = LawPair(first=clamped(scale, bound, 0), second=clamped(scale, bound, shift))
    measured = worst_delta(pair, shift / scale)
    low, high = truncated_delta(scale, bound, shift)
    assert max(low, measured.low) <= min(high, measured.high)


@settings(max_examples=30)
@given(
    scale=SCALES,
    bound=st.integers(4, 7),
    first=st.integers(-2, 2),
    second=st.integers(-2, 2),
    distance=st.sampled_from([2, 3, 4]),
)
def test_two_entries_stay_within_the_claim(scale, bound, first, second, distance):
    """Whatever two entries move within the norms, the claimed (ε, δ) holds: exact verifier."""
    if abs(first) + abs(second) > distance:
        return
    event = TruncatedGeometricEvent(
        scale=scale, bound=bound, distance=distance, largest=2, entries=2
    )
    try:
        loss = approximate_loss([event])
    except Unsupported:
        return
    pair = LawPair(first=clamped(scale, bound, 0, 0), second=clamped(scale, bound, first, second))
    assert verify(pair, loss).answer is VerdictAnswer.HOLDS


def test_the_delta_of_a_smaller_shift_may_be_larger():
    """At q = 0.73 a move by 2 has a smaller δ at its ε than a move by 1: so both are covered."""
    scale = Fraction(100, 31)
    one, two = (truncated_delta(scale, 10, shift) for shift in (1, 2))
    assert one[0] > two[1]
    event = TruncatedGeometricEvent(scale=scale, bound=10, distance=2, largest=2, entries=2)
    assert approximate_loss([event]).delta >= 2 * one[0]


def test_events_add_up():
    events = [
        DiscreteLaplaceEvent(scale=4, distance=1),
        UniformNoiseEvent(radius=50, distance=1),
        ApproximateResponseEvent(epsilon="1/2", delta="1e-3") * 2,
    ]
    assert approximate_loss(events) == Approximate("5/4", Fraction(1, 101) + Fraction(2, 1000))
    assert approximate_loss([]) == Approximate(0, 0)


def test_far_truncation_costs_next_to_nothing():
    _, high = truncated_delta(Fraction(1), 10**9, 1)
    assert high < Fraction(1, 2**1000)
    low, high = truncated_delta(Fraction(10**9), 10**11, 10**10)
    assert 0 < low <= high < Fraction(1, 10**30)


@pytest.mark.parametrize(
    "event",
    [
        DiscreteGaussianEvent(sigma_squared=1, distance_squared=1),
        UniformNoiseEvent(radius=1, distance=9),
    ],
)
def test_events_without_a_stated_delta_are_refused(event):
    with pytest.raises(Unsupported):
        approximate_loss([event])
