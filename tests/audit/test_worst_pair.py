"""Pairs that are searched are neighbours, in every norm that is bounded."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.audit.worst_pair import moved_pairs
from discreet.core.contribution import Contribution
from discreet.core.errors import InvalidArgument

LIMITS = st.none() | st.integers(1, 12)


@given(st.integers(1, 6), LIMITS, st.integers(1, 12), LIMITS, LIMITS)
def test_no_move_exceeds_a_norm(cells, l0, linf, l1, l2_squared):
    d_in = Contribution(l0=l0, linf=linf, l1=l1, l2_squared=l2_squared)
    pairs = moved_pairs(cells, d_in)
    assert pairs
    for first, second in pairs:
        moved = np.abs(second - first)
        norms = {
            "l0": (moved > 0).sum(),
            "linf": moved.max(),
            "l1": moved.sum(),
            "l2_squared": (moved**2).sum(),
        }
        for name, norm in norms.items():
            assert getattr(d_in, name) is None or 0 < norm <= getattr(d_in, name), name


def test_as_many_cells_move_as_may():
    moves = [second - first for first, second in moved_pairs(9, Contribution(l1=4, linf=1))]
    assert {int(np.abs(move).sum()) for move in moves} == {1, 4}


def test_nothing_moves_by_less_than_one():
    with pytest.raises(InvalidArgument, match="whole number"):
        moved_pairs(3, Contribution(l1="1/2"))
