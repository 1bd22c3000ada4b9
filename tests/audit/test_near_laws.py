"""Laws that are near and purely private: both parts of the lemma, and both directions of each."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.audit.finite_divergence import excess, total_variation
from discreet.audit.near_laws import near_law, near_pair
from discreet.core.errors import InvalidArgument
from tests.support.statistics.finite_laws import law, laws

factors = st.fractions(min_value=1, max_value=8, max_denominator=6)


@given(laws(5), laws(5), factors)
def test_near_law_is_private_and_as_near_as_can_be(y, z, factor):
    near = near_law(y, z, factor=factor)
    assert sum(near.values()) == 1
    assert all(0 <= mass <= factor * z[o] for o, mass in near.items())
    assert total_variation(y, near) == excess(y, z, factor)


@given(laws(5), laws(5), laws(5), factors)
def test_no_private_law_is_nearer(y, z, other, factor):
    """The converse: a private law within δ makes the excess at most δ."""
    private = near_law(other, z, factor=factor)
    assert excess(y, z, factor) <= total_variation(y, private)


@given(laws(5), laws(5), factors)
def test_near_pair_is_private_both_ways_and_near(y, z, factor):
    near_y, near_z = near_pair(y, z, factor=factor)
    delta = max(excess(y, z, factor), excess(z, y, factor))
    for near, original in ((near_y, y), (near_z, z)):
        assert sum(near.values()) == 1
        assert min(near.values()) >= 0
        assert total_variation(original, near) <= delta / (factor + 1)
    assert all(near_y[o] <= factor * near_z[o] for o in near_y)
    assert all(near_z[o] <= factor * near_y[o] for o in near_y)


@given(laws(5), laws(5), laws(5), laws(5), factors)
def test_a_near_private_pair_bounds_the_excess(y, z, other_y, other_z, factor):
    """The converse of the second part."""
    private_y, private_z = near_pair(other_y, other_z, factor=factor)
    moved = max(total_variation(y, private_y), total_variation(z, private_z))
    assert max(excess(y, z, factor), excess(z, y, factor)) <= (factor + 1) * moved


def test_one_direction_is_not_enough():
    """As printed the second part asks for one max divergence; the other can be infinite."""
    y, z = law([1, 0]), law([1, 1])
    factor = Fraction(2)
    assert excess(y, z, factor) == 0
    assert excess(z, y, factor) == Fraction(1, 2)
    near_y, near_z = near_pair(y, z, factor=factor)
    assert near_z[1] <= factor * near_y[1]
    assert near_y != y


def test_outcomes_of_one_law_only():
    near = near_law({"a": Fraction(1)}, {"b": Fraction(1)}, factor=2)
    assert near == {"a": 0, "b": 1}


def test_bad_input():
    with pytest.raises(InvalidArgument, match="at least 1"):
        near_law(law([1]), law([1]), factor="1/2")
    with pytest.raises(InvalidArgument, match="not a distribution"):
        near_pair({0: Fraction(2)}, law([1]), factor=2)
