"""The errors of all five ways to publish points [Das22, Theorem 9.6], by exact laws, d = 4 to 1024.

Points are independent where each is moved up to 0 by itself, so their means and variances are sums
over the law of one noise. Where points share a sum, the stated bounds are worked out by hand.
"""

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.core.loss import Approximate, Pure, Zcdp
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.truncated_geometric import TruncatedGeometric
from discreet.synthesis.microdata.clamped_points import ClampedPoints
from discreet.synthesis.microdata.points_with_sum import PointsWithSum
from discreet.synthesis.microdata.uncertainty_picture import easy_table, hard_table

SIZES = [4, 16, 64, 256, 1024]
TABLES = {"easy": easy_table, "hard": hard_table, "empty": lambda d: np.zeros(d, dtype=np.int64)}


def law_of(method: ClampedPoints) -> tuple[np.ndarray, np.ndarray]:
    """Return the values of one noise, and their chances, as far as anything of any size goes."""
    noise = method.noise
    values = np.arange(-400, 401)
    if isinstance(noise, DiscreteGaussian):
        masses = np.exp(-(values**2) / (2 * float(noise.sigma_squared)))
    else:
        masses = np.exp(-np.abs(values) / float(noise.scale))
    return values, masses / masses.sum()


def errors_of(method: ClampedPoints, table: np.ndarray) -> tuple[float, float]:
    """Return the exact largest squared error of a point, and that of the sum."""
    values, masses = law_of(method)
    worst = mean = spread = 0.0
    for count in table.tolist():
        off = np.maximum(0, count + values) - count
        square, shift = float(masses @ off**2), float(masses @ off)
        worst = max(worst, square)
        mean, spread = mean + shift, spread + square - shift**2
    return worst, spread + mean**2


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("points", SIZES)
@pytest.mark.parametrize("loss", [Pure(1), Pure("1/2"), Zcdp(rho="1/2"), Zcdp(rho="1/8")], ids=str)
def test_points_that_are_moved_up_keep_their_bounds_and_the_sum_pays(loss, points, name):
    """1 and 2: 2/ε² and 1/(2ρ) a point, d² times that for the sum; and no less by much."""
    method = ClampedPoints.calibrate(loss=loss, points=points, rows_per_unit=1)
    each = 2 / loss.epsilon**2 if isinstance(loss, Pure) else 1 / (2 * loss.rho)
    table = TABLES[name](points)
    worst, total = errors_of(method, table)
    assert method.point_error() == pytest.approx(float(each))
    assert worst <= float(each) * (1 + 1e-9)
    assert total <= points**2 * float(each)
    assert method.sum_error() == pytest.approx(points**2 * float(each))
    if name == "easy":
        assert total == pytest.approx(points * worst), "no point is moved, so noises cancel"
    if name == "empty" and points >= 16:
        # Each point gets E max(0, Z) more: the sum's error is of the order d², and not d.
        assert total >= points**2 * float(each) / 12


@pytest.mark.parametrize("points", SIZES)
def test_points_with_a_sum_have_the_stated_bounds(points):
    """3 to 5: the sum 8/ε², 1/ρ and 8/ε²; a point within ln² d, ln d, and 9B²."""
    log = math.log(points)
    for epsilon in (1.0, 0.5):
        pure = PointsWithSum.calibrate(loss=Pure(epsilon), points=points, rows_per_unit=1)
        assert 2 / epsilon**2 < pure.sum_error() <= 8 / epsilon**2, "the printed 2/ε² is broken"
        assert pure.point_error() <= (16 * log**2 + 48 * log + 56) / epsilon**2
    for rho in (0.5, 0.125):
        gauss = PointsWithSum.calibrate(loss=Zcdp(rho=rho), points=points, rows_per_unit=1)
        assert gauss.sum_error() <= 1 / rho * (1 + 1e-9)
        assert gauss.point_error() <= (1 + 4 * math.sqrt(2 * log + 2) + 8 * log + 8) / rho
    delta = Fraction(1, 10**6)
    bound = math.ceil(2 * math.log(4 / delta) + 1)
    both = PointsWithSum.calibrate(loss=Approximate(1, delta), points=points, rows_per_unit=1)
    assert isinstance(both.noise, TruncatedGeometric)
    assert both.noise.bound <= bound, "no more than is printed"
    assert both.sum_error() <= 8
    assert both.point_error() <= 9 * bound**2
