"""The hockey stick against sums over all events."""

from fractions import Fraction
from itertools import chain, combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.audit.finite_divergence import hockey_stick
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import exp_bounds


def law(weights):
    total = sum(weights)
    return {outcome: Fraction(weight, total) for outcome, weight in enumerate(weights)}


laws = st.lists(st.integers(0, 9), min_size=4, max_size=4).filter(any).map(law)


@given(laws, laws, st.fractions(min_value=0, max_value=3, max_denominator=20))
def test_it_is_the_largest_excess_over_all_events(p, q, epsilon):
    low, high = hockey_stick(p, q, epsilon)
    factor_low, factor_high = exp_bounds(epsilon, 96)
    events = chain.from_iterable(combinations(p, size) for size in range(len(p) + 1))
    pairs = [(sum(p[o] for o in event), sum(q[o] for o in event)) for event in events]
    assert max(a - factor_high * b for a, b in pairs) == low
    assert max(a - factor_low * b for a, b in pairs) == high
    assert high - low <= Fraction(1, 2**80)


@given(laws, laws, st.fractions(min_value=0, max_value=3, max_denominator=20))
def test_merging_outcomes_never_helps(p, q, epsilon):
    def merged(source):
        return {0: source[0] + source[1], 1: source[2] + source[3]}

    low, _ = hockey_stick(merged(p), merged(q), epsilon)
    _, high = hockey_stick(p, q, epsilon)
    assert low <= high


def test_two_coin_randomised_response_is_exactly_ln_three():
    p = {"yes": Fraction(3, 4), "no": Fraction(1, 4)}
    q = {"yes": Fraction(1, 4), "no": Fraction(3, 4)}
    assert hockey_stick(p, q, "1.0986")[0] > 0
    assert hockey_stick(p, q, "1.0987")[1] == 0


def test_what_is_not_a_law_is_refused():
    with pytest.raises(InvalidArgument, match="not a distribution"):
        hockey_stick({0: Fraction(1, 2)}, {0: Fraction(1)}, 1)
    with pytest.raises(InvalidArgument, match="at least 0"):
        hockey_stick({0: Fraction(1)}, {0: Fraction(1)}, -1)
