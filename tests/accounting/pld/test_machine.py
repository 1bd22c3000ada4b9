"""What is assumed of the machine's functions holds, against exact enclosures."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import fft, special

from discreet.accounting.pld.delta_curve import WIDEST, bump
from discreet.accounting.pld.laws.float_assumptions import RELATIVE, transform_error
from discreet.accounting.tails.normal_tail import log_tail_bounds
from discreet.core.numbers import exp_bounds, log_bounds
from discreet.core.rounding import exp_down, exp_up
from tests.accounting.pld.cases import Draw

MARGIN = Fraction(RELATIVE) / 2


def far(value: float, bounds: tuple[Fraction, Fraction]) -> Fraction:
    low, high = bounds
    return max(abs(Fraction(value) - low), abs(Fraction(value) - high)) / abs(low)


def less_one(x: Fraction) -> tuple[Fraction, Fraction]:
    low, high = exp_bounds(x, 160)
    return low - 1, high - 1


def normal_tail(x: Fraction) -> tuple[Fraction, Fraction]:
    low, high = log_tail_bounds(x * x)
    return exp_down(low), exp_up(high)


FUNCTIONS: dict[str, tuple[Any, Any, float, float]] = {
    "exp": (np.exp, lambda x: (exp_down(x), exp_up(x)), -700.0, 700.0),
    "expm1": (np.expm1, less_one, -30.0, 30.0),
    "small expm1": (np.expm1, less_one, -1e-3, 1e-3),
    "log1p": (np.log1p, lambda x: log_bounds(1 + x, 160), -0.999, 50.0),
    "small log1p": (np.log1p, lambda x: log_bounds(1 + x, 160), -1e-3, 1e-3),
    "ndtr": (lambda x: special.ndtr(-x), normal_tail, 0.0, 37.0),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_are_as_good_as_assumed(name: str, rng, soak):
    function, exactly, low, high = FUNCTIONS[name]
    draw = Draw(rng)
    for _ in range(soak.cases(300)):
        x = low + (high - low) * draw.unit()
        assert far(float(function(np.float64(x))), exactly(Fraction(x))) < MARGIN, x


@pytest.mark.parametrize("size", [16, 60, 1000, 2048, 3125])
def test_transform_is_as_good_as_assumed(size: int, rng):
    """Against a transform in more than double precision; steep input, like a tilted law."""
    words = rng.words(size).astype(np.float64) / 2.0**64
    turns = np.outer(np.arange(size // 2 + 1), np.arange(size)) % size
    angles = np.arange(size).astype(np.longdouble) * (2 * np.arccos(np.longdouble(-1)) / size)
    cosines, sines = np.cos(angles)[turns], np.sin(angles)[turns]
    for values in (words, words * np.exp(-np.arange(size) / 20), np.eye(1, size)[0]):
        exactly = cosines @ values - 1j * (sines @ values)
        error = np.sqrt((np.abs(fft.rfft(values) - exactly) ** 2).sum())
        assert error <= transform_error(size) * np.sqrt((np.abs(exactly) ** 2).sum()) / 2
        back = fft.irfft(fft.rfft(values), size)
        whole = np.sqrt((values**2).sum())
        assert np.sqrt(((back - values) ** 2).sum()) <= transform_error(size) * whole


def test_bump_covers_what_a_split_adds(rng, soak):
    """The inequality itself, for products of fair two-point factors, by exact enumeration."""
    draw = Draw(rng)
    for _ in range(soak.cases(300)):
        step = 10 ** (-3 + 2.4 * draw.unit())
        factors = [(step, draw.unit()) for _ in range(draw.between(1, 10))]
        noise = math.sqrt(len(factors)) * step / 2
        if noise > WIDEST:
            continue
        losses, chances = np.zeros(1), np.ones(1)
        for width, place in factors:
            up, down = -place * width, (1 - place) * width
            top = math.expm1(down) / (math.expm1(down) - math.expm1(up))
            losses = np.concatenate((losses + up, losses + down))
            chances = np.concatenate((chances * top, chances * (1 - top)))
        for _ in range(10):
            u = noise * 8 * (draw.unit() - 0.5)
            gap = float(chances @ np.maximum(-np.expm1(u + losses), 0)) - max(0.0, -math.expm1(u))
            assert gap <= float(chances @ bump(u + losses, noise)) + 1e-13
