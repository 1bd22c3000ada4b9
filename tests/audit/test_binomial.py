"""Certified tails and Clopper-Pearson bounds, against exact fractions."""

from fractions import Fraction
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from discreet.audit.binomial import lower_confidence, upper_confidence, upper_tail_bound
from discreet.core.errors import InvalidArgument


def exact_tail(successes: int, trials: int, p: Fraction) -> Fraction:
    return sum(
        (comb(trials, i) * p**i * (1 - p) ** (trials - i) for i in range(successes, trials + 1)),
        Fraction(0),
    )


@given(
    st.integers(min_value=1, max_value=60).flatmap(
        lambda n: st.tuples(st.integers(min_value=0, max_value=n), st.just(n))
    ),
    st.fractions(min_value=0, max_value=1, max_denominator=50),
)
def test_tail_is_never_too_small(counts, p):
    successes, trials = counts
    truth, bound = exact_tail(successes, trials, p), upper_tail_bound(successes, trials, p)
    assert bound >= truth
    if successes > (trials + 1) * p:
        assert bound <= truth * (1 + Fraction(1, 10**9)) + Fraction(1, 2**110)


@pytest.mark.parametrize("failure", ["1/4", "1/20", "1e-6"])
@pytest.mark.parametrize("trials", [1, 7, 40])
def test_bounds_cover_and_are_tight(trials, failure):
    for successes in range(trials + 1):
        low = lower_confidence(successes, trials, failure)
        high = upper_confidence(successes, trials, failure)
        assert 0 <= low <= Fraction(successes, trials) <= high <= 1
        if successes:
            assert exact_tail(successes, trials, low) <= Fraction(failure)
            assert exact_tail(successes, trials, low * Fraction(1001, 1000)) > Fraction(failure)
        if successes < trials:
            tail = exact_tail(trials - successes, trials, 1 - high)
            assert tail <= Fraction(failure)


@pytest.mark.parametrize("p", [Fraction(1, 10), Fraction(1, 2), Fraction(97, 100)])
def test_miss_rate_by_exact_enumeration(p):
    """Over all counts, the lower bound is above p with probability at most the stated failure."""
    trials, failure = 25, Fraction(1, 10)
    mass = {k: comb(trials, k) * p**k * (1 - p) ** (trials - k) for k in range(trials + 1)}
    low = sum((m for k, m in mass.items() if lower_confidence(k, trials, failure) > p), Fraction(0))
    high = sum(
        (m for k, m in mass.items() if upper_confidence(k, trials, failure) < p), Fraction(0)
    )
    assert low <= failure
    assert high <= failure


@pytest.mark.parametrize(("successes", "trials"), [(3, 10**5), (70_000, 10**5), (1, 10), (10, 10)])
def test_agrees_with_scipy(successes, trials):
    """Also far out, where a float search must not be trusted but is a good witness."""
    low, high = (f(successes, trials, "1e-9") for f in (lower_confidence, upper_confidence))
    assert float(low) == pytest.approx(
        stats.beta.ppf(1e-9, successes, trials - successes + 1), rel=1e-8
    )
    if successes < trials:
        assert float(high) == pytest.approx(
            stats.beta.isf(1e-9, successes + 1, trials - successes), rel=1e-8
        )


@pytest.mark.parametrize(
    ("successes", "trials", "failure"),
    [(-1, 5, "0.1"), (6, 5, "0.1"), (0, 0, "0.1"), (1, 5, 0), (1, 5, 1), (1, 5, "nan")],
)
def test_bad_parameters(successes, trials, failure):
    for bound in (lower_confidence, upper_confidence):
        with pytest.raises(InvalidArgument):
            bound(successes, trials, failure)
