"""Grids: exact rounding, and distances that include it."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.core.contribution import Contribution, Metric
from discreet.core.errors import Unsupported
from discreet.core.loss import Pure, Zcdp
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.noise.grid import Grid, on_grid

STEPS = st.fractions(min_value="1/50", max_value=20, max_denominator=50)
FLOATS = st.floats(min_value=-1e6, max_value=1e6)
VECTORS = st.lists(st.tuples(FLOATS, FLOATS), min_size=1, max_size=6)


@given(step=STEPS, pairs=VECTORS, bound=st.integers(1, 10**6))
def test_rounding_stays_inside_the_declared_distance(step: Fraction, pairs, bound: int):
    """Any two real vectors: their units differ by no more than the enlarged contribution says."""
    first, second = (np.array([pair[i] for pair in pairs]) for i in (0, 1))
    moves = [abs(Fraction(a) - Fraction(b)) for a, b in pairs]
    d_in = Contribution(
        l0=sum(move > 0 for move in moves),
        linf=max(moves),
        l1=sum(moves),
        l2_squared=sum(move**2 for move in moves),
    )
    grid = Grid(step=step, bound=bound)
    units = grid.to_units(first) - grid.to_units(second)
    within = grid.rounded(d_in)
    assert within.linf is not None
    assert max(abs(units)) <= within.linf
    assert within.l1 is not None
    assert sum(abs(int(unit)) for unit in units) <= within.l1
    assert within.l2_squared is not None
    assert sum(int(unit) ** 2 for unit in units) <= within.l2_squared


@given(step=STEPS, value=FLOATS)
def test_rounding_is_to_the_nearest_multiple(step: Fraction, value: float):
    grid = Grid(step=step, bound=10**7)
    unit = int(grid.to_units(np.array([value]))[0])
    off = Fraction(value) - unit * step
    assert -step / 2 <= off < step / 2
    assert grid.from_units(np.array([unit]))[0] == unit * step


def test_values_are_clamped_to_the_bound():
    grid = Grid(step="1/2", bound=3)
    values = np.array([-math.inf, -3.1, 2.75, 2.74, 1e300, math.inf])
    assert grid.to_units(values).tolist() == [-6, -6, 6, 5, 6, 6]
    fractions = np.array([Fraction(7, 3), 10**40], dtype=object)
    assert grid.to_units(fractions).tolist() == [5, 6]
    assert grid.to_units(np.array([[1, 2], [3, 4]])).shape == (2, 2)


def test_distances_on_the_grid_are_only_rescaled():
    d_in = Contribution(l0=3, linf=2, metric=Metric.CHANGE_ONE)
    units = Grid(step="1/4", bound=9).exact(d_in)
    assert units == Contribution(l0=3, linf=8, metric=Metric.CHANGE_ONE)
    assert units.l2_squared == d_in.l2_squared * 16  # type: ignore[operator]


def test_rounding_needs_to_know_how_many_entries_change():
    with pytest.raises(Unsupported, match="how many"):
        Grid(step=1, bound=9).rounded(Contribution(l1=1))


def test_a_gridded_mechanism_pays_for_the_rounding(rng):
    d_in = Contribution(l0=2, linf="0.75")
    laplace = on_grid(DiscreteLaplace(scale=10), step="1/2", bound=50)
    assert laplace.mechanism.loss(laplace.grid.rounded(d_in)) == Pure("4/10")  # type: ignore[attr-defined]
    gaussian = on_grid(DiscreteGaussian(sigma_squared=16), step="1/2", bound=50)
    assert gaussian.event(d_in).distance_squared == 8  # type: ignore[attr-defined]
    assert gaussian.mechanism.loss(gaussian.grid.rounded(d_in)) == Zcdp(rho="1/4")  # type: ignore[attr-defined]
    released = laplace.release(np.array([[0.1, 3.7]]), rng)
    assert released.shape == (1, 2)
    assert released.dtype == np.int64
    assert (
        laplace.error_quantile("0.1")
        == (DiscreteLaplace(scale=10).error_quantile("0.1") + Fraction(1, 2)) / 2
    )
