"""Laws of sums of uniform numbers, against the alternating sum, integrals and exact counting."""

from fractions import Fraction
from itertools import pairwise, product
from math import comb

import pytest
from mpmath import binomial, exp, factorial, inf, mp, mpf, pi, quad, sin

from discreet.noiseless.sums.ball import ONE, Ball, inverse, power, real, times, turn
from discreet.noiseless.sums.contour import contour_at
from discreet.noiseless.sums.shift_divergence import crossing, shift_delta
from discreet.noiseless.sums.uniform_sums import UniformSum

MANY = 700
"""Digits where an exact value is compared with."""


@pytest.fixture(autouse=True)
def digits():
    with mp.workdps(60):
        yield


def number(value):
    return mpf(value.numerator) / value.denominator


def encloses(within, value, *, width):
    with mp.workdps(MANY):
        low, high = number(within.low), number(within.high)
        return low <= value <= high and high - low <= width * value


def irwin_hall(count, y):
    """Sum the alternating series with enough digits."""
    with mp.workdps(MANY):
        y = number(y)
        terms = [(k, (-1) ** k * binomial(count, k)) for k in range(int(y) + 1)]
        below = sum(sign * (y - k) ** count for k, sign in terms) / factorial(count)
        density = sum(sign * (y - k) ** (count - 1) for k, sign in terms) / factorial(count - 1)
    return below, density


@pytest.mark.parametrize(
    ("count", "y"),
    [
        (1, "0.25"),
        (2, "1.5"),
        (7, "1/1024"),
        (63, "20.5"),
        (64, "31.999"),
        (64, "3"),
        (64, "63"),
        (99, "39.5"),
        (200, "80"),
        (200, "160"),
        (300, "1/3"),
    ],
)
def test_interval_against_the_alternating_sum(count, y):
    found = UniformSum(count).at(Fraction(y))
    below, density = irwin_hall(count, Fraction(y))
    assert encloses(found.below, below, width=mpf("1e-20"))
    assert encloses(found.density, density, width=mpf("1e-20"))


def by_characteristic_function(count, y):
    """Integrate: the alternating sum of a million terms would need 1.2 million digits."""
    deviation = mp.sqrt(mpf(count) / 12)
    away = number(y) - mpf(count) / 2

    def integrand(t):
        shape = (sin(t / 2) / (t / 2)) ** count if t else mpf(1)
        return sin(t * away) / t * shape if t else away

    # Beyond 24 deviations the integrand is below e^-288.
    panels = [mpf(k) / deviation for k in range(25)]
    return mpf(1) / 2 + quad(integrand, panels, maxdegree=5) / pi


@pytest.mark.parametrize(("count", "epsilon"), [(999_999, "0.00499"), (999_999, "0.006")])
def test_a_million_rows_against_the_characteristic_function(count, epsilon):
    law, shift = UniformSum(count), Fraction(1, 2)
    y = crossing(law, shift, Fraction(epsilon))
    assert y is not None
    value = by_characteristic_function(count, y)
    assert encloses(law.at(y).below, value, width=mpf("1e-20"))
    delta = number(shift_delta(law, shift, Fraction(epsilon)))
    true = value - exp(mpf(epsilon)) * by_characteristic_function(count, y - shift)
    assert true <= delta <= true * (1 + mpf("1e-9"))


