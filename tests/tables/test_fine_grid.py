"""The fine grid: the same range, a step that divides the declared one, and decimals as they are."""

import math
from fractions import Fraction

import pytest

from discreet.tables.column import Bounds
from discreet.tables.functions.fine_grid import MOST_STEPS, fine_grid
from tests.support.projects.dice import Dice

UGLY = Fraction(1000003, 1000007)

GRIDS = [
    Bounds(lower=0, upper=10, step="0.25"),
    Bounds(lower=-7, upper=7, step=7),
    Bounds(lower=-5, upper=0, step="0.01"),
    Bounds(lower=0, upper=1, step="1/3"),
    Bounds(lower=0, upper=10**300, step=10**290),
    Bounds(lower=0, upper="1e-280", step="1e-284"),
    Bounds(lower=-UGLY, upper=UGLY * 10**8, step=UGLY),
    Bounds(lower=0, upper=2**53, step=1),
]


@pytest.mark.parametrize("bounds", GRIDS)
def test_the_range_stays_and_the_step_is_a_part_of_the_declared_one(bounds):
    fine = fine_grid(bounds)
    assert (fine.lower, fine.upper) == (bounds.lower, bounds.upper)
    assert (bounds.step / fine.step).denominator == 1
    assert MOST_STEPS // 10 <= fine.largest_steps <= max(MOST_STEPS, bounds.largest_steps)
    assert fine_grid(fine) == fine


def test_no_step_is_smaller_than_floating_point_reaches():
    fine = fine_grid(Bounds(lower=0, upper="1e-290", step="1e-295"))
    assert fine.step == Fraction(1, 10**300)


@pytest.mark.parametrize("bounds", GRIDS[:6])
def test_every_number_of_steps_is_found_again(bounds):
    """As engines do it: divide, add one half, and round down, all in floating point."""
    fine, dice = fine_grid(bounds), Dice(1, label="steps")
    places = [fine.lower_steps, fine.upper_steps]
    places += [dice.between(fine.lower_steps, fine.upper_steps) for _ in range(3_000)]
    step = float(fine.step)
    assert all(math.floor(float(m * fine.step) / step + 0.5) == m for m in places)


@pytest.mark.parametrize("step", ["0.25", "3", "1/3", "10", "0.01"])
def test_decimals_are_on_the_grid(step):
    fine = fine_grid(Bounds(lower=0, upper=30, step=step))
    assert all((Fraction(text) / fine.step).denominator == 1 for text in ("4.9", "0.1234567891"))
