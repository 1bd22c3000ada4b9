"""Contributions: only true inequalities fill in."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.core.contribution import Contribution, Metric
from discreet.core.errors import InvalidArgument, Unsupported

NORMS = ("l0", "linf", "l1", "l2_squared")


def norms_of(vector):
    sizes = [abs(entry) for entry in vector]
    return {
        "l0": sum(1 for size in sizes if size),
        "linf": max(sizes, default=0),
        "l1": sum(sizes),
        "l2_squared": sum(size * size for size in sizes),
    }


@given(
    st.lists(st.integers(-50, 50), min_size=1, max_size=8),
    st.sets(st.sampled_from(NORMS), min_size=1),
    st.integers(0, 5),
)
def test_what_is_filled_in_bounds_every_vector_that_fits(vector, given_norms, slack):
    truth = norms_of(vector)
    bound = Contribution(**{name: truth[name] + slack for name in given_norms})
    for name in NORMS:
        filled = getattr(bound, name)
        assert filled is None or truth[name] <= filled


def test_fills_in_and_tightens():
    assert Contribution(l0=5, linf=2) == Contribution(l0=5, linf=2, l1=10, l2_squared=20)
    assert Contribution(l0=5, linf=2, l1=1000).l1 == 10
    assert Contribution(l1=3, linf=7).linf == 3
    assert Contribution(l2_squared=4).l1 is None


def test_a_norm_that_does_not_follow_is_refused():
    with pytest.raises(Unsupported, match="l1"):
        Contribution(l2_squared=4).bound("l1")
    assert Contribution(l1="1/2").bound("l1") == Fraction(1, 2)


def test_bad_contributions():
    with pytest.raises(InvalidArgument, match="at least one norm"):
        Contribution()
    with pytest.raises(InvalidArgument, match="at least 0"):
        Contribution(l1=-1)
    with pytest.raises(InvalidArgument, match="whole number"):
        Contribution(l0="1/2", linf=1)


def test_within():
    small, large = Contribution(l0=1, linf=1), Contribution(l0=2, linf=1)
    assert small.is_within(large)
    assert not large.is_within(small)
    assert not small.is_within(Contribution(l0=2, linf=1, metric=Metric.CHANGE_ONE))