@pytest.mark.parametrize(("count", "points"), [(64, 2), (70, 4), (100, 11), (90, 3)])
def test_grid_against_counting(count, points):
    law = UniformSum(count, points)
    for share in (3, 5, 9):
        y = law.largest * share // 20
        ways = sum(
            (-1) ** k * comb(count, k) * comb(y - points * k + count, count)
            for k in range(min(count, y // points) + 1)
        )
        with mp.workdps(MANY):
            true = mpf(ways) / mpf(points) ** count
        assert encloses(law.at(Fraction(y)).below, true, width=mpf("1e-20"))


def test_short_sums_on_a_grid_against_all_outcomes():
    law = UniformSum(4, 3)
    totals = [sum(row) for row in product(range(3), repeat=4)]
    for y in range(-1, 10):
        found = law.at(Fraction(y))
        assert found.below.low <= Fraction(sum(t <= y for t in totals), 81) <= found.below.high
        assert found.density.low <= Fraction(totals.count(y), 81) <= found.density.high


def test_any_line_is_valid_though_a_bad_one_is_wide():
    below, density = irwin_hall(80, Fraction(30))
    for tilt, period in ((Fraction(-1, 8), 201), (Fraction(-5), 61), (Fraction(-1), 11)):
        found = contour_at(80, None, tilt, period).at(Fraction(30))
        assert number(found.below.low) <= below <= number(found.below.high)
        assert number(found.density.low) <= density <= number(found.density.high)


def test_balls_hold_the_truth():
    share = Fraction(3, 7)
    ball, angle = turn(share), 2 * pi * mpf(3) / 7
    off = abs(mp.mpc(mpf(ball.re), mpf(ball.im)) / ONE - mp.expj(angle))
    assert off <= mpf(ball.radius + 1) / ONE + mpf("1e-58")
    whole = power(ball, 7)
    assert abs(whole.re - ONE) <= whole.radius
    assert abs(whole.im) <= whole.radius
    one = times(ball, inverse(ball))
    assert abs(one.re - ONE) <= one.radius
    with pytest.raises(ZeroDivisionError):
        inverse(Ball(1, 0, 5))
    assert real(Fraction(1, 3)).re * 3 == pytest.approx(ONE)


ORACLE = {
    (10, "1"): 0.018541223,
    (10, "2"): 7.9166436e-4,
    (50, "0.5"): 2.6935143e-3,
    (50, "1"): 5.4807001e-6,
    (100, "0.25"): 6.7035823e-3,
    (100, "0.5"): 1.4916445e-4,
    (100, "0.63389432"): 1.0473686e-5,
    (100, "1"): 1.0604732e-9,
    (1000, "0.1"): 7.7369369e-4,
    (1000, "0.2"): 1.9904982e-6,
    (1000, "0.24254295"): 6.5455318e-8,
}


@pytest.mark.parametrize(("rows", "epsilon"), ORACLE)
def test_tight_values_for_uniform_rows(rows, epsilon):
    found = shift_delta(UniformSum(rows - 1), Fraction(1, 2), Fraction(epsilon))
    assert float(found) == pytest.approx(ORACLE[rows, epsilon], rel=4e-7)


@pytest.mark.parametrize(
    ("rows", "low", "high"),
    [(100, "0.737", "0.739"), (10**4, "0.0607", "0.0609"), (10**6, "0.00498", "0.005")],
)
def test_epsilon_at_a_millionth(rows, low, high):
    law, target = UniformSum(rows - 1), Fraction(1, 10**6)
    assert shift_delta(law, Fraction(1, 2), Fraction(low)) > target
    assert shift_delta(law, Fraction(1, 2), Fraction(high)) < target


def test_extremes_of_a_shift():
    law = UniformSum(3)
    assert shift_delta(law, Fraction(0), Fraction(0)) == 0
    assert shift_delta(law, Fraction(3), Fraction(9)) == 1
    assert shift_delta(UniformSum(0), Fraction(1, 2), Fraction(1)) == 1
    assert shift_delta(UniformSum(1), Fraction(1, 2), Fraction(1)) == pytest.approx(0.5)
    assert shift_delta(UniformSum(10**6), Fraction(1, 2), Fraction(1)) == pytest.approx(1e-300)
    assert 0 < shift_delta(UniformSum(200), Fraction(150), Fraction(2)) <= 1


def test_more_rows_and_smaller_shifts_have_a_smaller_delta():
    at = Fraction(1, 3)
    deltas = [shift_delta(UniformSum(m), Fraction(1, 2), at) for m in (5, 12, 63, 64, 65, 300)]
    assert deltas == sorted(deltas, reverse=True)
    deltas = [shift_delta(UniformSum(80), Fraction(d, 4), at) for d in (1, 2, 3, 9, 40)]
    assert deltas == sorted(deltas)


def test_the_ratio_of_shifted_densities_falls():
    """Assumption 6.1 of the source is a theorem: the law is log-concave."""
    law = UniformSum(70)
    ratios = []
    for k in range(8, 139):
        here, there = law.at(Fraction(k, 2)).density, law.at(Fraction(k, 2) - 2).density
        ratios.append(here.high / there.low if there.low else inf)
    assert all(after <= before * (1 + Fraction(1, 10**12)) for before, after in pairwise(ratios))
