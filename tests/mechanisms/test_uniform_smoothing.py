"""Uniform smoothing: its calculator, against recomputed numbers and an exact enumeration."""

from fractions import Fraction

import numpy as np
import pytest

from discreet.audit.divergence import delta
from discreet.audit.laws import finite_law, push_forward
from discreet.core.errors import InvalidArgument
from discreet.mechanisms.noise.uniform_smoothing import UniformSmoothing, smoothed_delta

RECOMPUTED = [
    (1, 1, 40, 3.6e-3),
    (1, 1, 80, 3.5e-6),
    (1, 1, 128, 8.7e-10),
    (1, 1, 256, 2.0e-19),
    (2, 2, 40, 0.23),
    (2, 2, 80, 3.7e-3),
    (2, 2, 128, 5.7e-5),
    (2, 2, 256, 8.7e-10),
]


@pytest.mark.parametrize(("dimension", "order", "bits", "expected"), RECOMPUTED)
def test_delta_of_the_theorem(dimension: int, order: int, bits: int, expected: float):
    smoothed = smoothed_delta(
        epsilon=1,
        distinguishing=Fraction(1, 2**bits),
        error=1,
        dimension=dimension,
        order=order,
        grid_bits=128,
    )
    assert float(smoothed.delta) == pytest.approx(expected, rel=0.03)
    assert smoothed.error > 1


def test_radius_is_the_root_rounded_up():
    smoothed = smoothed_delta(epsilon=1, distinguishing=Fraction(1, 2**40), error=1)
    assert smoothed.radius == Fraction(1, 1024)
    odd = smoothed_delta(epsilon=1, distinguishing=Fraction(1, 1000), error=1, grid_bits=20)
    assert (odd.radius - Fraction(1, 2**20)) ** 4 < Fraction(1, 1000) <= odd.radius**4


def test_smoothing_removes_a_fine_difference():
    """Noise on even numbers only tells odd from even; a box of radius c leaves at most 1/(2c+1).

    Without smoothing the two laws have nothing in common, at every ε.
    """
    coarse = {
        centre: finite_law({centre + 2 * z: Fraction(1, 41) for z in range(-20, 21)})
        for centre in (0, 1)
    }
    assert delta(coarse[0], coarse[1], 5).low == 1
    radius = 9
    smooth = {}
    for centre, law in coarse.items():
        spread: dict[int, Fraction] = {}
        for outcome, weight in law.weights.items():
            for u in range(-radius, radius + 1):
                share = weight.terms[Fraction(0)] / (2 * radius + 1)
                spread[outcome + u] = spread.get(outcome + u, Fraction(0)) + share
        smooth[centre] = finite_law(spread)
    assert delta(smooth[0], smooth[1], 0).high <= Fraction(1, 2 * radius + 1)
    same = push_forward(smooth[0], lambda z: z)
    assert delta(same, smooth[0], 0).high == 0


def test_release_is_uniform_and_bounded(rng):
    noise = UniformSmoothing(radius=3)
    drawn = noise.release(np.zeros(5000, dtype=np.int64), rng)
    assert set(drawn.tolist()) == set(range(-3, 4))
    assert noise.error_quantile("0.01") == 3
    assert noise.error_quantile("2/7") == 2
    assert UniformSmoothing(radius=0).release(np.array([5]), rng).tolist() == [5]


@pytest.mark.parametrize("bad", [{"error": -1}, {"order": 0}, {"dimension": "1/2"}])
def test_bad_bounds_are_refused(bad):
    arguments = {"epsilon": 1, "distinguishing": "1e-9", "error": 1} | bad
    with pytest.raises(InvalidArgument):
        smoothed_delta(**arguments)
