"""Every sampler at every scale that can be reached: tails, buckets, and each bit of the values."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from types import ModuleType

import numpy as np
import pytest

from discreet.core.protocols import IntArray
from discreet.randomness import gamma_integer as gamma_module
from discreet.randomness import samplers
from discreet.randomness.samplers import clamped_discrete_laplace, uniform_integers
from discreet.randomness.tables import draw as draw_module
from discreet.randomness.tables.blocks import cut
from discreet.randomness.tables.law import LARGEST as LARGEST_SCALE
from discreet.randomness.tables.law import NoiseLaw
from tests.randomness import oracles
from tests.randomness.fit import Reference, bucket_p_value, residue_p_value
from tests.randomness.references import (
    LARGEST,
    SCALES,
    WIDTHS,
    WRONG,
    ClampedLaplace,
    Gamma,
    Gaussian,
    Geometric,
    Laplace,
)
from tests.support.house.mutant import mutant
from tests.support.statistics.exact_tests import alpha

N = 100_000
N_ORACLE = 4_000
LARGE = [scale for scale in [Fraction(10**6), *WIDTHS] if scale >= 10**6]
CALLERS = (samplers, gamma_module)
OLD_SUM = (
    ("np.add(part, offset, out=part)", 'np.add(part, offset, out=part, casting="unsafe")'),
    ("(words & np.uint64(width - 1)).view(np.int64)", "words & np.uint64(width - 1)"),
)
LOST_BIT = ("np.uint64(width - 1)", "np.uint64((width - 1) & ~(1 << 25))")
TWIN_SCALES = [Fraction(2**23 - 1), Fraction(2**23), Fraction(10**9), LARGEST]


def bound(scale: Fraction) -> int:
    return int(2 * scale) + 1


SAMPLERS: dict[str, tuple[Callable[..., IntArray], Callable[[Fraction], Reference]]] = {
    "discrete_laplace": (samplers.discrete_laplace, Laplace),
    "geometric": (samplers.geometric, Geometric),
    "discrete_gaussian": (
        lambda scale, size, rng: samplers.discrete_gaussian(scale**2, size, rng),
        lambda scale: Gaussian(scale**2),
    ),
    "clamped_discrete_laplace": (
        lambda scale, size, rng: clamped_discrete_laplace(scale, bound(scale), size, rng),
        lambda scale: ClampedLaplace(scale, bound(scale)),
    ),
    "gamma_integer": (
        lambda scale, size, rng: gamma_module.gamma_integer(3, scale, size, rng),
        lambda scale: Gamma(3, scale),
    ),
    "gamma_integer of shape 1": (
        lambda scale, size, rng: gamma_module.gamma_integer(1, scale, size, rng),
        lambda scale: Gamma(1, scale),
    ),
}
ORACLES = {
    "discrete_laplace": oracles.discrete_laplace,
    "geometric": oracles.geometric,
    "discrete_gaussian": lambda scale, bits: oracles.discrete_gaussian(scale**2, bits),
    "gamma_integer of shape 1": lambda scale, bits: oracles.gamma(1, scale, bits),
}


def stretched(name: str, scale: Fraction, factor: Fraction) -> Reference:
    if name == "clamped_discrete_laplace":
        return ClampedLaplace(scale * factor, bound(scale))
    return SAMPLERS[name][1](scale * factor)


def bits_p_value(sample: IntArray, scale: Fraction) -> float:
    """The smallest p-value of all residues and windows of bits, times their number.

    No law here has a mass above ``1 / scale``. Sums of ``2**shift`` neighbours have one peak too.
    """
    inside = sample[np.abs(sample) != bound(scale)]
    found = [
        residue_p_value(inside >> shift, modulus, float(2**shift / scale))
        for shift, modulus in _windows(scale)
    ]
    return min(1.0, len(found) * min(found))


def _windows(scale: Fraction) -> Iterator[tuple[int, int]]:
    yield from ((0, 2), (0, 1009))
    for shift in range(0, int(scale).bit_length() - 13, 10):
        yield shift, 1024


def twin(monkeypatch: pytest.MonkeyPatch, broken: ModuleType) -> None:
    for module in CALLERS:
        if hasattr(module, "draw"):
            monkeypatch.setattr(module, "draw", broken.draw)


def test_scales_reach_every_way_to_split_a_word():
    assert max(WIDTHS) == LARGEST == LARGEST_SCALE
    for scale, width in WIDTHS.items():
        assert cut(NoiseLaw(Fraction(0), 1 / scale)).width == width
        assert cut(NoiseLaw(1 / (2 * scale**2), Fraction(0))).width == width


@pytest.mark.parametrize("scale", WIDTHS, ids=str)
@pytest.mark.parametrize("name", SAMPLERS)
def test_tails_and_buckets(name, scale, rng):
    sample_of, law_of = SAMPLERS[name]
    sample = sample_of(scale, N, rng)
    share = alpha("randomness/tails and buckets", parts=len(SAMPLERS) * len(WIDTHS))
    assert bucket_p_value(sample, law_of(scale), scale) > share
    for factor in WRONG if scale >= 1 else ():
        assert bucket_p_value(sample, stretched(name, scale, factor), scale) < share


@pytest.mark.parametrize("scale", LARGE, ids=str)
@pytest.mark.parametrize("name", SAMPLERS)
def test_every_bit_is_uniform(name, scale, rng):
    sample = SAMPLERS[name][0](scale, N, rng)
    share = alpha("randomness/bits", parts=len(SAMPLERS) * len(LARGE))
    assert bits_p_value(sample, scale) > share


@pytest.mark.parametrize("scale", TWIN_SCALES, ids=str)
@pytest.mark.parametrize("name", SAMPLERS)
def test_a_sum_in_floats_would_be_noticed(name, scale, rng, monkeypatch):
    """From blocks of 2**17 on, ten bits beside 2**62 were lost. (Three such sums hide it.)"""
    twin(monkeypatch, mutant(draw_module, *OLD_SUM))
    p_value = bits_p_value(SAMPLERS[name][0](scale, N, rng), scale)
    share = alpha("randomness/lost bits", parts=len(SAMPLERS) * len(TWIN_SCALES))
    is_lost = scale >= 2**23 and name != "gamma_integer"
    assert (p_value < share) == is_lost


@pytest.mark.parametrize("name", ["discrete_laplace", "geometric", "discrete_gaussian"])
def test_one_lost_bit_would_be_noticed(name, rng, monkeypatch):
    twin(monkeypatch, mutant(draw_module, LOST_BIT))
    p_value = bits_p_value(SAMPLERS[name][0](LARGEST, N, rng), LARGEST)
    assert p_value < alpha("randomness/one lost bit", parts=3)


@pytest.mark.parametrize("name", ORACLES)
def test_oracle_agrees_at_the_largest_scale(name, rng):
    bits = oracles.Bits(rng)
    sample = np.array([ORACLES[name](LARGEST, bits) for _ in range(N_ORACLE)])
    share = alpha("randomness/oracle at the largest scale", parts=len(ORACLES))
    assert bucket_p_value(sample, SAMPLERS[name][1](LARGEST), LARGEST) > share
    assert bits_p_value(sample, LARGEST) > share


@pytest.mark.parametrize(
    "upper", [2**23 + 1, 10**9, 10**12, 2**50 - 1, 3 * 2**61, 2**63 - 1, 2**63]
)
def test_every_bit_of_uniform_integers(upper, rng):
    sample = uniform_integers(upper, N, rng)
    share = alpha("uniform_integers/bits", parts=7)
    assert bits_p_value(sample, Fraction(upper)) > share
    assert bits_p_value(sample & ~np.int64(1 << 5), Fraction(upper)) < share


def test_scales_of_the_fit_are_within_the_range():
    assert all(min(WIDTHS) <= scale <= max(WIDTHS) for scale in SCALES)
